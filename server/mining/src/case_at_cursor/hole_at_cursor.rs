//! The hole at a cursor: a block, the rest of a body, or the rest of a statement or header.

use std::ops::Range;

use cases::BlockKind;
use syntax::{Block, Token, TokenKind, Tree};

use super::NoCaseReason;
use crate::parsed_file::{CutShape, Hole, MAX_TRUTH_LINES, ParsedFile, block_kind};

/// Returns the hole that begins at `at`, a valid offset in the text.
pub(crate) fn hole_at_cursor(parsed: &ParsedFile<'_>, tree: &Tree, at: usize) -> Result<Hole, NoCaseReason> {
    let cursor = Cursor { parsed, tree, at };
    if cursor.is_in_comment() || cursor.is_in_lone_string() {
        return Err(NoCaseReason::InText);
    }
    let cut = cursor.cut().ok_or(NoCaseReason::NoBlock)?;
    if cut.block.has_error {
        return Err(NoCaseReason::Broken);
    }
    let lines = parsed.text[at..cut.end].trim().lines().count();
    if lines > MAX_TRUTH_LINES {
        return Err(NoCaseReason::TooLong(lines));
    }
    Ok(Hole { kind: cut.kind, ..parsed.hole(cut.block, cut.shape, at..cut.end) })
}

/// The hidden range: from the cursor to `end`.
#[derive(Clone, Copy)]
struct CursorCut<'a> {
    block: &'a Block,
    kind: BlockKind,
    shape: CutShape,
    end: usize,
}

impl<'a> CursorCut<'a> {
    fn new(block: &'a Block, shape: CutShape, end: usize) -> CursorCut<'a> {
        CursorCut { block, kind: block_kind(block.kind), shape, end }
    }
}

pub(super) struct Cursor<'a> {
    pub(super) parsed: &'a ParsedFile<'a>,
    tree: &'a Tree,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    fn is_in_comment(&self) -> bool {
        // Fast path: most cursors are in a word, or between words without a comment.
        if self.parsed.word_around(self.at).is_some() || self.gap().trim().is_empty() {
            return false;
        }
        self.tree.comments(self.parsed.text).iter().any(|comment| {
            // A line comment includes its end.
            let is_closed = self.parsed.text[comment.clone()].ends_with("*/");
            is_strictly_inside(comment, self.at) || (self.at == comment.end && !is_closed)
        })
    }

    /// Returns the text between the last token before the cursor and the first one after it.
    fn gap(&self) -> &'a str {
        let text = self.parsed.text;
        let start = self.parsed.words_in(0..self.at).next_back().map_or(0, |word| word.range.end);
        let end =
            self.parsed.words_in(self.at..text.len()).next().map_or(text.len(), |word| word.range.start);
        &text[start..end]
    }

    /// Whether the cursor is in a docstring, or in a string that is a statement.
    fn is_in_lone_string(&self) -> bool {
        let string = self.parsed.word_around(self.at).filter(|word| word.kind == TokenKind::String);
        let is_alone = |block: &Block, string: &Token| {
            block.range.start == string.range.start && self.ends_only(string.range.end..block.range.end)
        };
        self.parsed.blocks.iter().filter(|block| is_strictly_inside(&block.range, self.at)).any(|block| {
            let docstring = block.body.as_ref().and_then(|body| body.docstring.as_ref());
            docstring.is_some_and(|docstring| is_strictly_inside(docstring, self.at))
                || string.is_some_and(|string| is_alone(block, string))
        })
    }

    fn cut(&self) -> Option<CursorCut<'a>> {
        let in_body = self.rest_of_body();
        let behind_header = in_body.filter(|cut| cut.shape == CutShape::HeaderEnd);
        let ahead = self.parsed.text[self.at..].trim_start_matches([' ', '\t']);
        self.block_from(self.at)
            .or(behind_header)
            .or_else(|| self.block_from(self.parsed.text.len() - ahead.len()))
            .or(in_body)
            .or_else(|| self.rest_of_statement())
    }

    /// Returns the innermost block that begins at `start`.
    fn block_from(&self, start: usize) -> Option<CursorCut<'a>> {
        let block = self.parsed.blocks.iter().rev().find(|block| self.begins_at(block, start))?;
        Some(CursorCut::new(block, CutShape::BlockStart, block.range.end))
    }

    /// Whether the block contains only annotations before `start`.
    fn begins_at(&self, block: &Block, start: usize) -> bool {
        if block.kind != syntax::BlockKind::Function || !block.header.contains(&start) {
            return block.range.start == start;
        }
        let mut first = block.range.start;
        while first < start {
            // Only an annotation has an end of its own before the header's end.
            let Some(end) = self.tree.statement_end(first).filter(|&end| end <= start) else { return false };
            let Some(next) = self.parsed.words_in(end..block.header.end).next() else { return false };
            first = next.range.start;
        }
        first == start
    }

    /// Returns the rest of the body if the cursor is between its statements.
    fn rest_of_body(&self) -> Option<CursorCut<'a>> {
        let block = self.innermost()?;
        let statements = self.sibling_statements(block)?;
        let is_written = |statement: &Range<usize>| statement.end <= self.at;
        Some(match statements.last().filter(|last| !is_written(last)) {
            None => CursorCut::new(block, CutShape::Empty, self.at),
            Some(last) if statements.iter().any(is_written) => {
                CursorCut::new(block, CutShape::RestOfBlock, last.end)
            }
            Some(last) => CursorCut::new(block, CutShape::HeaderEnd, last.end),
        })
    }

    /// Returns the innermost block around the cursor. Blocks are sorted by start, outer before inner, so it is the last match.
    fn innermost(&self) -> Option<&'a Block> {
        self.parsed
            .blocks
            .iter()
            .rev()
            .find(|block| is_strictly_inside(&block.range, self.at) || self.is_continued(block))
    }

    /// Returns the rest of a statement or header.
    fn rest_of_statement(&self) -> Option<CursorCut<'a>> {
        let block = self.innermost()?;
        let begun = block.body.as_ref().and_then(|body| self.statement_at_cursor(body));
        let whole = begun.unwrap_or(&block.range).end;
        let end = self.tree.statement_end(self.at).filter(|&end| end <= whole).unwrap_or(whole);
        let end = self.at + self.parsed.text.get(self.at..end)?.trim_end().len();
        let is_of_block = end == block.range.end || end == block.header.end;
        let kind = if is_of_block { block_kind(block.kind) } else { BlockKind::Statement };
        (end > self.at).then_some(CursorCut { block, kind, shape: CutShape::MidStatement, end })
    }
}

/// Whether `at` is strictly inside `range`.
pub(super) fn is_strictly_inside(range: &Range<usize>, at: usize) -> bool {
    range.start < at && at < range.end
}
