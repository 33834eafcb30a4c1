//! Definitions and imports of a C# file.

use tree_sitter::Node;

use crate::node_fields::NodeFields;
use crate::outline::{
    Definition, DefinitionKind, ImportedItem, OutlineBuilder, Parameter, SourceText, replace_between,
};
use crate::tree::{last_named, named_children};

/// Kinds of nodes that are not part of a signature.
const NO_SIGNATURE: &[&str] = &["attribute_list", "preproc_if_in_attribute_list", "comment"];

/// Adds the definitions and imports of `node`, and returns whether it may contain more: function bodies define nothing for other
/// files.
pub(super) fn define(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    use DefinitionKind::{Constructor, Field, Method};
    match node.kind() {
        "file_scoped_namespace_declaration" => open_namespace(node, usize::MAX, outline),
        "namespace_declaration" => open_namespace(node, node.end_byte(), outline),
        "using_directive" => import(node, outline),
        "class_declaration"
        | "struct_declaration"
        | "interface_declaration"
        | "record_declaration"
        | "enum_declaration"
        | "delegate_declaration" => define_type(node, outline),
        "enum_member_declaration" => define_enum_member(node, outline),
        "field_declaration" | "event_field_declaration" => define_fields(node, outline),
        "property_declaration" | "event_declaration" | "indexer_declaration" => {
            define_member(node, Field, outline);
        }
        "method_declaration" => define_member(node, Method, outline),
        "constructor_declaration" if !has_modifier(node, "static", outline.source) => {
            define_member(node, Constructor, outline);
        }
        _ => {}
    }
    matches!(
        node.kind(),
        "compilation_unit"
            | "namespace_declaration"
            | "class_declaration"
            | "struct_declaration"
            | "interface_declaration"
            | "record_declaration"
            | "enum_declaration"
            | "declaration_list"
            | "enum_member_declaration_list"
            | "preproc_if"
            | "preproc_elif"
            | "preproc_else"
            | "ERROR"
    )
}

fn open_namespace(node: Node<'_>, end: usize, outline: &mut OutlineBuilder<'_>) {
    outline.open_namespace(outline.source.field(node, "name"), end);
}

/// `using A.B;`, `using static A.B;`, `using CRules = A.B;`, each also for all files (`global`).
fn import(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let Some(path) = last_named(node).map(|path| source.text_of(path)) else { return };
    let path = path.trim_start_matches("global::").split('<').next().unwrap_or_default().trim_end();
    let is_global = node.child(0).is_some_and(|first| first.kind() == "global");
    let import = match node.child_in("name") {
        Some(alias) => {
            let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
            outline.import(node, source.text_of(alias), module, ImportedItem::Name(name.into()))
        }
        None => outline.import(node, "*", path, ImportedItem::All),
    };
    import.is_global = is_global;
}

fn define_type(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let Some(definition) = definition(node, DefinitionKind::Type, outline) else { return };
    let bases = bases(node, source);
    let is_delegate = node.kind() == "delegate_declaration";
    let parameters = if is_delegate { parameters(node, source) } else { Vec::new() };
    outline.add(Definition { bases, parameters, is_static: outline.container().is_some(), ..definition });
    if !is_delegate {
        define_primary_parameters(node, outline);
    }
}

fn bases(node: Node<'_>, source: SourceText<'_>) -> Vec<Box<str>> {
    let is_enum = node.kind() == "enum_declaration";
    let list = named_children(node).into_iter().find(|child| child.kind() == "base_list" && !is_enum);
    let bases = list.map(named_children).unwrap_or_default().into_iter();
    bases
        .filter(|base| base.kind() != "argument_list")
        .map(|base| source.type_text(Some(base.child_in("type").unwrap_or(base))))
        .collect()
}

/// Adds the parameters of a primary constructor: properties of a record, private to the type otherwise.
fn define_primary_parameters(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let Some(list) = named_children(node).into_iter().find(|child| child.kind() == "parameter_list") else {
        return;
    };
    let parameters = named_children(list).into_iter().filter(|child| child.kind() == "parameter");
    let found: Vec<Definition> = parameters
        .map(|parameter| Definition {
            signature: source.signature_without(parameter, None, NO_SIGNATURE),
            type_text: source.type_text(parameter.child_in("type")),
            is_private: node.kind() != "record_declaration",
            ..outline.definition(source.field(parameter, "name"), DefinitionKind::Field, parameter)
        })
        .filter(|parameter| !parameter.name.is_empty())
        .collect();
    for parameter in found {
        outline.add(parameter);
    }
}

fn define_enum_member(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let Some(definition) = definition(node, DefinitionKind::Field, outline) else { return };
    let type_text = outline.enclosing_type().map_or("".into(), |(_, around)| around.name.clone());
    outline.add(Definition { type_text, is_static: true, is_private: false, ..definition });
}

fn define_fields(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let Some(list) = named_children(node).into_iter().find(|child| child.kind() == "variable_declaration")
    else {
        return;
    };
    let declarators = declarators(list);
    let Some(first) = declarators.first() else { return };
    let before = source.signature_without(node, Some(*first), NO_SIGNATURE);
    let shared = Definition {
        doc: doc(node, source),
        type_text: source.type_text(list.child_in("type")),
        is_static: is_static(node, source),
        is_private: is_private(node, outline),
        ..outline.definition("", DefinitionKind::Field, node)
    };
    let found: Vec<Definition> = declarators
        .iter()
        .map(|declarator| {
            let name = source.field(*declarator, "name");
            let own = outline.definition(name, DefinitionKind::Field, *declarator);
            let signature = format!("{before} {name}").into();
            Definition { name: own.name, line: own.line, range: own.range, signature, ..shared.clone() }
        })
        .collect();
    for field in found {
        outline.add(field);
    }
}

fn define_member(node: Node<'_>, kind: DefinitionKind, outline: &mut OutlineBuilder<'_>) {
    let Some(definition) = definition(node, kind, outline) else { return };
    let source = outline.source;
    let written = node.child_in("returns").or_else(|| node.child_in("type"));
    let type_text = source.type_text(written);
    let owner = extended(node, source);
    outline.add(Definition { type_text, owner, parameters: parameters(node, source), ..definition });
}

/// Returns a definition with the properties common to all kinds with a body; `None` if the name is missing.
fn definition(node: Node<'_>, kind: DefinitionKind, outline: &OutlineBuilder<'_>) -> Option<Definition> {
    let source = outline.source;
    let name = match node.kind() {
        "indexer_declaration" => "this",
        _ => source.field(node, "name"),
    };
    let body = ["body", "accessors", "value"].iter().find_map(|field| node.child_in(field));
    (!name.is_empty()).then(|| Definition {
        signature: source.signature_without(node, body, NO_SIGNATURE),
        doc: doc(node, source),
        is_private: is_private(node, outline),
        is_static: is_static(node, source),
        ..outline.definition(name, kind, node)
    })
}

/// Returns the parameters without the `this` parameter of an extension method.
fn parameters(node: Node<'_>, source: SourceText<'_>) -> Vec<Parameter> {
    let Some(list) = node.child_in("parameters") else { return Vec::new() };
    // A `params` parameter is directly in the list.
    let written = named_children(list)
        .into_iter()
        .filter(|one| one.kind() == "parameter" && !has_modifier(*one, "this", source))
        .chain([list]);
    let parameters = written.map(|one| Parameter {
        name: source.field(one, "name").into(),
        type_text: source.type_text(one.child_in("type")),
    });
    parameters.filter(|parameter| !parameter.name.is_empty()).collect()
}

/// Returns the type that an extension method extends.
fn extended(node: Node<'_>, source: SourceText<'_>) -> Option<Box<str>> {
    let first = node.child_in("parameters")?.named_child(0)?;
    has_modifier(first, "this", source).then(|| source.type_text(first.child_in("type")))
}

pub(super) fn declarators(list: Node<'_>) -> Vec<Node<'_>> {
    named_children(list).into_iter().filter(|child| child.kind() == "variable_declarator").collect()
}

fn modifiers<'a>(node: Node<'_>, source: SourceText<'a>) -> Vec<&'a str> {
    let mut cursor = node.walk();
    let modifiers = node.children(&mut cursor).filter(|child| child.kind() == "modifier");
    modifiers.map(|modifier| source.text_of(modifier)).collect()
}

fn has_modifier(node: Node<'_>, modifier: &str, source: SourceText<'_>) -> bool {
    modifiers(node, source).contains(&modifier)
}

fn is_static(node: Node<'_>, source: SourceText<'_>) -> bool {
    modifiers(node, source).iter().any(|one| matches!(*one, "static" | "const"))
}

/// Members of types are private unless they or their interface have a modifier; top-level types are internal.
fn is_private(node: Node<'_>, outline: &OutlineBuilder<'_>) -> bool {
    let modifiers = modifiers(node, outline.source);
    if modifiers.iter().any(|one| matches!(*one, "public" | "internal" | "protected")) {
        return false;
    }
    let is_in_interface =
        |around: &Definition| around.signature.split_whitespace().any(|word| word == "interface");
    modifiers.contains(&"private")
        || outline.enclosing_type().is_some_and(|(_, around)| !is_in_interface(around))
}

/// Returns the first sentence of the summary in the documentation above, without its markup.
fn doc(node: Node<'_>, source: SourceText<'_>) -> Box<str> {
    let above = source.comments_above(node.start_byte());
    let Some((_, summary)) = above.split_once("<summary>") else { return "".into() };
    let summary = summary.split("</summary>").next().unwrap_or_default();
    source.doc(&replace_between(summary, ['<', '>'], tag_text))
}

/// Returns the plain text for a tag: the name in `<see cref="Name"/>` and `<paramref name="name"/>`.
fn tag_text(tag: &str) -> &str {
    let names = tag.ends_with('/') && !tag.contains("href");
    tag.split('"').nth(1).filter(|_| names).unwrap_or_default()
}
