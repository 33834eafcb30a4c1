//! The tokens of many texts behind one prefix, which is lexed once.
//!
//! The lexer reads a token from its start, the byte before it and the token before it. It looks ahead within a line, past line ends
//! that are escaped or inside of the token, and past any other line end by [`LOOKAHEAD_BYTES`] at most. So the tokens before a line that
//! starts further than that before the end of the prefix are the same whatever follows the prefix.

use std::ops::Range;

use super::{Lexer, Token};
use crate::Language;

/// More than the lexer looks ahead past a plain line end: the longest delimiter of a raw string in C++, with its quote and
/// parenthesis.
pub(super) const LOOKAHEAD_BYTES: usize = 32;

/// The state of the lexer near the end of a text.
#[derive(Clone, Debug)]
pub struct LexedPrefix<'a> {
    language: Language,
    /// The text from the last token on, which decides whether a slash starts a regular expression.
    tail: &'a str,
    /// The lexer's state, with offsets in `tail`.
    state: LexerState,
}

#[derive(Clone, Debug, Default)]
struct LexerState {
    at: usize,
    newline: Option<Range<usize>>,
    last: Option<Token>,
}

impl LexerState {
    /// Returns the offset of the first byte that the state refers to.
    fn start(&self) -> usize {
        let newline = self.newline.as_ref().map_or(self.at, |newline| newline.start);
        self.last.as_ref().map_or(newline, |last| last.range.start)
    }

    fn moved_back(self, by: usize) -> LexerState {
        let moved = |range: Range<usize>| range.start - by..range.end - by;
        LexerState {
            at: self.at - by,
            newline: self.newline.map(moved),
            last: self.last.map(|token| Token { range: moved(token.range), ..token }),
        }
    }
}

impl<'a> LexedPrefix<'a> {
    /// Lexes the prefix.
    pub fn new(language: Language, prefix: &'a str) -> LexedPrefix<'a> {
        let mut lexer = Lexer::new(language, prefix);
        let mut state = LexerState::default();
        while lexer.at + LOOKAHEAD_BYTES < prefix.len() {
            lexer.step();
            lexer.forget_all_but_last();
            if lexer.at + LOOKAHEAD_BYTES <= prefix.len() && starts_plain_line(&prefix.as_bytes()[..lexer.at])
            {
                let last = lexer.tokens.last().cloned();
                state = LexerState { at: lexer.at, newline: lexer.newline.clone(), last };
            }
        }
        let start = state.start();
        LexedPrefix { language, tail: &prefix[start..], state: state.moved_back(start) }
    }

    /// Returns the tokens of the prefix followed by `text` that end in `text`, with ranges in `text`. A token that starts in the prefix
    /// has a range from 0.
    pub fn lex(&self, text: &str) -> Vec<Token> {
        let whole = [self.tail, text].concat();
        let LexerState { at, newline, last } = self.state.clone();
        let lexer =
            Lexer { at, newline, tokens: last.into_iter().collect(), ..Lexer::new(self.language, &whole) };
        let tokens = lexer.rest_of_tokens();
        let start = self.tail.len();
        let in_text = tokens.into_iter().filter(|token| token.range.end > start);
        in_text
            .map(|Token { kind, range }| Token {
                kind,
                range: range.start.saturating_sub(start)..range.end - start,
            })
            .collect()
    }
}

/// Whether `before` ends with a line end that no backslash escapes.
pub(super) fn starts_plain_line(before: &[u8]) -> bool {
    let line = before.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    line.is_some_and(|line| !line.ends_with(b"\\"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{code, language};
    use super::*;
    use crate::lexer::lex;

    #[track_caller]
    fn check(language: Language, prefix: &str, text: &str) {
        let start = prefix.len();
        let whole = lex(language, &[prefix, text].concat());
        let expected: Vec<Token> = whole
            .into_iter()
            .filter(|token| token.range.end > start)
            .map(|Token { kind, range }| Token {
                kind,
                range: range.start.saturating_sub(start)..range.end - start,
            })
            .collect();
        assert_eq!(LexedPrefix::new(language, prefix).lex(text), expected, "{prefix:?} + {text:?}");
    }

    #[test]
    fn tokens_continue_literals_names_and_comments_of_the_prefix() {
        let lines = "a = b\n".repeat(20);
        check(Language::Python, &format!("{lines}s = '''one\ntwo\n{lines}"), "three''' + x\n");
        check(Language::Python, &format!("{lines}x = val"), "ue + 1");
        check(Language::Java, &format!("{lines}/* one\n{lines}"), "two */ x");
        check(Language::TypeScript, &format!("{lines}x =\n\n{}", " ".repeat(40)), "/a b/.test(y)");
        check(Language::TypeScript, &format!("{lines}x\n\n{}", " ".repeat(40)), "/a b/.test(y)");
        check(Language::Cpp, &format!("{lines}x = R\"ab\n"), "c(one)ab\nc\" + y");
        check(Language::C, &format!("{lines}x = \"one \\\n{}", " ".repeat(40)), "two\" + y");
        check(Language::Go, "", "x := 1\n");
        check(Language::Go, &lines, "");
    }

    /// A guard on counted work: the tokens of a long prefix are read once, not for every text behind it.
    #[test]
    fn only_the_end_of_the_prefix_is_read_again() {
        let prefix = "def f(a):\n    return a\n".repeat(1000);
        let lexed = LexedPrefix::new(Language::Python, &prefix);
        assert!(lexed.tail.len() < 100, "{:?}", lexed.tail);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn tokens_equal_those_of_the_whole_text(language in language(), prefix in prop::collection::vec(code(), 1..6), text in code()) {
            check(language, &prefix.join("\n"), &text);
        }
    }
}
