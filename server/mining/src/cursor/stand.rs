//! What stands at a cursor: a block, the rest of a body, or the rest of something begun.

use std::ops::Range;

use cases::BlockKind;
use syntax::{Block, Body, Token, Tree};

use super::NoCase;
use crate::parsed::{Hole, MAX_TRUTH_LINES, Parsed, Shape, block_kind};

/// Tokens that may stand between the end of a statement and that of the body it is in.
const ENDERS: [&str; 2] = ["}", ";"];
/// Tokens that a body may begin behind.
const OPENERS: [&str; 4] = ["{", ":", "=>", "->"];
/// Brackets; the lexer sees no difference between `<` and less than.
const OPENING: [&str; 3] = ["(", "[", "{"];
const CLOSING: [&str; 3] = [")", "]", "}"];

/// The hole that begins at `at`, which is a place of the text.
pub(super) fn hole(parsed: &Parsed<'_>, tree: &Tree, at: usize) -> Result<Hole, NoCase> {
    let cursor = Cursor { parsed, tree, at };
    if cursor.is_in_comment() || cursor.is_in_lone_string() {
        return Err(NoCase::InText);
    }
    let cut = cursor.cut().ok_or(NoCase::NoBlock)?;
    if cut.block.has_error {
        return Err(NoCase::Broken);
    }
    let lines = parsed.text[at..cut.end].trim().lines().count();
    if lines > MAX_TRUTH_LINES {
        return Err(NoCase::TooLong(lines));
    }
    Ok(Hole { kind: cut.kind, ..parsed.hole(cut.block, cut.shape, at..cut.end) })
}

/// What is hidden: from the cursor to `end`.
#[derive(Clone, Copy)]
struct Cut<'a> {
    block: &'a Block,
    kind: BlockKind,
    shape: Shape,
    end: usize,
}

impl<'a> Cut<'a> {
    fn new(block: &'a Block, shape: Shape, end: usize) -> Cut<'a> {
        Cut { block, kind: block_kind(block.kind), shape, end }
    }
}

struct Cursor<'a> {
    parsed: &'a Parsed<'a>,
    tree: &'a Tree,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A line comment goes on at its end.
    fn is_in_comment(&self) -> bool {
        let holds = |comment: &Range<usize>| {
            let is_closed = self.parsed.text[comment.clone()].ends_with("*/");
            splits(comment, self.at) || (self.at == comment.end && !is_closed)
        };
        self.tree.comments(self.parsed.text).iter().any(holds)
    }

    /// Whether the cursor is in a docstring, or in a string that is a statement.
    fn is_in_lone_string(&self) -> bool {
        let around: Vec<&Block> =
            self.parsed.blocks.iter().filter(|block| splits(&block.range, self.at)).collect();
        let mut docstrings = around.iter().filter_map(|block| block.body.as_ref()?.docstring.as_ref());
        let is_alone = |string: &Range<usize>| {
            around
                .iter()
                .any(|block| block.range.start == string.start && self.ends_only(string.end..block.range.end))
        };
        docstrings.any(|docstring| splits(docstring, self.at))
            || self.tree.strings().iter().any(|string| splits(string, self.at) && is_alone(string))
    }

    fn cut(&self) -> Option<Cut<'a>> {
        let in_body = self.in_body();
        let behind_header = in_body.filter(|cut| cut.shape == Shape::HeaderEnd);
        let blanks = self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
        self.block_from(self.at)
            .or(behind_header)
            .or_else(|| self.block_from(self.at + blanks))
            .or(in_body)
            .or_else(|| self.begun())
    }

    /// The innermost block that begins at `start`.
    fn block_from(&self, start: usize) -> Option<Cut<'a>> {
        let block = self.parsed.blocks.iter().rev().find(|block| self.begins_at(block, start))?;
        Some(Cut::new(block, Shape::BlockStart, block.range.end))
    }

    /// Whether nothing but annotations stands in the block before `start`.
    fn begins_at(&self, block: &Block, start: usize) -> bool {
        if block.kind != syntax::BlockKind::Function || !block.header.contains(&start) {
            return block.range.start == start;
        }
        let mut first = block.range.start;
        while first < start {
            // An annotation ends by itself, anything else with the header.
            let Some(end) = self.tree.statement_end(first).filter(|&end| end <= start) else { return false };
            let Some(next) = self.parsed.words_in(end..block.header.end).next() else { return false };
            first = next.range.start;
        }
        first == start
    }

    /// What is left of the body whose statements the cursor stands between.
    fn in_body(&self) -> Option<Cut<'a>> {
        let block = self.innermost()?;
        let statements = self.statements_around(block)?;
        let is_written = |statement: &Range<usize>| statement.end <= self.at;
        Some(match statements.last().filter(|last| !is_written(last)) {
            None => Cut::new(block, Shape::Empty, self.at),
            Some(last) if statements.iter().any(is_written) => Cut::new(block, Shape::RestOfBlock, last.end),
            Some(last) => Cut::new(block, Shape::HeaderEnd, last.end),
        })
    }

    /// Blocks are in order of their start, outer before inner, so the last that holds the cursor is the innermost.
    fn innermost(&self) -> Option<&'a Block> {
        let holds = |block: &&Block| splits(&block.range, self.at) || self.is_continued(block);
        self.parsed.blocks.iter().rev().find(holds)
    }

    /// Whether the cursor, behind a body without a closer, still stands in it: on the line of its last statement, or on a blank line
    /// that is indented as far.
    fn is_continued(&self, block: &Block) -> bool {
        let Some(body) = block.body.as_ref().filter(|_| is_open_ended(block, self.parsed.text)) else {
            return false;
        };
        let Some(last) = body.statements.last().or(body.docstring.as_ref()) else { return false };
        let gap = self.parsed.text.get(body.inner.end..self.at);
        if gap.is_none() || !self.ends_only(body.inner.end..self.at) {
            return false;
        }
        let is_same_line = gap.is_some_and(|gap| !gap.contains(['\n', '\r']));
        let is_fresh_line = self.parsed.starts_line(self.at) && self.parsed.starts_line(last.start);
        is_same_line || is_fresh_line && self.column(last.start) <= self.column(self.at)
    }

    /// The statements that stand beside the cursor, if it stands between statements.
    fn statements_around(&self, block: &'a Block) -> Option<Vec<Range<usize>>> {
        let Some(body) = block.body.as_ref().filter(|body| self.is_in_body(block, body)) else {
            let body_end = block.body.as_ref().map_or(block.range.start, |body| body.inner.end);
            return self.unlisted_statements(block, body_end..block.range.end);
        };
        match self.begun_in(body) {
            Some(statement) => self.unlisted_statements(block, statement.clone()),
            None => Some(body.statements.clone()),
        }
    }

    fn is_in_body(&self, block: &Block, body: &Body) -> bool {
        (body.inner.start..=body.inner.end).contains(&self.at) || self.is_continued(block)
    }

    /// The direct statement of a body that the cursor is inside of.
    fn begun_in<'b>(&self, body: &'b Body) -> Option<&'b Range<usize>> {
        body.statements.iter().find(|statement| splits(statement, self.at))
    }

    /// The same where the body is none of a block: that of an `else`, a case, a `with` or a closure, somewhere in `part` of the block.
    /// Only blocks are known as its statements.
    fn unlisted_statements(&self, block: &'a Block, part: Range<usize>) -> Option<Vec<Range<usize>>> {
        let braces = self.braces_around(&part);
        let is_braced = braces.is_some();
        let is_compound = block.kind != syntax::BlockKind::Statement;
        let within = braces.or_else(|| (is_compound && part.start <= self.at).then_some(part))?;
        let is_direct = |inner: &&Block| {
            let parent = inner.parent.and_then(|parent| self.parsed.blocks.get(parent));
            let is_child = parent.is_some_and(|parent| std::ptr::eq(parent, block));
            is_child && within.start <= inner.range.start && inner.range.end <= within.end
        };
        let (mut statements, mut rest): (Vec<_>, Vec<_>) = self
            .parsed
            .blocks
            .iter()
            .filter(is_direct)
            .filter(|inner| inner.kind != syntax::BlockKind::Catch)
            .map(|inner| inner.range.clone())
            .partition(|statement| statement.end <= self.at);
        if !self.is_between(statements.last(), rest.first(), &within) {
            return None;
        }
        if !is_braced {
            let column = statements.last().or(rest.first()).map_or(0, |near| self.column(near.start));
            let inner = rest.iter().take_while(|statement| column <= self.column(statement.start)).count();
            rest.truncate(inner);
        }
        // What ends behind the last known statement is of no kind, as `unsafe` is, and belongs to the body too.
        if let Some(last) = rest.last_mut().filter(|last| self.ends_only(last.end..within.end)) {
            last.end =
                self.parsed.words_in(last.end..within.end).last().map_or(last.end, |word| word.range.end);
        }
        statements.append(&mut rest);
        Some(statements)
    }

    /// Whether the cursor stands right between two statements, or between one and an end of the body.
    fn is_between(
        &self,
        before: Option<&Range<usize>>,
        after: Option<&Range<usize>>,
        within: &Range<usize>,
    ) -> bool {
        let starts = match before {
            Some(before) => self.ends_only(before.end..self.at),
            None => self.word_before().is_some_and(|word| OPENERS.contains(&word)),
        };
        let ends = match after {
            Some(after) => self.parsed.words_in(self.at..after.start).next().is_none(),
            None => before.is_some() && self.ends_only(self.at..within.end),
        };
        starts && ends
    }

    /// The inside of the innermost brackets around the cursor within `part`, if these are braces.
    fn braces_around(&self, part: &Range<usize>) -> Option<Range<usize>> {
        let text = |word: &Token| &self.parsed.text[word.range.clone()];
        let opener = unmatched(self.parsed.words_in(part.start..self.at).rev(), text, CLOSING, OPENING)?;
        let closer = unmatched(self.parsed.words_in(self.at..part.end), text, OPENING, CLOSING)?;
        (text(opener) == "{").then_some(opener.range.end..closer.range.start)
    }

    /// The rest of a statement or header.
    fn begun(&self) -> Option<Cut<'a>> {
        let block = self.innermost()?;
        let begun = block.body.as_ref().and_then(|body| self.begun_in(body));
        let whole = begun.unwrap_or(&block.range).end;
        let end = self.tree.statement_end(self.at).filter(|&end| end <= whole).unwrap_or(whole);
        let end = self.at + self.parsed.text.get(self.at..end)?.trim_end().len();
        let is_of_block = end == block.range.end || end == block.header.end;
        let kind = if is_of_block { block_kind(block.kind) } else { BlockKind::Statement };
        (end > self.at).then_some(Cut { block, kind, shape: Shape::MidStatement, end })
    }

    /// Whether nothing stands in `range` but what ends bodies and statements.
    fn ends_only(&self, range: Range<usize>) -> bool {
        self.parsed.words_in(range).all(|word| ENDERS.contains(&&self.parsed.text[word.range.clone()]))
    }

    fn word_before(&self) -> Option<&'a str> {
        let word = self.parsed.words_in(0..self.at).next_back()?;
        Some(&self.parsed.text[word.range.clone()])
    }

    fn rest(&self) -> &'a str {
        &self.parsed.text[self.at..]
    }

    /// How far the line of `offset` is indented, up to `offset`, in bytes.
    fn column(&self, offset: usize) -> usize {
        let line = self.parsed.text[..offset].rsplit(['\n', '\r']).next().unwrap_or_default();
        line.len() - line.trim_start().len()
    }
}

/// Whether only indentation tells where the block's body ends.
fn is_open_ended(block: &Block, text: &str) -> bool {
    text.get(block.header.clone()).is_some_and(|header| header.ends_with(':'))
}

/// The first of `words` that is in `wanted` and has no partner of `partners` before it.
fn unmatched<'t>(
    words: impl Iterator<Item = &'t Token>,
    text: impl Fn(&Token) -> &'t str,
    partners: [&str; 3],
    wanted: [&str; 3],
) -> Option<&'t Token> {
    let mut depth = 0;
    words.into_iter().find(|word| {
        let word = text(word);
        depth += usize::from(partners.contains(&word));
        wanted.contains(&word) && depth.checked_sub(1).map(|less| depth = less).is_none()
    })
}

/// Whether `at` is inside of `range`, not at its ends.
fn splits(range: &Range<usize>, at: usize) -> bool {
    range.start < at && at < range.end
}
