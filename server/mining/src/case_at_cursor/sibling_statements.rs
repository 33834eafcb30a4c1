//! Statements next to a cursor between statements.
//!
//! The block tree lists the statements in the bodies of blocks. Bodies of other constructs are found by braces or indentation;
//! of their statements, only blocks are known.

use std::ops::Range;

use syntax::{Block, BlockKind, Body, Token};

use super::hole_at_cursor::{Cursor, is_strictly_inside};

/// Tokens allowed between the end of a statement and the end of its body.
const STATEMENT_ENDERS: [&str; 2] = ["}", ";"];
/// Tokens that may precede a body.
const BODY_OPENERS: [&str; 4] = ["{", ":", "=>", "->"];
/// Opening brackets; a lexer cannot distinguish `<` from less-than.
const OPENING: [&str; 3] = ["(", "[", "{"];
const CLOSING: [&str; 3] = [")", "]", "}"];

impl Cursor<'_> {
    /// Returns the statements of the body around the cursor; `None` if the cursor is inside one of them. `block` is the
    /// innermost block that contains the cursor.
    pub(super) fn sibling_statements(&self, block: &Block) -> Option<Vec<Range<usize>>> {
        if self.parsed.word_around(self.at).is_some() {
            return None;
        }
        match block.body.as_ref().filter(|body| self.is_in_body(block, body)) {
            Some(body) => match self.statement_at_cursor(body) {
                Some(statement) => self.unlisted_statements(block, statement),
                None => Some(body.statements.clone()),
            },
            None => {
                let body_end = block.body.as_ref().map_or(block.range.start, |body| body.inner.end);
                self.unlisted_statements(block, &(body_end..block.range.end))
            }
        }
    }

    /// Returns the direct statement of a body that contains the cursor.
    pub(super) fn statement_at_cursor<'b>(&self, body: &'b Body) -> Option<&'b Range<usize>> {
        body.statements.iter().find(|statement| is_strictly_inside(statement, self.at))
    }

    /// Whether a cursor after a body without a closer is still in it: on the line of its last statement, or on a blank line
    /// with at least its indentation.
    pub(super) fn is_continued(&self, block: &Block) -> bool {
        let Some(body) = block.body.as_ref().filter(|_| self.is_open_ended(block)) else { return false };
        let Some(last) = body.statements.last().or(body.docstring.as_ref()) else { return false };
        let Some(gap) = self.parsed.text.get(body.inner.end..self.at) else { return false };
        let is_same_line = !gap.contains(['\n', '\r']);
        let is_fresh_line = self.parsed.starts_line(self.at) && self.parsed.starts_line(last.start);
        let is_on_level =
            is_same_line || is_fresh_line && self.column(last) <= self.column(&(self.at..self.at));
        is_on_level && self.ends_only(body.inner.end..self.at)
    }

    /// Whether only indentation marks the end of the block's body.
    fn is_open_ended(&self, block: &Block) -> bool {
        self.parsed.text.get(block.header.clone()).is_some_and(|header| header.ends_with(':'))
    }

    fn is_in_body(&self, block: &Block, body: &Body) -> bool {
        (self.body_start(block, body)..=body.inner.end).contains(&self.at) || self.is_continued(block)
    }

    /// Returns the start of the body, which includes the opener if nothing else is left of the header.
    fn body_start(&self, block: &Block, body: &Body) -> usize {
        let mut words = self.parsed.words_in(block.header.clone()).rev();
        match (words.next(), words.next()) {
            (Some(last), Some(before))
                if !body.statements.is_empty() && self.is_one_of(last, &BODY_OPENERS) =>
            {
                before.range.end
            }
            _ => body.inner.start,
        }
    }

    /// Returns the statements next to the cursor in `part` of the block, if its body is that of an `else`, a case, a `with` or
    /// a closure.
    fn unlisted_statements(&self, block: &Block, part: &Range<usize>) -> Option<Vec<Range<usize>>> {
        let braces = self.braces_around(part);
        let is_braced = braces.is_some();
        let is_compound = !block.kind.is_simple() && part.start <= self.at;
        let within = braces.or_else(|| is_compound.then(|| part.clone()))?;
        let (mut statements, mut rest): (Vec<_>, Vec<_>) =
            self.direct_statements(block, &within).partition(|statement| statement.end <= self.at);
        if !self.is_between(statements.last(), rest.first(), &within) {
            return None;
        }
        if !is_braced {
            let column = statements.last().or(rest.first()).map_or(0, |nearest| self.column(nearest));
            let on_level = rest.iter().take_while(|statement| column <= self.column(statement)).count();
            rest.truncate(on_level);
        }
        // Closers after the last block, e.g. those of `unsafe`, which is no block kind, belong to the body too.
        if let Some(last) = rest.last_mut().filter(|last| self.ends_only(last.end..within.end)) {
            let words = self.parsed.words_in(last.end..within.end);
            last.end = words.last().map_or(last.end, |word| word.range.end);
        }
        statements.append(&mut rest);
        Some(statements)
    }

    /// Returns the blocks directly in `block` that are within `within`. A `catch` is not a statement; it continues its `try`.
    fn direct_statements(&self, block: &Block, within: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let blocks = &self.parsed.blocks;
        let place = blocks.iter().position(|other| std::ptr::eq(other, block));
        blocks
            .iter()
            .filter(move |inner| inner.parent == place && inner.kind != BlockKind::Catch)
            .map(|inner| inner.range.clone())
            .filter(|inner| within.start <= inner.start && inner.end <= within.end)
    }

    /// Whether the cursor is directly between two statements, or between one and an end of the body.
    fn is_between(
        &self,
        before: Option<&Range<usize>>,
        after: Option<&Range<usize>>,
        within: &Range<usize>,
    ) -> bool {
        let is_behind = match before {
            Some(before) => self.ends_only(before.end..self.at),
            None => {
                let word = self.parsed.words_in(0..self.at).next_back();
                word.is_some_and(|word| self.is_one_of(word, &BODY_OPENERS))
            }
        };
        let is_ahead = match after {
            Some(after) => self.parsed.words_in(self.at..after.start).next().is_none(),
            None => before.is_some() && self.ends_only(self.at..within.end),
        };
        is_behind && is_ahead
    }

    /// Returns the content of the innermost brackets around the cursor in `part`, if these are braces.
    fn braces_around(&self, part: &Range<usize>) -> Option<Range<usize>> {
        let before = self.parsed.words_in(part.start..self.at).rev();
        let after = self.parsed.words_in(self.at..part.end);
        let opener = self.first_unmatched(before, &OPENING, &CLOSING)?;
        let closer = self.first_unmatched(after, &CLOSING, &OPENING)?;
        self.is_one_of(opener, &["{"]).then_some(opener.range.end..closer.range.start)
    }

    /// Returns the first of `words` that is one of `wanted` and has no partner before it.
    fn first_unmatched<'t>(
        &self,
        words: impl Iterator<Item = &'t Token>,
        wanted: &[&str],
        partners: &[&str],
    ) -> Option<&'t Token> {
        let mut depth = 0;
        for word in words {
            if self.is_one_of(word, partners) {
                depth += 1;
            } else if self.is_one_of(word, wanted) {
                if depth == 0 {
                    return Some(word);
                }
                depth -= 1;
            }
        }
        None
    }

    /// Whether `range` contains only tokens that end statements and bodies.
    pub(super) fn ends_only(&self, range: Range<usize>) -> bool {
        self.parsed.words_in(range).all(|word| self.is_one_of(word, &STATEMENT_ENDERS))
    }

    fn is_one_of(&self, word: &Token, words: &[&str]) -> bool {
        words.contains(&&self.parsed.text[word.range.clone()])
    }

    /// Returns the indentation of the line on which `range` starts, in bytes.
    fn column(&self, range: &Range<usize>) -> usize {
        let line = self.parsed.text[..range.start].rsplit(['\n', '\r']).next().unwrap_or_default();
        line.len() - line.trim_start().len()
    }
}
