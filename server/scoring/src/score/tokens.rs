//! Tokens of an answer: white space, line ends and comments do not count.

use syntax::{Language, TokenKind};

use crate::cceval::is_keyword;

/// Tokens of a text in order.
pub(super) struct Tokens<'a> {
    language: Language,
    tokens: Vec<(TokenKind, &'a str)>,
}

impl PartialEq for Tokens<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.tokens == other.tokens
    }
}

impl<'a> Tokens<'a> {
    pub(super) fn new(language: Language, text: &'a str) -> Tokens<'a> {
        let tokens = syntax::lex(language, text)
            .into_iter()
            .filter(|token| token.kind != TokenKind::Newline)
            .map(|token| (token.kind, &text[token.range]))
            .collect();
        Tokens { language, tokens }
    }

    /// Returns the words that are no keywords.
    pub(super) fn identifiers(&self) -> Vec<&'a str> {
        self.tokens
            .iter()
            .filter(|&&(kind, word)| kind == TokenKind::Word && !is_keyword(self.language, word))
            .map(|&(_, word)| word)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: Language, a: &str, b: &str, expected: bool) {
        assert_eq!(Tokens::new(language, a) == Tokens::new(language, b), expected, "{a:?} and {b:?}");
    }

    #[test]
    fn token_equality_ignores_layout_and_comments() {
        check(Language::Rust, "f( a,b ) // c\r\n", "f(a, b)", true);
        check(Language::Python, "x = 1  # one\ny", "x=1\n\n\ny", true);
        check(Language::C, "", " /* nothing */\n", true);
    }

    #[test]
    fn token_equality_respects_strings_and_punctuation() {
        check(Language::Rust, "a b", "ab", false);
        check(Language::Python, "'a b'", "'a  b'", false);
        check(Language::Java, "f(a)", "f(a);", false);
        check(Language::Java, "é", "e\u{301}", false);
    }

    #[test]
    fn identifiers_exclude_strings_and_comments() {
        let tokens = Tokens::new(Language::Rust, "let x = y.z(\"w\", 1); // v\nx");
        assert_eq!(tokens.identifiers(), ["x", "y", "z", "x"]);
    }
}
