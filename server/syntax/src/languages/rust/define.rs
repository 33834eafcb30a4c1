//! Definitions and imports of a Rust file.

use tree_sitter::Node;

use crate::fragments::inside_delimiters;
use crate::node_fields::NodeFields;
use crate::outline::{
    DefaultsRegion, Definition, DefinitionKind, Extension, ImportedItem, OutlineBuilder, Parameter,
    SourceText,
};

/// Maximum number of documentation lines read for the first sentence.
const DOC_LINES: usize = 4;
/// Maximum number of attribute lines skipped between a documentation and its item.
const ATTRIBUTE_LINES: usize = 12;
/// Maximum nesting of lists in a `use` that is read; real ones have two or three levels.
const MAX_USE_DEPTH: usize = 16;

pub(super) fn define(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    match node.kind() {
        "source_file" if outline.owner().is_none() => region(node, None, true, outline),
        "source_file" => true,
        "declaration_list" | "field_declaration_list" | "enum_variant_list" | "block" | "ERROR" => true,
        "use_declaration" => {
            import(node, outline);
            false
        }
        "extern_crate_declaration" => {
            extern_crate(node, outline);
            false
        }
        "foreign_mod_item" => true,
        _ if outline.is_local() => false,
        "impl_item" => implement(node, outline),
        "expression_statement" => true,
        "macro_invocation" => items_of_macro(node, outline),
        "mod_item" => module(node, outline),
        _ => item(node, outline),
    }
}

/// Macros in item position usually contain items: `cfg_io! { pub mod fs; }`.
fn items_of_macro(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let last = node.named_child(1).filter(|last| outline.source.text_of(*last).starts_with('{'));
    if let Some(items) = last.and_then(inside_delimiters) {
        outline.walk_fragments(&[items]);
    }
    false
}

/// Opens the region of a block whose items are either private by default or never private.
fn region(
    node: Node<'_>,
    owner: Option<Box<str>>,
    is_private: bool,
    outline: &mut OutlineBuilder<'_>,
) -> bool {
    outline.open_region(DefaultsRegion { end: node.end_byte(), owner, is_private });
    true
}

/// Adds an item that is neither a module nor an `impl`; returns whether it has members.
fn item(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    use DefinitionKind::{Constant, Field, Function, Type};
    match node.kind() {
        "struct_item" | "union_item" => {
            add(node, Type, outline);
            region(node, None, true, outline)
        }
        "enum_item" | "trait_item" => {
            add(node, Type, outline);
            region(node, None, false, outline)
        }
        "type_item" | "associated_type" => {
            add(node, Type, outline);
            false
        }
        "function_item" | "function_signature_item" => {
            add(node, function_kind(outline), outline);
            true
        }
        "const_item" | "static_item" => {
            add(node, if is_member(outline) { Field } else { Constant }, outline);
            false
        }
        "enum_variant" | "field_declaration" => {
            add(node, Field, outline);
            false
        }
        "macro_definition" => {
            add(node, Function, outline);
            false
        }
        _ => false,
    }
}

fn function_kind(outline: &OutlineBuilder<'_>) -> DefinitionKind {
    if is_member(outline) { DefinitionKind::Method } else { DefinitionKind::Function }
}

/// Whether the next definition is in an `impl` or a trait.
fn is_member(outline: &OutlineBuilder<'_>) -> bool {
    outline.owner().is_some() || outline.enclosing().is_some_and(|around| around.kind == DefinitionKind::Type)
}

fn add(node: Node<'_>, kind: DefinitionKind, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let name = source.field(node, "name");
    if name.is_empty() {
        return;
    }
    let has_self = has_self(node);
    let is_static = match node.kind() {
        "enum_variant" | "const_item" | "static_item" => is_member(outline),
        _ => kind == DefinitionKind::Method && !has_self,
    };
    let mut definition = outline.definition(name, kind, node);
    definition.is_private &= !is_visible(node);
    definition.is_static = is_static;
    describe(&mut definition, node, outline);
    outline.add(definition);
}

/// Fills in all texts.
fn describe(definition: &mut Definition, node: Node<'_>, outline: &OutlineBuilder<'_>) {
    let source = outline.source;
    definition.doc = doc(source, node);
    definition.signature = signature(source, node);
    definition.type_text = match (node.kind(), outline.enclosing()) {
        ("enum_variant", Some(around)) => around.name.clone(),
        ("function_item" | "function_signature_item", _) => source.type_text(node.child_in("return_type")),
        _ => source.type_text(node.child_in("type")),
    };
    definition.bases = bases(source, node);
    definition.parameters = parameters(source, node);
}

/// The signature of a macro is its name; a list of unnamed fields belongs to the signature, other bodies do not.
fn signature(source: SourceText<'_>, node: Node<'_>) -> Box<str> {
    match node.kind() {
        "macro_definition" => source.signature(node, node.named_child(1)),
        "enum_variant" => source.signature(node, node.child_in("value")),
        _ => {
            let body = node.child_in("body").or_else(|| node.child_in("value"));
            source.signature(node, body.filter(|body| body.kind() != "ordered_field_declaration_list"))
        }
    }
}

/// Returns the supertraits of a trait, and the bounds of an associated type.
fn bases(source: SourceText<'_>, node: Node<'_>) -> Vec<Box<str>> {
    let Some(bounds) = node.child_in("bounds") else { return Vec::new() };
    let mut cursor = bounds.walk();
    let traits = bounds.named_children(&mut cursor).filter(|bound| bound.kind() != "lifetime");
    traits.map(|bound| source.type_text(Some(bound))).collect()
}

fn parameters(source: SourceText<'_>, node: Node<'_>) -> Vec<Parameter> {
    let Some(list) = node.child_in("parameters") else { return Vec::new() };
    let mut cursor = list.walk();
    let all = list.named_children(&mut cursor).filter(|parameter| parameter.kind() == "parameter");
    let named =
        all.filter(|parameter| parameter.child_in("pattern").is_some_and(|pattern| pattern.kind() != "self"));
    named
        .map(|parameter| Parameter {
            name: source.field(parameter, "pattern").into(),
            type_text: source.type_text(parameter.child_in("type")),
        })
        .collect()
}

/// Whether a function has a receiver: its first parameter is `self`, with or without a type.
fn has_self(node: Node<'_>) -> bool {
    let first = node.child_in("parameters").and_then(|list| list.named_child(0));
    first.is_some_and(|first| {
        first.kind() == "self_parameter"
            || first.child_in("pattern").is_some_and(|pattern| pattern.kind() == "self")
    })
}

/// Whether an item has a visibility modifier.
fn is_visible(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.kind() == "macro_definition"
        || node.children(&mut cursor).take(2).any(|child| child.kind() == "visibility_modifier")
}

/// An `impl` has no definition of its own; the items in it are members of its type.
fn implement(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let source = outline.source;
    let Some(of) = node.child_in("type").map(|of| head(source, of)) else { return false };
    let base = node.child_in("trait");
    if let Some(base) = base.filter(|_| !is_type_parameter(source, node, of)) {
        outline.outline.extensions.push(Extension { of: of.into(), base: source.type_text(Some(base)) });
    }
    region(node, Some(of.into()), base.is_none(), outline)
}

/// Returns a type without references and generic arguments.
fn head<'a>(source: SourceText<'a>, of: Node<'_>) -> &'a str {
    let mut of = of;
    while let ("reference_type" | "generic_type" | "pointer_type", Some(inner)) =
        (of.kind(), of.child_in("type"))
    {
        of = inner;
    }
    source.text_of(of)
}

/// Whether an `impl` is a blanket implementation.
fn is_type_parameter(source: SourceText<'_>, node: Node<'_>, of: &str) -> bool {
    let Some(parameters) = node.child_in("type_parameters") else { return false };
    let mut cursor = parameters.walk();
    parameters.named_children(&mut cursor).any(|parameter| source.field(parameter, "name") == of)
}

/// `mod x { .. }` is a definition with members; `mod x;` imports another file.
fn module(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    if node.child_in("body").is_some() {
        add(node, DefinitionKind::Module, outline);
        return region(node, None, true, outline);
    }
    let name = outline.source.field(node, "name");
    let around = inline_modules(outline);
    let module = ["self"].into_iter().chain(around.iter().map(AsRef::as_ref)).chain([name]);
    let module = module.collect::<Vec<_>>().join(".");
    outline.import(node, name, &module, ImportedItem::Module).is_reexport = is_visible(node);
    false
}

fn extern_crate(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let name = source.field(node, "name");
    let alias = source.field(node, "alias");
    let local = if alias.is_empty() { name } else { alias };
    outline.import(node, local, name, ImportedItem::Module).is_reexport = is_visible(node);
}

fn import(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let Some(argument) = node.child_in("argument") else { return };
    let mut names = Vec::new();
    flatten(argument, outline.source, Vec::new(), MAX_USE_DEPTH, &mut names);
    let around = inline_modules(outline);
    let is_reexport = is_visible(node);
    for used in names {
        let path = from_file(used.path, &around);
        let Some((&last, module)) = path.split_last() else { continue };
        let (module, imported) = match (used.local, module) {
            ("*", _) => (path.join("."), ImportedItem::All),
            (_, []) => (last.to_owned(), ImportedItem::Module),
            (_, module) => (module.join("."), ImportedItem::Name(last.into())),
        };
        outline.import(used.node, used.local, &module, imported).is_reexport = is_reexport;
    }
}

/// One name of a `use`.
struct UseLeaf<'a, 'tree> {
    node: Node<'tree>,
    local: &'a str,
    path: Vec<&'a str>,
}

/// Flattens the tree of a `use`; `path` is the path before it.
fn flatten<'a, 'tree>(
    node: Node<'tree>,
    source: SourceText<'a>,
    mut path: Vec<&'a str>,
    depth: usize,
    found: &mut Vec<UseLeaf<'a, 'tree>>,
) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match node.kind() {
        "use_list" => {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                flatten(child, source, path.clone(), depth, found);
            }
        }
        "scoped_use_list" => {
            path.extend(segments(source.field(node, "path")));
            if let Some(list) = node.child_in("list") {
                flatten(list, source, path, depth, found);
            }
        }
        "use_wildcard" => {
            path.extend(segments(node.named_child(0).map_or("", |module| source.text_of(module))));
            found.push(UseLeaf { node, local: "*", path });
        }
        "use_as_clause" => {
            path.extend(segments(source.field(node, "path")));
            let local = source.field(node, "alias");
            if local != "_" {
                found.push(UseLeaf { node, local, path: without_self(path) });
            }
        }
        "identifier" | "scoped_identifier" | "self" | "crate" | "super" => {
            path.extend(segments(source.text_of(node)));
            let path = without_self(path);
            if let Some(&local) = path.last() {
                found.push(UseLeaf { node, local, path });
            }
        }
        _ => {}
    }
}

/// Returns the names in a path.
fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split("::").map(str::trim).filter(|segment| !segment.is_empty())
}

/// Removes a `self` at the end of a path, which refers to the module before it.
fn without_self(mut path: Vec<&str>) -> Vec<&str> {
    if path.len() > 1 && path.last() == Some(&"self") {
        path.pop();
    }
    path
}

/// Converts a path used in the inline module `around` to a path used at the top of the file.
fn from_file<'a>(path: Vec<&'a str>, around: &'a [Box<str>]) -> Vec<&'a str> {
    let ups = path.iter().take_while(|&&segment| segment == "super").count();
    let is_relative = ups > 0 || path.first() == Some(&"self");
    if around.is_empty() || !is_relative {
        return path;
    }
    let rest = path.iter().skip(ups.max(1));
    match around.len().checked_sub(ups) {
        Some(kept) => {
            let kept = around[..kept].iter().map(AsRef::as_ref);
            ["self"].into_iter().chain(kept).chain(rest.copied()).collect()
        }
        None => std::iter::repeat_n("super", ups - around.len()).chain(rest.copied()).collect(),
    }
}

/// Returns the names of the inline modules around the current node, outermost first.
fn inline_modules(outline: &OutlineBuilder<'_>) -> Vec<Box<str>> {
    let around = std::iter::successors(outline.enclosing(), |inner| {
        inner.container.map(|position| outline.definition_at(position))
    });
    let modules = around.filter(|definition| definition.kind == DefinitionKind::Module);
    let mut names: Vec<Box<str>> = modules.map(|definition| definition.name.clone()).collect();
    names.reverse();
    names
}

/// Returns the first sentence of the documentation above `node`, skipping attributes between it and the item.
///
/// Searches the lines: a parser finds siblings by visiting all of them.
fn doc(source: SourceText<'_>, node: Node<'_>) -> Box<str> {
    let above = source.text.get(..node.start_byte()).unwrap_or_default();
    let mut lines = above.rsplit('\n').skip(1).map(str::trim).peekable();
    let mut is_in_attribute = false;
    for _ in 0..ATTRIBUTE_LINES {
        let Some(line) =
            lines.next_if(|line| is_in_attribute || line.starts_with('#') || line.ends_with(']'))
        else {
            break;
        };
        is_in_attribute = !line.starts_with('#');
    }
    let mut written: Vec<&str> = lines.take_while(|line| line.starts_with("///")).collect();
    written.reverse();
    let first = written.split(|line| *line == "///").next().unwrap_or_default();
    source.doc(&first[..first.len().min(DOC_LINES)].join("\n"))
}
