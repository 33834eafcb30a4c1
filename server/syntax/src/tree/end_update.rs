//! Incremental parsing of texts that differ up to their ends and have errors there: the text before a cursor, closed behind the cursor.
//!
//! [`Tree::update`] must give up if there are errors behind the edit: how the parser recovers depends on the nodes before the error, which
//! may be in other pieces after reuse. Here the parser works again from the *restart* on: a token well before the first difference. It
//! follows the reused nodes in both texts without an error, so the parser has combined them as in a parse from nothing when it has read the
//! restart. Behind it nothing is reused. So errors behind the restart meet the same nodes, and the parser recovers in the same way. That
//! holds only without errors before the restart, since the parser weighs an error by its distance from the last one. With such errors, a
//! result is used only if it has no others.

use std::ops::Range;

use text::Edit;

use super::{Reparsed, Tree};

/// Distances of the restart from the first difference, in bytes; the next one is tried if an error reaches back to the restart. Two
/// statements, a function, and several functions.
const RESTART_DISTANCES: [usize; 3] = [512, 4 << 10, 16 << 10];
/// Longer than the text that a grammar's lexer reads beyond the end of a token that it has finished, except for comments.
const LOOKAHEAD_BYTES: usize = 64;

/// An updated tree.
pub(crate) struct EndUpdate {
    pub(crate) tree: Tree,
    /// Bytes of the new text that were parsed again.
    pub(crate) parsed_again: usize,
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

impl Tree {
    /// Returns the tree of `new`, as a parse with the budget for texts that change on every key returns it; `None` if a parse from nothing
    /// is necessary. `old` is the text of this tree.
    pub(crate) fn update_end(&self, old: &str, new: &str) -> Option<EndUpdate> {
        let Some(edit) = Edit::between(old, new) else {
            let (tree, moved) = (self.clone(), self.inner.clone());
            return Some(EndUpdate { tree, parsed_again: 0, kept: new.len(), moved });
        };
        let same = edit.range.start;
        RESTART_DISTANCES.iter().find_map(|distance| self.update_from(old, new, same, *distance))
    }

    /// Returns the number of bytes before the first error; the highest number if there is none.
    pub(crate) fn valid_bytes(&self) -> usize {
        self.recoveries().map(|node| node.start_byte()).min().unwrap_or(usize::MAX)
    }

    /// Updates with a restart at this distance before byte `same`.
    fn update_from(&self, old: &str, new: &str, same: usize, distance: usize) -> Option<EndUpdate> {
        let restart = self.token_from(same.checked_sub(distance)?)?;
        if restart.end + LOOKAHEAD_BYTES > same {
            return None;
        }
        let edit = Edit { range: restart.start..old.len(), text: new[restart.start..].to_owned() };
        let Reparsed { tree, moved } = self.reparse(old, new, &edit)?;
        let is_same = match self.valid_bytes() < restart.end {
            false => tree.valid_bytes() >= restart.end,
            true => tree.has_only_recoveries(&self.recoveries_before(restart.start), restart.start),
        };
        let line = new[..same].rfind('\n').map_or(0, |end| end + 1);
        let (parsed_again, kept) = (new.len() - restart.start, restart.start.min(line));
        is_same.then_some(EndUpdate { tree, parsed_again, kept, moved })
    }

    /// Returns the first token that starts at `from` or later and is not part of a comment: comments do not make the parser combine the
    /// nodes before them.
    fn token_from(&self, from: usize) -> Option<Range<usize>> {
        let mut cursor = self.root().walk();
        loop {
            let node = cursor.node();
            let is_entered = !node.is_extra() && cursor.goto_first_child_for_byte(from).is_some();
            if is_entered {
                continue;
            }
            let is_token = node.child_count() == 0 && !node.byte_range().is_empty() && !node.is_extra();
            if is_token && node.start_byte() >= from {
                return Some(node.byte_range());
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return None;
                }
            }
        }
    }
}
