//! Expressions and variables of Rust.

use tree_sitter::Node;

use super::tokens::last_chain;
use crate::expr::{Expr, ExpressionReader};
use crate::node_fields::NodeFields;
use crate::scope::Binding;

/// Maximum nesting of patterns that is read.
const MAX_PATTERN_DEPTH: usize = 8;

/// Methods of the standard library whose result has the members of their receiver, as far as a type's names show: wrapper types
/// (`Option`, `Arc`, guards, iterators) are ignored.
const TRANSPARENT_METHODS: &[&str] = &[
    "as_deref",
    "as_deref_mut",
    "as_mut",
    "as_ref",
    "borrow",
    "borrow_mut",
    "clone",
    "cloned",
    "copied",
    "expect",
    "into_iter",
    "iter",
    "iter_mut",
    "lock",
    "ok",
    "to_owned",
    "to_vec",
    "unwrap",
    "unwrap_or_default",
];

/// Functions whose result has the members of their only argument, for the same reason.
const WRAPPERS: &[&str] = &[
    "Arc::clone",
    "Arc::new",
    "Box::new",
    "Box::pin",
    "Cell::new",
    "Err",
    "Mutex::new",
    "Ok",
    "Rc::clone",
    "Rc::new",
    "RefCell::new",
    "RwLock::new",
    "Some",
];

/// Methods whose closure gets an element of the receiver.
const ELEMENT_METHODS: &[&str] = &[
    "all",
    "and_then",
    "any",
    "filter",
    "filter_map",
    "find",
    "find_map",
    "flat_map",
    "for_each",
    "inspect",
    "is_some_and",
    "map",
    "map_or",
    "position",
    "retain",
    "take_while",
];

pub(super) fn expr(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    match node.kind() {
        "identifier" | "type_identifier" | "crate" | "super" => Some(name(expressions.source.text_of(node))),
        "self" => Some(Expr::This),
        "field_expression" => expressions.member(node, "value", "field"),
        "scoped_identifier" | "scoped_type_identifier" => match node.child_in("path") {
            Some(_) => expressions.member(node, "path", "name"),
            None => expressions.field(node, "name"),
        },
        "generic_function" => expressions.field(node, "function"),
        "generic_type" | "generic_type_with_turbofish" | "qualified_type" => expressions.field(node, "type"),
        "call_expression" => call(node, expressions),
        "struct_expression" => Some(typed(node.child_in("name")?, expressions)),
        "type_cast_expression" => Some(typed(node.child_in("type")?, expressions)),
        "reference_expression" => expressions.field(node, "value"),
        "try_expression"
        | "await_expression"
        | "parenthesized_expression"
        | "unary_expression"
        | "bracketed_type"
        | "unsafe_block"
        | "expression_statement"
        | "else_clause" => expressions.inner(node),
        "index_expression" => expressions.inner(node).map(Expr::element),
        "block" => expressions.read(last_named(node)?),
        "if_expression" => {
            let branches = ["consequence", "alternative"].map(|branch| node.child_in(branch));
            expressions.either_of(branches.into_iter().flatten())
        }
        "match_expression" => expressions.field(node, "body"),
        "match_block" => expressions.either(node),
        "match_arm" => expressions.field(node, "value"),
        "token_tree" => last_chain(node, expressions),
        _ => None,
    }
}

/// Whether a method's result has the members of its receiver.
pub(super) fn is_transparent(method: &str) -> bool {
    TRANSPARENT_METHODS.contains(&method)
}

/// Converts an unqualified name.
pub(super) fn name(written: &str) -> Expr {
    if written == "Self" { Expr::This } else { Expr::Name(written.into()) }
}

/// Returns a value of a type as written; `Self` is the type whose member is being typed.
fn typed(of: Node<'_>, expressions: ExpressionReader<'_>) -> Expr {
    let written = expressions.source.type_text(Some(of));
    if *written == *"Self" { Expr::This } else { Expr::Typed(written) }
}

/// Returns the tail of a block, if it is an expression.
fn last_named(block: Node<'_>) -> Option<Node<'_>> {
    let last = block.named_child(u32::try_from(block.named_child_count()).ok()?.checked_sub(1)?)?;
    (last.kind() != "expression_statement").then_some(last)
}

fn call(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let function = node.child_in("function")?;
    if function.kind() == "field_expression" && is_transparent(expressions.source.field(function, "field")) {
        return expressions.field(function, "value");
    }
    if WRAPPERS.contains(&expressions.source.text_of(function)) {
        return expressions.read(node.child_in("arguments")?.named_child(0)?);
    }
    expressions.read(function).map(Expr::call)
}

pub(super) fn bindings(node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
    match node.kind() {
        "let_declaration" | "parameter" | "let_condition" => {
            let value = match node.child_in("type") {
                Some(of) => Some(typed(of, expressions)),
                None => expressions.field(node, "value"),
            };
            bind_field(node, value, expressions, found);
        }
        "for_expression" => {
            let collection = expressions.field(node, "value");
            bind_field(node, collection.map(Expr::element), expressions, found);
        }
        "match_expression" => bind_arms(node, expressions, found),
        "call_expression" => bind_closure(node, expressions, found),
        _ => {}
    }
}

/// Binds the names in the field `pattern` of `node`.
fn bind_field(
    node: Node<'_>,
    value: Option<Expr>,
    expressions: ExpressionReader<'_>,
    found: &mut Vec<Binding>,
) {
    if let Some(pattern) = node.child_in("pattern") {
        let value = value.unwrap_or(Expr::UNKNOWN);
        PatternBinder { expressions, found }.bind(pattern, &value, MAX_PATTERN_DEPTH);
    }
}

fn bind_arms(node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
    let Some(body) = node.child_in("body") else { return };
    let value = expressions.field(node, "value");
    let mut cursor = body.walk();
    for arm in body.named_children(&mut cursor).filter(|arm| arm.kind() == "match_arm") {
        bind_field(arm, value.clone(), expressions, found);
    }
}

/// Binds the first parameter of a closure that gets an element of the method's receiver.
fn bind_closure(node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
    let closure = || {
        let function = node.child_in("function")?;
        let takes_elements = ELEMENT_METHODS.contains(&expressions.source.field(function, "field"));
        let last = takes_elements.then(|| last_named(node.child_in("arguments")?))??;
        Some((last.child_in("parameters")?.named_child(0)?, expressions.field(function, "value")?))
    };
    if let Some((parameter, collection)) = closure() {
        PatternBinder { expressions, found }.bind(parameter, &collection.element(), MAX_PATTERN_DEPTH);
    }
}

/// Binds the names in patterns.
struct PatternBinder<'a, 'found> {
    expressions: ExpressionReader<'a>,
    found: &'found mut Vec<Binding>,
}

impl PatternBinder<'_, '_> {
    fn bind(&mut self, pattern: Node<'_>, value: &Expr, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match pattern.kind() {
            "identifier" | "shorthand_field_identifier" => self.bind_name(pattern, value),
            "tuple_pattern" | "slice_pattern" => self.bind_children(pattern, &value.clone().element(), depth),
            "tuple_struct_pattern" => self.bind_variant(pattern, value, depth),
            "struct_pattern" => self.bind_fields(pattern, depth),
            "mut_pattern" | "ref_pattern" | "reference_pattern" | "match_pattern" | "captured_pattern"
            | "or_pattern" => self.bind_children(pattern, value, depth),
            _ => {}
        }
    }

    /// A name that begins with a capital letter is a constant or a variant.
    fn bind_name(&mut self, node: Node<'_>, value: &Expr) {
        let name = self.expressions.source.text_of(node);
        if !name.starts_with(char::is_uppercase) {
            self.found.push(Binding { name: name.into(), value: value.clone(), start: node.start_byte() });
        }
    }

    fn bind_children(&mut self, pattern: Node<'_>, value: &Expr, depth: usize) {
        let mut cursor = pattern.walk();
        for child in pattern.named_children(&mut cursor) {
            self.bind(child, value, depth);
        }
    }

    /// The content of `Some`, `Ok` and `Err` has the members of the value, since wrapper types are ignored.
    fn bind_variant(&mut self, pattern: Node<'_>, value: &Expr, depth: usize) {
        if matches!(self.expressions.source.field(pattern, "type"), "Some" | "Ok" | "Err") {
            self.bind_children(pattern, value, depth);
        }
    }

    fn bind_fields(&mut self, pattern: Node<'_>, depth: usize) {
        let Some(of) = pattern.child_in("type").map(|of| typed(of, self.expressions)) else {
            return;
        };
        let mut cursor = pattern.walk();
        for field in pattern.named_children(&mut cursor).filter(|child| child.kind() == "field_pattern") {
            let Some(name) = field.child_in("name") else { continue };
            let value = Expr::Member(Box::new(of.clone()), self.expressions.source.text_of(name).into());
            self.bind(field.child_in("pattern").unwrap_or(name), &value, depth);
        }
    }
}
