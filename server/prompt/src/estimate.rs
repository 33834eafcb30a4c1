//! How many tokens a text has, without a vocabulary.
//!
//! Tokenizers of today cut a text by the same rules before they look anything up: a word with the sign or blank before it, digits in
//! groups of three, signs in a row, blanks in a row, line ends. What is estimated is those pieces, each at what it costs on average.
//!
//! The prices were fitted to the dearer of tiktoken's `o200k_base` and `cl100k_base` on pieces of 3,000 characters of 50 public
//! repositories in ten languages, and then rounded. On those the estimate is 9 % high on average.
//!
//! It is an estimate and no bound: lists of unusual names, words of another language and random characters have come out up to 18 %
//! low. The bound that holds for every text is its length ([`most_tokens`]). What needs to be exact asks the model's own tokenizer
//! ([`estimate_by`]), and a server refuses a prompt that is too long. `tests/golden.rs` checks these statements.
//!
//! ```text
//!     return_value = compute(hash, 12345)\n
//! ^^^^      ^     ^ ^       ^    ^ ^  ^   ^^
//! blanks    signs and words ...  digits   sign and line end
//! ```

/// Prices in hundredths of a token.
mod price {
    /// A word of one, two, three, 4 to 6, 7 to 9 letters. A sign or one blank before it is a part of it.
    pub(super) const WORDS: [u32; 9] = [102, 95, 105, 98, 98, 98, 112, 112, 112];
    /// A longer word, and each letter of it above ten.
    pub(super) const LONG_WORD: u32 = 120;
    pub(super) const LONG_WORD_LETTER: u32 = 30;
    /// What each letter above 24 costs more: no word is so long, such letters are random.
    pub(super) const RANDOM_LETTER: u32 = 30;
    /// Two capitals, and each further one of a word of capitals: such words are seldom in a vocabulary.
    pub(super) const CAPITALS: u32 = 62;
    pub(super) const CAPITAL: u32 = 19;
    /// What `HTTPServer` costs more than a word of its length.
    pub(super) const CAPITALS_AND_WORD: u32 = 150;
    /// A letter directly behind a digit, and each further one: hashes, encoded data, names such as `x86`.
    pub(super) const AFTER_DIGIT: u32 = 110;
    pub(super) const AFTER_DIGIT_LETTER: u32 = 30;
    /// Each letter of a word in a text that does not read like English.
    pub(super) const FOREIGN_LETTER: u32 = 36;
    /// Up to three digits.
    pub(super) const DIGITS: u32 = 108;
    /// Two blanks or more, or one before a digit.
    pub(super) const BLANKS: u32 = 96;
    /// Line ends behind signs, which are a part of these, and behind anything else.
    pub(super) const LINE_END_BEHIND_SIGN: u32 = 6;
    pub(super) const LINE_END: u32 = 112;
    /// One sign before a word, which often is a part of it, and before anything else.
    pub(super) const SIGN_BEFORE_WORD: u32 = 56;
    pub(super) const SIGN: u32 = 125;
    /// Several signs: the first, each that differs from the one before it, and each that repeats it.
    pub(super) const SIGNS: u32 = 115;
    pub(super) const OTHER_SIGN: u32 = 18;
    pub(super) const SAME_SIGN: u32 = 5;
    /// What each change of sign above eight costs more: code has no such signs, they are random.
    pub(super) const RANDOM_SIGN: u32 = 52;
    /// A character beyond ASCII: of Latin; of Greek, Cyrillic and their like; of East Asian writing and typography; any other by its
    /// bytes in UTF-8 (two, three, four).
    pub(super) const LATIN: u32 = 100;
    pub(super) const ALPHABETIC: u32 = 110;
    pub(super) const EAST_ASIAN: u32 = 150;
    pub(super) const OTHER: [u32; 3] = [170, 260, 350];
}

/// The most tokens that any text of so many bytes has: each token of a byte-level vocabulary is at least one byte, and those of
/// SentencePiece add one blank at the start.
pub const fn most_tokens(bytes: usize) -> usize {
    bytes + 1
}

/// The estimated number of tokens of a text, about 8 % above the truth for code on average; never more than [`most_tokens`].
pub fn estimate(text: &str) -> usize {
    let mut scan = Scan { text: text.as_bytes(), at: 0, before: Kind::Start, plain_words: 0 };
    let mut hundredths = 0_u64;
    while scan.at < text.len() {
        hundredths += u64::from(scan.piece(text));
    }
    (hundredths.div_ceil(100) as usize).min(most_tokens(text.len()))
}

/// Code in six languages, for a model's own tokenizer to be asked how many tokens it makes of it.
pub const SAMPLE: &str = include_str!("sample.txt");

/// Tokens of [`SAMPLE`] by tiktoken's `o200k_base`, the dearer of the two that prices were fitted to.
const SAMPLE_TOKENS: usize = 604;

/// How many tokens a text has for a model whose own tokenizer makes `sample` of [`SAMPLE`]: the estimate, dearer or cheaper by as much.
/// The fewer words a vocabulary has, the more tokens are made of the same code.
pub fn estimate_by(sample: usize) -> impl Fn(&str) -> usize {
    move |text| (estimate(text) * sample).div_ceil(SAMPLE_TOKENS)
}

/// What a byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Start,
    Upper,
    Lower,
    Digit,
    Blank,
    LineEnd,
    Sign,
    Beyond,
}

const fn kind_of(byte: u8) -> Kind {
    match byte {
        b'A'..=b'Z' => Kind::Upper,
        b'a'..=b'z' => Kind::Lower,
        b'0'..=b'9' => Kind::Digit,
        b'\n' | b'\r' => Kind::LineEnd,
        b' ' | b'\t' | 0x0b | 0x0c => Kind::Blank,
        0x80.. => Kind::Beyond,
        _ => Kind::Sign,
    }
}

/// [`kind_of`] for all bytes: the scan looks at each one.
const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Start; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = kind_of(byte as u8);
        byte += 1;
    }
    kinds
};

/// After so many words in a row, set apart by blanks, commas and quotes only and none of them common in English, a text is not English: another
/// language, or a list of unusual words. Comments in English have a common word at least every fifth.
const FOREIGN_AFTER: usize = 12;

struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    /// What stands before `at`.
    before: Kind,
    /// Words in a row that are not common in English.
    plain_words: usize,
}

impl Scan<'_> {
    /// The price of the next piece; moves behind it.
    fn piece(&mut self, text: &str) -> u32 {
        let start = self.at;
        let price = match KINDS[usize::from(self.text[start])] {
            Kind::Upper | Kind::Lower => self.word(),
            Kind::Digit => self.digits(),
            Kind::Blank => self.blanks(),
            Kind::LineEnd => self.line_ends(),
            Kind::Beyond => self.beyond_ascii(text),
            Kind::Sign | Kind::Start => self.signs(),
        };
        self.before = KINDS[usize::from(self.text[self.at - 1])];
        debug_assert!(self.at > start, "each piece has a byte");
        price
    }

    /// Moves behind all bytes of a kind; how many there were.
    fn skip(&mut self, kind: Kind) -> usize {
        let start = self.at;
        while self.kind() == Some(kind) {
            self.at += 1;
        }
        self.at - start
    }

    /// What stands at `at`.
    fn kind(&self) -> Option<Kind> {
        self.text.get(self.at).map(|byte| KINDS[usize::from(*byte)])
    }

    /// Capitals, then small letters.
    fn word(&mut self) -> u32 {
        let start = self.at;
        let capitals = self.skip(Kind::Upper);
        let small = self.skip(Kind::Lower);
        let letters = capitals + small;
        let is_quoted = start > 0 && matches!(self.text[start - 1], b'"' | b'\'');
        let is_apart = is_quoted || matches!(self.before, Kind::Blank | Kind::LineEnd);
        let is_prose = is_apart && capitals <= 1 && small > 0;
        let is_plain = is_prose && !is_common(&self.text[start..self.at]);
        self.plain_words = if is_plain { self.plain_words + 1 } else { 0 };
        if self.before == Kind::Digit {
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
        price::DIGITS * above(self.skip(Kind::Digit).div_ceil(3), 0)
    }

    fn blanks(&mut self) -> u32 {
        let count = self.skip(Kind::Blank);
        match self.kind() {
            // They are a part of the line end.
            Some(Kind::LineEnd) => 0,
            Some(Kind::Digit) => price::BLANKS,
            _ if count > 1 => price::BLANKS,
            _ => 0,
        }
    }

    fn line_ends(&mut self) -> u32 {
        self.skip(Kind::LineEnd);
        if self.before == Kind::Sign { price::LINE_END_BEHIND_SIGN } else { price::LINE_END }
    }

    fn signs(&mut self) -> u32 {
        let start = self.at;
        let count = self.skip(Kind::Sign);
        let signs = &self.text[start..self.at];
        let is_list = signs.iter().all(|sign| matches!(sign, b'"' | b'\'' | b','));
        if !is_list && !matches!(signs, [b'.' | b';' | b':']) {
            self.plain_words = 0;
        }
        if count == 1 {
            let is_before_word = matches!(self.kind(), Some(Kind::Upper | Kind::Lower));
            return if is_before_word { price::SIGN_BEFORE_WORD } else { price::SIGN };
        }
        let changes = signs.windows(2).filter(|pair| pair[0] != pair[1]).count();
        price::SIGNS
            + price::OTHER_SIGN * above(changes, 0)
            + price::RANDOM_SIGN * above(changes, 8)
            + price::SAME_SIGN * above(count - 1 - changes, 0)
    }

    fn beyond_ascii(&mut self, text: &str) -> u32 {
        // `at` is between two characters: every other piece is ASCII.
        let Some(found) = text.get(self.at..).and_then(|rest| rest.chars().next()) else {
            self.at += 1;
            return price::OTHER[2];
        };
        self.at += found.len_utf8();
        // A letter with a mark is a part of a word of another language.
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

/// How much a count is above another, as a factor of prices.
fn above(count: usize, other: usize) -> u32 {
    u32::try_from(count.saturating_sub(other)).unwrap_or(u32::MAX / 1_000)
}

/// Whether a word is among those that English text cannot do without.
fn is_common(word: &[u8]) -> bool {
    /// Longest of the words below, in letters.
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
    fn nothing_has_no_tokens() {
        assert_eq!(estimate(""), 0);
    }

    #[test]
    fn a_model_s_own_tokenizer_makes_texts_dearer_or_cheaper() {
        let text = "for (let index = 0; index < values.length; index++) {\n";
        assert_eq!(estimate_by(SAMPLE_TOKENS)(text), estimate(text));
        assert_eq!(estimate_by(2 * SAMPLE_TOKENS)(text), 2 * estimate(text));
        assert_eq!(estimate_by(SAMPLE_TOKENS / 2)(text), estimate(text).div_ceil(2));
        let high = estimate(SAMPLE) as f64 / SAMPLE_TOKENS as f64;
        assert!((1.0..1.2).contains(&high), "the sample is as other code: {high}");
    }

    #[test]
    fn text_that_does_not_read_like_english_is_dearer() {
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
        fn any_text_has_an_estimate(text in "\\PC*|[\\x00-\\x7f]*|[a-zA-Z0-9 \n_.é漢🦀]*") {
            // No byte is more than one token, and all but blanks are some.
            prop_assert!(estimate(&text) <= most_tokens(text.len()));
            let is_blank = text.bytes().all(|byte| kind_of(byte) == Kind::Blank);
            prop_assert!(is_blank || estimate(&text) > 0);
        }

        #[test]
        fn longer_texts_have_no_fewer_tokens(text in "[a-zA-Z0-9 \n_.(){}é漢]{0,80}", cut in 0_usize..80) {
            let cut = text.floor_char_boundary(cut);
            // One piece at the cut may become a part of another.
            prop_assert!(estimate(&text[..cut]) <= estimate(&text) + 2, "{:?}", &text[..cut]);
        }
    }
}
