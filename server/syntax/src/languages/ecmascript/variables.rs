//! The variables of TypeScript and JavaScript code.
//!
//! A variable with an unknown value is added too, since it hides others of the same name.

use tree_sitter::Node;

use super::is_function;
use crate::expr::{Expr, ExpressionReader};
use crate::node_fields::NodeFields;
use crate::scope::Binding;
use crate::tree::named_children;

/// Maximum nesting of patterns that is read.
const MAX_PATTERN_DEPTH: u32 = 6;
/// Methods that call a function with each element of their receiver.
const FOR_ELEMENTS: &[&str] = &[
    "every",
    "filter",
    "find",
    "findIndex",
    "findLast",
    "flatMap",
    "forEach",
    "map",
    "some",
    "sort",
    "subscribe",
];
/// Methods that call a function with the receiver's own value.
const FOR_VALUE: &[&str] = &["then", "tap"];

/// Adds the variables that `node` directly binds.
pub(super) fn bindings(node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
    let field = |name| node.child_in(name);
    let mut binder = PatternBinder { expressions, found };
    match node.kind() {
        "variable_declarator" => {
            let value = binder.annotated_type(node).or_else(|| expressions.field(node, "value"));
            binder.bind(field("name"), value, MAX_PATTERN_DEPTH);
        }
        "for_in_statement" => {
            let element = expressions.field(node, "right").map(Expr::element);
            binder.bind(field("left"), element, MAX_PATTERN_DEPTH);
        }
        "catch_clause" => binder.bind(field("parameter"), None, MAX_PATTERN_DEPTH),
        "binary_expression" if expressions.source.field(node, "operator") == "instanceof" => {
            let name = field("left").filter(|left| left.kind() == "identifier");
            binder.bind(name, expressions.field(node, "right").map(Expr::call), MAX_PATTERN_DEPTH);
        }
        "formal_parameters" => binder.parameters(node),
        "arrow_function" => {
            let value = field("parameter").and_then(|_| first_argument_value(node, expressions));
            binder.bind(field("parameter"), value, MAX_PATTERN_DEPTH);
        }
        _ => {}
    }
}

struct PatternBinder<'a, 'f> {
    expressions: ExpressionReader<'a>,
    found: &'f mut Vec<Binding>,
}

impl PatternBinder<'_, '_> {
    /// Returns the type annotation of a node.
    fn annotated_type(&self, node: Node<'_>) -> Option<Expr> {
        let written = node.child_in("type")?;
        Some(Expr::Typed(self.expressions.source.type_text(Some(written))))
    }

    /// Binds the names in `pattern` to parts of `value`.
    fn bind(&mut self, pattern: Option<Node<'_>>, value: Option<Expr>, depth: u32) {
        let (Some(pattern), Some(depth)) = (pattern, depth.checked_sub(1)) else { return };
        let member = |name: &str| Some(Expr::Member(Box::new(value.clone()?), name.into()));
        match pattern.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => {
                self.found.push(Binding::new(pattern, value, self.expressions.source));
            }
            "object_pattern" => {
                for part in named_children(pattern) {
                    let key = ["key", "left"].into_iter().find_map(|field| part.child_in(field));
                    let value = member(self.expressions.source.text_of(key.unwrap_or(part)));
                    self.bind(Some(part), value, depth);
                }
            }
            "array_pattern" => {
                for part in named_children(pattern) {
                    self.bind(Some(part), value.clone().map(Expr::element), depth);
                }
            }
            "pair_pattern" => self.bind(pattern.child_in("value"), value, depth),
            "assignment_pattern" | "object_assignment_pattern" => {
                let value = value.or_else(|| self.expressions.field(pattern, "right"));
                self.bind(pattern.child_in("left"), value, depth);
            }
            "rest_pattern" => self.bind(pattern.named_child(0), None, depth),
            _ => {}
        }
    }

    fn parameters(&mut self, node: Node<'_>) {
        for (position, parameter) in named_children(node).into_iter().enumerate() {
            let pattern = parameter.child_in("pattern").unwrap_or(parameter);
            let value = self
                .annotated_type(parameter)
                .or_else(|| self.expressions.field(parameter, "value"))
                .or_else(|| {
                    let function = self.expressions.parent(node).filter(|_| position == 0)?;
                    first_argument_value(function, self.expressions)
                });
            self.bind(Some(pattern), value, MAX_PATTERN_DEPTH);
        }
    }
}

/// Returns the first argument that a function gets from the method that it is passed to.
fn first_argument_value(function: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let arguments = is_function(function.kind()).then(|| expressions.parent(function))??;
    let method = expressions.parent(arguments)?.child_in("function")?;
    let object = || expressions.field(method, "object");
    match expressions.source.field(method, "property") {
        name if FOR_ELEMENTS.contains(&name) => Some(object()?.element()),
        name if FOR_VALUE.contains(&name) => object(),
        _ => None,
    }
}
