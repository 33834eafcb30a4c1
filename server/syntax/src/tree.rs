//! Parsing, anew or after a change.

use text::Edit;
use tree_sitter::{InputEdit, Node, Point};

use crate::bounded::{self, Budget, Input};
use crate::language::Language;
use crate::walk::walk;

/// A parsed text; cheap to clone.
///
/// The tree does not hold the text: methods that need it take the very text that was parsed.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) language: Language,
    pub(crate) inner: tree_sitter::Tree,
    is_too_complex: bool,
}

/// Parses `text`; never fails. A text that takes more time or memory than a budget allows has an empty tree, which says so
/// ([`Tree::is_too_complex`]).
pub fn parse(language: Language, text: &str) -> Tree {
    parse_from(language, text, None, Budget::of_file(text.len()))
}

/// The same with the smaller budget for texts that change at every key.
pub(crate) fn parse_while_edited(language: Language, text: &str) -> Tree {
    parse_from(language, text, None, Budget::of_edit(text.len()))
}

fn parse_from(language: Language, text: &str, old: Option<&tree_sitter::Tree>, mut budget: Budget) -> Tree {
    let grammar = (language.row().grammar)();
    let input = Input { grammar: &grammar, text, old, pieces: &[] };
    let parsed = bounded::parse(&input, &mut budget);
    let is_too_complex = parsed.is_none();
    let inner = parsed.unwrap_or_else(|| {
        let nothing = Input { text: "", old: None, ..input };
        bounded::parse(&nothing, &mut Budget::of_file(0)).expect("the empty text is within every budget")
    });
    Tree { language, inner, is_too_complex }
}

impl Tree {
    /// The language it was parsed as.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The tree of `new`, parsed where it differs from `old`, which is the text of this tree. The budget is that of a text which changes
    /// at every key.
    #[must_use]
    pub fn update(&self, old: &str, new: &str) -> Tree {
        let Some(edit) = Edit::between(old, new) else { return self.clone() };
        if self.is_too_complex {
            return parse_while_edited(self.language, new);
        }
        let mut moved = self.inner.clone();
        moved.edit(&input_edit(old, &edit));
        parse_from(self.language, new, Some(&moved), Budget::of_edit(new.len()))
    }

    /// Whether parsing took more time or memory than it may. The tree is then that of the empty text. It depends on the text, the
    /// language and, after an update, on what was reused, never on the machine.
    pub fn is_too_complex(&self) -> bool {
        self.is_too_complex
    }

    /// Whether the parser found an error anywhere (`ERROR` nodes; missing nodes do not count), or gave up.
    pub fn has_error(&self) -> bool {
        if self.is_too_complex {
            return true;
        }
        // Subtrees without a flaw are passed over, so that only the paths to flaws are walked.
        walk(self.root(), |node| node.has_error()).any(|node| node.is_error())
    }

    /// Whether `offset` is inside of an escape in a string (`\n`) or a character reference in a markup text (`&amp;`).
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

/// The named children of a node without comments.
pub(crate) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).filter(|child| !child.is_extra()).collect()
}

/// The last named child of a node.
pub(crate) fn last_named(node: Node<'_>) -> Option<Node<'_>> {
    node.named_child(node.named_child_count().checked_sub(1)? as u32)
}

/// An edit of `before` in the parser's terms.
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

/// The parser's position after `text`, which begins at `point`. The parser counts line feeds only, and columns in bytes.
fn advance(point: Point, text: &str) -> Point {
    let rows = line_feeds(text);
    match text.rfind('\n') {
        Some(last) => Point { row: point.row + rows, column: text.len() - last - 1 },
        None => Point { row: point.row, column: point.column + text.len() },
    }
}

/// Counts in chunks whose count fits a byte: the compiler makes vector instructions of that, and it is done for half of a document
/// at every key.
fn line_feeds(text: &str) -> usize {
    let count = |chunk: &[u8]| chunk.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>();
    text.as_bytes().chunks(u8::MAX.into()).map(|chunk| usize::from(count(chunk))).sum()
}

#[cfg(test)]
mod tests;
