//! Finds every hole of a file that a recipe of the four Codev-Bench scenarios allows.

use std::ops::Range;

use syntax::{Block, Body, SourceFile, Token, TokenKind, Tree};
use unicode_segmentation::GraphemeCursor;

use crate::parsed_file::{CutShape, Hole, MAX_TRUTH_BYTES, MAX_TRUTH_LINES, ParsedFile};
use crate::seeded_random::SeededRandom;
use crate::unanswerable::UnanswerableReason;

#[cfg(test)]
mod tests;

/// Minimum number of remaining tokens of an incomplete statement.
const MIN_TOKENS_LEFT: usize = 2;
/// Tokens that only close; editors insert them automatically.
const CLOSERS: [&str; 6] = [")", "]", "}", ">", ",", ";"];
/// Minimum number of statements in a body for a case with a complete body.
const MIN_STATEMENTS: usize = 2;
/// Maximum number of typed characters if the cursor is inside an identifier.
const MAX_TYPED_OF_IDENTIFIER: usize = 3;

/// Holes of a file.
#[derive(Debug, Default)]
pub(crate) struct FileHoles {
    /// Holes, ordered by start.
    pub(crate) holes: Vec<Hole>,
    /// Reasons of rejected holes, with their cut.
    pub(crate) refused: Vec<(CutShape, UnanswerableReason)>,
}

/// Returns all holes of a file.
pub(crate) fn holes(file: &SourceFile, seed: u64) -> FileHoles {
    let tree = syntax::parse(file.language, &file.text);
    let parsed = ParsedFile::new(file, &tree);
    let mut random = SeededRandom::new(seed, &file.path);
    let mut found = FileHoles::default();
    for (place, block) in parsed.blocks.iter().enumerate().filter(|(_, block)| !block.has_error) {
        if !parsed.is_whole_without(&block.range) {
            found.refused.push((CutShape::BlockStart, UnanswerableReason::AcrossArms));
            continue;
        }
        for hole in parsed.cut(block, &parsed.blocks[place + 1..], &mut random) {
            match parsed.obstacle(file, &tree, block, &hole) {
                Some(obstacle) => found.refused.push((hole.shape, obstacle)),
                None => found.holes.push(hole),
            }
        }
    }
    found.holes.sort_by_key(|hole| (hole.range.start, hole.range.end));
    found
}

/// Whether both ends of `range` are on boundaries of visible characters: not inside an escape, a character reference, a line
/// end of two characters or any other grapheme cluster.
pub(crate) fn is_at_character_boundaries(file: &SourceFile, tree: &Tree, range: &Range<usize>) -> bool {
    let is_between = |offset: usize| {
        let mut cursor = GraphemeCursor::new(offset, file.text.len(), true);
        let is_boundary = cursor.is_boundary(&file.text, 0);
        is_boundary == Ok(true) && !tree.is_in_escape(offset)
    };
    is_between(range.start) && is_between(range.end)
}

/// Recipes.
impl ParsedFile<'_> {
    /// Returns the holes of a block; the blocks `following` it in the file may be inside it.
    fn cut(&self, block: &Block, following: &[Block], random: &mut SeededRandom) -> Vec<Hole> {
        let mut cuts = vec![(CutShape::BlockStart, self.block_start(block))];
        match &block.body {
            Some(body) => {
                cuts.push((CutShape::HeaderEnd, self.statements_from(body, 0)));
                cuts.push((CutShape::RestOfBlock, self.rest_of_block(body, random)));
                cuts.push((CutShape::Empty, self.after_body(body)));
            }
            None if block.kind.is_simple() && block.range.len() <= MAX_TRUTH_BYTES => {
                cuts.push((CutShape::MidStatement, self.mid_statement(block, following, random)));
            }
            None => {}
        }
        let ranges = cuts.into_iter().filter_map(|(shape, range)| Some((shape, range?)));
        let allowed = ranges.filter(|(shape, range)| self.has_allowed_length(*shape, range));
        allowed.map(|(shape, range)| self.hole(block, shape, range)).collect()
    }

    /// Returns the reason to reject a cut of `block`.
    fn obstacle(
        &self,
        file: &SourceFile,
        tree: &Tree,
        block: &Block,
        hole: &Hole,
    ) -> Option<UnanswerableReason> {
        let refusals = [
            (UnanswerableReason::AcrossArms, !self.is_whole_without(&hole.range)),
            (UnanswerableReason::InsideSign, !is_at_character_boundaries(file, tree, &hole.range)),
            (UnanswerableReason::NotAligned, hole.shape == CutShape::Empty && !self.is_aligned(block)),
            (
                UnanswerableReason::NotAligned,
                hole.shape == CutShape::RestOfBlock && self.is_too_deep(block, hole.range.start),
            ),
        ];
        refusals.into_iter().find_map(|(obstacle, is_there)| is_there.then_some(obstacle))
    }

    /// Whether a new line after the block's last statement clearly belongs to its body. It does not if that statement is not
    /// aligned with the first one, e.g. after a label, or the body is not indented.
    fn is_aligned(&self, block: &Block) -> bool {
        let statements = block.body.as_ref().map(|body| &*body.statements).unwrap_or_default();
        let (Some(first), Some(last)) = (statements.first(), statements.last()) else { return false };
        let inner = self.indentation(last.start);
        inner == self.indentation(first.start) && inner.len() > self.indentation(block.range.start).len()
    }

    /// Whether the line at `start` is indented deeper than the block's body, so that it seems to belong to the line before it.
    fn is_too_deep(&self, block: &Block, start: usize) -> bool {
        let first = block.body.as_ref().and_then(|body| body.statements.first());
        first.is_some_and(|first| {
            self.starts_line(first.start)
                && self.indentation(first.start).len() < self.indentation(start).len()
        })
    }

    fn has_allowed_length(&self, shape: CutShape, range: &Range<usize>) -> bool {
        let is_short = range.len() <= MAX_TRUTH_BYTES;
        let truth = if is_short { &self.text[range.clone()] } else { "" };
        shape == CutShape::Empty || (!truth.trim().is_empty() && truth.lines().count() <= MAX_TRUTH_LINES)
    }

    /// Returns the whole block if it starts its line (a `catch` may follow the `}` of its `try`).
    fn block_start(&self, block: &Block) -> Option<Range<usize>> {
        let follows_closer = block.kind == syntax::BlockKind::Catch;
        (follows_closer || self.starts_line(block.range.start)).then(|| block.range.clone())
    }

    /// Returns the range from statement `first` of a body to its last one.
    fn statements_from(&self, body: &Body, first: usize) -> Option<Range<usize>> {
        let start = body.statements.get(first)?.start;
        let end = body.statements.last()?.end;
        self.starts_line(start).then_some(start..end)
    }

    fn rest_of_block(&self, body: &Body, random: &mut SeededRandom) -> Option<Range<usize>> {
        let typed = 1 + random.below(body.statements.len().checked_sub(1).filter(|&rest| rest > 0)?);
        self.statements_from(body, typed)
    }

    /// Returns the end of the line of the body's last statement, if only blanks or a comment follow it there.
    fn after_body(&self, body: &Body) -> Option<Range<usize>> {
        let last = body.statements.last().filter(|_| body.statements.len() >= MIN_STATEMENTS)?;
        let rest = &self.text[last.end..];
        let line_end = last.end + rest.find('\n')?;
        let line_end = if self.text[..line_end].ends_with('\r') { line_end - 1 } else { line_end };
        let next_token = self.tokens_in(last.end..line_end).first();
        (next_token.is_none() && self.starts_line(last.start)).then_some(line_end..line_end)
    }

    /// Returns the range from a token of the statement, or from inside an identifier, to its end.
    fn mid_statement(
        &self,
        block: &Block,
        following: &[Block],
        random: &mut SeededRandom,
    ) -> Option<Range<usize>> {
        let mut starts = self.starts_in_statement(&block.range);
        // Statements in a group of declarations have their own ends.
        let inner = following.iter().take_while(|inner| inner.range.start < block.range.end);
        for inner in inner.filter(|inner| inner.kind.is_simple()) {
            starts.retain(|start| !inner.range.contains(&start.range.start));
        }
        let token = starts.get(random.below(starts.len()))?;
        let typed = if random.below(2) == 0 { self.typed_part(token, random) } else { 0 };
        Some(token.range.start + typed..block.range.end)
    }

    /// Returns the tokens at which the rest of a statement may begin: not the first token, not so late that nothing is left to
    /// predict, and not between braces, because code in braces (a closure's body, a macro's items) has its own end.
    fn starts_in_statement(&self, statement: &Range<usize>) -> Vec<&Token> {
        let tokens: Vec<&Token> = self.words_in(statement.clone()).collect();
        let last = tokens.iter().rposition(|token| !CLOSERS.contains(&&self.text[token.range.clone()]));
        let end = last.map_or(0, |last| last + 1).min((tokens.len() + 1).saturating_sub(MIN_TOKENS_LEFT));
        let mut depth = 0;
        let mut starts = Vec::new();
        for (place, token) in tokens[..end].iter().enumerate() {
            if place > 0 && depth == 0 {
                starts.push(*token);
            }
            match &self.text[token.range.clone()] {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
        }
        starts
    }

    /// Returns the number of typed bytes of an identifier; at least two characters remain.
    fn typed_part(&self, token: &Token, random: &mut SeededRandom) -> usize {
        let word = &self.text[token.range.clone()];
        let longest = word.len().saturating_sub(2).min(MAX_TYPED_OF_IDENTIFIER);
        let can_split = token.kind == TokenKind::Word && word.is_ascii() && longest > 0;
        if can_split { 1 + random.below(longest) } else { 0 }
    }
}
