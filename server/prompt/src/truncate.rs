//! Cuts texts to a number of tokens, at line ends if possible.
//!
//! Each line is priced once, when it is first needed, from the cursor outwards, unless an earlier prompt had it. Cutting the text again to
//! another number of tokens only adds prices up.

use std::borrow::Cow;

use crate::line_prices::LinePrices;
use crate::special_tokens::Escaper;
use crate::token_estimate::{KnownLine, LinePrice, TokenEstimator, known_lines};

/// Number of lines that are counted at once while they fit. Counts of single lines are each rounded up, which adds up.
const BLOCK_LINES: usize = 16;

/// Number of lines that prompts usually have on each side of the cursor, at most.
const USUAL_LINES: usize = 256;

/// Upper bound of the bytes of a token, even of one for a long row of blanks. A longer line does not fit and is not counted.
const MAX_TOKEN_BYTES: usize = 128;

/// Upper bound of the average bytes per token in an endless line, such as that of a data file.
const LINE_TOKEN_BYTES: usize = 8;

/// Counts user code as it will be sent.
#[derive(Clone, Copy)]
pub(crate) struct CodeMeter<'a> {
    pub(crate) estimator: TokenEstimator,
    /// Neutralises special tokens in the code.
    pub(crate) escaper: &'a Escaper<'a>,
    /// Prices of earlier prompts.
    pub(crate) prices: &'a LinePrices,
}

impl CodeMeter<'_> {
    /// Returns length in bytes and price of a line of user code as it is sent.
    fn price_of_code(self, line: &str) -> (usize, LinePrice) {
        if let Some(price) = self.prices.get(line) {
            return (line.len(), price);
        }
        let sent = self.escaper.escape(line);
        let price = LinePrice::of(&sent);
        if let Cow::Borrowed(line) = sent {
            self.prices.insert(line, price);
        }
        (sent.len(), price)
    }

    /// Returns the price of a line that is sent as it is.
    pub(crate) fn price_of_rendered(self, line: &str) -> LinePrice {
        if let Some(price) = self.prices.get(line) {
            return price;
        }
        let price = LinePrice::of(line);
        if !self.escaper.changes(line) {
            self.prices.insert(line, price);
        }
        price
    }

    /// Returns the number of tokens of a piece of user code.
    fn measure(self, text: &str) -> usize {
        self.estimator.count(&self.escaper.escape(text))
    }
}

/// The kept part of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Truncation {
    /// Number of whole lines.
    lines: usize,
    /// Length of the kept part in bytes.
    pub(crate) bytes: usize,
    /// Its tokens, counted in pieces.
    pub(crate) tokens: usize,
}

/// The end of a text that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptEnd {
    /// The last lines are kept, or the end of the last one if that alone is too long.
    End,
    /// The first lines are kept, or the beginning of the first one.
    Beginning,
}

/// A text with the prices of its lines, as far as they were needed.
pub(crate) struct MeasuredText<'t> {
    text: &'t str,
    kept: KeptEnd,
    meter: CodeMeter<'t>,
    /// Lines from the kept end on.
    lines: Vec<MeasuredLine>,
    /// Bytes of these lines.
    found: usize,
}

#[derive(Clone, Copy)]
struct MeasuredLine {
    /// Distance of its far end from the kept end of the text, in bytes.
    reach: usize,
    /// Length and price of the line as it is sent, once they were needed.
    priced: Option<(usize, LinePrice)>,
}

impl<'t> MeasuredText<'t> {
    pub(crate) fn new(text: &'t str, kept: KeptEnd, meter: CodeMeter<'t>) -> MeasuredText<'t> {
        MeasuredText { text, kept, meter, lines: Vec::with_capacity(USUAL_LINES), found: 0 }
    }

    /// Keeps as much as fits into `quota`. `None` as soon as that takes more than `limit` tokens.
    pub(crate) fn keep(&mut self, quota: usize, limit: usize) -> Option<Truncation> {
        let mut kept = Truncation::default();
        let mut count = BLOCK_LINES;
        while kept.bytes < self.text.len() {
            let end = self.find_lines(kept.lines + count);
            let bytes = self.lines[end - 1].reach - kept.bytes;
            let rest = quota - kept.tokens;
            let tokens =
                (bytes <= rest.saturating_mul(MAX_TOKEN_BYTES)).then(|| self.count_lines(kept.lines, end));
            match tokens.filter(|tokens| *tokens <= rest) {
                Some(tokens) => {
                    let tokens = kept.tokens + tokens;
                    kept = Truncation { lines: end, bytes: kept.bytes + bytes, tokens };
                    if tokens > limit {
                        return None;
                    }
                }
                None if count > 1 => count = 1,
                None => break,
            }
        }
        if kept.bytes == 0 && !self.text.is_empty() {
            kept = self.keep_of_line(quota);
        }
        (kept.tokens <= limit).then_some(kept)
    }

    /// Keeps as much as fits into `quota`, but not more than fits into `limit`.
    pub(crate) fn keep_within(&mut self, quota: usize, limit: usize) -> Truncation {
        self.keep(quota, limit).or_else(|| self.keep(limit, usize::MAX)).unwrap_or_default()
    }

    /// Returns the kept part as it is sent.
    pub(crate) fn sent(&self, kept: &Truncation) -> Cow<'t, str> {
        let text = self.part(0, kept.bytes);
        let sent = self.lines[..kept.lines].iter().map(|line| line.priced.map_or(0, |(bytes, _)| bytes));
        // Escaping only adds bytes.
        let is_plain = kept.lines > 0 && sent.sum::<usize>() == kept.bytes;
        if is_plain { Cow::Borrowed(text) } else { self.meter.escaper.escape(text) }
    }

    /// Returns the kept lines with their prices, in the order of the text, if it is sent from offset `start` of a prompt on.
    pub(crate) fn known_lines(&self, kept: &Truncation, start: usize) -> Vec<KnownLine> {
        let lines = self.lines[..kept.lines].iter().filter_map(|line| line.priced);
        match self.kept {
            KeptEnd::End => known_lines(lines.rev(), start),
            KeptEnd::Beginning => known_lines(lines, start),
        }
    }

    /// Returns the part of the text between two distances from its kept end.
    fn part(&self, near: usize, far: usize) -> &'t str {
        match self.kept {
            KeptEnd::End => &self.text[self.text.len() - far..self.text.len() - near],
            KeptEnd::Beginning => &self.text[near..far],
        }
    }

    /// Finds the first `count` lines from the kept end on; returns how many there are. The text is not empty.
    fn find_lines(&mut self, count: usize) -> usize {
        while self.lines.len() < count && self.found < self.text.len() {
            let length = match self.kept {
                KeptEnd::End => {
                    let rest = &self.text[..self.text.len() - self.found];
                    rest.len() - line_start(rest)
                }
                KeptEnd::Beginning => line_end(&self.text[self.found..]),
            };
            self.found += length;
            self.lines.push(MeasuredLine { reach: self.found, priced: None });
        }
        count.min(self.lines.len())
    }

    /// Returns the distance of a line's near end from the kept end of the text.
    fn reach_before(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.lines[before].reach)
    }

    /// Returns the tokens of some lines, counted as one text.
    fn count_lines(&mut self, from: usize, to: usize) -> usize {
        for index in from..to {
            let near = self.reach_before(index);
            if self.lines[index].priced.is_none() {
                let line = self.part(near, self.lines[index].reach);
                self.lines[index].priced = Some(self.meter.price_of_code(line));
            }
        }
        let priced = self.lines[from..to].iter().filter_map(|line| line.priced.as_ref());
        let priced = priced.map(|(bytes, price)| (price, *bytes));
        let tokens = match self.kept {
            KeptEnd::End => self.meter.estimator.count_lines(priced.rev()),
            KeptEnd::Beginning => self.meter.estimator.count_lines(priced),
        };
        let near = self.reach_before(from);
        tokens.unwrap_or_else(|| self.meter.measure(self.part(near, self.lines[to - 1].reach)))
    }

    /// Keeps the part of the first line that fits into the quota.
    fn keep_of_line(&mut self, quota: usize) -> Truncation {
        self.find_lines(1);
        let line = self.part(0, self.lines[0].reach);
        let cut = |bytes: usize| match self.kept {
            KeptEnd::End => &line[line.ceil_char_boundary(line.len() - bytes)..],
            KeptEnd::Beginning => &line[..line.floor_char_boundary(bytes)],
        };
        let mut most = Truncation::default();
        let mut too_many = line.len().min(quota.saturating_mul(LINE_TOKEN_BYTES)) + 1;
        let mut fits = 0;
        while fits + 1 < too_many {
            let middle = fits.midpoint(too_many);
            let part = cut(middle);
            let tokens = if part.is_empty() { 0 } else { self.meter.measure(part) };
            if tokens <= quota {
                fits = middle;
                if part.len() > most.bytes {
                    most = Truncation { lines: 0, bytes: part.len(), tokens };
                }
            } else {
                too_many = middle;
            }
        }
        most
    }
}

/// Returns the start of the last line of a text.
fn line_start(text: &str) -> usize {
    let without_end = text.strip_suffix('\n').unwrap_or(text);
    // Lines are short: a search that is made for long texts takes longer to begin.
    without_end.bytes().rposition(|byte| byte == b'\n').map_or(0, |line_end| line_end + 1)
}

/// Returns the end of the first line of a text, behind its line end.
pub(crate) fn line_end(text: &str) -> usize {
    text.bytes().position(|byte| byte == b'\n').map_or(text.len(), |length| length + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::token_estimate::estimate;

    fn kept(text: &str, end: KeptEnd, quota: usize) -> (String, usize) {
        let escaper = Escaper::new(&["<a>"]);
        let prices = LinePrices::default();
        let meter = CodeMeter { estimator: TokenEstimator::default(), escaper: &escaper, prices: &prices };
        let mut measured = MeasuredText::new(text, end, meter);
        let kept = measured.keep(quota, usize::MAX).expect("there is no limit");
        (measured.part(0, kept.bytes).to_owned(), kept.tokens)
    }

    #[track_caller]
    fn check(text: &str, quota: usize, end: &str, beginning: &str) {
        assert_eq!(kept(text, KeptEnd::End, quota).0, end);
        assert_eq!(kept(text, KeptEnd::Beginning, quota).0, beginning);
    }

    #[test]
    fn whole_lines_are_kept() {
        let text = "first = 1\nsecond = 2\nthird = 3";
        check(text, 99, text, text);
        let two = estimate("second = 2\n") + estimate("third = 3");
        check(text, two, "second = 2\nthird = 3", "first = 1\n");
        check("", 3, "", "");
    }

    #[test]
    fn too_long_line_is_cut_inside() {
        check("alpha beta gamma delta", 2, " gamma delta", "alpha beta ");
        check("one", 0, "", "");
    }

    #[test]
    fn as_many_lines_as_fit_are_kept() {
        let line = "value = compute(1)\n";
        let text = line.repeat(100);
        let (kept, tokens) = kept(&text, KeptEnd::End, 300);
        assert!(tokens <= 300 && tokens + estimate(line) > 300, "{tokens}");
        assert_eq!(kept.len() % line.len(), 0);
    }

    proptest! {
        #[test]
        fn what_is_kept_is_within_the_quota(text in "([a-c]{1,9}[ =.(é\n]{1,2}|<a>){0,60}", quota in 0_usize..150) {
            for end in [KeptEnd::End, KeptEnd::Beginning] {
                let (kept, tokens) = kept(&text, end, quota);
                prop_assert!(tokens <= quota);
                let is_part = match end {
                    KeptEnd::End => text.ends_with(&kept),
                    KeptEnd::Beginning => text.starts_with(&kept),
                };
                prop_assert!(is_part);
                let (all, _) = super::tests::kept(&text, end, usize::MAX / 256);
                prop_assert_eq!(all, text.as_str());
            }
        }
    }
}
