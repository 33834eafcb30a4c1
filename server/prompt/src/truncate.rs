//! Cuts texts to a number of tokens, at line ends if possible.

use crate::special_tokens::escape_special_tokens;

/// Returns the number of tokens of a text.
pub type TokenCounter<'a> = &'a dyn Fn(&str) -> usize;

/// Number of lines that are counted at once while they fit. Counts of single lines are each rounded up, which adds up, and
/// counting the whole text for every line would take too long.
const BLOCK_LINES: usize = 16;

/// Upper bound of the bytes of a token, even of one for a long row of blanks. A longer line does not fit and is not counted.
const MAX_TOKEN_BYTES: usize = 128;

/// Upper bound of the average bytes per token in an endless line, such as that of a data file.
const LINE_TOKEN_BYTES: usize = 8;

/// Counts user code as it will be sent.
#[derive(Clone, Copy)]
pub(crate) struct CodeMeter<'a> {
    pub(crate) count: TokenCounter<'a>,
    /// Special tokens that are neutralised in it.
    pub(crate) tokens: &'a [&'a str],
}

impl CodeMeter<'_> {
    /// Returns the number of tokens of a piece of user code.
    pub(crate) fn measure(&self, text: &str) -> usize {
        if text.is_empty() { 0 } else { (self.count)(&escape_special_tokens(text, self.tokens)) }
    }
}

/// The kept part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Truncation {
    /// Byte offset at which the kept part begins or ends.
    pub(crate) at: usize,
    /// Its tokens, counted in pieces.
    pub(crate) tokens: usize,
}

/// Keeps the last lines of a text, or the end of its last line if that alone is too long.
pub(crate) fn keep_end(text: &str, quota: usize, meter: CodeMeter<'_>) -> Truncation {
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
    Truncation { at: text.len() - bytes, tokens }
}

/// Keeps the first lines of a text, or the beginning of its first line if that alone is too long.
pub(crate) fn keep_beginning(text: &str, quota: usize, meter: CodeMeter<'_>) -> Truncation {
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
    Truncation { at: bytes, tokens }
}

/// Adds lines from one end of a text while the quota lasts. `piece` returns a number of lines from an offset on, and the offset
/// behind them.
fn keep_lines<'t>(
    from: usize,
    to: usize,
    quota: usize,
    meter: CodeMeter<'_>,
    piece: impl Fn(usize, usize) -> (usize, &'t str),
) -> Truncation {
    let mut kept = Truncation { at: from, tokens: 0 };
    let mut lines = BLOCK_LINES;
    while kept.at != to {
        let (next, text) = piece(kept.at, lines);
        let rest = quota - kept.tokens;
        let tokens = (text.len() <= rest.saturating_mul(MAX_TOKEN_BYTES)).then(|| meter.measure(text));
        match tokens.filter(|tokens| *tokens <= rest) {
            Some(tokens) => kept = Truncation { at: next, tokens: kept.tokens + tokens },
            None if lines > 1 => lines = 1,
            None => break,
        }
    }
    kept
}

/// Returns how many bytes of a line fit into the quota, and their tokens. `cut` keeps at most so many bytes of the line.
fn keep_of_line<'t>(
    line: &str,
    quota: usize,
    meter: CodeMeter<'_>,
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

/// Returns the start of the line that ends at `end`.
fn line_start(text: &str, end: usize) -> usize {
    let without_end = text[..end].strip_suffix('\n').unwrap_or(&text[..end]);
    without_end.rfind('\n').map_or(0, |line_end| line_end + 1)
}

/// Returns the end of the line that begins at `start`, behind its line end.
pub(crate) fn line_end(text: &str, start: usize) -> usize {
    text[start..].find('\n').map_or(text.len(), |length| start + length + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Counts one token per character.
    fn chars(text: &str) -> usize {
        text.chars().count()
    }

    fn meter() -> CodeMeter<'static> {
        CodeMeter { count: &chars, tokens: &[] }
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
    fn too_long_line_is_cut_inside() {
        check_end("one\nlonger", 3, "ger");
        check_end("one\nlönger", 5, "önger");
        check_beginning("longer\ntwo", 3, "lon");
        check_beginning("漢字漢字", 3, "漢字漢");
        check_end("one", 0, "");
        check_beginning("one", 0, "");
    }

    #[test]
    fn as_many_lines_as_fit_are_kept() {
        let text = "line\n".repeat(100);
        check_end(&text, 5 * 37 + 4, &text[..5 * 37]);
        check_beginning(&text, 5 * 37 + 4, &text[..5 * 37]);
    }

    proptest! {
        #[test]
        fn kept_text_is_within_the_quota(text in "[a-cé\n]{0,200}", quota in 0_usize..250) {
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
