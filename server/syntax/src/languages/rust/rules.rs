//! Names in Rust.

mod define;
mod modules;
mod tokens;
mod values;

use tree_sitter::Node;

use crate::expr::{Expr, ExpressionReader};
use crate::language_rules::LanguageRules;
use crate::module_resolution::{ModuleTarget, Projects};
use crate::node_fields::NodeFields;
use crate::outline::{OutlineBuilder, SourceText};
use crate::scope::Binding;
use crate::test_code::{TestCode, names_test};
use crate::uses::{NodeUse, UseKind};

pub(crate) use modules::cargo_packages;

/// The rules of Rust.
pub(crate) struct RustRules;

impl LanguageRules for RustRules {
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
            "field_expression" => member(node, "value", "field", expressions),
            "scoped_identifier" | "scoped_type_identifier" => member(node, "path", "name", expressions),
            "field_initializer" => initialized(node, node.child_in("field")?, expressions),
            "shorthand_field_initializer" => initialized(node, node.named_child(0)?, expressions),
            "struct_expression" => {
                let name = node.child_in("name").filter(|name| name.kind() == "type_identifier")?;
                is_type_name(expressions.source.text_of(name)).then_some(NodeUse { name, kind: UseKind::New })
            }
            "call_expression" => bare(node.child_in("function")?),
            "generic_function" => bare(node.child_in("function")?),
            "macro_invocation" => bare(node.child_in("macro")?),
            "identifier" | "type_identifier" => {
                is_type_name(expressions.source.text_of(node)).then(|| mentioned(node, expressions))?
            }
            _ => None,
        }
    }

    fn holds_uses(&self, node: Node<'_>) -> bool {
        !matches!(
            node.kind(),
            "use_declaration"
                | "extern_crate_declaration"
                | "visibility_modifier"
                | "attribute_item"
                | "inner_attribute_item"
                | "macro_definition"
                | "token_tree"
        )
    }

    fn targets(&self, from: &str, module: &str, projects: &Projects) -> Vec<ModuleTarget> {
        modules::targets(from, module, projects)
    }

    fn test_code(&self, node: Node<'_>, source: SourceText<'_>) -> TestCode {
        match node.kind() {
            "attribute_item" if is_test_attribute(node, source) => TestCode::Next,
            "attribute_item" | "line_comment" | "block_comment" => TestCode::Between,
            _ => TestCode::No,
        }
    }
}

/// Returns the access to a member in the fields `object` and `name`.
fn member<'tree>(
    node: Node<'tree>,
    object: &'static str,
    name: &'static str,
    expressions: ExpressionReader<'_>,
) -> Option<NodeUse<'tree>> {
    let name = node.child_in(name).filter(|name| name.kind() != "integer_literal")?;
    Some(NodeUse { name, kind: UseKind::Member(expressions.field(node, object).unwrap_or(Expr::UNKNOWN)) })
}

/// Returns the field `name` that a struct expression assigns.
fn initialized<'tree>(
    node: Node<'tree>,
    name: Node<'tree>,
    expressions: ExpressionReader<'_>,
) -> Option<NodeUse<'tree>> {
    let literal = expressions.parent(expressions.parent(node)?)?;
    Some(NodeUse { name, kind: UseKind::Member(expressions.read(literal).unwrap_or(Expr::UNKNOWN)) })
}

fn bare(name: Node<'_>) -> Option<NodeUse<'_>> {
    (name.kind() == "identifier").then_some(NodeUse { name, kind: UseKind::Bare })
}

/// Returns an unqualified type, constant or variant, unless it is the `name` field of a definition or path.
fn mentioned<'tree>(name: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<NodeUse<'tree>> {
    let is_named = expressions.parent(name)?.child_in("name").is_some_and(|named| named == name);
    (!is_named).then_some(NodeUse { name, kind: UseKind::Bare })
}

/// Whether a name looks like a type or constant, except `Self`.
fn is_type_name(name: &str) -> bool {
    name.starts_with(char::is_uppercase) && name != "Self"
}

/// Whether an attribute marks a test, or code that is compiled for tests only.
fn is_test_attribute(attribute: Node<'_>, source: SourceText<'_>) -> bool {
    const TESTS: [&str; 7] =
        ["test", "bench", "rstest", "test_case", "quickcheck", "proptest", "wasm_bindgen_test"];
    let text = source.text_of(attribute);
    if !text.starts_with("#[cfg(") {
        return names_test(attribute, source, &TESTS);
    }
    let is_condition = |(at, word): (usize, &str)| {
        text[..at].ends_with(['(', ',', ' ']) && text[at + word.len()..].starts_with([')', ',', ' '])
    };
    text.match_indices("test").any(is_condition) && !text.contains("not(test")
}
