//! Finds every hole of a file that a recipe of the four Codev-Bench scenarios allows.

use std::ops::Range;

use serde::{Deserialize, Serialize};
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

/// Longest escape or character reference, in bytes: Python's characters by name have up to 92.
const MAX_ESCAPE_BYTES: usize = 128;

/// What becomes of a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum CutVerdict {
    /// It is a hole.
    Usable,
    /// The recipe does not apply.
    Inapplicable,
    /// Rejected for [`UnanswerableReason::AcrossArms`].
    AcrossArms,
    /// Rejected for [`UnanswerableReason::InsideSign`].
    InsideSign,
    /// Rejected for [`UnanswerableReason::NotAligned`].
    NotAligned,
}

impl CutVerdict {
    /// Returns the reason of a rejection.
    pub(crate) fn reason(self) -> Option<UnanswerableReason> {
        match self {
            CutVerdict::Usable | CutVerdict::Inapplicable => None,
            CutVerdict::AcrossArms => Some(UnanswerableReason::AcrossArms),
            CutVerdict::InsideSign => Some(UnanswerableReason::InsideSign),
            CutVerdict::NotAligned => Some(UnanswerableReason::NotAligned),
        }
    }
}

/// Returns all holes of a file, ordered by start; `tree` is its syntax tree.
pub(crate) fn holes(file: &SourceFile, tree: &Tree, seed: u64) -> Vec<Hole> {
    let parsed = ParsedFile::new(file, tree);
    let mut random = SeededRandom::new(seed, &file.path);
    let mut found = Vec::new();
    for (block, following) in parsed.complete_blocks() {
        if !parsed.is_whole_without(&block.range) {
            continue;
        }
        let mut cuts = parsed.fixed_cuts(block);
        cuts.extend(parsed.drawn_cut(block, following).and_then(|cut| cut.draw(&mut random)));
        let usable = cuts.into_iter().filter(|(shape, range)| {
            parsed.has_allowed_length(*shape, range)
                && parsed.verdict(tree, block, *shape, range) == CutVerdict::Usable
        });
        found.extend(usable.map(|(shape, range)| parsed.hole(block, shape, range)));
    }
    found.sort_by_key(|hole| (hole.range.start, hole.range.end));
    found
}

/// Whether both ends of `range` are on boundaries of visible characters: not inside an escape, a character reference, a line
/// end of two characters or any other grapheme cluster.
pub(crate) fn is_at_character_boundaries(text: &str, tree: &Tree, range: &Range<usize>) -> bool {
    let is_between = |offset: usize| {
        is_grapheme_boundary(text, offset) && !(may_be_in_escape(text, offset) && tree.is_in_escape(offset))
    };
    is_between(range.start) && is_between(range.end)
}

fn is_grapheme_boundary(text: &str, offset: usize) -> bool {
    // Two ASCII characters form a cluster only as a line end.
    match text.as_bytes().get(offset.wrapping_sub(1)..=offset) {
        Some(&[before, after]) if before.is_ascii() && after.is_ascii() => [before, after] != *b"\r\n",
        _ => GraphemeCursor::new(offset, text.len(), true).is_boundary(text, 0) == Ok(true),
    }
}

/// Whether `offset` could be inside an escape or a character reference, by the characters before it. Asking the tree costs a
/// hundred times as much.
fn may_be_in_escape(text: &str, offset: usize) -> bool {
    let bytes = text.as_bytes();
    let before = &bytes[offset.saturating_sub(MAX_ESCAPE_BYTES)..offset];
    // An escaped line end includes the blanks after it.
    if before.last().is_some_and(u8::is_ascii_whitespace)
        && bytes.get(offset).is_some_and(u8::is_ascii_whitespace)
    {
        return true;
    }
    for (place, &byte) in before.iter().enumerate().rev() {
        let inside = &before[place + 1..];
        match byte {
            b'\n' => return false,
            b'&' if inside.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'#') => return true,
            // Only the first character after a backslash can be a quote.
            b'\\' => return !inside.iter().skip(1).any(|byte| b"\"'`".contains(byte)),
            _ => {}
        }
    }
    false
}

/// Cuts of a block whose start the seed draws.
pub(crate) struct DrawnCut {
    pub(crate) choices: CutChoices,
    /// Start of each choice, before the typed bytes.
    pub(crate) starts: Vec<usize>,
    end: usize,
}

/// The choices of a drawn cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CutChoices {
    /// Before one of this many statements of a body.
    Statements(u32),
    /// Before one of the tokens of a statement, or after up to this many bytes of it.
    Tokens(Vec<u8>),
}

/// One of the choices of a drawn cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CutChoice {
    /// Number of the statement or token among those that can be chosen.
    pub(crate) item: usize,
    /// Number of typed bytes of the token.
    pub(crate) typed: u8,
}

impl CutChoices {
    /// Draws a choice; `None` if there are none.
    pub(crate) fn draw(&self, random: &mut SeededRandom) -> Option<CutChoice> {
        let longest_typed = match self {
            CutChoices::Statements(statements) => {
                return Some(CutChoice { item: random.below(*statements as usize), typed: 0 });
            }
            CutChoices::Tokens(longest_typed) => longest_typed,
        };
        let item = random.below(longest_typed.len());
        let longest = usize::from(*longest_typed.get(item)?);
        let is_inside = random.below(2) == 0 && longest > 0;
        Some(CutChoice { item, typed: if is_inside { 1 + random.below(longest) as u8 } else { 0 } })
    }

    pub(crate) fn shape(&self) -> CutShape {
        match self {
            CutChoices::Statements(_) => CutShape::RestOfBlock,
            CutChoices::Tokens(_) => CutShape::MidStatement,
        }
    }

    /// Returns the place of a choice among all choices.
    pub(crate) fn number(&self, choice: CutChoice) -> usize {
        match self {
            CutChoices::Statements(_) => choice.item,
            CutChoices::Tokens(longest) => {
                let before = longest.iter().take(choice.item).map(|&longest| 1 + usize::from(longest));
                before.sum::<usize>() + usize::from(choice.typed)
            }
        }
    }

    /// Returns all choices in order.
    pub(crate) fn all(&self) -> Vec<CutChoice> {
        match self {
            CutChoices::Statements(statements) => {
                (0..*statements as usize).map(|item| CutChoice { item, typed: 0 }).collect()
            }
            CutChoices::Tokens(longest) => longest
                .iter()
                .enumerate()
                .flat_map(|(item, &longest)| (0..=longest).map(move |typed| CutChoice { item, typed }))
                .collect(),
        }
    }
}

impl DrawnCut {
    pub(crate) fn range(&self, choice: CutChoice) -> Range<usize> {
        self.starts[choice.item] + usize::from(choice.typed)..self.end
    }

    fn draw(&self, random: &mut SeededRandom) -> Option<(CutShape, Range<usize>)> {
        Some((self.choices.shape(), self.range(self.choices.draw(random)?)))
    }
}

/// Recipes.
impl ParsedFile<'_> {
    /// Returns the blocks without syntax errors, each with the blocks after it, which may be inside it.
    pub(crate) fn complete_blocks(&self) -> impl Iterator<Item = (&Block, &[Block])> {
        let with_following =
            self.blocks.iter().enumerate().map(|(place, block)| (block, &self.blocks[place + 1..]));
        with_following.filter(|(block, _)| !block.has_error)
    }

    /// Returns the cuts of a block that are the same for every seed.
    pub(crate) fn fixed_cuts(&self, block: &Block) -> Vec<(CutShape, Range<usize>)> {
        let body = block.body.as_ref();
        let cuts = [
            (CutShape::BlockStart, self.block_start(block)),
            (CutShape::HeaderEnd, body.and_then(|body| self.whole_body(body))),
            (CutShape::Empty, body.and_then(|body| self.after_body(body))),
        ];
        cuts.into_iter().filter_map(|(shape, range)| Some((shape, range?))).collect()
    }

    /// Returns the cut of a block whose start is drawn; the blocks `following` it in the file may be inside it.
    pub(crate) fn drawn_cut(&self, block: &Block, following: &[Block]) -> Option<DrawnCut> {
        let Some(body) = &block.body else {
            let is_allowed = block.kind.is_simple() && block.range.len() <= MAX_TRUTH_BYTES;
            return is_allowed.then(|| self.mid_statement(block, following));
        };
        let starts: Vec<usize> = body.statements.iter().skip(1).map(|statement| statement.start).collect();
        let end = body.statements.last()?.end;
        let choices = CutChoices::Statements(starts.len() as u32);
        (!starts.is_empty()).then_some(DrawnCut { choices, starts, end })
    }

    /// Returns whether a cut of `block` with an allowed length is a hole.
    pub(crate) fn verdict(
        &self,
        tree: &Tree,
        block: &Block,
        shape: CutShape,
        range: &Range<usize>,
    ) -> CutVerdict {
        if shape == CutShape::RestOfBlock && !self.starts_line(range.start) {
            CutVerdict::Inapplicable
        } else if !self.is_whole_without(range) {
            CutVerdict::AcrossArms
        } else if !is_at_character_boundaries(self.text, tree, range) {
            CutVerdict::InsideSign
        } else if (shape == CutShape::Empty && !self.is_aligned(block))
            || (shape == CutShape::RestOfBlock && self.is_too_deep(block, range.start))
        {
            CutVerdict::NotAligned
        } else {
            CutVerdict::Usable
        }
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

    pub(crate) fn has_allowed_length(&self, shape: CutShape, range: &Range<usize>) -> bool {
        shape == CutShape::Empty || (!self.is_too_long(range) && !self.is_blank(range))
    }

    pub(crate) fn is_too_long(&self, range: &Range<usize>) -> bool {
        range.len() > MAX_TRUTH_BYTES || self.text[range.clone()].lines().count() > MAX_TRUTH_LINES
    }

    pub(crate) fn is_blank(&self, range: &Range<usize>) -> bool {
        self.text[range.clone()].trim_start().is_empty()
    }

    /// Returns the whole block if it starts its line (a `catch` may follow the `}` of its `try`).
    fn block_start(&self, block: &Block) -> Option<Range<usize>> {
        let follows_closer = block.kind == syntax::BlockKind::Catch;
        (follows_closer || self.starts_line(block.range.start)).then(|| block.range.clone())
    }

    /// Returns the range from the first statement of a body to its last one.
    fn whole_body(&self, body: &Body) -> Option<Range<usize>> {
        let start = body.statements.first()?.start;
        let end = body.statements.last()?.end;
        self.starts_line(start).then_some(start..end)
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

    /// Returns the cuts from a token of the statement, or from inside an identifier, to its end.
    fn mid_statement(&self, block: &Block, following: &[Block]) -> DrawnCut {
        let mut tokens = self.starts_in_statement(&block.range);
        // Statements in a group of declarations have their own ends.
        let inner = following.iter().take_while(|inner| inner.range.start < block.range.end);
        for inner in inner.filter(|inner| inner.kind.is_simple()) {
            tokens.retain(|start| !inner.range.contains(&start.range.start));
        }
        DrawnCut {
            choices: CutChoices::Tokens(tokens.iter().map(|token| self.longest_typed(token)).collect()),
            starts: tokens.iter().map(|token| token.range.start).collect(),
            end: block.range.end,
        }
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

    /// Returns the maximum number of typed bytes of a token: of an identifier at least two characters remain.
    fn longest_typed(&self, token: &Token) -> u8 {
        let word = &self.text[token.range.clone()];
        let can_split = token.kind == TokenKind::Word && word.is_ascii();
        if can_split { word.len().saturating_sub(2).min(MAX_TYPED_OF_IDENTIFIER) as u8 } else { 0 }
    }
}
