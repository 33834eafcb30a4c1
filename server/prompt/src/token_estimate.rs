//! Estimates the number of tokens of a text without a vocabulary.
//!
//! Current tokenizers split a text by the same rules before they look anything up: a word with the sign or blank before it, groups
//! of three digits, rows of signs, rows of blanks, line ends. The estimate is the sum of the average costs of these pieces.
//!
//! The prices were fitted to the larger count of tiktoken's `o200k_base` and `cl100k_base` on pieces of 3,000 characters from 50
//! public repositories in ten languages, and then rounded. On those the estimate is 9 % high on average.
//!
//! The estimate is not a bound: lists of unusual names, words of another language and random characters came out up to 18 % low.
//! The length of a text is a bound ([`max_tokens`]). Exact counts need the model's own tokenizer ([`TokenEstimator::calibrated`]), and a server
//! rejects a prompt that is too long. `tests/golden.rs` checks these statements.
//!
//! ```text
//!     return_value = compute(hash, 12345)\n
//! ^^^^      ^     ^ ^       ^    ^ ^  ^   ^^
//! blanks    signs and words ...  digits   sign and line end
//! ```

/// Prices in hundredths of a token.
mod price {
    /// A word of one, two, three, 4 to 6, 7 to 9 letters, including one sign or blank before it.
    pub(super) const WORDS: [u32; 9] = [102, 95, 105, 98, 98, 98, 112, 112, 112];
    /// A longer word, and each letter of it above ten.
    pub(super) const LONG_WORD: u32 = 120;
    pub(super) const LONG_WORD_LETTER: u32 = 30;
    /// Surcharge for each letter above 24. No word is that long; such letters are random.
    pub(super) const RANDOM_LETTER: u32 = 30;
    /// Two capitals, and each further one of a word of capitals: such words are rarely in a vocabulary.
    pub(super) const CAPITALS: u32 = 62;
    pub(super) const CAPITAL: u32 = 19;
    /// Surcharge of `HTTPServer` over a word of its length.
    pub(super) const CAPITALS_AND_WORD: u32 = 150;
    /// A letter directly behind a digit, and each further one: hashes, encoded data, names such as `x86`.
    pub(super) const AFTER_DIGIT: u32 = 110;
    pub(super) const AFTER_DIGIT_LETTER: u32 = 30;
    /// Each letter of a word in a text that does not read like English.
    pub(super) const FOREIGN_LETTER: u32 = 36;
    /// Up to three digits.
    pub(super) const DIGITS: u32 = 108;
    /// Two or more blanks, or one before a digit.
    pub(super) const BLANKS: u32 = 96;
    /// Line ends behind signs, which merge with them, and behind anything else.
    pub(super) const LINE_END_BEHIND_SIGN: u32 = 6;
    pub(super) const LINE_END: u32 = 112;
    /// One sign before a word, which often merges with it, and before anything else.
    pub(super) const SIGN_BEFORE_WORD: u32 = 56;
    pub(super) const SIGN: u32 = 125;
    /// Several signs: the first, each that differs from the one before it, and each that repeats it.
    pub(super) const SIGNS: u32 = 115;
    pub(super) const OTHER_SIGN: u32 = 18;
    pub(super) const SAME_SIGN: u32 = 5;
    /// Surcharge for each change of sign above eight. Code has no such signs; they are random.
    pub(super) const RANDOM_SIGN: u32 = 52;
    /// A non-ASCII character: Latin; Greek, Cyrillic and similar; East Asian writing and typography; any other by its length in
    /// UTF-8 (two, three, four bytes).
    pub(super) const LATIN: u32 = 100;
    pub(super) const ALPHABETIC: u32 = 110;
    pub(super) const EAST_ASIAN: u32 = 150;
    pub(super) const OTHER: [u32; 3] = [170, 260, 350];
}

/// Returns the maximum number of tokens of a text of so many bytes: each token of a byte-level vocabulary has at least one byte,
/// and SentencePiece adds one blank at the start.
pub const fn max_tokens(bytes: usize) -> usize {
    bytes + 1
}

/// Estimates the number of tokens of a text, about 8 % too high for code on average; never more than [`max_tokens`].
pub fn estimate(text: &str) -> usize {
    TokenEstimator::default().count(text)
}

/// Code in six languages, to be counted by a model's own tokenizer.
pub const SAMPLE: &str = include_str!("sample.txt");

/// Tokens of [`SAMPLE`] by tiktoken's `o200k_base`, the larger of the two counts that the prices were fitted to.
const SAMPLE_TOKENS: usize = 604;

/// Estimates tokens, for all models or for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenEstimator {
    /// Tokens that the model's tokenizer counts in [`SAMPLE`].
    sample: usize,
}

impl Default for TokenEstimator {
    fn default() -> TokenEstimator {
        TokenEstimator { sample: SAMPLE_TOKENS }
    }
}

impl TokenEstimator {
    /// Returns the estimator for a model whose own tokenizer counts `sample` tokens in [`SAMPLE`]: the estimate scaled by the same
    /// factor. Smaller vocabularies produce more tokens for the same code.
    pub fn calibrated(sample: usize) -> TokenEstimator {
        TokenEstimator { sample }
    }

    /// Estimates the number of tokens of a text.
    pub fn count(self, text: &str) -> usize {
        self.count_with_lines(text, &[])
    }

    /// Estimates the number of tokens of a text. `known` are lines of it with their prices, in order, which are not read again.
    pub(crate) fn count_with_lines(self, text: &str, known: &[KnownLine]) -> usize {
        let mut scan = TokenScan::new(text.as_bytes(), ByteKind::Start);
        let (mut hundredths, mut known) = (0_u64, known.iter());
        let mut next = known.next();
        while scan.at < text.len() {
            while next.is_some_and(|line| line.start < scan.at) {
                next = known.next();
            }
            let jump = next.filter(|line| line.start == scan.at && line.price.is_terminated);
            let price = jump.and_then(|line| Some((line, scan.state().after(&line.price)?)));
            match price {
                Some((line, (price, state))) => {
                    hundredths += u64::from(price);
                    scan.at = line.start + line.bytes;
                    (scan.before, scan.plain_words) = (ByteKind::LineEnd, state.plain_words);
                }
                None => hundredths += u64::from(scan.piece(text)),
            }
        }
        self.tokens(hundredths, text.len())
    }

    /// Estimates the number of tokens of consecutive lines, given as their prices and lengths in bytes. `None` if their prices
    /// depend on each other, because the text does not read like English.
    pub(crate) fn count_lines<'l>(
        self,
        lines: impl Iterator<Item = (&'l LinePrice, usize)>,
    ) -> Option<usize> {
        let mut state = ScanState { before: ByteKind::Start, plain_words: 0 };
        let (mut hundredths, mut bytes) = (0_u64, 0);
        for (line, length) in lines {
            let (price, next) = state.after(line)?;
            hundredths += u64::from(price);
            bytes += length;
            state = next;
        }
        Some(self.tokens(hundredths, bytes))
    }

    /// Converts the price of a text of so many bytes to tokens.
    fn tokens(self, hundredths: u64, bytes: usize) -> usize {
        let estimate = (hundredths.div_ceil(100) as usize).min(max_tokens(bytes));
        (estimate * self.sample).div_ceil(SAMPLE_TOKENS)
    }
}

/// Price of a line with its line end, and what it means for the lines after it. The same line costs the same behind every other
/// line, except where many words in a row are uncommon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinePrice {
    /// Price behind a line end and no uncommon word.
    hundredths: u32,
    /// Uncommon words before anything that ends their row.
    leading: usize,
    /// Uncommon words at the end, after the last thing that ends their row.
    trailing: usize,
    /// Whether anything ends the row of uncommon words.
    ends_row: bool,
    /// Whether it begins with an uncommon word, which does not count as one at the start of a text.
    begins_uncommon: bool,
    /// Whether it begins with a line end, which is part of the line end before it.
    begins_with_end: bool,
    /// Whether it has a line end.
    is_terminated: bool,
}

impl LinePrice {
    /// Returns the price of a line. Reads it once.
    pub(crate) fn of(line: &str) -> LinePrice {
        let mut scan = TokenScan::new(line.as_bytes(), ByteKind::LineEnd);
        let mut hundredths = 0_u32;
        let mut begins_uncommon = None;
        while scan.at < line.len() {
            hundredths = hundredths.saturating_add(scan.piece(line));
            begins_uncommon.get_or_insert(scan.plain_words == 1);
        }
        LinePrice {
            hundredths,
            leading: scan.leading,
            trailing: scan.plain_words,
            ends_row: scan.ends_row,
            begins_uncommon: begins_uncommon.unwrap_or(false),
            begins_with_end: line.starts_with(['\n', '\r']),
            is_terminated: line.ends_with('\n'),
        }
    }
}

/// A line of a text with its price.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownLine {
    /// Its offset in the text.
    pub(crate) start: usize,
    /// Its length in bytes.
    pub(crate) bytes: usize,
    /// Its price.
    pub(crate) price: LinePrice,
}

/// Returns consecutive lines, given by their lengths and prices, from offset `start` of a text on.
pub(crate) fn known_lines(lines: impl Iterator<Item = (usize, LinePrice)>, start: usize) -> Vec<KnownLine> {
    let mut start = start;
    let mut known = Vec::with_capacity(lines.size_hint().1.unwrap_or_default());
    known.extend(lines.map(|(bytes, price)| {
        start += bytes;
        KnownLine { start: start - bytes, bytes, price }
    }));
    known
}

/// What the price of the next piece depends on.
#[derive(Clone, Copy)]
struct ScanState {
    before: ByteKind,
    plain_words: usize,
}

impl ScanState {
    /// Returns the price of a line in this state, and the state behind it; `None` if the line has to be read again.
    fn after(self, line: &LinePrice) -> Option<(u32, ScanState)> {
        let is_start = match self.before {
            ByteKind::LineEnd => false,
            ByteKind::Start => true,
            _ => return None,
        };
        let is_independent = self.plain_words == 0 && !is_start;
        if !is_independent && self.plain_words + line.leading > FOREIGN_AFTER {
            return None;
        }
        let extra = if is_start && line.begins_with_end { price::LINE_END } else { 0 };
        let first = usize::from(is_start && line.begins_uncommon);
        let plain_words = if line.ends_row { line.trailing } else { self.plain_words + line.leading - first };
        Some((line.hundredths + extra, ScanState { before: ByteKind::LineEnd, plain_words }))
    }
}

/// Bytes that this thread has read for estimates.
#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    thread_local! {
        static READ: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts bytes that were read.
    pub(super) fn add(bytes: usize) {
        READ.set(READ.get() + bytes);
    }

    /// Returns the number of bytes that are read meanwhile.
    pub(crate) fn of<T>(run: impl FnOnce() -> T) -> (T, usize) {
        let before = READ.get();
        let done = run();
        (done, READ.get() - before)
    }
}

/// Class of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteKind {
    Start,
    Upper,
    Lower,
    Digit,
    Blank,
    LineEnd,
    Sign,
    Beyond,
}

const fn kind_of(byte: u8) -> ByteKind {
    match byte {
        b'A'..=b'Z' => ByteKind::Upper,
        b'a'..=b'z' => ByteKind::Lower,
        b'0'..=b'9' => ByteKind::Digit,
        b'\n' | b'\r' => ByteKind::LineEnd,
        b' ' | b'\t' | 0x0b | 0x0c => ByteKind::Blank,
        0x80.. => ByteKind::Beyond,
        _ => ByteKind::Sign,
    }
}

/// Lookup table of [`kind_of`], because the scan classifies every byte.
const KINDS: [ByteKind; 256] = {
    let mut kinds = [ByteKind::Start; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = kind_of(byte as u8);
        byte += 1;
    }
    kinds
};

/// Number of consecutive words, separated only by blanks, commas and quotes, after which a text without any common English word is
/// treated as foreign: another language, or a list of unusual words. English comments have a common word at least every fifth.
const FOREIGN_AFTER: usize = 12;

struct TokenScan<'t> {
    text: &'t [u8],
    at: usize,
    /// Class of the piece before `at`.
    before: ByteKind,
    /// Number of consecutive words that are not common in English.
    plain_words: usize,
    /// The same at the start of the text, before anything else.
    leading: usize,
    /// Whether anything has ended a row of such words.
    ends_row: bool,
}

impl<'t> TokenScan<'t> {
    /// Begins at the start of a text, behind a byte of this class.
    fn new(text: &'t [u8], before: ByteKind) -> TokenScan<'t> {
        TokenScan { text, at: 0, before, plain_words: 0, leading: 0, ends_row: false }
    }

    fn state(&self) -> ScanState {
        ScanState { before: self.before, plain_words: self.plain_words }
    }

    /// Ends the row of uncommon words.
    fn end_row(&mut self) {
        self.plain_words = 0;
        self.ends_row = true;
    }

    /// Returns the price of the next piece and advances behind it.
    fn piece(&mut self, text: &str) -> u32 {
        let start = self.at;
        let price = match KINDS[usize::from(self.text[start])] {
            ByteKind::Upper | ByteKind::Lower => self.word(),
            ByteKind::Digit => self.digits(),
            ByteKind::Blank => self.blanks(),
            ByteKind::LineEnd => self.line_ends(),
            ByteKind::Beyond => self.beyond_ascii(text),
            ByteKind::Sign | ByteKind::Start => self.signs(),
        };
        self.before = KINDS[usize::from(self.text[self.at - 1])];
        #[cfg(test)]
        work::add(self.at - start);
        debug_assert!(self.at > start, "each piece has a byte");
        price
    }

    /// Skips all bytes of a class and returns their number.
    fn skip(&mut self, kind: ByteKind) -> usize {
        let start = self.at;
        while self.kind() == Some(kind) {
            self.at += 1;
        }
        self.at - start
    }

    /// Returns the class of the byte at `at`.
    fn kind(&self) -> Option<ByteKind> {
        self.text.get(self.at).map(|byte| KINDS[usize::from(*byte)])
    }

    /// Capitals, then lower-case letters.
    fn word(&mut self) -> u32 {
        let start = self.at;
        let capitals = self.skip(ByteKind::Upper);
        let small = self.skip(ByteKind::Lower);
        let letters = capitals + small;
        let is_quoted = start > 0 && matches!(self.text[start - 1], b'"' | b'\'');
        let is_apart = is_quoted || matches!(self.before, ByteKind::Blank | ByteKind::LineEnd);
        let is_prose = is_apart && capitals <= 1 && small > 0;
        let is_plain = is_prose && !is_common(&self.text[start..self.at]);
        if is_plain {
            self.plain_words += 1;
            self.leading += usize::from(!self.ends_row);
        } else {
            self.end_row();
        }
        if self.before == ByteKind::Digit {
            return price::AFTER_DIGIT + price::AFTER_DIGIT_LETTER * above(letters, 1);
        }
        if small == 0 && capitals > 1 {
            return price::CAPITALS + price::CAPITAL * above(capitals, 2);
        }
        if self.plain_words > FOREIGN_AFTER {
            return price::FOREIGN_LETTER * above(letters, 0);
        }
        let extra = if capitals > 1 { price::CAPITALS_AND_WORD } else { 0 };
        let random = price::RANDOM_LETTER * above(letters, 24);
        extra
            + price::WORDS
                .get(letters - 1)
                .copied()
                .unwrap_or_else(|| price::LONG_WORD + price::LONG_WORD_LETTER * above(letters, 10) + random)
    }

    fn digits(&mut self) -> u32 {
        self.end_row();
        price::DIGITS * above(self.skip(ByteKind::Digit).div_ceil(3), 0)
    }

    fn blanks(&mut self) -> u32 {
        let count = self.skip(ByteKind::Blank);
        match self.kind() {
            // They merge with the line end.
            Some(ByteKind::LineEnd) => 0,
            Some(ByteKind::Digit) => price::BLANKS,
            _ if count > 1 => price::BLANKS,
            _ => 0,
        }
    }

    fn line_ends(&mut self) -> u32 {
        self.skip(ByteKind::LineEnd);
        match self.before {
            // A part of the line end of a known line.
            ByteKind::LineEnd => 0,
            ByteKind::Sign => price::LINE_END_BEHIND_SIGN,
            _ => price::LINE_END,
        }
    }

    fn signs(&mut self) -> u32 {
        let start = self.at;
        let count = self.skip(ByteKind::Sign);
        let signs = &self.text[start..self.at];
        let is_list = signs.iter().all(|sign| matches!(sign, b'"' | b'\'' | b','));
        if !is_list && !matches!(signs, [b'.' | b';' | b':']) {
            self.end_row();
        }
        if count == 1 {
            let is_before_word = matches!(self.kind(), Some(ByteKind::Upper | ByteKind::Lower));
            return if is_before_word { price::SIGN_BEFORE_WORD } else { price::SIGN };
        }
        let changes = signs.windows(2).filter(|pair| pair[0] != pair[1]).count();
        price::SIGNS
            + price::OTHER_SIGN * above(changes, 0)
            + price::RANDOM_SIGN * above(changes, 8)
            + price::SAME_SIGN * above(count - 1 - changes, 0)
    }

    fn beyond_ascii(&mut self, text: &str) -> u32 {
        // `at` is a character boundary: every other piece is ASCII.
        let Some(found) = text.get(self.at..).and_then(|rest| rest.chars().next()) else {
            self.at += 1;
            return price::OTHER[2];
        };
        self.at += found.len_utf8();
        // A letter with a diacritic belongs to a word of another language.
        if !found.is_alphabetic() {
            self.end_row();
        }
        match found {
            '\u{80}'..='\u{24f}' => price::LATIN,
            '\u{370}'..='\u{5ff}' if found.is_alphabetic() => price::ALPHABETIC,
            '\u{2010}'..='\u{206f}' | '\u{3000}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' => price::EAST_ASIAN,
            '\u{ac00}'..='\u{d7af}' | '\u{ff00}'..='\u{ffef}' => price::EAST_ASIAN,
            _ => price::OTHER[(found.len_utf8() - 2).min(2)],
        }
    }
}

/// Returns by how much a count exceeds another, as a factor for prices.
fn above(count: usize, other: usize) -> u32 {
    u32::try_from(count.saturating_sub(other)).unwrap_or(u32::MAX / 1_000)
}

/// Returns whether a word is one of the most frequent English words.
fn is_common(word: &[u8]) -> bool {
    /// Length of the longest word below, in letters.
    const LONGEST: usize = 5;
    if word.len() > LONGEST {
        return false;
    }
    let mut lower = [0; LONGEST];
    for (to, from) in lower.iter_mut().zip(word) {
        *to = from.to_ascii_lowercase();
    }
    matches!(
        &lower[..word.len()],
        b"a" | b"an"
            | b"and"
            | b"are"
            | b"as"
            | b"at"
            | b"be"
            | b"but"
            | b"by"
            | b"can"
            | b"do"
            | b"for"
            | b"from"
            | b"has"
            | b"have"
            | b"if"
            | b"in"
            | b"is"
            | b"it"
            | b"not"
            | b"of"
            | b"on"
            | b"or"
            | b"that"
            | b"the"
            | b"then"
            | b"this"
            | b"to"
            | b"was"
            | b"we"
            | b"when"
            | b"which"
            | b"will"
            | b"with"
            | b"you"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn empty_text_has_no_tokens() {
        assert_eq!(estimate(""), 0);
    }

    #[test]
    fn estimate_is_scaled_by_the_token_count_of_the_sample() {
        let text = "for (let index = 0; index < values.length; index++) {\n";
        let count = |sample| TokenEstimator::calibrated(sample).count(text);
        assert_eq!(count(SAMPLE_TOKENS), estimate(text));
        assert_eq!(count(2 * SAMPLE_TOKENS), 2 * estimate(text));
        assert_eq!(count(SAMPLE_TOKENS / 2), estimate(text).div_ceil(2));
        let high = estimate(SAMPLE) as f64 / SAMPLE_TOKENS as f64;
        assert!((1.0..1.2).contains(&high), "the sample is as other code: {high}");
    }

    #[test]
    fn text_unlike_english_has_a_higher_estimate() {
        let english = "this is a comment that says in many words what the function does and why it is so ";
        let latin = "maecenas ullamcorper elementum sodales ridiculus vestibulum porttitor perspiciatis ";
        let grows = |text: &str| estimate(&text.repeat(6)) as f64 / (6 * estimate(text)) as f64;
        assert!(
            (0.9..1.1).contains(&grows(english)) && grows(latin) > 2.0,
            "{} {}",
            grows(english),
            grows(latin)
        );
    }

    proptest! {
        #[test]
        fn priced_lines_add_up_to_the_text(
            before in "[a-z<>\n ]{0,8}",
            lines in prop::collection::vec("[ \t]{0,2}([a-z]{1,9}[ ,'.(1é漢]{0,2}){0,16}[\r ]?", 0..8),
            last in "[a-z ]{0,12}",
            after in "[a-z<>\n ]{0,8}",
        ) {
            let lines: Vec<String> =
                lines.into_iter().map(|line| line + "\n").chain((!last.is_empty()).then_some(last)).collect();
            let text = lines.concat();
            let prices: Vec<LinePrice> = lines.iter().map(|line| LinePrice::of(line)).collect();
            let lengths = prices.iter().zip(lines.iter().map(String::len));
            if let Some(tokens) = TokenEstimator::default().count_lines(lengths) {
                prop_assert_eq!(tokens, estimate(&text), "{:?}", text);
            }
            let mut start = before.len();
            let known: Vec<KnownLine> = prices.iter().zip(&lines).map(|(&price, line)| {
                let bytes = line.len();
                start += bytes;
                KnownLine { start: start - bytes, bytes, price }
            }).collect();
            let whole = [before, text, after].concat();
            let tokens = TokenEstimator::default().count_with_lines(&whole, &known);
            prop_assert_eq!(tokens, estimate(&whole), "{:?}", whole);
        }

        #[test]
        fn estimate_is_positive_and_at_most_max_tokens(text in "\\PC*|[\\x00-\\x7f]*|[a-zA-Z0-9 \n_.é漢🦀]*") {
            // A byte is at most one token, and everything but blanks counts.
            prop_assert!(estimate(&text) <= max_tokens(text.len()));
            let is_blank = text.bytes().all(|byte| kind_of(byte) == ByteKind::Blank);
            prop_assert!(is_blank || estimate(&text) > 0);
        }

        #[test]
        fn longer_text_has_no_lower_estimate(text in "[a-zA-Z0-9 \n_.(){}é漢]{0,80}", cut in 0_usize..80) {
            let cut = text.floor_char_boundary(cut);
            // A piece may merge with another one at the cut.
            prop_assert!(estimate(&text[..cut]) <= estimate(&text) + 2, "{:?}", &text[..cut]);
        }
    }
}
