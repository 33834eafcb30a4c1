//! Names in Go.

mod define;
mod modules;
mod values;

use tree_sitter::Node;

use crate::expr::{Expr, ExpressionReader};
use crate::language_rules::LanguageRules;
use crate::module_resolution::{ModuleTarget, Projects};
use crate::node_fields::NodeFields;
use crate::outline::{Definition, OutlineBuilder};
use crate::scope::Binding;
use crate::uses::{NodeUse, UseKind};

pub(crate) use modules::go_module;

/// The rules of Go.
pub(crate) struct GoRules;

impl LanguageRules for GoRules {
    fn define(&self, node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
        define::define(node, outline)
    }

    fn expr(&self, node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
        values::expr(node, expressions)
    }

    fn bindings(&self, node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
        values::bindings(node, expressions, found);
    }

    fn use_of<'tree>(&self, node: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<NodeUse<'tree>> {
        match node.kind() {
            "selector_expression" => member(node, "operand", "field", expressions),
            "qualified_type" => member(node, "package", "name", expressions),
            "call_expression" => {
                let name = node.child_in("function")?;
                (name.kind() == "identifier").then_some(NodeUse { name, kind: UseKind::Bare })
            }
            "composite_literal" => {
                let name = node.child_in("type").map(generic)?;
                (name.kind() == "type_identifier").then_some(NodeUse { name, kind: UseKind::New })
            }
            "keyed_element" => keyed(node, expressions),
            "type_identifier" => mentioned(node, expressions),
            // Variables of functions begin with a lower-case letter; constants may too, and cannot be distinguished from them.
            "identifier" if expressions.source.text_of(node).starts_with(char::is_uppercase) => {
                mentioned(node, expressions)
            }
            _ => None,
        }
    }

    fn holds_uses(&self, node: Node<'_>) -> bool {
        !matches!(node.kind(), "package_clause" | "import_declaration")
    }

    fn targets(&self, _from: &str, module: &str, projects: &Projects) -> Vec<ModuleTarget> {
        modules::targets(module, projects)
    }

    fn implicit(&self, from: &str, _namespace: &str) -> Vec<ModuleTarget> {
        modules::implicit(from)
    }

    fn can_name(&self, from: &str, to: &str, definition: &Definition) -> bool {
        modules::can_name(from, to, definition)
    }
}

fn member<'tree>(
    node: Node<'tree>,
    object: &'static str,
    name: &'static str,
    expressions: ExpressionReader<'_>,
) -> Option<NodeUse<'tree>> {
    let object = expressions.field(node, object).unwrap_or(Expr::UNKNOWN);
    Some(NodeUse { name: node.child_in(name)?, kind: UseKind::Member(object) })
}

/// Returns the base type of a generic type.
fn generic(of: Node<'_>) -> Node<'_> {
    let inner = (of.kind() == "generic_type").then(|| of.child_in("type")).flatten();
    inner.unwrap_or(of)
}

/// Returns the field that a composite literal assigns.
fn keyed<'tree>(node: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<NodeUse<'tree>> {
    let name = node.child_in("key")?.named_child(0)?;
    let literal = expressions.parent(expressions.parent(node)?)?;
    let of = literal.child_in("type").map(generic).filter(|_| name.kind() == "identifier")?;
    let is_struct = matches!(of.kind(), "type_identifier" | "qualified_type");
    is_struct.then(|| Some(NodeUse { name, kind: UseKind::Member(expressions.read(literal)?) }))?
}

/// Returns an unqualified type, unless it is just being defined.
fn mentioned<'tree>(name: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<NodeUse<'tree>> {
    let is_named = expressions.parent(name)?.child_in("name").is_some_and(|named| named == name);
    let is_use = !is_named && !PREDECLARED.contains(&expressions.source.text_of(name));
    is_use.then_some(NodeUse { name, kind: UseKind::Bare })
}

/// Predeclared types of the language.
const PREDECLARED: &[&str] = &[
    "any",
    "bool",
    "byte",
    "comparable",
    "complex128",
    "complex64",
    "error",
    "float32",
    "float64",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "rune",
    "string",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintptr",
];
