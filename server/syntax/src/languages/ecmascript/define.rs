//! Definitions of a TypeScript or JavaScript file. Types are in `types.rs`, functions in `functions.rs`.

use tree_sitter::Node;

use super::exports::{self, DEFAULT, unquoted};
use super::functions::{callable, define_function};
use super::types::{define_class, define_type};
use super::{EcmaScriptRules, is_function};
use crate::expr::{Expr, ExpressionReader};
use crate::language_rules::LanguageRules;
use crate::node_fields::NodeFields;
use crate::outline::{DefaultsRegion, Definition, DefinitionKind, OutlineBuilder, collapse_whitespace};
use crate::tree::named_children;

/// Maximum length of a value shown with its name as a signature, in bytes.
pub(super) const MAX_VALUE_BYTES: usize = 90;
/// Maximum number of object entries that are treated as members of a module: larger objects are tables.
const MAX_ENTRIES: usize = 100;
/// Nodes that are not part of a signature.
pub(super) const NO_SIGNATURE: &[&str] = &["decorator", "comment"];

/// Adds the definitions of `node`; returns whether its children may contain definitions that other files can reach.
pub(super) fn define(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let name = || source.field(node, "name");
    match node.kind() {
        "program" => outline.open_region(private_up_to(node)),
        "export_statement" => exports::export(node, outline),
        "import_statement" => exports::import(node, outline),
        "import_alias" => define_import_alias(node, outline),
        "assignment_expression" => exports::assign_exports(node, outline),
        "internal_module" | "module" => define_namespace(node, outline),
        "class_declaration" | "abstract_class_declaration" => define_class(node, node, name(), outline),
        "interface_declaration" | "enum_declaration" | "type_alias_declaration" => define_type(node, outline),
        "function_declaration" | "generator_function_declaration" | "function_signature" => {
            define_function(node, node, name(), DefinitionKind::Function, outline);
        }
        "variable_declarator" => define_variable(node, outline),
        _ => {}
    }
    holds_definitions(node.kind())
}

/// Whether a node may contain definitions; those in types are added together with the types.
pub(super) fn holds_definitions(kind: &str) -> bool {
    matches!(
        kind,
        "program"
            | "export_statement"
            | "ambient_declaration"
            | "internal_module"
            | "module"
            | "expression_statement"
            | "lexical_declaration"
            | "variable_declaration"
            | "statement_block"
            | "if_statement"
            | "else_clause"
            | "try_statement"
            | "catch_clause"
            | "ERROR"
    )
}

/// In a module, only exported names are public.
fn private_up_to(node: Node<'_>) -> DefaultsRegion {
    DefaultsRegion { end: node.end_byte(), owner: None, is_private: true }
}

/// Adds a variable as an imported module, a function, a class or a value, depending on its initializer.
fn define_variable(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    if exports::import_required(node, outline) {
        return;
    }
    let source = outline.source;
    let Some(name) = node.child_in("name") else { return };
    let value = node.child_in("value");
    let text = source.text_of(name);
    match value {
        _ if name.kind() != "identifier" => define_pattern(name, node, outline),
        Some(function) if is_function(function.kind()) => {
            define_function(node, function, text, DefinitionKind::Function, outline);
        }
        Some(class) if class.kind() == "class" => define_class(node, class, text, outline),
        _ => define_bound(node, text, value, outline),
    }
}

/// `{a, b: c} = value`.
fn define_pattern(pattern: Node<'_>, node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let mut found = Vec::new();
    EcmaScriptRules.bindings(node, ExpressionReader::new(&EcmaScriptRules, outline.source), &mut found);
    let signature = collapse_whitespace(outline.source.text_of(pattern), MAX_VALUE_BYTES);
    for binding in found {
        outline.insert(Definition {
            signature: signature.clone(),
            value: Some(binding.value).filter(|value| *value != Expr::UNKNOWN),
            ..outline.definition(&binding.name, DefinitionKind::Constant, node)
        });
    }
}

/// Adds a constant, or a module if it is an object; `node` is the whole definition.
pub(super) fn define_bound(
    node: Node<'_>,
    name: &str,
    value: Option<Node<'_>>,
    outline: &mut OutlineBuilder<'_>,
) {
    let source = outline.source;
    let type_text = source.type_text(node.child_in("type"));
    let entries = value.filter(|_| type_text.is_empty()).map(entries).unwrap_or_default();
    let kind = if entries.is_empty() { DefinitionKind::Constant } else { DefinitionKind::Module };
    let signature = match entries.first() {
        Some(_) => source.signature(node, value),
        None => collapse_whitespace(source.text_of(node), MAX_VALUE_BYTES),
    };
    let definition = Definition {
        signature,
        doc: source.doc_above(node.start_byte()),
        value: value
            .filter(|_| type_text.is_empty())
            .and_then(|value| ExpressionReader::new(&EcmaScriptRules, source).read(value)),
        type_text,
        ..outline.definition(name, kind, node)
    };
    let module = outline.insert(definition);
    for entry in entries {
        define_entry(entry, module, outline);
    }
}

/// Returns the entries of an object with members that others may use; empty for objects with plain values only.
fn entries(value: Node<'_>) -> Vec<Node<'_>> {
    let mut object = value;
    while matches!(object.kind(), "as_expression" | "satisfies_expression" | "parenthesized_expression") {
        let Some(inner) = object.named_child(0) else { return Vec::new() };
        object = inner;
    }
    let is_small = object.kind() == "object" && object.named_child_count() <= MAX_ENTRIES;
    let is_entry = |entry: &Node<'_>| matches!(entry.kind(), "pair" | "method_definition");
    if is_small { named_children(object).into_iter().filter(is_entry).collect() } else { Vec::new() }
}

fn define_entry(entry: Node<'_>, module: u32, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let value = entry.child_in("value");
    let name = ["key", "name"].into_iter().find_map(|field| entry.child_in(field));
    let Some(name) = name.map(|name| unquoted(name, source)) else { return };
    let function = value.filter(|value| is_function(value.kind()));
    let is_method = function.is_some() || entry.kind() == "method_definition";
    let mut definition = if is_method {
        callable(entry, function.unwrap_or(entry), name, DefinitionKind::Function, outline)
    } else {
        Definition {
            signature: collapse_whitespace(source.text_of(entry), MAX_VALUE_BYTES),
            value: value.and_then(|value| ExpressionReader::new(&EcmaScriptRules, source).read(value)),
            ..outline.definition(name, DefinitionKind::Constant, entry)
        }
    };
    definition.container = Some(module);
    definition.is_private = false;
    outline.insert(definition);
}

/// `namespace a.b {}` and `declare module "name" {}`; a module with a quoted name has no name that code can use.
fn define_namespace(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let body = node.child_in("body");
    let name = node.child_in("name").filter(|name| name.kind() != "string");
    if let Some(name) = name {
        let definition = Definition {
            signature: source.signature(node, body),
            doc: source.doc_above(node.start_byte()),
            ..outline.definition(source.text_of(name), DefinitionKind::Module, node)
        };
        outline.add(definition);
        outline.open_region(private_up_to(node));
    }
}

/// `import a = b.c`.
fn define_import_alias(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let (Some(name), Some(value)) = (node.named_child(0), node.named_child(1)) else { return };
    let name = outline.source.text_of(name);
    define_bound(node, if name.is_empty() { DEFAULT } else { name }, Some(value), outline);
}
