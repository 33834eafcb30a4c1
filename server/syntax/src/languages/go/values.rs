//! Expressions and variables of Go.

use tree_sitter::Node;

use super::define::parameter_type;
use crate::expr::{Expr, ExpressionReader};
use crate::node_fields::NodeFields;
use crate::scope::Binding;

pub(super) fn expr(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    match node.kind() {
        "identifier" | "type_identifier" | "package_identifier" | "field_identifier" => {
            Some(Expr::Name(expressions.source.text_of(node).into()))
        }
        "selector_expression" => expressions.member(node, "operand", "field"),
        "qualified_type" => expressions.member(node, "package", "name"),
        "call_expression" => call(node, expressions),
        "composite_literal" | "type_assertion_expression" | "type_conversion_expression" => {
            typed(node, expressions)
        }
        "generic_type" | "type_instantiation_expression" => expressions.field(node, "type"),
        "parenthesized_expression"
        | "parenthesized_type"
        | "pointer_type"
        | "literal_element"
        | "variadic_argument" => expressions.inner(node),
        "unary_expression" => {
            let operand = expressions.field(node, "operand")?;
            let receives = expressions.source.field(node, "operator") == "<-";
            Some(if receives { operand.element() } else { operand })
        }
        "slice_expression" => expressions.field(node, "operand"),
        "index_expression" => expressions.field(node, "operand").map(Expr::element),
        _ => None,
    }
}

fn typed(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let of = node.child_in("type")?;
    Some(Expr::Typed(expressions.source.type_text(Some(of))))
}

/// Converts a call; the type of a built-in call depends on its arguments.
fn call(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let function = node.child_in("function")?;
    let argument = || node.child_in("arguments")?.named_child(0);
    match expressions.source.text_of(function) {
        "new" | "make" => Some(Expr::Typed(expressions.source.type_text(Some(argument()?)))),
        "append" | "min" | "max" => expressions.read(argument()?),
        _ => expressions.read(function).map(Expr::call),
    }
}

pub(super) fn bindings(node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
    let mut binder = PatternBinder { expressions, found };
    match node.kind() {
        "parameter_declaration" | "variadic_parameter_declaration" => binder.bind_typed(node),
        "var_spec" | "const_spec" if node.child_in("type").is_some() => binder.bind_typed(node),
        "var_spec" | "const_spec" => {
            let mut cursor = node.walk();
            let names = node.children_by_field_name("name", &mut cursor).filter(|name| name.is_named());
            binder.bind_values(names.collect(), node.child_in("value"));
        }
        "short_var_declaration" | "receive_statement" => {
            binder.bind_values(left(node), node.child_in("right"));
        }
        "range_clause" => binder.bind_range(node),
        "type_switch_statement" => binder.bind_switch(node),
        _ => {}
    }
}

/// Returns the left side of `:=`.
fn left(node: Node<'_>) -> Vec<Node<'_>> {
    let Some(list) = node.child_in("left") else { return Vec::new() };
    let mut cursor = list.walk();
    list.named_children(&mut cursor).collect()
}

struct PatternBinder<'a, 'found> {
    expressions: ExpressionReader<'a>,
    found: &'found mut Vec<Binding>,
}

impl PatternBinder<'_, '_> {
    fn bind(&mut self, name: Node<'_>, value: Option<Expr>, start: usize) {
        let written = self.expressions.source.text_of(name);
        if name.kind() == "identifier" && written != "_" {
            let value = value.unwrap_or(Expr::UNKNOWN);
            self.found.push(Binding { name: written.into(), value, start });
        }
    }

    /// Binds names followed by a type.
    fn bind_typed(&mut self, node: Node<'_>) {
        let value = Some(Expr::Typed(parameter_type(self.expressions.source, node)));
        let mut cursor = node.walk();
        for name in node.children_by_field_name("name", &mut cursor) {
            self.bind(name, value.clone(), name.start_byte());
        }
    }

    /// Binds names to the same number of values; if one value is several, the first name gets the known part.
    fn bind_values(&mut self, names: Vec<Node<'_>>, values: Option<Node<'_>>) {
        let value = |position| match values {
            Some(list) if list.kind() == "expression_list" => list.named_child(position),
            single => single.filter(|_| position == 0),
        };
        for (position, name) in (0..).zip(names) {
            let value = value(position).and_then(|value| self.expressions.read(value));
            self.bind(name, value, name.start_byte());
        }
    }

    /// The second of two variables is the element; over a channel, the first one is.
    fn bind_range(&mut self, node: Node<'_>) {
        let element = self.expressions.field(node, "right").map(Expr::element);
        let names = left(node);
        let last = names.len().saturating_sub(1);
        for (position, name) in names.into_iter().enumerate() {
            self.bind(name, element.clone().filter(|_| position == last), name.start_byte());
        }
    }

    /// In each case the variable has the case's type.
    fn bind_switch(&mut self, node: Node<'_>) {
        let Some(alias) = node.child_in("alias").and_then(|list| list.named_child(0)) else {
            return;
        };
        let value = self.expressions.field(node, "value");
        self.bind(alias, value, alias.start_byte());
        let mut cursor = node.walk();
        for case in node.named_children(&mut cursor).filter(|child| child.kind() == "type_case") {
            if let Some(value) = typed(case, self.expressions) {
                self.bind(alias, Some(value), case.start_byte());
            }
        }
    }
}
