//! The scope at a cursor far behind the beginning of a file: only the last items before the cursor are parsed, from nothing, and the
//! definitions and variables of those before them are known from the base.
//!
//! ```text
//! base    item item item item item item item  item ite…
//! text    item item item item item item item  item it…
//!         └ known: outline, variables ┘    └─ parsed ─┘
//! ```
//!
//! An incremental parse passes the items of a file one by one, and compares both trees, so it takes longer with each function above. The
//! first parsed item is well before the first difference and begins a line, and neither text has an error: then the parser has finished the
//! items before it in a parse from nothing, too, and finds the same ones behind it.

use std::sync::Arc;

use text::Edit;

use super::ParsedText;
use crate::language::Language;
use crate::outline::OutlineRecord;
use crate::scope::{Binding, Scope, scope_of};

/// Least distance in bytes from the start of the first parsed item to the first difference: two statements.
const DISTANCE: usize = 512;
/// An incremental parse takes as long for an item as a parse from nothing for so many bytes.
const BYTES_PER_ITEM: usize = 8;

/// The items of a closed text that are known for other texts.
#[derive(Debug)]
pub(super) struct KnownItems {
    parsed: ParsedText,
    outline: Arc<OutlineRecord>,
    /// Of [`item_starts`].
    starts: Vec<usize>,
    /// Variables in scope at the cursor.
    bindings: Vec<Binding>,
}

impl KnownItems {
    /// Reads the items of a text before its cursor, behind which it is closed.
    pub(super) fn new(
        parsed: ParsedText,
        outline: Arc<OutlineRecord>,
        bindings: &[Binding],
        cursor: usize,
    ) -> KnownItems {
        let starts = item_starts(&parsed, cursor.min(outline.takeable_bytes()));
        KnownItems { starts, bindings: bindings.to_vec(), outline, parsed }
    }

    /// Whether a text before its cursor is a part of this one.
    pub(super) fn have(&self, ParsedText { text, tree }: &ParsedText, cursor: usize) -> bool {
        let is_continued = || self.parsed.text.get(..cursor) == text.get(..cursor);
        tree.language() == self.parsed.tree.language() && is_continued()
    }

    /// Returns the scope at `cursor` in `text`, which is closed behind it; `None` if it must be parsed in another way, or if that is faster.
    pub(super) fn scope(&self, language: Language, text: &str, cursor: usize) -> Option<Scope> {
        if language != self.parsed.tree.language() {
            return None;
        }
        let starts = self.starts_before(text, cursor);
        let start = starts.last().copied()?;
        let is_faster = text.len() - start <= BYTES_PER_ITEM * starts.len();
        if is_faster { self.scope_from(start, text, cursor) } else { None }
    }

    /// Returns the starts of items from which the text can be parsed.
    fn starts_before(&self, text: &str, cursor: usize) -> &[usize] {
        let same = Edit::between(&self.parsed.text, text).map_or(text.len(), |edit| edit.range.start);
        &self.starts[..self.starts.partition_point(|&start| start + DISTANCE <= same.min(cursor))]
    }

    /// Returns the scope, of which the items from byte `start` on are parsed; `None` if there is an error in them.
    fn scope_from(&self, start: usize, text: &str, cursor: usize) -> Option<Scope> {
        let tree = self.parsed.tree.of_items_from(text, start)?;
        let outline = tree.outline_behind(text, &self.outline, start);
        let known = self.bindings.partition_point(|binding| binding.start < start);
        let mut scope = scope_of(&tree, text, outline, cursor);
        scope.bindings.splice(..0, self.bindings[..known].iter().cloned());
        Some(scope)
    }
}

/// Returns the starts of the items that begin a line before byte `end` and before the first error.
fn item_starts(ParsedText { text, tree }: &ParsedText, end: usize) -> Vec<usize> {
    let end = end.min(tree.valid_bytes());
    let begins_line = |start: &usize| text[..*start].ends_with('\n');
    let root = tree.root();
    let mut cursor = root.walk();
    let items = root.children(&mut cursor).filter(|node| !node.is_extra()).map(|node| node.start_byte());
    items.take_while(|&start| start < end).filter(begins_line).collect()
}

#[cfg(test)]
impl KnownItems {
    /// Returns the scopes from all items on.
    pub(super) fn scopes<'a>(&'a self, text: &'a str, cursor: usize) -> impl Iterator<Item = Scope> + 'a {
        let starts = self.starts_before(text, cursor).iter();
        starts.filter_map(move |&start| self.scope_from(start, text, cursor))
    }
}
