//! Parses fragments of a text again that its grammar does not recognize: items in a macro's braces, classes with a macro before
//! their name.

use tree_sitter::{Node, Point, Range};

use crate::bounded_parse::{self, ParseBudget, ParseInput};
use crate::language::Language;

/// Returns the tree of the text in `pieces`, as if the file had no other text. Positions are those of the whole text. The work is
/// charged to the budget; `None` if the budget is exhausted.
pub(crate) fn parse_fragments(
    language: Language,
    text: &str,
    pieces: &[Range],
    budget: &mut ParseBudget,
) -> Option<tree_sitter::Tree> {
    let grammar = (language.spec().grammar)();
    let parsed = bounded_parse::parse(&ParseInput { grammar: &grammar, text, old: None, pieces }, budget);
    parsed.map(|parsed| parsed.tree)
}

/// Returns the range between the first and the last sign of a node, which are one byte each.
pub(crate) fn inside_delimiters(node: Node<'_>) -> Option<Range> {
    let is_enclosed = node.child_count() >= 2 && node.byte_range().len() >= 2;
    let (start, end) = (node.start_position(), node.end_position());
    is_enclosed.then(|| Range {
        start_byte: node.start_byte() + 1,
        end_byte: node.end_byte() - 1,
        start_point: Point { column: start.column + 1, ..start },
        end_point: Point { column: end.column.saturating_sub(1), ..end },
    })
}

/// Returns a node's ranges before and after `hole`, which is in the node.
pub(crate) fn around_hole(node: Node<'_>, hole: Node<'_>) -> [Range; 2] {
    let [node, hole] = [node.range(), hole.range()];
    let before = Range { end_byte: hole.start_byte, end_point: hole.start_point, ..node };
    let behind = Range { start_byte: hole.end_byte, start_point: hole.end_point, ..node };
    [before, behind]
}
