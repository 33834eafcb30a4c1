//! Definitions and includes of a C or C++ file.

use tree_sitter::Node;

use super::CRules;
use super::declarators::{DeclaredName, declarators, declared_name, is_auto, path, type_text};
use crate::expr::ExpressionReader;
use crate::fragments::around_hole;
use crate::node_fields::NodeFields;
use crate::outline::{
    DefaultsRegion, Definition, DefinitionKind, ImportedItem, OutlineBuilder, Parameter, SourceText,
};
use crate::walk::TreeWalk;

pub(super) fn define(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    match node.kind() {
        "translation_unit"
        | "preproc_if"
        | "preproc_ifdef"
        | "preproc_else"
        | "preproc_elif"
        | "preproc_elifdef"
        | "linkage_specification"
        | "declaration_list"
        | "template_declaration"
        | "field_declaration_list"
        | "enumerator_list"
        | "ERROR" => true,
        "preproc_include" => include(node, outline),
        "preproc_def" | "preproc_function_def" => define_macro(node, outline),
        "using_declaration" => using(node, outline),
        "namespace_alias_definition" => namespace_alias(node, outline),
        "namespace_definition" => namespace(node, outline),
        "access_specifier" => access(node, outline),
        "class_specifier" | "struct_specifier" | "union_specifier" => class(node, outline),
        "enum_specifier" => enumeration(node, outline),
        "enumerator" => enumerator(node, outline),
        "type_definition" => type_definition(node, outline),
        "alias_declaration" => alias(node, outline),
        "function_definition" => function_definition(node, outline),
        "declaration" | "field_declaration" => declaration(node, outline),
        _ => false,
    }
}

fn include(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let path = outline.source.field(node, "path").trim_matches(['"', '<', '>', ' ']);
    if !path.is_empty() {
        outline.import(node, "*", path, ImportedItem::All).is_reexport = true;
    }
    false
}

/// Skips a macro without a value: it is only a flag, such as an include guard or an enabled feature.
fn define_macro(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let (name, value) = (source.field(node, "name"), node.child_in("value"));
    let parameters = node.child_in("parameters");
    if name.is_empty() || parameters.is_none() && value.is_none() {
        return false;
    }
    let kind = if parameters.is_some() { DefinitionKind::Function } else { DefinitionKind::Constant };
    let mut definition = outline.definition(name, kind, node);
    definition.container = None;
    definition.is_private = false;
    let signature = source.signature(node, value.filter(|_| parameters.is_some()));
    // The parser includes a comment after a value in the value.
    let signature = signature.split("/*").next().unwrap_or_default();
    definition.signature = signature.trim_end_matches(['\\', ' ']).into();
    definition.doc = doc(node, outline);
    definition.parameters = parameters.map_or_else(Vec::new, |list| {
        let mut cursor = list.walk();
        let names = list.named_children(&mut cursor).filter(|child| child.kind() == "identifier");
        names.map(|name| Parameter { name: source.text_of(name).into(), type_text: "".into() }).collect()
    });
    outline.insert(definition);
    false
}

/// `using namespace a::b;` and `using a::b;`.
fn using(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let Some(named) = node.named_child(0) else { return false };
    let written = source.text_of(named);
    let mut cursor = node.walk();
    if node.children(&mut cursor).any(|child| child.kind() == "namespace") {
        outline.import(node, "*", written, ImportedItem::All);
    } else if let Some((module, name)) = written.rsplit_once("::") {
        outline.import(node, name, module, ImportedItem::Name(name.into())).is_reexport = true;
    }
    false
}

fn namespace_alias(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let stands_for = node.named_child(1).map_or("", |module| source.text_of(module));
    outline.import(node, source.field(node, "name"), stands_for, ImportedItem::Module);
    false
}

/// Members of an unnamed namespace are visible in this file only.
fn namespace(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let name = outline.source.field(node, "name").replace("::", ".");
    if name.is_empty() {
        outline.open_region(DefaultsRegion { end: node.end_byte(), owner: None, is_private: true });
    } else {
        outline.open_namespace(&name, node.end_byte());
    }
    true
}

/// `private:` and the like apply up to the next one or the end of the class.
fn access(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    if let Some(end) = outline.enclosing_type().map(|(_, around)| around.range.end as usize) {
        let is_private = outline.source.text_of(node) != "public";
        outline.open_region(DefaultsRegion { end, owner: None, is_private });
    }
    false
}

/// A type with members. A type without a body is defined elsewhere; a type without a name adds its members to the enclosing item.
fn class(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let Some(body) = node.child_in("body") else { return false };
    if let Some(name) = node.child_in("name") {
        let mut definition = start(node, name, DefinitionKind::Type, outline);
        definition.signature = source.signature(node, Some(body));
        definition.bases = bases(source, node);
        outline.add(definition);
    }
    let is_private = node.kind() == "class_specifier";
    outline.open_region(DefaultsRegion { end: node.end_byte(), owner: None, is_private });
    true
}

fn bases(source: SourceText<'_>, node: Node<'_>) -> Vec<Box<str>> {
    let mut cursor = node.walk();
    let Some(clause) = node.named_children(&mut cursor).find(|child| child.kind() == "base_class_clause")
    else {
        return Vec::new();
    };
    let mut cursor = clause.walk();
    let types = clause.named_children(&mut cursor);
    let types = types.filter(|child| !matches!(child.kind(), "access_specifier" | "attribute_declaration"));
    types.map(|base| source.type_text(Some(base))).collect()
}

fn enumeration(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let Some(body) = node.child_in("body") else { return false };
    if let Some(name) = node.child_in("name") {
        let mut definition = start(node, name, DefinitionKind::Type, outline);
        definition.signature = outline.source.signature(node, Some(body));
        outline.add(definition);
    }
    true
}

/// Only the names of `enum class` and `enum struct` are scoped.
fn enumerator(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let Some(name) = node.child_in("name") else { return false };
    let mut definition = start(node, name, DefinitionKind::Constant, outline);
    definition.signature = source.signature(node, None);
    definition.is_static = true;
    let around = outline.enclosing().and_then(|around| Some((around, enum_head(&around.signature)?)));
    if let Some((around, head)) = around {
        let is_scoped = head.starts_with("class ") || head.starts_with("struct ");
        definition.kind = if is_scoped { DefinitionKind::Field } else { DefinitionKind::Constant };
        definition.container = if is_scoped { definition.container } else { around.container };
        definition.type_text = around.name.clone();
    }
    outline.insert(definition);
    false
}

/// Returns the text after `enum` at the start of a signature.
fn enum_head(signature: &str) -> Option<&str> {
    signature.strip_prefix("typedef ").unwrap_or(signature).strip_prefix("enum ")
}

/// An unnamed type gets the name of the `typedef`; a named one gets it as another name.
fn type_definition(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let Some(of) = node.child_in("type") else { return false };
    let body = of.child_in("body");
    let stands_for = type_text(source, node);
    for declarator in declarators(node) {
        let Some(DeclaredName { name, .. }) = declared_name(declarator) else { continue };
        if source.text_of(name) == &*stands_for {
            continue;
        }
        let mut definition = start(node, name, DefinitionKind::Type, outline);
        let header = source.signature(node, body);
        let is_nameless = body.is_some() && stands_for.is_empty();
        definition.signature =
            if body.is_some() { format!("{header} {}", source.text_of(name)).into() } else { header };
        definition.type_text = stands_for.clone();
        // The name after the body belongs to the body only if it has no other name.
        if is_nameless {
            outline.add(definition)
        } else {
            outline.insert(definition)
        };
        if is_nameless {
            break;
        }
    }
    body.is_some()
}

fn alias(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let Some(name) = node.child_in("name") else { return false };
    let mut definition = start(node, name, DefinitionKind::Type, outline);
    definition.signature = source.signature(node, None);
    definition.type_text = type_text(source, node);
    outline.insert(definition);
    false
}

fn function_definition(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    if let Some(macro_name) = macro_before_class_name(node) {
        outline.walk_fragments(&around_hole(node, macro_name));
        return false;
    }
    let found = node.child_in("declarator").and_then(declared_name);
    if let Some((name, function)) = found.and_then(|found| Some((found.name, found.function?))) {
        let definition = function_of(node, name, function, outline);
        outline.add(definition);
    }
    false
}

/// Detects `class EXPORT Name { .. }`, which the parser reads as a function `Name` that returns a `class EXPORT`.
fn macro_before_class_name(node: Node<'_>) -> Option<Node<'_>> {
    let of = node.child_in("type")?;
    let is_class = matches!(of.kind(), "class_specifier" | "struct_specifier" | "union_specifier");
    let declarator = node.child_in("declarator")?;
    let is_bodiless = of.child_in("body").is_none() && declarator.kind().ends_with("identifier");
    (is_class && is_bodiless).then(|| of.child_in("name")).flatten()
}

/// Adds prototypes, variables and fields; returns whether the declaration also defines a type.
fn declaration(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let is_in_type = outline.enclosing().is_some_and(|around| around.kind == DefinitionKind::Type);
    let found = declarators(node);
    for &declarator in &found {
        let Some(DeclaredName { name, function }) = declared_name(declarator) else { continue };
        let definition = match function {
            Some(function) => function_of(node, name, function, outline),
            None => value_of(node, name, declarator, found.len() > 1, is_in_type, outline),
        };
        outline.insert(definition);
    }
    let of = node.child_in("type");
    let defines_type = of.and_then(|of| of.child_in("body")).is_some();
    let has_name = of.and_then(|of| of.child_in("name")).is_some();
    defines_type && (has_name || is_in_type)
}

/// Returns a definition with the properties common to all kinds.
fn start(node: Node<'_>, name: Node<'_>, kind: DefinitionKind, outline: &OutlineBuilder<'_>) -> Definition {
    let source = outline.source;
    let names = path(name);
    let last = names.last().map_or("", |last| source.text_of(*last));
    let mut definition = outline.definition(last, kind, node);
    definition.line = name.start_position().row as u32;
    definition.doc = doc(node, outline);
    if let Some((_, scopes @ [_, ..])) = names.split_last() {
        let owner: Vec<&str> = scopes.iter().map(|scope| source.text_of(*scope)).collect();
        definition.owner = Some(owner.join("::").into());
    }
    definition
}

fn function_of(
    node: Node<'_>,
    name: Node<'_>,
    function: Node<'_>,
    outline: &OutlineBuilder<'_>,
) -> Definition {
    let source = outline.source;
    let mut definition = start(node, name, DefinitionKind::Function, outline);
    let owner = definition.owner.as_deref().or_else(|| {
        outline.enclosing().filter(|around| around.kind == DefinitionKind::Type).map(|around| &*around.name)
    });
    definition.kind = match owner {
        Some(owner) if owner.rsplit("::").next() == Some(&*definition.name) => DefinitionKind::Constructor,
        Some(_) => DefinitionKind::Method,
        None => DefinitionKind::Function,
    };
    let is_member = owner.is_some();
    definition.signature = signature(source, node);
    definition.type_text = result(source, node, function);
    definition.parameters = parameters(source, function);
    let is_static = has_specifier(source, node, "static");
    definition.is_static = is_member && is_static;
    // An inline function of a header is static only to avoid duplicate definitions.
    definition.is_private |= !is_member && is_static && !has_specifier(source, node, "inline");
    definition
}

fn value_of(
    node: Node<'_>,
    name: Node<'_>,
    declarator: Node<'_>,
    is_one_of_several: bool,
    is_in_type: bool,
    outline: &OutlineBuilder<'_>,
) -> Definition {
    let source = outline.source;
    let kind = if is_in_type { DefinitionKind::Field } else { DefinitionKind::Constant };
    let mut definition = start(node, name, kind, outline);
    let own_value = declarator.child_in("value");
    let value = own_value.or_else(|| node.child_in("default_value"));
    let of = type_text(source, node);
    let body = node.child_in("type").and_then(|of| of.child_in("body"));
    let declares = source.signature(declarator, own_value);
    definition.signature = match body {
        Some(_) => format!("{} {declares}", source.signature(node, body)).into(),
        None if is_one_of_several => format!("{of} {declares}").into(),
        None => source.signature(node, value),
    };
    if is_auto(&of) {
        let walk = TreeWalk::new(node);
        definition.value =
            value.and_then(|value| ExpressionReader::new(&CRules, source).at_walk(&walk).read(value));
    } else {
        definition.type_text = of;
    }
    let is_static = has_specifier(source, node, "static");
    definition.is_static = is_in_type && is_static;
    definition.is_private |= !is_in_type && is_static;
    definition
}

/// Returns the text before the body and before a constructor's initializers, without comments.
fn signature(source: SourceText<'_>, node: Node<'_>) -> Box<str> {
    let mut cursor = node.walk();
    let body = node.named_children(&mut cursor).find(|child| {
        matches!(child.kind(), "compound_statement" | "field_initializer_list" | "try_statement")
    });
    source.signature(node, body)
}

/// Returns the return type of a function, leading or trailing.
fn result(source: SourceText<'_>, node: Node<'_>, function: Node<'_>) -> Box<str> {
    let before = type_text(source, node);
    if !is_auto(&before) {
        return before;
    }
    let mut cursor = function.walk();
    let behind = function.named_children(&mut cursor).find(|child| child.kind() == "trailing_return_type");
    behind.and_then(|behind| behind.named_child(0)).map_or("".into(), |of| type_text(source, of))
}

fn parameters(source: SourceText<'_>, function: Node<'_>) -> Vec<Parameter> {
    let Some(list) = function.child_in("parameters") else { return Vec::new() };
    let mut cursor = list.walk();
    let named = list.named_children(&mut cursor).filter_map(|parameter| {
        let DeclaredName { name, .. } = declared_name(parameter.child_in("declarator")?)?;
        Some(Parameter { name: source.text_of(name).into(), type_text: type_text(source, parameter) })
    });
    named.collect()
}

fn has_specifier(source: SourceText<'_>, node: Node<'_>, specifier: &str) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor)
        .take_while(|child| child.kind() != "function_declarator")
        .any(|child| child.kind() == "storage_class_specifier" && source.text_of(child) == specifier)
}

/// Returns the comment above `node`, or above the `template` that ends with it, or else the comment after it on its line.
fn doc(node: Node<'_>, outline: &OutlineBuilder<'_>) -> Box<str> {
    let source = outline.source;
    let above = source.text.get(..node.start_byte()).unwrap_or_default();
    let ends_template = above.trim_end().ends_with('>');
    let template = outline.start_around("template_declaration").filter(|_| ends_template);
    let documented = template.unwrap_or(node.start_byte());
    let line_before = source.text.get(..documented).and_then(|before| before.rsplit('\n').next());
    if line_before.is_some_and(|before| before.trim().is_empty()) {
        let doc = source.doc_above(documented);
        if !doc.is_empty() {
            return doc;
        }
    }
    source.doc(trailing_comment(source, node))
}

/// Returns the comment after `node` on its line.
fn trailing_comment<'a>(source: SourceText<'a>, node: Node<'_>) -> &'a str {
    // The line end is a part of a directive's node.
    let end = node.start_byte() + source.text_of(node).trim_end().len();
    let behind = source.text.get(end..).unwrap_or_default();
    let behind = behind.lines().next().unwrap_or_default().trim_start_matches([',', ';', ' ', '\t']);
    let block = behind.strip_prefix("/*").map(|block| block.split("*/").next().unwrap_or(block));
    let comment = block.or_else(|| behind.strip_prefix("//")).unwrap_or_default();
    comment.trim_start_matches(['*', '/', '!', '<'])
}
