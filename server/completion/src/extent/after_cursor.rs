//! What stands after the cursor: which brackets it closes, and whether more of the cursor's block is there.

use syntax::{Language, OpenBracket, StatementReader, TokenKind, lex};

use super::indentation;

/// What stands after the cursor.
pub(super) struct TextAfter {
    /// How many of the brackets that are open at the cursor it closes; `None` where its closers do not fit them.
    closes: Option<usize>,
    /// How many are open there.
    open: usize,
    /// Its first token, if that closes a bracket.
    closer: Option<u8>,
    /// Whether it begins with the `{` of a block.
    begins_block: bool,
    /// Whether it holds no code.
    is_empty: bool,
    /// Blanks before its first token behind the cursor's line.
    column: Option<usize>,
    /// The indentation of the line that the innermost bracket was opened on.
    opener_column: usize,
}

impl TextAfter {
    /// That of `suffix`, for a cursor with these brackets open in the text before it.
    pub(super) fn new(language: Language, suffix: &str, open: &[OpenBracket<'_>], before: &str) -> TextAfter {
        let tokens = lex(language, suffix);
        let mut words = tokens.iter().filter(|token| token.kind != TokenKind::Newline);
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
            closes: closers(language, suffix).and_then(|closers| fitting(&closers, open)),
            open: open.len(),
            closer: closer.filter(|byte| matches!(byte, b')' | b']' | b'}')),
            begins_block: first.is_some_and(|token| &suffix[token.range.clone()] == "{"),
            is_empty: first.is_none(),
            column: next_line.map(|token| column(token.range.start, suffix)),
            opener_column,
        }
    }

    /// How many brackets it closes, so that no answer may.
    pub(super) fn closes(&self) -> Option<usize> {
        self.closes
    }

    /// Whether its first token closes a bracket.
    pub(super) fn begins_with_closer(&self) -> bool {
        self.closer.is_some()
    }

    /// Whether it begins with the `{` of a block, so that an answer may be its head alone.
    pub(super) fn begins_block(&self) -> bool {
        self.begins_block
    }

    /// The indentation of its first line with code behind the cursor's line; `None` where there is none.
    pub(super) fn column(&self) -> Option<usize> {
        self.column
    }

    /// Whether the rest of the cursor's block, and its end, are missing: nothing follows at all, or fewer closers than there are open
    /// brackets, the first of them on the level of another one than the innermost.
    pub(super) fn is_tail_missing(&self) -> bool {
        let closes_less = self.closes.is_some_and(|closes| closes < self.open);
        let is_other_level = self.column.is_none_or(|column| column < self.opener_column);
        self.is_empty || self.closer.is_some() && closes_less && is_other_level
    }
}

/// The brackets of `text` that close what was opened before it, in order. `None` if it stops in the middle of something.
fn closers(language: Language, text: &str) -> Option<Vec<u8>> {
    let mut closers = Vec::new();
    let mut reader = StatementReader::new(language);
    for token in lex(language, text) {
        let written = text.as_bytes()[token.range.start];
        let closes = token.kind == TokenKind::Punctuation && matches!(written, b')' | b']' | b'}');
        if closes && reader.open().is_empty() && !reader.is_directive(text, &token) {
            closers.push(written);
        }
        reader.read(text, &token, 0);
    }
    reader.open().is_empty().then_some(closers)
}

/// How many of the `open` brackets the `closers` close: the outermost ones, all of them. Code that closes more than it opens is broken,
/// or in the middle of being written, and says nothing.
fn fitting(closers: &[u8], open: &[OpenBracket<'_>]) -> Option<usize> {
    let outermost = open.get(..closers.len())?;
    let fits = outermost.iter().rev().zip(closers).all(|(open, closer)| open.closer() == *closer);
    fits.then_some(closers.len())
}
