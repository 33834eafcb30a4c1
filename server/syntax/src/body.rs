//! Bodies: the text between opener and closer, and the statements in it.

use std::ops::Range;

use tree_sitter::Node;

use crate::constructs::Construct;
use crate::language::LanguageSpec;

/// The body of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Text between opener and closer; if there is no closer, as in Python, up to the end of the last statement.
    pub inner: Range<usize>,
    /// The direct statements in order, including compound statements and the cases of a `switch`, without comments and the
    /// docstring.
    pub statements: Vec<Range<usize>>,
    /// The docstring, if the language has it inside the body.
    pub docstring: Option<Range<usize>>,
}

/// Measures the body of a construct; the header ends where the inside of the body starts.
pub(crate) fn measure_body(construct: &Construct, row: &LanguageSpec) -> Option<Body> {
    let holder = construct.body.or(construct.close.map(|_| construct.node))?;
    let own_opener = holder.child(0).filter(|first| matches!(first.kind(), "{" | "=>"));
    let opener = own_opener.or(construct.open);
    let start = opener.map_or(holder.start_byte(), |opener| opener.end_byte());
    let closer = construct.close.or_else(|| own_closer(holder, own_opener));
    let limit = closer.map_or(holder.end_byte(), |closer| closer.start_byte()).max(start);

    let is_list = own_opener.is_some() || construct.close.is_some();
    let mut statements = if is_list { children(holder, row) } else { statements_of(holder, row) };
    statements.retain(|statement| start <= statement.start && statement.end <= limit);
    let end = match (closer, statements.last()) {
        (Some(_), _) => limit,
        (None, Some(last)) => last.end,
        (None, None) => start,
    };
    let docstring = construct.docstring.map(|node| node.byte_range());
    statements.retain(|statement| Some(statement) != docstring.as_ref());
    Some(Body { inner: start..end, statements, docstring })
}

/// Returns the brace that closes `opener`.
fn own_closer<'tree>(holder: Node<'tree>, opener: Option<Node>) -> Option<Node<'tree>> {
    opener?;
    let last = holder.child(holder.child_count().checked_sub(1)?)?;
    (last.kind() == "}").then_some(last)
}

/// Returns the statements in a statement list, or the node itself.
fn statements_of(node: Node, row: &LanguageSpec) -> Vec<Range<usize>> {
    if row.statement_lists.contains(&node.kind()) {
        return children(node, row);
    }
    if is_empty_statement(node) { Vec::new() } else { vec![node.byte_range()] }
}

/// Returns the statements among the children of `holder`, each with the attributes before it.
fn children(holder: Node, row: &LanguageSpec) -> Vec<Range<usize>> {
    let mut statements = Vec::new();
    let mut attributes_start = None;
    for child in holder.named_children(&mut holder.walk()) {
        if child.is_extra() || child.is_error() {
            continue;
        }
        if row.attributes.contains(&child.kind()) {
            attributes_start.get_or_insert(child.start_byte());
            continue;
        }
        let from = statements.len();
        statements.extend(statements_of(child, row));
        if let (Some(start), Some(first)) = (attributes_start.take(), statements.get_mut(from)) {
            first.start = start;
        }
    }
    statements
}

/// Whether `node` is a lone `;`.
fn is_empty_statement(node: Node) -> bool {
    node.child_count() == 1 && node.child(0).is_some_and(|child| child.kind() == ";")
}
