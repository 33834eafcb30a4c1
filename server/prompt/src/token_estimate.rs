//! Estimates the number of tokens of a text without a vocabulary.
//!
//! Current tokenizers split a text by the same rules before they look anything up: a word with the sign or blank before it, groups
//! of three digits, rows of signs, rows of blanks, line ends. The estimate is the sum of the average costs of these pieces.
//!
//! The prices were fitted to the larger count of tiktoken's `o200k_base` and `cl100k_base` on pieces of 3,000 characters from 50
//! public repositories in ten languages, and then rounded. On those the estimate is 9 % high on average.
//!
//! The estimate is not a bound: lists of unusual names, words of another language and random characters came out up to 18 % low.
//! The length of a text is a bound ([`max_tokens`]). Exact counts need the model's own tokenizer ([`calibrated_estimate`]), and a server
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
    let mut scan = TokenScan { text: text.as_bytes(), at: 0, before: ByteKind::Start, plain_words: 0 };
    let mut hundredths = 0_u64;
    while scan.at < text.len() {
        hundredths += u64::from(scan.piece(text));
    }
    (hundredths.div_ceil(100) as usize).min(max_tokens(text.len()))
}

/// Code in six languages, to be counted by a model's own tokenizer.
pub const SAMPLE: &str = include_str!("sample.txt");

/// Tokens of [`SAMPLE`] by tiktoken's `o200k_base`, the larger of the two counts that the prices were fitted to.
const SAMPLE_TOKENS: usize = 604;

/// Returns an estimate for a model whose own tokenizer counts `sample` tokens in [`SAMPLE`]: the estimate scaled by the same
/// factor. Smaller vocabularies produce more tokens for the same code.
pub fn calibrated_estimate(sample: usize) -> impl Fn(&str) -> usize {
    move |text| (estimate(text) * sample).div_ceil(SAMPLE_TOKENS)
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
}

impl TokenScan<'_> {
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
        self.plain_words = if is_plain { self.plain_words + 1 } else { 0 };
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
        let long_word = || price::LONG_WORD + price::LONG_WORD_LETTER * above(letters, 10) + random;
        extra + price::WORDS.get(letters - 1).copied().unwrap_or_else(long_word)
    }

    fn digits(&mut self) -> u32 {
        self.plain_words = 0;
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
        if self.before == ByteKind::Sign { price::LINE_END_BEHIND_SIGN } else { price::LINE_END }
    }

    fn signs(&mut self) -> u32 {
        let start = self.at;
        let count = self.skip(ByteKind::Sign);
        let signs = &self.text[start..self.at];
        let is_list = signs.iter().all(|sign| matches!(sign, b'"' | b'\'' | b','));
        if !is_list && !matches!(signs, [b'.' | b';' | b':']) {
            self.plain_words = 0;
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
            self.plain_words = 0;
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
        assert_eq!(calibrated_estimate(SAMPLE_TOKENS)(text), estimate(text));
        assert_eq!(calibrated_estimate(2 * SAMPLE_TOKENS)(text), 2 * estimate(text));
        assert_eq!(calibrated_estimate(SAMPLE_TOKENS / 2)(text), estimate(text).div_ceil(2));
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
