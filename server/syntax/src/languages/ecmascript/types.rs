//! The types of TypeScript and JavaScript code, with their members.

use tree_sitter::Node;

use super::define::{MAX_VALUE_BYTES, NO_SIGNATURE};
use super::exports::unquoted;
use super::functions::{callable, finish_function};
use super::{EcmaScriptRules, has_word, is_function};
use crate::expr::ExpressionReader;
use crate::node_fields::NodeFields;
use crate::outline::{Definition, DefinitionKind, OutlineBuilder, SourceText, collapse_whitespace};
use crate::tree::named_children;
use crate::walk::walk;

/// Adds a class declared by `node`.
pub(super) fn define_class(node: Node<'_>, class: Node<'_>, name: &str, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let body = class.child_in("body");
    let heritage = named_children(class).into_iter().find(|child| child.kind() == "class_heritage");
    // Decorators may precede `export`, and the documentation precedes them.
    let exported = outline.start_around("export_statement");
    let definition = Definition {
        signature: source.signature_without(node, body, NO_SIGNATURE),
        doc: source.doc_above(exported.unwrap_or(node.start_byte())),
        bases: heritage.map(|heritage| bases(heritage, source)).unwrap_or_default(),
        ..outline.definition(name, DefinitionKind::Type, node)
    };
    let class = outline.add(definition);
    let mut decorator = None;
    for member in body.map(named_children).unwrap_or_default() {
        if member.kind() == "decorator" {
            decorator.get_or_insert(member);
        } else {
            define_member(member, decorator.take().unwrap_or(member), class, outline);
        }
    }
}

/// Returns the types after `extends` and `implements`.
fn bases(heritage: Node<'_>, source: SourceText<'_>) -> Vec<Box<str>> {
    let mut bases = Vec::new();
    for clause in named_children(heritage) {
        match clause.kind() {
            // The node after a class has its type arguments, not another class.
            "extends_clause" => {
                let values =
                    named_children(clause).into_iter().filter(|value| value.kind() != "type_arguments");
                bases.extend(values.map(|value| source.type_text(Some(value))));
            }
            "implements_clause" => {
                bases.extend(named_children(clause).into_iter().map(|base| source.type_text(Some(base))));
            }
            _ => bases.push(source.type_text(Some(clause))),
        }
    }
    bases
}

/// Adds an interface, an enumeration or an alias.
pub(super) fn define_type(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let value = node.child_in("value");
    let body = node.child_in("body");
    let parts = value.map(parts_of_type).unwrap_or_default();
    let extended = named_children(node)
        .into_iter()
        .find(|child| child.kind() == "extends_type_clause")
        .map(named_children);
    let bases =
        extended.into_iter().flatten().chain(parts.iter().copied()).filter(|part| {
            matches!(part.kind(), "type_identifier" | "generic_type" | "nested_type_identifier")
        });
    let definition = Definition {
        signature: source.signature_without(
            node,
            body.or(value.filter(|_| has_members(&parts))),
            NO_SIGNATURE,
        ),
        doc: source.doc_above(node.start_byte()),
        type_text: source.type_text(value),
        bases: bases.map(|base| source.type_text(Some(base))).collect(),
        ..outline.definition(source.field(node, "name"), DefinitionKind::Type, node)
    };
    let around = outline.add(definition);
    let objects = parts.into_iter().filter(|part| part.kind() == "object_type");
    for object in body.into_iter().chain(objects) {
        for member in named_children(object) {
            define_member(member, member, around, outline);
        }
    }
}

fn has_members(parts: &[Node<'_>]) -> bool {
    parts.iter().any(|part| part.kind() == "object_type")
}

/// Returns the parts of unions and intersections.
fn parts_of_type(value: Node<'_>) -> Vec<Node<'_>> {
    let is_put_together =
        |node: Node<'_>| matches!(node.kind(), "union_type" | "intersection_type" | "parenthesized_type");
    walk(value, is_put_together).filter(|node| node.is_named() && !is_put_together(*node)).collect()
}

/// Adds a member of a class, interface, enumeration or object type; `first` is its start, or its first decorator if it has one.
fn define_member(node: Node<'_>, first: Node<'_>, around: u32, outline: &mut OutlineBuilder<'_>) {
    match node.kind() {
        "method_definition" | "method_signature" | "abstract_method_signature" => {
            define_method(node, first, around, outline);
        }
        "public_field_definition" | "field_definition" | "property_signature" => {
            define_field(node, around, outline);
        }
        "property_identifier" | "string" => define_enum_member(node, node, outline),
        "enum_assignment" => {
            if let Some(name) = node.child_in("name") {
                define_enum_member(name, node, outline);
            }
        }
        _ => {}
    }
}

fn define_enum_member(name: Node<'_>, node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let type_text = outline.enclosing_type().map_or("".into(), |(_, around)| around.name.clone());
    outline.insert(Definition {
        signature: collapse_whitespace(source.text_of(node), MAX_VALUE_BYTES),
        type_text,
        is_private: false,
        is_static: true,
        ..outline.definition(unquoted(name, source), DefinitionKind::Field, node)
    });
}

fn define_method(node: Node<'_>, first: Node<'_>, around: u32, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let Some(name_node) = node.child_in("name") else { return };
    let name = unquoted(name_node, source);
    let kind = match name {
        "constructor" => DefinitionKind::Constructor,
        _ if has_word(node, "get") || has_word(node, "set") => DefinitionKind::Field,
        _ => DefinitionKind::Method,
    };
    if kind == DefinitionKind::Field && outline.member(around, name).is_some() {
        return;
    }
    let mut method = callable(node, node, name, kind, outline);
    if first != node {
        method.doc = source.doc_above(first.start_byte());
    }
    if kind == DefinitionKind::Field && method.type_text.is_empty() {
        // The type of a setter's value is the type of its parameter.
        method.type_text = method.parameters.first().map_or("".into(), |one| one.type_text.clone());
    }
    method.is_private = is_private(node, name_node, source);
    method.is_static = has_word(node, "static");
    finish_function(method, node, Some(around), outline);
}

/// Adds the parameters of a constructor that are also fields.
pub(super) fn define_parameter_properties(constructor: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let parameters = constructor.child_in("parameters").map(named_children).unwrap_or_default();
    for parameter in parameters {
        let is_property =
            named_children(parameter).iter().any(|child| child.kind() == "accessibility_modifier");
        let Some(name) = parameter.child_in("pattern") else { continue };
        if !is_property && !has_word(parameter, "readonly") {
            continue;
        }
        outline.insert(Definition {
            signature: source.signature_without(parameter, None, NO_SIGNATURE),
            type_text: source.type_text(parameter.child_in("type")),
            is_private: is_private(parameter, name, source),
            ..outline.definition(source.text_of(name), DefinitionKind::Field, parameter)
        });
    }
}

fn is_private(member: Node<'_>, name: Node<'_>, source: SourceText<'_>) -> bool {
    let is_said =
        |child: &Node<'_>| child.kind() == "accessibility_modifier" && source.text_of(*child) == "private";
    name.kind() == "private_property_identifier"
        || source.text_of(name).starts_with('_')
        || named_children(member).iter().any(is_said)
}

/// Adds a field, or a method if its value or its type is a function.
fn define_field(node: Node<'_>, around: u32, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let name = node.child_in("name").or_else(|| node.child_in("property"));
    let Some(name) = name else { return };
    let value = node.child_in("value");
    let written = node.child_in("type");
    let of_type = written.and_then(|written| written.named_child(0));
    let function = value
        .filter(|value| is_function(value.kind()))
        .or(of_type.filter(|written| written.kind() == "function_type"));
    let is_private = is_private(node, name, source);
    let is_static = has_word(node, "static");
    let name = unquoted(name, source);
    if let Some(function) = function {
        let method = callable(node, function, name, DefinitionKind::Method, outline);
        let method = Definition { is_private, is_static, ..method };
        return finish_function(method, function, Some(around), outline);
    }
    let type_text = source.type_text(written);
    let value = value.filter(|_| type_text.is_empty());
    outline.insert(Definition {
        signature: collapse_whitespace(&source.signature_without(node, None, NO_SIGNATURE), MAX_VALUE_BYTES),
        doc: source.doc_above(node.start_byte()),
        value: value.and_then(|value| ExpressionReader::new(&EcmaScriptRules, source).read(value)),
        type_text,
        is_private,
        is_static,
        ..outline.definition(name, DefinitionKind::Field, node)
    });
}
