//! The brackets that a text closes without opening them.

use super::StatementReader;
use crate::{Language, Token, TokenKind};

/// Returns the closing brackets of `text` whose opening brackets precede it, in order. `None` if `text` leaves a bracket open. `tokens` are
/// its tokens.
pub(crate) fn unopened_closers(language: Language, text: &str, tokens: &[Token]) -> Option<Vec<u8>> {
    let mut closers = Vec::new();
    let mut reader = StatementReader::new(language);
    for token in tokens {
        let written = text.as_bytes()[token.range.start];
        let closes = token.kind == TokenKind::Punctuation && matches!(written, b')' | b']' | b'}');
        if closes && reader.open().is_empty() && !reader.is_directive(text, token) {
            closers.push(written);
        }
        reader.read(text, token, 0);
    }
    reader.open().is_empty().then_some(closers)
}
