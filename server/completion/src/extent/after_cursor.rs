//! Analyzes the text after the cursor: which brackets it closes, and whether it holds more of the cursor's block.

use syntax::{LexedText, OpenBracket, TokenKind};

use super::indentation;

/// The analyzed text after the cursor.
pub(super) struct TextAfter {
    /// Number of brackets open at the cursor that it closes; `None` if its closers do not match them.
    closes: Option<usize>,
    /// Number of brackets open at the cursor.
    open: usize,
    /// Its first token, if that is a closing bracket.
    closer: Option<u8>,
    /// Whether it begins with the `{` of a block.
    begins_block: bool,
    /// Whether it has no code.
    is_empty: bool,
    /// Indentation of its first line with code after the cursor's line.
    column: Option<usize>,
    /// Indentation of the line with the innermost open bracket.
    opener_column: usize,
}

impl TextAfter {
    /// Analyzes `suffix`, which is `lexed`, for a cursor with the brackets `open` in the text `before` it.
    pub(super) fn new(suffix: &str, lexed: &LexedText, open: &[OpenBracket<'_>], before: &str) -> TextAfter {
        let mut words = lexed.tokens().iter().filter(|token| token.kind != TokenKind::Newline);
        let first = words.next();
        let closer = first.map(|token| suffix.as_bytes()[token.range.start]);
        let line_end = suffix.find('\n').unwrap_or(suffix.len());
        let next_line = first.into_iter().chain(words).find(|token| token.range.start > line_end);
        let column = |at: usize, text: &str| {
            let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
            indentation(&text[line..]).len()
        };
        let opener_column = open.last().map_or(0, |open| column(open.start, before));
        TextAfter {
            closes: lexed.unopened_closers().and_then(|closers| fitting(closers, open)),
            open: open.len(),
            closer: closer.filter(|byte| matches!(byte, b')' | b']' | b'}')),
            begins_block: first.is_some_and(|token| &suffix[token.range.clone()] == "{"),
            is_empty: first.is_none(),
            column: next_line.map(|token| column(token.range.start, suffix)),
            opener_column,
        }
    }

    /// Returns the number of brackets that it closes, so that no answer may close them.
    pub(super) fn closes(&self) -> Option<usize> {
        self.closes
    }

    /// Returns whether its first token is a closing bracket.
    pub(super) fn begins_with_closer(&self) -> bool {
        self.closer.is_some()
    }

    /// Returns whether it begins with the `{` of a block, so that the answer may be only the block's head.
    pub(super) fn begins_block(&self) -> bool {
        self.begins_block
    }

    /// Returns the indentation of its first line with code after the cursor's line, if any.
    pub(super) fn column(&self) -> Option<usize> {
        self.column
    }

    /// Returns whether the rest and the end of the cursor's block are missing: no code follows, or there are fewer closers than open
    /// brackets and the first closer is on another level than the innermost bracket.
    pub(super) fn is_tail_missing(&self) -> bool {
        let closes_less = self.closes.is_some_and(|closes| closes < self.open);
        let is_other_level = self.column.is_none_or(|column| column < self.opener_column);
        self.is_empty || self.closer.is_some() && closes_less && is_other_level
    }
}

/// Returns how many of the `open` brackets `closers` closes: all of them must match the outermost ones. Code that closes more than it
/// opens is broken or unfinished, so the result is `None`.
fn fitting(closers: &[u8], open: &[OpenBracket<'_>]) -> Option<usize> {
    let outermost = open.get(..closers.len())?;
    let fits = outermost.iter().rev().zip(closers).all(|(open, closer)| open.closer() == *closer);
    fits.then_some(closers.len())
}
