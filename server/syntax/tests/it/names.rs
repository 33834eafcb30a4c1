//! Prints the information about names, one line per item, for snapshots of all languages.
//!
//! Expressions are printed as `name`, `this`, `super`, `object.member`, `callee()`, `:ValueType`, `collection[]` and `(one | other)`.

use expect_test::Expect;
use syntax::{
    Binding, Definition, Expr, Import, ImportedItem, Language, ModuleLocation, ModuleTarget, NameUse,
    Outline, Projects, UseKind,
};

/// Checks the outline of `fixture`, and that queries on its prefixes do not fail.
#[track_caller]
pub(crate) fn check_outline(language: Language, fixture: &str, expect: Expect) {
    assert_names_of_cuts(language, fixture);
    expect.assert_eq(&outline(language, fixture));
}

/// Checks the scope at the `$0` of `fixture`.
#[track_caller]
pub(crate) fn check_scope(language: Language, fixture: &str, expect: Expect) {
    assert_names_of_cuts(language, &fixture.replace("$0", ""));
    expect.assert_eq(&scope(language, fixture));
}

/// Checks the uses in `fixture`.
#[track_caller]
pub(crate) fn check_uses(language: Language, fixture: &str, expect: Expect) {
    assert_names_of_cuts(language, fixture);
    expect.assert_eq(&uses(language, fixture));
}

/// Prints the definitions and imports of `text`: first the definitions, then the namespaces, imports and extensions.
///
/// A definition is `kind container.name(parameters): type < bases = value [flags] | signature | documentation`, without the parts
/// that it does not have; `ReachableEntity::name` if its owner is named, `in namespace` if it is in one.
pub(crate) fn outline(language: Language, text: &str) -> String {
    lines(&syntax::parse(language, text).outline(text))
}

fn lines(outline: &Outline) -> String {
    let definitions = outline.definitions.iter().map(|one| definition(outline, one));
    let namespaces = outline.namespaces.iter().skip(1).map(|name| format!("namespace {name}\n"));
    let imports = outline.imports.iter().map(import);
    let extensions = outline.extensions.iter().map(|one| format!("extension {} < {}\n", one.of, one.base));
    definitions.chain(namespaces).chain(imports).chain(extensions).collect()
}

/// Prints the scope at the `$0` of `fixture`: `enclosing`, one line `name = value` for each variable, `receiver`, `trailing`.
pub(crate) fn scope(language: Language, fixture: &str) -> String {
    let (prefix, _) = test_fixture::split_at_cursor(fixture);
    let scope = syntax::scope(language, prefix);
    let around =
        scope.enclosing.iter().map(|&position| scope.outline.definitions[position as usize].name.as_ref());
    let mut out = format!("enclosing {}\n", around.collect::<Vec<_>>().join(" < "));
    out.extend(scope.bindings.iter().map(binding));
    out.extend(scope.receiver.iter().map(|receiver| format!("receiver {}\n", expr(receiver))));
    out.extend(scope.trailing.iter().map(|trailing| format!("trailing {}\n", expr(trailing))));
    out
}

/// Prints the uses in `text`: `name` for a bare one, `new name`, `object.name` for a member.
pub(crate) fn uses(language: Language, text: &str) -> String {
    let used = |one: NameUse| {
        let name = &text[one.name];
        match one.kind {
            UseKind::Member(object) => format!("{}.{name}\n", expr(&object)),
            UseKind::Bare => format!("{name}\n"),
            UseKind::New => format!("new {name}\n"),
        }
    };
    syntax::parse(language, text).uses(text).into_iter().map(used).collect()
}

/// Prints the possible locations of `module`, imported by the file at `from`: one line `place path > names to go through` for
/// each candidate.
pub(crate) fn targets(language: Language, from: &str, module: &str, projects: &Projects) -> String {
    language.import_targets(from, module, projects).iter().map(target).collect()
}

/// Prints one line for a location, as in [`targets`].
pub(crate) fn target(target: &ModuleTarget) -> String {
    let place = match &target.place {
        ModuleLocation::File(path) => format!("file {path}"),
        ModuleLocation::FileEnding(path) => format!("file */{path}"),
        ModuleLocation::Folder(path) => format!("folder {path}"),
        ModuleLocation::FolderEnding(path) => format!("folder */{path}"),
        ModuleLocation::Namespace(name) => format!("namespace {name}"),
    };
    let inside: String = target.inside.iter().map(|name| format!(" > {name}")).collect();
    format!("{place}{inside}\n")
}

/// Calls every query about the names in `text`, as for files and for editors, and checks the invariants of any text.
#[track_caller]
pub(crate) fn assert_names(language: Language, text: &str) {
    let tree = syntax::parse(language, text);
    let outline = tree.outline(text);
    for (position, one) in outline.definitions.iter().enumerate() {
        assert!(
            text.get(one.range.start as usize..one.range.end as usize).is_some(),
            "{one:?} leaves the text"
        );
        assert!(
            one.container.is_none_or(|container| (container as usize) < position),
            "{one:?} before its container"
        );
        assert!((one.namespace as usize) < outline.namespaces.len(), "{one:?} in no namespace");
    }
    for one in tree.uses(text) {
        assert!(text.get(one.name.clone()).is_some_and(|name| !name.is_empty()), "{one:?} has no name");
    }
    tree.bindings(text, &outline, text.len() / 2);
    syntax::scope(language, text);
}

/// Cuts `text` after every third character, so that all its tokens are cut, and checks the invariants of any text.
#[track_caller]
pub(crate) fn assert_names_of_cuts(language: Language, text: &str) {
    for (end, _) in text.char_indices().step_by(3) {
        assert_names(language, &text[..end]);
    }
}

fn definition(outline: &Outline, one: &Definition) -> String {
    let kind = format!("{:?}", one.kind).to_lowercase();
    let mut out = format!("{kind} {}", qualified(outline, one));
    if one.kind.is_callable() || !one.parameters.is_empty() {
        let parameters = one.parameters.iter().map(|each| typed(&each.name, &each.type_text));
        out.push_str(&format!("({})", parameters.collect::<Vec<_>>().join(", ")));
    }
    out = typed(&out, &one.type_text);
    if !one.bases.is_empty() {
        out.push_str(&format!(" < {}", one.bases.join(", ")));
    }
    if let Some(value) = &one.value {
        out.push_str(&format!(" = {}", expr(value)));
    }
    for (holds, flag) in [(one.is_private, " [private]"), (one.is_static, " [static]")] {
        out.push_str(if holds { flag } else { "" });
    }
    if one.namespace > 0 {
        out.push_str(&format!(" in {}", outline.namespaces[one.namespace as usize]));
    }
    out.push_str(&format!(" | {}", one.signature));
    if !one.doc.is_empty() {
        out.push_str(&format!(" | {}", one.doc));
    }
    out + "\n"
}

fn qualified(outline: &Outline, one: &Definition) -> String {
    let container = one.container.map(|position| &outline.definitions[position as usize]);
    let around = container.map(|container| qualified(outline, container) + ".").unwrap_or_default();
    let owner = one.owner.as_ref().map(|owner| format!("{owner}::")).unwrap_or_default();
    format!("{around}{owner}{}", one.name)
}

fn typed(name: &str, type_text: &str) -> String {
    if type_text.is_empty() { name.to_owned() } else { format!("{name}: {type_text}") }
}

fn import(import: &Import) -> String {
    let module = if import.module.is_empty() { "this file" } else { &import.module };
    let what = match &import.imported {
        ImportedItem::Module => format!("{module} as {}", import.local),
        ImportedItem::Name(name) => format!("{name} of {module} as {}", import.local),
        ImportedItem::All => format!("all of {module} as {}", import.local),
    };
    let reexport = if import.is_reexport { " [reexport]" } else { "" };
    let global = if import.is_global { " [global]" } else { "" };
    format!("import {what}{reexport}{global}\n")
}

fn binding(binding: &Binding) -> String {
    format!("{} = {}\n", binding.name, expr(&binding.value))
}

/// Prints an expression in a short form that is the same for all languages.
fn expr(one: &Expr) -> String {
    match one {
        Expr::Name(name) => name.to_string(),
        Expr::This => "this".to_owned(),
        Expr::Super => "super".to_owned(),
        Expr::Member(object, name) => format!("{}.{name}", expr(object)),
        Expr::Call(callee) => format!("{}()", expr(callee)),
        Expr::Typed(type_text) => format!(":{type_text}"),
        Expr::Element(collection) => format!("{}[]", expr(collection)),
        Expr::Either(some) => format!("({})", some.iter().map(expr).collect::<Vec<_>>().join(" | ")),
    }
}
