//! Expressions in the arguments of macros, which the parser leaves as tokens.

use tree_sitter::Node;

use super::values::{is_transparent, name};
use crate::expr::{Expr, ExpressionReader};

/// Maximum length of a chain.
const MAX_TOKENS: usize = 48;

/// Returns the chain of accesses and calls at the end of a token tree: the expression being typed if the tree ends at the cursor.
pub(super) fn last_chain(tree: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let mut cursor = tree.walk();
    let mut tokens: Vec<Node<'_>> = tree.children(&mut cursor).collect();
    tokens.pop_if(|last| !last.is_named());
    chain(&tokens[tokens.len().saturating_sub(MAX_TOKENS)..], expressions)
}

/// Converts the chain at the end of the tokens. The depth is at most the number of tokens.
fn chain(tokens: &[Node<'_>], expressions: ExpressionReader<'_>) -> Option<Expr> {
    let (last, before) = tokens.split_last()?;
    let source = expressions.source;
    match last.kind() {
        "self" => Some(Expr::This),
        "identifier" | "crate" | "super" => match before.split_last() {
            Some((dot, object)) if matches!(dot.kind(), "." | "::") => {
                Some(Expr::Member(Box::new(chain(object, expressions)?), source.text_of(*last).into()))
            }
            _ => Some(name(source.text_of(*last))),
        },
        "token_tree" if source.text_of(*last).starts_with('[') => {
            chain(before, expressions).map(Expr::element)
        }
        "token_tree" if source.text_of(*last).starts_with('(') => match chain(before, expressions)? {
            Expr::Member(object, method) if is_transparent(&method) => Some(*object),
            callee => Some(callee.call()),
        },
        "?" => chain(before, expressions),
        _ => None,
    }
}
