//! The holes of a hunk: its code, and how far a truth extends.

use std::ops::Range;

use syntax::Tree;

use super::HistoryReason;
use super::hunks::Hunk;
use crate::case_at_cursor::{NoCaseReason, hole_at_cursor};
use crate::parsed_file::{CutShape, Hole, ParsedFile};
use crate::unanswerable::UnanswerableReason;

/// Returns the range of the hunk's code in its text: from its first token, or the first one that differs from the line it replaces,
/// to its last one. `None` if it has no tokens.
pub(super) fn code_range(parsed: &ParsedFile<'_>, hunk: &Hunk) -> Option<Range<usize>> {
    let same = hunk.lines.start + common_beginning(hunk.added(), &hunk.removed);
    let mut words = parsed.words_in(hunk.lines.clone());
    let end = words.next_back()?.range.end;
    let start = parsed.words_in(hunk.lines.clone()).find(|word| word.range.end > same)?.range.start;
    Some(start..end)
}

/// Returns the number of bytes at the beginning of the first line that are also at the beginning of the replaced line.
fn common_beginning(added: &str, removed: &str) -> usize {
    let (added, removed) =
        (added.lines().next().unwrap_or_default(), removed.lines().next().unwrap_or_default());
    let same = added.char_indices().zip(removed.chars()).take_while(|((_, one), other)| one == other);
    same.last().map_or(0, |((at, one), _)| at + one.len_utf8())
}

/// Returns the end of the code that a case at a cursor at `start` would hide, if that is no later than `limit`.
pub(super) fn step_end(
    parsed: &ParsedFile<'_>,
    tree: &Tree,
    start: usize,
    limit: usize,
) -> Result<usize, HistoryReason> {
    let hole = hole_at_cursor(parsed, tree, start).map_err(reason)?;
    let is_inside = start < hole.range.end && hole.range.end <= limit;
    if is_inside { Ok(hole.range.end) } else { Err(HistoryReason::Partial) }
}

/// Returns the hole with exactly this range: a block, a body, the rest of a body, or what a case at a cursor at its start hides.
pub(super) fn hole(parsed: &ParsedFile<'_>, tree: &Tree, range: Range<usize>) -> Result<Hole, HistoryReason> {
    if parsed.is_too_long(&range) {
        return Err(HistoryReason::TooLong);
    }
    if !parsed.is_whole_without(&range) {
        return Err(HistoryReason::Unanswerable(UnanswerableReason::AcrossArms));
    }
    match body_cut(parsed, &range) {
        Some(cut) => cut,
        None => hole_at_cursor(parsed, tree, range.start)
            .map_err(reason)
            .and_then(|hole| if hole.range == range { Ok(hole) } else { Err(HistoryReason::Partial) }),
    }
}

/// Returns the hole of the last statements of a body, if `range` covers several.
fn body_cut(parsed: &ParsedFile<'_>, range: &Range<usize>) -> Option<Result<Hole, HistoryReason>> {
    let block = parsed.blocks.iter().rev().find(|block| {
        let statements = block.body.as_ref().map(|body| &*body.statements).unwrap_or_default();
        statements.last().is_some_and(|last| last.end == range.end && last.start != range.start)
            && statements.iter().any(|statement| statement.start == range.start)
    })?;
    if block.has_error {
        return Some(Err(HistoryReason::SyntaxError));
    }
    let first = block.body.as_ref().and_then(|body| body.statements.first())?;
    let shape = if first.start == range.start { CutShape::HeaderEnd } else { CutShape::RestOfBlock };
    parsed.starts_line(range.start).then(|| Ok(parsed.hole(block, shape, range.clone())))
}

fn reason(reason: NoCaseReason) -> HistoryReason {
    match reason {
        NoCaseReason::Broken => HistoryReason::SyntaxError,
        NoCaseReason::TooLong(_) => HistoryReason::TooLong,
        NoCaseReason::InText => HistoryReason::NoCode,
        NoCaseReason::NoBlock | NoCaseReason::NoSuchPlace => HistoryReason::Partial,
    }
}
