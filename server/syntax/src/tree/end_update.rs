//! Incremental parsing of texts that differ up to their ends and may have errors there: the text before a cursor, closed behind the cursor.
//!
//! While neither text has an error, only what the edit touches is parsed again. Otherwise that does not do: how the parser recovers from an
//! error depends on the nodes before it, which may be in other pieces after reuse. Then the parser works again from the *restart* on: a token
//! well before the first difference. It follows the reused nodes in both texts, so the parser has combined them as in a parse from nothing
//! when it has read the restart. Behind it nothing is reused. So errors behind the restart meet the same nodes.
//!
//! The parser weighs an error by its distance from the last one, and does not see the errors in reused nodes. So an error shortly before
//! the restart is read again, too: then the restart is before it. Since the parser weighs that one with too long a distance, the result is
//! used only if it finds the same errors there.

use std::ops::Range;

use text::Edit;
use tree_sitter::Node;

use super::{Reparsed, Tree};

/// Distances in bytes of the token from which everything is read again; the next one is tried if there is a long literal or comment. Two
/// statements, a function, and several functions.
const DISTANCES: [usize; 3] = [512, 4 << 10, 16 << 10];
/// Longer than the text that a grammar's lexer reads beyond the end of a token that it has finished, except for comments.
const LOOKAHEAD_BYTES: usize = 64;
/// Distance in nodes at which one error no longer changes how the parser weighs the next one. The parser drops the worse of two readings if
/// the difference of their costs times this distance exceeds 1,800 (`MAX_COST_DIFFERENCE` in tree-sitter's parser.c); the least is 1.
const MAX_WEIGHED_NODES: usize = 2_000;

/// An updated tree.
pub(crate) struct EndUpdate {
    pub(crate) tree: Tree,
    /// Bytes of the longer text behind the first difference.
    pub(crate) changed: usize,
    /// Number of bytes at the beginning that are not parsed again and are whole lines of both texts.
    kept: usize,
    /// The earlier tree, moved to the places in the new text.
    moved: tree_sitter::Tree,
}

impl EndUpdate {
    /// Returns where the tree may begin to differ, in bytes: the nodes that end before it are the same in both trees, and so are the rests of
    /// their lines.
    pub(crate) fn same(&self) -> usize {
        let changed = self.moved.changed_ranges(&self.tree.inner).map(|range| range.start_byte).min();
        self.kept.min(changed.unwrap_or(self.kept))
    }
}

/// A token of a tree.
struct TreeToken {
    range: Range<usize>,
    /// Number of nodes before it.
    place: usize,
}

impl Tree {
    /// Returns the tree of `new`, as a parse with the budget for texts that change on every key returns it; `None` if there is an error in it or
    /// in this tree, or if a parse from nothing is necessary. `old` is the text of this tree.
    pub(crate) fn update_valid_end(&self, old: &str, new: &str) -> Option<EndUpdate> {
        let Some(edit) = Edit::between(old, new) else { return Some(self.unchanged(new)) };
        if self.root().has_error() {
            return None;
        }
        let Reparsed { tree, moved } = self.reparse(old, new, &edit)?;
        let same = edit.range.start;
        let update =
            EndUpdate { tree, changed: old.len().max(new.len()) - same, kept: line_start(new, same), moved };
        (!update.tree.root().has_error()).then_some(update)
    }

    /// Returns the tree of `new`, as a parse with the budget for texts that change on every key returns it; `None` if a parse from nothing
    /// is necessary. `old` is the text of this tree.
    pub(crate) fn update_end(&self, old: &str, new: &str) -> Option<EndUpdate> {
        let Some(edit) = Edit::between(old, new) else { return Some(self.unchanged(new)) };
        let same = edit.range.start;
        let near = self.token_before(same)?;
        let read_again = self.restart(&near)?..near.range.start;
        let edit = Edit { range: read_again.start..old.len(), text: new[read_again.start..].to_owned() };
        let Reparsed { tree, moved } = self.reparse(old, new, &edit)?;
        if !read_again.is_empty() && !tree.recoveries_in(&read_again).eq(self.recoveries_in(&read_again)) {
            return None;
        }
        let (changed, kept) = (old.len().max(new.len()) - same, read_again.start.min(line_start(new, same)));
        Some(EndUpdate { tree, changed, kept, moved })
    }

    fn unchanged(&self, text: &str) -> EndUpdate {
        EndUpdate { tree: self.clone(), changed: 0, kept: text.len(), moved: self.inner.clone() }
    }

    /// Returns the number of bytes before the first error; the highest number if there is none.
    pub(crate) fn valid_bytes(&self) -> usize {
        self.recoveries().map(|node| node.start_byte()).min().unwrap_or(usize::MAX)
    }

    /// Returns the offset of the restart for a text that must be read again from `near` on: that, or a token before the last error if that
    /// one is near.
    fn restart(&self, near: &TreeToken) -> Option<usize> {
        let before = self.recoveries().filter(|node| node.end_byte() <= near.range.start);
        if let Some(last) = before.max_by_key(Node::end_byte)
            && near.place < self.token_from(last.end_byte())?.place + MAX_WEIGHED_NODES
        {
            return Some(self.token_before(last.start_byte())?.range.start);
        }
        Some(near.range.start)
    }

    /// Returns the kinds and ranges of the nodes that the parser recovered in, inside of `range`.
    fn recoveries_in(&self, range: &Range<usize>) -> impl Iterator<Item = (u16, Range<usize>)> {
        let is_inside = |node: &Node<'_>| range.start <= node.start_byte() && node.end_byte() < range.end;
        self.recoveries().filter(is_inside).map(|node| (node.kind_id(), node.byte_range()))
    }

    /// Returns a token well before byte `end` that the lexer has finished there.
    fn token_before(&self, end: usize) -> Option<TreeToken> {
        let mut tokens = DISTANCES.iter().filter_map(|distance| self.token_from(end.checked_sub(*distance)?));
        tokens.find(|token| token.range.end + LOOKAHEAD_BYTES <= end)
    }

    /// Returns the first token that starts at `from` or later and is not part of a comment: comments do not make the parser combine the
    /// nodes before them.
    fn token_from(&self, from: usize) -> Option<TreeToken> {
        let mut cursor = self.root().walk();
        loop {
            let node = cursor.node();
            let is_entered = !node.is_extra() && cursor.goto_first_child_for_byte(from).is_some();
            if is_entered {
                continue;
            }
            let is_token = node.child_count() == 0 && !node.byte_range().is_empty() && !node.is_extra();
            if is_token && node.start_byte() >= from {
                return Some(TreeToken { range: node.byte_range(), place: cursor.descendant_index() });
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return None;
                }
            }
        }
    }
}

/// Returns the start of the line at `offset`.
fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |end| end + 1)
}
