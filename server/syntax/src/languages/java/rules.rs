//! Names in Java.
//!
//! Only `private` hides a name from other files: package visibility is not checked.

use tree_sitter::Node;

use crate::expr::{Expr, ExpressionReader};
use crate::language_rules::LanguageRules;
use crate::module_resolution::{ModuleLocation, ModuleTarget, Projects};
use crate::node_fields::NodeFields;
use crate::outline::{
    Definition, DefinitionKind, ImportedItem, OutlineBuilder, Parameter, SourceText, replace_between,
};
use crate::scope::Binding;
use crate::test_code::{TestCode, names_test};
use crate::tree::{last_named, named_children};
use crate::uses::{NodeUse, UseKind};

/// The rules of Java.
pub(crate) struct JavaRules;

/// Kinds of nodes that are not part of a signature.
const NO_SIGNATURE: &[&str] = &["annotation", "marker_annotation", "line_comment", "block_comment"];

impl LanguageRules for JavaRules {
    fn define(&self, node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
        use DefinitionKind::{Constructor, Method};
        match node.kind() {
            "package_declaration" => package(node, outline),
            "import_declaration" => import(node, outline),
            "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration" => define_type(node, outline),
            "enum_constant" => define_constant(node, outline),
            "field_declaration" | "constant_declaration" => define_fields(node, outline),
            "method_declaration" | "annotation_type_element_declaration" => {
                define_callable(node, Method, outline);
            }
            "constructor_declaration" | "compact_constructor_declaration" => {
                define_callable(node, Constructor, outline);
            }
            _ => {}
        }
        holds_definitions(node.kind())
    }

    fn expr(&self, node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
        let source = expressions.source;
        Some(match node.kind() {
            "identifier" | "type_identifier" => Expr::Name(source.text_of(node).into()),
            "this" => Expr::This,
            "super" => Expr::Super,
            "string_literal" => Expr::Typed("String".into()),
            "class_literal" => Expr::Typed("Class".into()),
            "parenthesized_expression" | "expression_statement" | "generic_type" => {
                return expressions.inner(node);
            }
            "assignment_expression" => return expressions.field(node, "right"),
            "field_access" if source.field(node, "field") == "this" => {
                Expr::Typed(source.field(node, "object").into())
            }
            "field_access" | "scoped_identifier" | "scoped_type_identifier" | "method_reference" => {
                let (object, name) = member(node, expressions)?;
                Expr::Member(Box::new(object), source.text_of(name).into())
            }
            "method_invocation" => callee(node, expressions)?.call(),
            "array_access" => expressions.field(node, "array")?.element(),
            "object_creation_expression" | "cast_expression" => {
                Expr::Typed(source.type_text(node.child_in("type")))
            }
            "array_creation_expression" => Expr::Typed(format!("{}[]", source.field(node, "type")).into()),
            "ternary_expression" => {
                let branches = ["consequence", "alternative"];
                return expressions.either_of(branches.iter().filter_map(|branch| node.child_in(branch)));
            }
            "switch_expression" => return expressions.either_of(results(node)),
            _ => return None,
        })
    }

    fn bindings(&self, node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
        let source = expressions.source;
        let name = node.child_in("name");
        let (name, value) = match node.kind() {
            "local_variable_declaration" => return bind_locals(node, expressions, found),
            "inferred_parameters" => return bind_untyped(named_children(node), source, found),
            "lambda_expression" => {
                let only = node.child_in("parameters").filter(|one| one.kind() == "identifier");
                (only, None)
            }
            "formal_parameter" => (name, typed(node, source)),
            "spread_parameter" => {
                let Some((element, declarator)) = variadic(node) else { return };
                let array = format!("{}[]", source.text_of(element)).into();
                (declarator.child_in("name"), Some(Expr::Typed(array)))
            }
            "enhanced_for_statement" => {
                (name, typed(node, source).or_else(|| Some(expressions.field(node, "value")?.element())))
            }
            "resource" => (name, typed(node, source).or_else(|| expressions.field(node, "value"))),
            "catch_formal_parameter" => (name, caught(node, source)),
            "instanceof_expression" => (name, typed_value(node.child_in("right"), source)),
            "type_pattern" | "record_pattern_component" => {
                (last_named(node), typed_value(node.named_child(0), source))
            }
            _ => return,
        };
        found.extend(name.map(|name| Binding::new(name, value, source)));
    }

    fn use_of<'tree>(&self, node: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<NodeUse<'tree>> {
        let source = expressions.source;
        let bare = |name| NodeUse { name, kind: UseKind::Bare };
        match node.kind() {
            "method_invocation" if node.child_in("object").is_none() => node.child_in("name").map(bare),
            "method_invocation"
            | "field_access"
            | "method_reference"
            | "scoped_identifier"
            | "scoped_type_identifier" => {
                let (object, name) = member(node, expressions)?;
                let is_name = matches!(name.kind(), "identifier" | "type_identifier");
                is_name.then_some(NodeUse { name, kind: UseKind::Member(object) })
            }
            "object_creation_expression" => {
                let name = simple_name(node.child_in("type")?)?;
                Some(NodeUse { name, kind: UseKind::New })
            }
            "annotation" | "marker_annotation" => {
                node.child_in("name").filter(|name| name.kind() == "identifier").map(bare)
            }
            "type_identifier" => (source.text_of(node) != "var").then(|| bare(node)),
            "identifier" => is_mentioned(node, expressions).then(|| bare(node)),
            _ => None,
        }
    }

    fn holds_uses(&self, node: Node<'_>) -> bool {
        !matches!(node.kind(), "package_declaration" | "import_declaration")
    }

    fn targets(&self, _from: &str, module: &str, _projects: &Projects) -> Vec<ModuleTarget> {
        vec![ModuleLocation::Namespace(module.into()).into()]
    }

    fn implicit(&self, _from: &str, namespace: &str) -> Vec<ModuleTarget> {
        vec![ModuleLocation::Namespace(namespace.into()).into()]
    }

    fn test_code(&self, node: Node<'_>, source: SourceText<'_>) -> TestCode {
        const TESTS: [&str; 7] =
            ["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "BeforeEach", "AfterEach", "Before"];
        let is_test = node.kind() == "method_declaration"
            && named_children(node)
                .into_iter()
                .filter(|child| child.kind() == "modifiers")
                .flat_map(named_children)
                .any(|annotation| names_test(annotation, source, &TESTS));
        if is_test { TestCode::Test } else { TestCode::No }
    }
}

/// Whether a node may contain definitions for other files: function bodies do not.
fn holds_definitions(kind: &str) -> bool {
    matches!(
        kind,
        "program"
            | "class_declaration"
            | "class_body"
            | "interface_declaration"
            | "interface_body"
            | "enum_declaration"
            | "enum_body"
            | "enum_body_declarations"
            | "record_declaration"
            | "annotation_type_declaration"
            | "annotation_type_body"
            | "ERROR"
    )
}

fn package(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    if let Some(name) = last_named(node) {
        outline.open_namespace(outline.source.text_of(name), usize::MAX);
    }
}

/// `import a.b.CRules`, `import a.b.*`, and both for the static members of a type.
fn import(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let mut cursor = node.walk();
    let Some(path) = node
        .named_children(&mut cursor)
        .find(|child| matches!(child.kind(), "identifier" | "scoped_identifier"))
    else {
        return;
    };
    let path = outline.source.text_of(path);
    if last_named(node).is_some_and(|last| last.kind() == "asterisk") {
        outline.import(node, "*", path, ImportedItem::All);
    } else if let Some((module, name)) = path.rsplit_once('.') {
        outline.import(node, name, module, ImportedItem::Name(name.into()));
    }
}

fn define_type(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let Some(definition) = definition(node, DefinitionKind::Type, outline) else { return };
    let bases = bases(node, outline.source);
    let is_static = outline.container().is_some();
    outline.add(Definition { bases, is_static, ..definition });
    if node.kind() == "record_declaration" {
        define_components(node, outline);
    }
}

/// Returns the types after `extends` and `implements`.
fn bases(node: Node<'_>, source: SourceText<'_>) -> Vec<Box<str>> {
    let mut bases = Vec::new();
    for clause in named_children(node) {
        match clause.kind() {
            "superclass" => bases.extend(last_named(clause).map(|base| source.type_text(Some(base)))),
            "super_interfaces" | "extends_interfaces" => {
                let types = last_named(clause).map(named_children).unwrap_or_default();
                bases.extend(types.into_iter().map(|base| source.type_text(Some(base))));
            }
            _ => {}
        }
    }
    bases
}

/// Adds each component of a record as a private field and an accessor method.
fn define_components(record: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let Some(components) = record.child_in("parameters") else { return };
    let mut found = Vec::new();
    for component in named_children(components) {
        let Some(field) = definition(component, DefinitionKind::Field, outline) else { continue };
        let field = Definition { type_text: declared_type(component, component, outline.source), ..field };
        found.push(Definition { is_private: true, ..field.clone() });
        let signature = format!("{}()", field.signature).into();
        found.push(Definition { kind: DefinitionKind::Method, signature, ..field });
    }
    for one in found {
        outline.add(one);
    }
}

fn define_constant(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let Some(definition) = definition(node, DefinitionKind::Field, outline) else { return };
    let type_text = outline.enclosing_type().map_or("".into(), |(_, around)| around.name.clone());
    outline.add(Definition { type_text, is_static: true, ..definition });
}

fn define_fields(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let declarators = declarators(node);
    let Some(first) = declarators.first() else { return };
    let source = outline.source;
    let before = source.signature_without(node, Some(*first), NO_SIGNATURE);
    let is_static = node.kind() == "constant_declaration" || has_modifier(node, "static");
    let is_private = has_modifier(node, "private");
    let doc = doc(node, source);
    let found: Vec<Definition> = declarators
        .iter()
        .map(|declarator| {
            let name = source.field(*declarator, "name");
            Definition {
                signature: format!("{before} {name}").into(),
                doc: doc.clone(),
                type_text: declared_type(node, *declarator, source),
                is_static,
                is_private,
                ..outline.definition(name, DefinitionKind::Field, *declarator)
            }
        })
        .collect();
    for field in found {
        outline.add(field);
    }
}

fn define_callable(node: Node<'_>, kind: DefinitionKind, outline: &mut OutlineBuilder<'_>) {
    let Some(definition) = definition(node, kind, outline) else { return };
    let type_text = declared_type(node, node, outline.source);
    let parameters = parameters(node, outline.source);
    outline.add(Definition { type_text, parameters, ..definition });
}

/// Returns a definition with the properties common to all kinds with a body; `None` if the name is missing.
fn definition(node: Node<'_>, kind: DefinitionKind, outline: &OutlineBuilder<'_>) -> Option<Definition> {
    let source = outline.source;
    let name = source.field(node, "name");
    let body = node.child_in("body");
    (!name.is_empty()).then(|| Definition {
        signature: source.signature_without(node, body, NO_SIGNATURE),
        doc: doc(node, source),
        is_private: has_modifier(node, "private"),
        is_static: has_modifier(node, "static"),
        ..outline.definition(name, kind, node)
    })
}

fn parameters(node: Node<'_>, source: SourceText<'_>) -> Vec<Parameter> {
    let parameters = node.child_in("parameters").map(named_children).unwrap_or_default();
    let parameter = |node: Node<'_>| match variadic(node) {
        Some((element, declarator)) => Parameter {
            name: source.field(declarator, "name").into(),
            type_text: format!("{}...", source.text_of(element)).into(),
        },
        None => Parameter {
            name: source.field(node, "name").into(),
            type_text: declared_type(node, node, source),
        },
    };
    let found = parameters.into_iter().map(parameter);
    found.filter(|parameter| !parameter.name.is_empty()).collect()
}

/// Returns the element type and the declarator of a parameter with `...`.
fn variadic(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let [.., element, declarator] = named_children(node)[..] else { return None };
    (node.kind() == "spread_parameter").then_some((element, declarator))
}

/// Returns the type written in `node`, with the `[]` after the name in `declarator`.
fn declared_type(node: Node<'_>, declarator: Node<'_>, source: SourceText<'_>) -> Box<str> {
    let type_text = source.type_text(node.child_in("type"));
    match source.field(declarator, "dimensions") {
        "" => type_text,
        dimensions => format!("{type_text}{dimensions}").into(),
    }
}

fn has_modifier(node: Node<'_>, modifier: &str) -> bool {
    let Some(modifiers) = node.child(0).filter(|first| first.kind() == "modifiers") else { return false };
    let mut cursor = modifiers.walk();
    modifiers.children(&mut cursor).any(|one| one.kind() == modifier)
}

/// Returns the first sentence of the Javadoc comment above, without its markup.
fn doc(node: Node<'_>, source: SourceText<'_>) -> Box<str> {
    let above = source.comments_above(node.start_byte());
    let Some(start) = above.rfind("/**") else { return "".into() };
    let comment = above[start..].split("*/").next().unwrap_or_default();
    let is_tag = |line: &str| line.trim_start_matches([' ', '\t', '*', '/']).starts_with('@');
    let description: String = comment.split_inclusive('\n').take_while(|line| !is_tag(line)).collect();
    let plain = replace_between(&description, ['<', '>'], |_| "");
    // `{@link ValueType text}` and `{@code text}` show the text after the tag.
    let shown = |tag| str::split_once(tag, ' ').map_or("", |(_, text)| text);
    source.doc(&replace_between(&plain, ['{', '}'], shown))
}

/// Returns the expression before the last dot and the name after it, or both sides of `::`.
fn member<'tree>(node: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<(Expr, Node<'tree>)> {
    let name = match node.kind() {
        "method_invocation" => node.child_in("name")?,
        _ => last_named(node)?,
    };
    let object = node.child_in("object").or_else(|| node.named_child(0))?;
    // `ValueType.super.method()` calls the method of that interface.
    let asks_super = node.named_child(1).is_some_and(|next| next.kind() == "super");
    let object = match asks_super {
        true => Expr::Typed(expressions.source.text_of(object).into()),
        false => expressions.read(object)?,
    };
    (name.start_byte() > node.start_byte()).then_some((object, name))
}

fn callee(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let name = expressions.source.field(node, "name").into();
    match node.child_in("object") {
        Some(_) => Some(Expr::Member(Box::new(member(node, expressions)?.0), name)),
        None => Some(Expr::Name(name)),
    }
}

/// Returns the expressions after the arrows of a `switch`.
fn results(switch: Node<'_>) -> Vec<Node<'_>> {
    let rules = switch.child_in("body").map(named_children).unwrap_or_default();
    rules
        .into_iter()
        .filter_map(last_named)
        .filter(|result| result.kind() == "expression_statement")
        .collect()
}

fn bind_locals(node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
    let source = expressions.source;
    let is_typed = typed(node, source).is_some();
    for declarator in declarators(node) {
        let Some(name) = declarator.child_in("name") else { continue };
        let value = match is_typed {
            true => Some(Expr::Typed(declared_type(node, declarator, source))),
            false => expressions.field(declarator, "value"),
        };
        found.push(Binding::new(name, value, source));
    }
}

fn bind_untyped(names: Vec<Node<'_>>, source: SourceText<'_>, found: &mut Vec<Binding>) {
    found.extend(names.into_iter().map(|name| Binding::new(name, None, source)));
}

/// Returns a value of the type written in a declaration; `None` for `var`.
fn typed(node: Node<'_>, source: SourceText<'_>) -> Option<Expr> {
    typed_value(node.child_in("type"), source)?;
    Some(Expr::Typed(declared_type(node, node, source)))
}

/// Returns a value of the type at `node`; `None` for `var`.
fn typed_value(node: Option<Node<'_>>, source: SourceText<'_>) -> Option<Expr> {
    node.filter(|node| source.text_of(*node) != "var").map(|node| Expr::Typed(source.type_text(Some(node))))
}

fn caught(parameter: Node<'_>, source: SourceText<'_>) -> Option<Expr> {
    let types = named_children(parameter).into_iter().find(|child| child.kind() == "catch_type")?;
    Expr::one_of(named_children(types).into_iter().filter_map(|one| typed_value(Some(one), source)).collect())
}

/// Returns the name of a type without arguments and qualifiers.
fn simple_name(mut node: Node<'_>) -> Option<Node<'_>> {
    loop {
        node = match node.kind() {
            "type_identifier" => return Some(node),
            "generic_type" => node.named_child(0)?,
            "scoped_type_identifier" => last_named(node)?,
            _ => return None,
        }
    }
}

/// Whether an unqualified name may refer to a type or constant elsewhere.
fn is_mentioned<'n>(node: Node<'n>, expressions: ExpressionReader<'n>) -> bool {
    let source = expressions.source;
    let before = source.text.get(..node.start_byte()).unwrap_or_default().trim_end();
    source.text_of(node).starts_with(char::is_uppercase)
        && !before.ends_with(['.', '@'])
        && !before.ends_with("::")
        && expressions.parent(node).is_none_or(|parent| parent.child_in("name") != Some(node))
}

fn declarators(node: Node<'_>) -> Vec<Node<'_>> {
    node.children_by_field_name("declarator", &mut node.walk()).collect()
}
