//! Imports and exports of TypeScript and JavaScript files, including CommonJS.

use tree_sitter::Node;

use super::define::define_bound;
use super::functions::define_function;
use super::is_function;
use super::types::define_class;
use crate::node_fields::NodeFields;
use crate::outline::{DefaultsRegion, DefinitionKind, Import, ImportedItem, OutlineBuilder, SourceText};
use crate::tree::named_children;

/// Name of the default export.
pub(super) const DEFAULT: &str = "default";

/// Returns a quoted module or property name without its quotes.
pub(super) fn unquoted<'a>(node: Node<'_>, source: SourceText<'a>) -> &'a str {
    source.text_of(node).trim_matches(['"', '\'', '`'])
}

fn module_of<'a>(node: Node<'_>, source: SourceText<'a>) -> Option<&'a str> {
    node.child_in("source").map(|module| unquoted(module, source))
}

pub(super) fn import(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    for clause in named_children(node) {
        if clause.kind() == "import_require_clause" {
            require_whole(clause, clause.named_child(0), module_of(clause, source), outline);
        }
        let Some(module) = module_of(node, source).filter(|_| clause.kind() == "import_clause") else {
            continue;
        };
        for part in named_children(clause) {
            match part.kind() {
                "identifier" => {
                    outline.import(node, source.text_of(part), module, ImportedItem::Name(DEFAULT.into()));
                }
                "namespace_import" => {
                    let local = part.named_child(0).map_or("", |name| source.text_of(name));
                    outline.import(node, local, module, ImportedItem::Module);
                }
                _ => import_names(part, module, outline),
            }
        }
    }
}

/// `{a, b as c}`.
fn import_names(list: Node<'_>, module: &str, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    for one in named_children(list) {
        let Some(name) = one.child_in("name") else { continue };
        let local = source.text_of(one.child_in("alias").unwrap_or(name));
        outline.import(one, local, module, ImportedItem::Name(unquoted(name, source).into()));
    }
}

/// Adds the names of an export; the walk adds its declarations next.
pub(super) fn export(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    outline.open_region(DefaultsRegion { end: node.end_byte(), owner: None, is_private: false });
    let module = module_of(node, source);
    let mut has_names = false;
    for part in named_children(node) {
        match part.kind() {
            "export_clause" => export_names(part, module, outline),
            "namespace_export" => {
                let local = part.named_child(0).map_or("", |name| unquoted(name, source));
                outline.import(node, local, module.unwrap_or_default(), ImportedItem::Module).is_reexport =
                    true;
            }
            _ => continue,
        }
        has_names = true;
    }
    if let Some(module) = module.filter(|_| !has_names) {
        outline.import(node, "*", module, ImportedItem::All).is_reexport = true;
    }
    let is_default = node.children(&mut node.walk()).any(|child| matches!(child.kind(), "default" | "="));
    if is_default {
        export_default(node, outline);
    }
}

fn export_names(list: Node<'_>, module: Option<&str>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    for one in named_children(list) {
        let Some(name) = one.child_in("name").map(|name| unquoted(name, source)) else { continue };
        let alias = one.child_in("alias").map_or(name, |alias| unquoted(alias, source));
        match module {
            Some(module) => {
                outline.import(one, alias, module, ImportedItem::Name(name.into())).is_reexport = true;
            }
            None => export_local(one, name, alias, outline),
        }
    }
}

/// Exports a name of this file, defined or imported here, as `alias`.
fn export_local(node: Node<'_>, name: &str, alias: &str, outline: &mut OutlineBuilder<'_>) {
    let imported = outline.imports_called(name);
    for &position in &imported {
        if name == alias {
            outline.reexport(position);
        } else {
            let imports = &mut outline.outline.imports;
            let again = imports[position as usize].clone();
            imports.push(Import { local: alias.into(), is_reexport: true, ..again });
        }
    }
    for position in outline.outer_definitions(name) {
        outline.change(position).is_private = false;
    }
    if imported.is_empty() && name != alias {
        outline.import(node, alias, "", ImportedItem::Name(name.into())).is_reexport = true;
    }
}

/// `export default Name` and `export = Name`, and the same with a definition instead of a name.
fn export_default(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let declared = node.child_in("declaration").and_then(|one| one.child_in("name"));
    let named_value = named_children(node).into_iter().find(|child| child.kind() == "identifier");
    let source = outline.source;
    match (declared, named_value, node.child_in("value")) {
        (Some(name), ..) => {
            outline.import(node, DEFAULT, "", ImportedItem::Name(source.text_of(name).into())).is_reexport =
                true;
        }
        (None, Some(name), _) => export_local(node, source.text_of(name), DEFAULT, outline),
        (None, None, Some(value)) => define_as(node, DEFAULT, value, outline),
        (None, None, None) => {}
    }
}

/// Defines `name` as `value`, which is in `node`; a class or function with a name of its own is defined under that name.
fn define_as(node: Node<'_>, name: &str, value: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let own = outline.source.field(value, "name");
    let defined = if own.is_empty() { name } else { own };
    match value.kind() {
        "identifier" => return export_local(node, outline.source.text_of(value), name, outline),
        "class" => define_class(node, value, defined, outline),
        kind if is_function(kind) => define_function(node, value, defined, DefinitionKind::Function, outline),
        _ => return define_bound(node, name, Some(value), outline),
    }
    if defined != name {
        outline.import(node, name, "", ImportedItem::Name(defined.into())).is_reexport = true;
    }
}

/// `module.exports = value` and `exports.name = value`; other assignments export nothing.
pub(super) fn assign_exports(assignment: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let fields = (assignment.child_in("left"), assignment.child_in("right"));
    let (Some(left), Some(value)) = fields else { return };
    let source = outline.source;
    outline.open_region(DefaultsRegion { end: assignment.end_byte(), owner: None, is_private: false });
    if source.text_of(left) == "module.exports" {
        export_whole(assignment, value, outline);
    } else if matches!(source.field(left, "object"), "exports" | "module.exports") {
        define_as(assignment, source.field(left, "property"), value, outline);
    }
}

/// `module.exports = value`.
fn export_whole(node: Node<'_>, value: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    if let Some(module) = required(value, source) {
        outline.import(node, "*", module, ImportedItem::All).is_reexport = true;
    } else if value.kind() == "object" {
        for part in named_children(value) {
            match part.kind() {
                "shorthand_property_identifier" => {
                    export_local(part, source.text_of(part), source.text_of(part), outline);
                }
                "pair" => {
                    let (key, value) = (part.child_in("key"), part.child_in("value"));
                    if let (Some(key), Some(value)) = (key, value) {
                        define_as(part, unquoted(key, source), value, outline);
                    }
                }
                "method_definition" => {
                    let name = source.field(part, "name");
                    define_function(part, part, name, DefinitionKind::Function, outline);
                }
                _ => {}
            }
        }
    } else {
        define_as(node, DEFAULT, value, outline);
    }
}

/// Returns the module of `require("module")`.
fn required<'a>(value: Node<'_>, source: SourceText<'a>) -> Option<&'a str> {
    let is_require = value.kind() == "call_expression" && source.field(value, "function") == "require";
    let argument = value.child_in("arguments").filter(|_| is_require)?.named_child(0)?;
    (argument.kind() == "string").then(|| unquoted(argument, source))
}

/// Adds `name = require("module")`, `{a, b: c} = require("module")` and `name = require("module").member`; returns whether
/// `declarator` is one of these.
pub(super) fn import_required(declarator: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    let fields = (declarator.child_in("name"), declarator.child_in("value"));
    let (Some(name), Some(value)) = fields else { return false };
    let source = outline.source;
    if let Some(module) = value.child_in("object").and_then(|object| required(object, source)) {
        let member = source.field(value, "property");
        outline.import(declarator, source.text_of(name), module, ImportedItem::Name(member.into()));
        return true;
    }
    let Some(module) = required(value, source) else { return false };
    if name.kind() == "object_pattern" {
        for part in named_children(name) {
            let key = source.text_of(part.child_in("key").unwrap_or(part));
            let local = source.text_of(part.child_in("value").unwrap_or(part));
            outline.import(part, local, module, ImportedItem::Name(key.into()));
        }
    } else {
        require_whole(declarator, Some(name), Some(module), outline);
    }
    true
}

/// The result of `require` is the module, or the value assigned to `module.exports`.
fn require_whole(
    node: Node<'_>,
    name: Option<Node<'_>>,
    module: Option<&str>,
    outline: &mut OutlineBuilder<'_>,
) {
    let (Some(name), Some(module)) = (name, module) else { return };
    let local = outline.source.text_of(name);
    outline.import(node, local, module, ImportedItem::Name(DEFAULT.into()));
    outline.import(node, local, module, ImportedItem::Module);
}
