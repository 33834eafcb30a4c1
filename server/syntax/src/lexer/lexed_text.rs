//! The tokens of a text that changes at its end, as the text before a cursor does: only the lines near the change are lexed again.
//!
//! Tokens before a plain line end do not depend on text that begins [`LOOKAHEAD_BYTES`] behind it, as in [`super::lexed_prefix`].

use std::sync::OnceLock;

use super::lexed_prefix::{LOOKAHEAD_BYTES, starts_plain_line};
use super::{Lexer, Token, TokenKind};
use crate::Language;
use crate::statement_reader::unopened_closers;

/// A text with its tokens and closing brackets.
#[derive(Clone, Debug)]
pub struct LexedText {
    language: Language,
    text: String,
    tokens: Vec<Token>,
    closers: OnceLock<Option<Box<[u8]>>>,
}

impl LexedText {
    /// Lexes a text.
    pub fn new(language: Language, text: &str) -> LexedText {
        let tokens = super::lex(language, text);
        LexedText { language, text: text.to_owned(), tokens, closers: OnceLock::new() }
    }

    /// Returns whether it is the lexed `text`.
    pub(crate) fn is_of(&self, language: Language, text: &str) -> bool {
        self.language == language && *self.text == *text
    }

    /// Returns the tokens: the result of [`lex`](super::lex()).
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Returns its closing brackets whose opening brackets precede it, in order; `None` if it leaves a bracket open. Read by the first call.
    pub fn unopened_closers(&self) -> Option<&[u8]> {
        let read = || unopened_closers(self.language, &self.text, &self.tokens).map(Vec::into_boxed_slice);
        self.closers.get_or_init(read).as_deref()
    }

    /// Returns the number of tokens that it shares for certain with `text`, and that end with a line; `None` if there are none.
    pub(crate) fn shared_tokens(&self, language: Language, text: &str) -> Option<usize> {
        if self.language != language {
            return None;
        }
        let same = common_prefix(&self.text, text);
        let is_restart = |token: &Token| {
            let line = token.range.end;
            token.kind == TokenKind::Newline
                && line + LOOKAHEAD_BYTES <= same
                && starts_plain_line(&text.as_bytes()[..line])
        };
        self.tokens.iter().rposition(is_restart)
    }

    /// Becomes `text`, with which it shares this number of tokens. Lexes only the others.
    pub(crate) fn become_text(&mut self, text: &str, shared: usize) {
        let newline = self.tokens[shared].range.clone();
        self.text.replace_range(newline.end.., &text[newline.end..]);
        self.tokens.truncate(shared);
        let lexer = Lexer {
            at: newline.end,
            newline: Some(newline),
            tokens: std::mem::take(&mut self.tokens),
            ..Lexer::new(self.language, &self.text)
        };
        self.tokens = lexer.rest_of_tokens();
        self.closers = OnceLock::new();
    }
}

/// Returns the length of the common prefix, in bytes.
fn common_prefix(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let whole =
        one.chunks(PIECE_BYTES).zip(other.chunks(PIECE_BYTES)).take_while(|(one, other)| one == other);
    let start = (whole.count() * PIECE_BYTES).min(one.len()).min(other.len());
    start + one[start..].iter().zip(&other[start..]).take_while(|(one, other)| one == other).count()
}

/// Bytes compared at a time.
const PIECE_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{code, language};
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]

        #[test]
        fn tokens_equal_those_of_the_whole_text(
            language in language(),
            same in prop::collection::vec(code(), 1..8),
            [old, new] in [code(), code()],
        ) {
            let [old, new] = [old, new].map(|end| [same.join("\n"), end].concat());
            let mut lexed = LexedText::new(language, &old);
            lexed.unopened_closers();
            if let Some(shared) = lexed.shared_tokens(language, &new) {
                lexed.become_text(&new, shared);
                let fresh = LexedText::new(language, &new);
                prop_assert_eq!(lexed.tokens(), fresh.tokens(), "{:?} to {:?}", old, new);
                prop_assert_eq!(lexed.unopened_closers(), fresh.unopened_closers());
                prop_assert_eq!(lexed.text, new);
            }
        }
    }
}
