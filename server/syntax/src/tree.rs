//! Full and incremental parsing.

use text::Edit;
use tree_sitter::{InputEdit, Node, Point};

use crate::bounded_parse::{self, ParseBudget, ParseInput};
use crate::language::Language;
use crate::walk::walk;

/// A parsed text; cheap to clone.
///
/// The tree does not store the text: methods that need it take exactly the text that was parsed.
#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) language: Language,
    pub(crate) inner: tree_sitter::Tree,
    is_too_complex: bool,
}

/// Parses `text`; never fails. A text that exceeds the time or memory budget has an empty tree for which [`Tree::is_too_complex`]
/// is true.
pub fn parse(language: Language, text: &str) -> Tree {
    parse_from(language, text, None, ParseBudget::for_file(text.len()))
}

/// Parses `text` with the smaller budget for texts that change on every key.
pub(crate) fn parse_while_edited(language: Language, text: &str) -> Tree {
    parse_from(language, text, None, ParseBudget::for_edit(text.len()))
}

fn parse_from(
    language: Language,
    text: &str,
    old: Option<&tree_sitter::Tree>,
    mut budget: ParseBudget,
) -> Tree {
    let grammar = (language.spec().grammar)();
    let input = ParseInput { grammar: &grammar, text, old, pieces: &[] };
    let parsed = bounded_parse::parse(&input, &mut budget);
    let is_too_complex = parsed.is_none();
    let inner = parsed.unwrap_or_else(|| {
        let nothing = ParseInput { text: "", old: None, ..input };
        bounded_parse::parse(&nothing, &mut ParseBudget::for_file(0))
            .expect("the empty text is within every budget")
    });
    Tree { language, inner, is_too_complex }
}

impl Tree {
    /// Returns the language of the tree.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the tree of `new`, reusing the parts that are the same as in `old`, which is the text of this tree. Uses the
    /// budget for texts that change on every key.
    #[must_use]
    pub fn update(&self, old: &str, new: &str) -> Tree {
        let Some(edit) = Edit::between(old, new) else { return self.clone() };
        if self.is_too_complex {
            return parse_while_edited(self.language, new);
        }
        let mut moved = self.inner.clone();
        moved.edit(&input_edit(old, &edit));
        parse_from(self.language, new, Some(&moved), ParseBudget::for_edit(new.len()))
    }

    /// Whether parsing exceeded the time or memory budget. The tree is then that of the empty text. Depends on the text, the
    /// language and, after an update, on the reused parts, never on the machine.
    pub fn is_too_complex(&self) -> bool {
        self.is_too_complex
    }

    /// Whether the parser found an error anywhere (`ERROR` nodes; missing nodes do not count), or exceeded its budget.
    pub fn has_error(&self) -> bool {
        if self.is_too_complex {
            return true;
        }
        // Skips subtrees without errors, so that only the paths to errors are walked.
        walk(self.root(), |node| node.has_error()).any(|node| node.is_error())
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
fn advance(point: Point, text: &str) -> Point {
    let rows = line_feeds(text);
    match text.rfind('\n') {
        Some(last) => Point { row: point.row + rows, column: text.len() - last - 1 },
        None => Point { row: point.row, column: point.column + text.len() },
    }
}

/// Counts in chunks whose count fits a byte: the compiler vectorizes this, and it runs over half of a document on every key.
fn line_feeds(text: &str) -> usize {
    let count = |chunk: &[u8]| chunk.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>();
    text.as_bytes().chunks(u8::MAX.into()).map(|chunk| usize::from(count(chunk))).sum()
}

#[cfg(test)]
mod tests;
