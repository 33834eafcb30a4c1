//! Full and incremental parsing.

use rustc_hash::FxHashSet;
use text::Edit;
use tree_sitter::{InputEdit, Node, Point};

use crate::bounded_parse::{self, FinishedParse, ParseBudget, ParseCost, ParseInput};
use crate::language::Language;
use crate::walk::walk;

pub(crate) mod end_update;

/// A parsed text; cheap to clone.
///
/// The tree does not store the text: methods that need it take exactly the text that was parsed.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) language: Language,
    pub(crate) inner: tree_sitter::Tree,
    /// What parsing the text from nothing takes at most; `None` if that exceeds the budget, and the tree is that of the empty
    /// text.
    cost: Option<ParseCost>,
}

/// A tree that was parsed with parts of an earlier one.
struct Reparsed {
    tree: Tree,
    /// The earlier one, moved to the places in the new text.
    moved: tree_sitter::Tree,
}

/// Parses `text`; never fails. A text that exceeds the time or memory budget has an empty tree for which [`Tree::is_too_complex`]
/// is true.
pub fn parse(language: Language, text: &str) -> Tree {
    parse_within(language, text, ParseBudget::for_file(text.len()))
}

/// Parses `text` with the smaller budget for texts that change on every key.
pub(crate) fn parse_while_edited(language: Language, text: &str) -> Tree {
    parse_within(language, text, ParseBudget::for_edit(text.len()))
}

fn parse_within(language: Language, text: &str, budget: ParseBudget) -> Tree {
    parse_pieces(language, text, &[], budget)
}

/// Parses the ranges `pieces` of `text`, or the whole text if there are none.
pub(crate) fn parse_pieces(
    language: Language,
    text: &str,
    pieces: &[tree_sitter::Range],
    mut budget: ParseBudget,
) -> Tree {
    let grammar = (language.spec().grammar)();
    let parsed =
        bounded_parse::parse(&ParseInput { grammar: &grammar, text, old: None, pieces }, &mut budget);
    if let Some(FinishedParse { tree, cost }) = parsed {
        return Tree { language, inner: tree, cost: Some(cost) };
    }
    let empty = run_parser(language, "", None, ParseBudget::for_file(0));
    Tree { language, inner: empty.expect("the empty text is within every budget").tree, cost: None }
}

fn run_parser(
    language: Language,
    text: &str,
    old: Option<&tree_sitter::Tree>,
    mut budget: ParseBudget,
) -> Option<FinishedParse> {
    let grammar = (language.spec().grammar)();
    bounded_parse::parse(&ParseInput { grammar: &grammar, text, old, pieces: &[] }, &mut budget)
}

impl Tree {
    /// Returns the language of the tree.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the tree of `new`, as a parse with the budget for texts that change on every key returns it. Reuses the parts that
    /// are the same as in `old`, which is the text of this tree.
    #[must_use]
    pub fn update(&self, old: &str, new: &str) -> Tree {
        let Some(edit) = Edit::between(old, new) else { return self.clone() };
        self.try_update(old, new, &edit).unwrap_or_else(|| parse_while_edited(self.language, new))
    }

    /// Whether the parser finds an error in `new` while it reuses what it can of this tree, whose text is `old`; true beyond the
    /// budget. The metric of valid code is defined by this.
    ///
    /// [`Tree::update`] parses most broken texts from well before the edit to their end, or from nothing, since the parser may recover in
    /// another way there. That takes up to as long as the first parse, and finds another result for one broken text in some thousands.
    pub fn has_error_after(&self, old: &str, new: &str) -> bool {
        let Some(edit) = Edit::between(old, new) else { return self.has_error() };
        if self.is_too_complex() {
            return parse_while_edited(self.language, new).has_error();
        }
        let mut moved = self.inner.clone();
        moved.edit(&input_edit(old, &edit));
        let updated = run_parser(self.language, new, Some(&moved), ParseBudget::for_edit(new.len()));
        updated.is_none_or(|FinishedParse { tree, cost }| {
            Tree { language: self.language, inner: tree, cost: Some(cost) }.has_error()
        })
    }

    /// Like [`Tree::update`]; `None` if a parse from nothing is necessary. `edit` is the one between both texts.
    pub(crate) fn try_update(&self, old: &str, new: &str, edit: &Edit) -> Option<Tree> {
        // A text that grows has most of its errors at its end.
        let is_at_end = edit.range.end == old.len();
        let updated = if is_at_end { None } else { self.update_without_errors_behind(old, new, edit) };
        updated.or_else(|| self.update_end(old, new).map(|updated| updated.tree))
    }

    /// Returns the tree of `new`; `None` if there is an error that does not end before the edit.
    fn update_without_errors_behind(&self, old: &str, new: &str, edit: &Edit) -> Option<Tree> {
        let updated = self.reparse(old, new, edit)?.tree;
        let start = edit.range.start;
        updated.has_only_recoveries(&self.recoveries_before(start), start).then_some(updated)
    }

    /// Returns the tree of `new` from byte `from` on, the start of an item; `None` if there is an error in it, or if parsing the whole text
    /// might exceed the budget.
    pub(crate) fn of_items_from(&self, new: &str, from: usize) -> Option<Tree> {
        let budget = ParseBudget::for_edit(new.len()).after(self.cost?)?;
        let start_point = advance(Point { row: 0, column: 0 }, &new[..from]);
        let end_point = advance(start_point, &new[from..]);
        let range = tree_sitter::Range { start_byte: from, end_byte: new.len(), start_point, end_point };
        let tree = parse_pieces(self.language, new, &[range], budget);
        (!tree.is_too_complex() && !tree.root().has_error()).then_some(tree)
    }

    /// Returns whether all nodes that the parser recovered in are `reused` ones and end before `end`.
    fn has_only_recoveries(&self, reused: &FxHashSet<usize>, end: usize) -> bool {
        self.recoveries().all(|node| reused.contains(&node.id()) && node.end_byte() < end)
    }

    /// Parses `new`, reusing the parts that the edit does not touch. `None` if the whole work, as if nothing had been reused, might
    /// exceed the budget.
    ///
    /// The parser reuses a part only if it enters the part in the same state, and if nothing in it was ambiguous. So without errors,
    /// the tree is that of a parse from nothing. How the parser recovers from an error depends on more than its state: on the
    /// nodes before the error, which may be in other pieces after reuse. So the caller accepts errors only in reused parts before the
    /// edit: a parse from nothing reads the same tokens up to their end, and recovers in the same way.
    fn reparse(&self, old: &str, new: &str, edit: &Edit) -> Option<Reparsed> {
        let cost = self.cost?;
        let budget = ParseBudget::for_edit(new.len()).after(cost)?;
        let mut moved = self.inner.clone();
        moved.edit(&input_edit(old, edit));
        let FinishedParse { tree: inner, cost: update } =
            run_parser(self.language, new, Some(&moved), budget)?;
        let tree = Tree { language: self.language, inner, cost: Some(cost.plus_update(update)) };
        Some(Reparsed { tree, moved })
    }

    /// Returns the nodes that the parser recovered in and that end before `end`.
    fn recoveries_before(&self, end: usize) -> FxHashSet<usize> {
        self.recoveries().filter(|node| node.end_byte() < end).map(|node| node.id()).collect()
    }

    /// Whether parsing exceeded the time or memory budget. The tree is then that of the empty text. Depends on the text and the
    /// language, never on the machine.
    pub fn is_too_complex(&self) -> bool {
        self.cost.is_none()
    }

    /// Whether the parser found an error anywhere (`ERROR` nodes; missing nodes do not count), or exceeded its budget.
    pub fn has_error(&self) -> bool {
        self.is_too_complex() || self.nodes_with_errors().any(|node| node.is_error())
    }

    /// Returns the nodes that the parser recovered in: text that fits no rule, missing tokens, and the smallest nodes around hidden
    /// ones.
    fn recoveries(&self) -> impl Iterator<Item = Node<'_>> {
        let is_smallest = |node: &Node<'_>| !node.children(&mut node.walk()).any(|child| child.has_error());
        self.nodes_with_errors().filter(move |node| node.is_error() || node.is_missing() || is_smallest(node))
    }

    fn nodes_with_errors(&self) -> impl Iterator<Item = Node<'_>> {
        // Skips subtrees without errors, so that only the paths to errors are walked.
        walk(self.root(), |node| node.has_error()).filter(|node| node.has_error())
    }

    /// Whether `offset` is inside of an escape in a string (`\n`) or a character reference in markup (`&amp;`).
    pub fn is_in_escape(&self, offset: usize) -> bool {
        let around =
            self.root().descendant_for_byte_range(offset.saturating_sub(1), offset.saturating_add(1));
        around.is_some_and(|node| {
            let is_inside = node.start_byte() < offset && offset < node.end_byte();
            is_inside && matches!(node.kind(), "escape_sequence" | "html_character_reference")
        })
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.inner.root_node()
    }
}

/// Returns the named children of a node without comments.
pub(crate) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).filter(|child| !child.is_extra()).collect()
}

/// Returns the last named child of a node.
pub(crate) fn last_named(node: Node<'_>) -> Option<Node<'_>> {
    node.named_child(node.named_child_count().checked_sub(1)? as u32)
}

/// Converts an edit of `before` to the parser's type.
fn input_edit(before: &str, Edit { range, text }: &Edit) -> InputEdit {
    let start_position = advance(Point { row: 0, column: 0 }, &before[..range.start]);
    InputEdit {
        start_byte: range.start,
        old_end_byte: range.end,
        new_end_byte: range.start + text.len(),
        start_position,
        old_end_position: advance(start_position, &before[range.clone()]),
        new_end_position: advance(start_position, text),
    }
}

/// Returns the parser's position after `text`, which begins at `point`. The parser counts line feeds only, and columns in bytes.
pub(crate) fn advance(point: Point, text: &str) -> Point {
    let rows = line_feeds(text);
    match text.rfind('\n') {
        Some(last) => Point { row: point.row + rows, column: text.len() - last - 1 },
        None => Point { row: point.row, column: point.column + text.len() },
    }
}

/// Counts in chunks whose count fits a byte: the compiler vectorizes this, and it runs over half of a document on every key.
pub(crate) fn line_feeds(text: &str) -> usize {
    let count = |chunk: &[u8]| chunk.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>();
    text.as_bytes().chunks(u8::MAX.into()).map(|chunk| usize::from(count(chunk))).sum()
}

#[cfg(test)]
mod tests;
