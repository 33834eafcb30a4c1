//! Expressions and variables of C and C++.

use tree_sitter::Node;

use super::declarators::{
    DeclaredName, declarators, declared_name, is_auto, outermost, path, template_name, type_text,
};
use crate::expr::{Expr, ExpressionReader};
use crate::node_fields::NodeFields;
use crate::scope::Binding;

/// Functions and casts that return a value of the type between `<` and `>`.
const MAKERS: &[&str] = &[
    "const_cast",
    "dynamic_cast",
    "make_shared",
    "make_unique",
    "reinterpret_cast",
    "static_cast",
    "static_pointer_cast",
];
/// Functions that return their argument.
const TRANSPARENT: &[&str] = &["forward", "move", "ref"];

pub(super) fn expr(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let source = expressions.source;
    match node.kind() {
        "identifier" | "field_identifier" | "type_identifier" | "namespace_identifier" => {
            Some(Expr::Name(source.text_of(node).into()))
        }
        "this" => Some(Expr::This),
        "field_expression" => {
            let name = template_name(node.child_in("field")?);
            let object = expressions.field(node, "argument")?;
            Some(Expr::Member(Box::new(object), source.text_of(name).into()))
        }
        "qualified_identifier" => qualified(node, expressions),
        "template_function" | "template_type" | "template_method" => expressions.field(node, "name"),
        "call_expression" => call(node, expressions),
        "new_expression" | "cast_expression" | "compound_literal_expression" => {
            Some(Expr::Typed(type_text(source, node)))
        }
        "pointer_expression" | "update_expression" | "co_await_expression" => {
            expressions.field(node, "argument")
        }
        "parenthesized_expression" | "dependent_name" | "condition_clause" => expressions.inner(node),
        "subscript_expression" => expressions.field(node, "argument").map(Expr::element),
        "conditional_expression" => {
            let branches = ["consequence", "alternative"].map(|branch| node.child_in(branch));
            expressions.either_of(branches.into_iter().flatten())
        }
        _ => None,
    }
}

/// Converts the whole of `a::b::c`, also from a node nested in it.
fn qualified(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let node = outermost(node, expressions);
    let name = |name: Node<'_>| -> Box<str> { expressions.source.text_of(name).into() };
    let names = path(node);
    let (first, rest) = names.split_first()?;
    Some(
        rest.iter()
            .fold(Expr::Name(name(*first)), |object, member| Expr::Member(Box::new(object), name(*member))),
    )
}

fn call(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let source = expressions.source;
    let function = node.child_in("function")?;
    let last = match function.kind() {
        "qualified_identifier" => innermost(function),
        _ => function,
    };
    let name = source.text_of(template_name(last));
    if let Some(arguments) = last.child_in("arguments").filter(|_| MAKERS.contains(&name)) {
        return Some(Expr::Typed(type_text_of(arguments.named_child(0)?, expressions)));
    }
    if TRANSPARENT.contains(&name) && function.kind() == "qualified_identifier" {
        return expressions.read(node.child_in("arguments")?.named_child(0)?);
    }
    expressions.read(function).map(Expr::call)
}

/// Returns the last name of `a::b::c`, with its template arguments.
fn innermost(name: Node<'_>) -> Node<'_> {
    let mut name = name;
    for _ in path(name) {
        name = match name.child_in("name") {
            Some(inner) if name.kind() == "qualified_identifier" => inner,
            _ => break,
        };
    }
    name
}

fn type_text_of(of: Node<'_>, expressions: ExpressionReader<'_>) -> Box<str> {
    let source = expressions.source;
    if of.kind() == "type_descriptor" { type_text(source, of) } else { source.type_text(Some(of)) }
}

pub(super) fn bindings(node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
    let mut binder = PatternBinder { expressions, found };
    match node.kind() {
        "declaration" => binder.bind_declaration(node),
        "parameter_declaration" | "optional_parameter_declaration" | "variadic_parameter_declaration" => {
            binder.bind(node, node.child_in("declarator"), None);
        }
        "for_range_loop" => {
            let element = expressions.field(node, "right").map(Expr::element);
            binder.bind(node, node.child_in("declarator"), element);
        }
        _ => {}
    }
}

struct PatternBinder<'a, 'found> {
    expressions: ExpressionReader<'a>,
    found: &'found mut Vec<Binding>,
}

impl PatternBinder<'_, '_> {
    fn bind_declaration(&mut self, node: Node<'_>) {
        for declarator in declarators(node) {
            let value = ["value", "default_value"]
                .iter()
                .find_map(|field| declarator.child_in(field).or_else(|| node.child_in(field)));
            let value = value.and_then(|value| self.expressions.read(value));
            self.bind(node, Some(declarator), value);
        }
    }

    /// Binds the name in `declarator` to the type written in `node`, or else to the value.
    fn bind(&mut self, node: Node<'_>, declarator: Option<Node<'_>>, value: Option<Expr>) {
        let Some(DeclaredName { name, function }) = declarator.and_then(declared_name) else { return };
        // In a function, an apparent prototype usually is a variable with constructor arguments.
        let is_in_function =
            || self.expressions.parent(node).is_some_and(|parent| parent.kind() == "compound_statement");
        if function.is_some() && !is_in_function() {
            return;
        }
        let type_text = type_text(self.expressions.source, node);
        let is_told = !type_text.is_empty() && !is_auto(&type_text);
        let value = if is_told { Expr::Typed(type_text) } else { value.unwrap_or(Expr::UNKNOWN) };
        if name.kind() == "structured_binding_declarator" {
            self.bind_parts(name, &value);
        } else {
            self.push(name, value);
        }
    }

    fn bind_parts(&mut self, names: Node<'_>, value: &Expr) {
        let mut cursor = names.walk();
        for name in names.named_children(&mut cursor) {
            self.push(name, value.clone().element());
        }
    }

    fn push(&mut self, name: Node<'_>, value: Expr) {
        let written = self.expressions.source.text_of(name);
        self.found.push(Binding { name: written.into(), value, start: name.start_byte() });
    }
}
