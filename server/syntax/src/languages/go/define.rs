//! Definitions and imports of a Go file.

use tree_sitter::Node;

use super::GoRules;
use crate::expr::ExpressionReader;
use crate::node_fields::NodeFields;
use crate::outline::{Definition, DefinitionKind, ImportedItem, OutlineBuilder, Parameter, SourceText};

pub(super) fn define(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    match node.kind() {
        "source_file"
        | "import_declaration"
        | "import_spec_list"
        | "type_declaration"
        | "var_spec_list"
        | "field_declaration_list" => true,
        "struct_type" | "interface_type" | "ERROR" => true,
        "import_spec" => import(node, outline),
        "type_spec" | "type_alias" => named_type(node, outline),
        "field_declaration" => fields(node, outline),
        "method_elem" => function(node, DefinitionKind::Method, outline),
        "type_elem" => embed(node, outline),
        "function_declaration" => function(node, DefinitionKind::Function, outline),
        "method_declaration" => function(node, DefinitionKind::Method, outline),
        "const_declaration" => constants(node, outline),
        "var_declaration" => true,
        "var_spec" => values(node, "var", node.child_in("type"), outline),
        _ => false,
    }
}

fn import(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let path = source.field(node, "path").trim_matches(['"', '`']);
    match source.field(node, "name") {
        _ if path.is_empty() => {}
        // Imported for its side effects only.
        "_" => {}
        "." => drop(outline.import(node, "*", path, ImportedItem::All)),
        "" => drop(outline.import(node, package_name(path), path, ImportedItem::Module)),
        alias => drop(outline.import(node, alias, path, ImportedItem::Module)),
    }
    false
}

/// Returns the most likely name of a package: the last element of its path without its version.
fn package_name(path: &str) -> &str {
    let is_version =
        |element: &str| element.strip_prefix('v').is_some_and(|digits| digits.parse::<u32>().is_ok());
    let mut elements = path.rsplit('/');
    let last = elements.next().unwrap_or_default();
    let name = if is_version(last) { elements.next().unwrap_or(last) } else { last };
    let name = name.split_once(".v").map_or(name, |(name, _)| name);
    name.trim_end_matches(".go").trim_start_matches("go-").trim_end_matches("-go")
}

/// Whether a name is not exported.
fn is_private(name: &str) -> bool {
    !name.starts_with(char::is_uppercase)
}

fn start(node: Node<'_>, name: &str, kind: DefinitionKind, outline: &OutlineBuilder<'_>) -> Definition {
    let mut definition = outline.definition(name, kind, node);
    definition.is_private = is_private(name);
    definition.doc = outline.source.doc_above(node.start_byte());
    definition
}

/// Adds a type with the members in its body; any other type is treated as an alias with respect to its members.
fn named_type(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let (name, of) = (source.field(node, "name"), node.child_in("type"));
    let Some(of) = of.filter(|_| !name.is_empty()) else { return false };
    let mut definition = start(node, name, DefinitionKind::Type, outline);
    let header = source.signature(node, Some(of));
    let has_members = match of.kind() {
        "struct_type" => {
            definition.signature = format!("type {header} struct").into();
            true
        }
        "interface_type" => {
            definition.signature = format!("type {header} interface").into();
            true
        }
        _ => {
            definition.signature = format!("type {}", source.signature(node, None)).into();
            definition.type_text = source.type_text(Some(of));
            false
        }
    };
    outline.add(definition);
    has_members
}

/// Adds the fields of one line; a field without a name embeds its type and has the type's name.
fn fields(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let Some(of) = node.child_in("type") else { return false };
    let type_text = source.type_text(Some(of));
    let mut cursor = node.walk();
    let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
    if names.is_empty() {
        let head = head(source, of);
        field(node, head.rsplit('.').next().unwrap_or(head), &type_text, outline);
        add_base(&type_text, outline);
    }
    for name in names {
        field(node, source.text_of(name), &type_text, outline);
    }
    false
}

fn field(node: Node<'_>, name: &str, type_text: &str, outline: &mut OutlineBuilder<'_>) {
    let mut definition = start(node, name, DefinitionKind::Field, outline);
    definition.type_text = type_text.into();
    definition.signature = format!("{name} {type_text}").into();
    outline.insert(definition);
}

/// Adds an embedded interface as a base of the enclosing one.
fn embed(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let type_text = outline.source.type_text(Some(node));
    add_base(&type_text, outline);
    false
}

fn add_base(type_text: &str, outline: &mut OutlineBuilder<'_>) {
    if let Some((around, _)) = outline.enclosing_type() {
        outline.change(around).bases.push(type_text.trim_start_matches('*').into());
    }
}

fn function(node: Node<'_>, kind: DefinitionKind, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let name = source.field(node, "name");
    if name.is_empty() {
        return false;
    }
    let mut definition = start(node, name, kind, outline);
    definition.owner = receiver(source, node).map(Into::into);
    definition.signature = source.signature(node, node.child_in("body"));
    definition.type_text = source.type_text(node.child_in("result").map(first_result));
    definition.parameters = parameters(source, node);
    outline.add(definition);
    false
}

/// Returns the type of a method's receiver.
fn receiver<'a>(source: SourceText<'a>, node: Node<'_>) -> Option<&'a str> {
    let receiver = node.child_in("receiver")?.named_child(0)?;
    Some(head(source, receiver.child_in("type")?))
}

/// Returns the name of a type that may be a pointer or generic.
fn head<'a>(source: SourceText<'a>, of: Node<'_>) -> &'a str {
    let text = source.text_of(of).trim_start_matches(['*', '(', ' ']);
    text.split(['[', ')']).next().unwrap_or(text).trim()
}

/// Returns the first result of a function, which determines the members of a call.
fn first_result(result: Node<'_>) -> Node<'_> {
    let first = (result.kind() == "parameter_list").then(|| result.named_child(0)).flatten();
    first.and_then(|first| first.child_in("type")).unwrap_or(result)
}

fn parameters(source: SourceText<'_>, node: Node<'_>) -> Vec<Parameter> {
    let Some(list) = node.child_in("parameters") else { return Vec::new() };
    let mut found = Vec::new();
    let mut cursor = list.walk();
    for parameter in list.named_children(&mut cursor) {
        let type_text = parameter_type(source, parameter);
        let mut names = parameter.walk();
        found.extend(
            parameter
                .children_by_field_name("name", &mut names)
                .map(|name| Parameter { name: source.text_of(name).into(), type_text: type_text.clone() }),
        );
    }
    found
}

/// Returns the type of a parameter as written; a variadic one begins with `...`.
pub(super) fn parameter_type(source: SourceText<'_>, parameter: Node<'_>) -> Box<str> {
    let type_text = source.type_text(parameter.child_in("type"));
    let is_variadic = parameter.kind() == "variadic_parameter_declaration";
    if is_variadic { format!("...{type_text}").into() } else { type_text }
}

/// A constant without type and value repeats those of the constants above it.
fn constants(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let mut of = None;
    let mut cursor = node.walk();
    for spec in node.named_children(&mut cursor).filter(|child| child.kind() == "const_spec") {
        let written = spec.child_in("type");
        if written.is_some() || spec.child_in("value").is_some() {
            of = written;
        }
        values(spec, "const", of, outline);
    }
    false
}

/// Adds the values of one line.
fn values(node: Node<'_>, keyword: &str, of: Option<Node<'_>>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let type_text = source.type_text(of);
    let list = node.child_in("value");
    let expressions = ExpressionReader::new(&GoRules, source);
    let mut cursor = node.walk();
    let names = node.children_by_field_name("name", &mut cursor).filter(|name| name.is_named());
    for (position, name) in (0..).zip(names) {
        let name = source.text_of(name);
        let mut definition = start(node, name, DefinitionKind::Constant, outline);
        definition.signature = format!("{keyword} {}", source.signature(node, list)).into();
        definition.type_text = type_text.clone();
        let value = list.and_then(|list| list.named_child(position)).filter(|_| type_text.is_empty());
        definition.value = value.and_then(|value| expressions.read(value));
        outline.insert(definition);
    }
    false
}
