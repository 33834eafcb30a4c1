//! The tokens of a text that changes at its end, as the text before a cursor does: only the lines near the change are lexed again.
//!
//! Tokens before a plain line end do not depend on text that begins [`LOOKAHEAD_BYTES`] behind it, as in [`super::lexed_prefix`].

use std::sync::{Arc, OnceLock};

use super::lexed_prefix::{LOOKAHEAD_BYTES, starts_plain_line};
use super::{Lexer, Token, TokenKind};
use crate::{Language, unopened_closers};

/// A text with its tokens; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct LexedText {
    language: Language,
    text: Arc<str>,
    tokens: Arc<[Token]>,
    closers: Arc<OnceLock<Option<Arc<[u8]>>>>,
}

impl LexedText {
    /// Lexes a text.
    pub(crate) fn new(language: Language, text: &str) -> LexedText {
        LexedText::with_tokens(language, text, super::lex(language, text))
    }

    fn with_tokens(language: Language, text: &str, tokens: Vec<Token>) -> LexedText {
        LexedText { language, text: text.into(), tokens: tokens.into(), closers: Arc::default() }
    }

    /// Returns whether it is the lexed `text`.
    pub(crate) fn is_of(&self, language: Language, text: &str) -> bool {
        self.language == language && *self.text == *text
    }

    /// Returns the tokens.
    pub(crate) fn tokens(&self) -> &Arc<[Token]> {
        &self.tokens
    }

    /// Returns its [unopened closers](unopened_closers), read by the first call.
    pub(crate) fn unopened_closers(&self) -> Option<Arc<[u8]>> {
        let read = || unopened_closers(self.language, &self.text, &self.tokens).map(Arc::from);
        self.closers.get_or_init(read).clone()
    }

    /// Returns `text` with its tokens. Lexes only what this text does not have; `None` if that is everything.
    pub(crate) fn continued(&self, language: Language, text: &str) -> Option<LexedText> {
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
        let place = self.tokens.iter().rposition(is_restart)?;
        let newline = self.tokens[place].range.clone();
        let lexer = Lexer {
            at: newline.end,
            newline: Some(newline),
            tokens: self.tokens[..place].to_vec(),
            ..Lexer::new(language, text)
        };
        Some(LexedText::with_tokens(language, text, lexer.rest_of_tokens()))
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

    use super::super::lex;
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
            let lexed = LexedText::new(language, &old);
            if let Some(continued) = lexed.continued(language, &new) {
                prop_assert_eq!(&continued.tokens[..], &lex(language, &new)[..], "{:?} to {:?}", old, new);
            }
        }
    }
}
