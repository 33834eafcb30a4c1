//! Keeping an end or the beginning of a text within a number of tokens, at line ends where possible.

use crate::neutral::neutralise;

/// Counts the tokens of a text.
pub type Count<'a> = &'a dyn Fn(&str) -> usize;

/// Lines that are counted at a time as long as they fit. Counts of single lines are rounded up each, which adds up; counting the whole
/// for every line would take too long.
const BLOCK_LINES: usize = 16;

/// Bytes that no token stands for, not even one for a long row of blanks; a longer line does not fit and is not counted.
const MAX_TOKEN_BYTES: usize = 128;

/// Bytes that a token of a line without an end, such as that of a data file, stands for at most on average.
const LINE_TOKEN_BYTES: usize = 8;

/// Counts user code as it will be sent.
#[derive(Clone, Copy)]
pub(crate) struct Meter<'a> {
    pub(crate) count: Count<'a>,
    /// What is neutralised in it.
    pub(crate) tokens: &'a [&'a str],
}

impl Meter<'_> {
    /// The tokens of a piece of user code.
    pub(crate) fn measure(&self, text: &str) -> usize {
        if text.is_empty() { 0 } else { (self.count)(&neutralise(text, self.tokens)) }
    }
}

/// What is kept of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Where the kept part begins or ends, in bytes.
    pub(crate) at: usize,
    /// Tokens of it, counted in pieces.
    pub(crate) tokens: usize,
}

/// Keeps the end of a text: whole lines, or the end of its last line if that alone is too long.
pub(crate) fn keep_end(text: &str, quota: usize, meter: Meter<'_>) -> Kept {
    let piece = |from: usize, lines: usize| {
        let start = (0..lines).fold(from, |start, _| line_start(text, start));
        (start, &text[start..from])
    };
    let kept = keep_lines(text.len(), 0, quota, meter, piece);
    if kept.at < text.len() {
        return kept;
    }
    let line = &text[line_start(text, text.len())..];
    let cut = |bytes: usize| &line[line.ceil_char_boundary(line.len() - bytes)..];
    let (bytes, tokens) = keep_of_line(line, quota, meter, cut);
    Kept { at: text.len() - bytes, tokens }
}

/// Keeps the beginning of a text: whole lines, or the beginning of its first line if that alone is too long.
pub(crate) fn keep_beginning(text: &str, quota: usize, meter: Meter<'_>) -> Kept {
    let piece = |from: usize, lines: usize| {
        let end = (0..lines).fold(from, |end, _| line_end(text, end));
        (end, &text[from..end])
    };
    let kept = keep_lines(0, text.len(), quota, meter, piece);
    if kept.at > 0 {
        return kept;
    }
    let line = &text[..line_end(text, 0)];
    let cut = |bytes: usize| &line[..line.floor_char_boundary(bytes)];
    let (bytes, tokens) = keep_of_line(line, quota, meter, cut);
    Kept { at: bytes, tokens }
}

/// Goes on line by line from one end of a text towards the other as long as the quota lasts. `piece` is so many lines from a place on,
/// with the place behind them.
fn keep_lines<'t>(
    from: usize,
    to: usize,
    quota: usize,
    meter: Meter<'_>,
    piece: impl Fn(usize, usize) -> (usize, &'t str),
) -> Kept {
    let mut kept = Kept { at: from, tokens: 0 };
    let mut lines = BLOCK_LINES;
    while kept.at != to {
        let (next, text) = piece(kept.at, lines);
        let rest = quota - kept.tokens;
        let tokens = (text.len() <= rest.saturating_mul(MAX_TOKEN_BYTES)).then(|| meter.measure(text));
        match tokens.filter(|tokens| *tokens <= rest) {
            Some(tokens) => kept = Kept { at: next, tokens: kept.tokens + tokens },
            None if lines > 1 => lines = 1,
            None => break,
        }
    }
    kept
}

/// How many bytes of a line, and their tokens, are within the quota; `cut` keeps at most so many bytes of it.
fn keep_of_line<'t>(
    line: &str,
    quota: usize,
    meter: Meter<'_>,
    cut: impl Fn(usize) -> &'t str,
) -> (usize, usize) {
    let (mut most, mut tokens_of_most) = (0, 0);
    let mut too_many = line.len().min(quota.saturating_mul(LINE_TOKEN_BYTES)) + 1;
    let mut fits = 0;
    while fits + 1 < too_many {
        let middle = fits.midpoint(too_many);
        let part = cut(middle);
        let tokens = meter.measure(part);
        if tokens <= quota {
            fits = middle;
            if part.len() > most {
                (most, tokens_of_most) = (part.len(), tokens);
            }
        } else {
            too_many = middle;
        }
    }
    (most, tokens_of_most)
}

/// Where the line begins that ends at `end`.
fn line_start(text: &str, end: usize) -> usize {
    let without_end = text[..end].strip_suffix('\n').unwrap_or(&text[..end]);
    without_end.rfind('\n').map_or(0, |line_end| line_end + 1)
}

/// Where the line ends that begins at `start`, behind its line end.
pub(crate) fn line_end(text: &str, start: usize) -> usize {
    text[start..].find('\n').map_or(text.len(), |length| start + length + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One token for each character.
    fn chars(text: &str) -> usize {
        text.chars().count()
    }

    fn meter() -> Meter<'static> {
        Meter { count: &chars, tokens: &[] }
    }

    #[track_caller]
    fn check_end(text: &str, quota: usize, kept: &str) {
        let found = keep_end(text, quota, meter());
        assert_eq!((&text[found.at..], found.tokens), (kept, chars(kept)));
    }

    #[track_caller]
    fn check_beginning(text: &str, quota: usize, kept: &str) {
        let found = keep_beginning(text, quota, meter());
        assert_eq!((&text[..found.at], found.tokens), (kept, chars(kept)));
    }

    #[test]
    fn whole_lines_are_kept() {
        check_end("one\ntwo\nthr", 3, "thr");
        check_end("one\ntwo\nthr", 6, "thr");
        check_end("one\ntwo\nthr", 7, "two\nthr");
        check_end("one\ntwo\nthr", 99, "one\ntwo\nthr");
        check_beginning("one\ntwo\nthr", 7, "one\n");
        check_beginning("one\ntwo\nthr", 8, "one\ntwo\n");
        check_beginning("\n\nx", 1, "\n");
        check_end("x\n\n", 1, "\n");
        check_end("", 3, "");
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_within() {
        check_end("one\nlonger", 3, "ger");
        check_end("one\nlönger", 5, "önger");
        check_beginning("longer\ntwo", 3, "lon");
        check_beginning("漢字漢字", 3, "漢字漢");
        check_end("one", 0, "");
        check_beginning("one", 0, "");
    }

    #[test]
    fn many_lines_are_kept_to_the_last_that_fits() {
        let text = "line\n".repeat(100);
        check_end(&text, 5 * 37 + 4, &text[..5 * 37]);
        check_beginning(&text, 5 * 37 + 4, &text[..5 * 37]);
    }

    proptest! {
        #[test]
        fn what_is_kept_is_within_the_quota(text in "[a-cé\n]{0,200}", quota in 0_usize..250) {
            let end = keep_end(&text, quota, meter());
            let beginning = keep_beginning(&text, quota, meter());
            prop_assert!(chars(&text[end.at..]) == end.tokens && end.tokens <= quota);
            prop_assert!(chars(&text[..beginning.at]) == beginning.tokens && beginning.tokens <= quota);
            if quota >= chars(&text) {
                prop_assert_eq!((end.at, beginning.at), (0, text.len()));
            }
        }
    }
}
