//! Names in C#.

mod define;

use tree_sitter::Node;

use self::define::declarators;
use crate::expr::{Expr, ExpressionReader};
use crate::language_rules::LanguageRules;
use crate::module_resolution::{ModuleLocation, ModuleTarget, Projects};
use crate::node_fields::NodeFields;
use crate::outline::{OutlineBuilder, SourceText};
use crate::scope::Binding;
use crate::test_code::{TestCode, names_test};
use crate::tree::{last_named, named_children};
use crate::uses::{NodeUse, UseKind};

/// The rules of C#.
pub(crate) struct CSharpRules;

impl LanguageRules for CSharpRules {
    fn define(&self, node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
        define::define(node, outline)
    }

    fn expr(&self, node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
        let source = expressions.source;
        let field = |name| node.child_in(name);
        match node.kind() {
            "identifier" | "predefined_type" => Some(Expr::Name(source.text_of(node).into())),
            "this" => Some(Expr::This),
            "base" => Some(Expr::Super),
            "string_literal"
            | "verbatim_string_literal"
            | "raw_string_literal"
            | "interpolated_string_expression" => Some(Expr::Typed("string".into())),
            "parenthesized_expression" => expressions.read(node.child(1)?),
            "generic_name"
            | "await_expression"
            | "checked_expression"
            | "ref_expression"
            | "postfix_unary_expression"
            | "with_expression" => expressions.inner(node),
            "nullable_type" => expressions.read(field("type")?),
            "alias_qualified_name" => expressions.read(field("name")?),
            "argument" | "arrow_expression_clause" => expressions.read(last_named(node)?),
            "member_access_expression" | "qualified_name" | "conditional_access_expression" => {
                member_expr(node, expressions)
            }
            "invocation_expression" => Some(expressions.field(node, "function")?.call()),
            "element_access_expression" => Some(expressions.field(node, "expression")?.element()),
            "object_creation_expression" | "cast_expression" | "default_expression" => {
                typed(field("type"), source)
            }
            "array_creation_expression" => {
                Some(Expr::Typed(format!("{}[]", source.field(field("type")?, "type")).into()))
            }
            "as_expression" => typed(field("right"), source),
            "implicit_object_creation_expression" => typed(declared_type(node, expressions), source),
            "conditional_expression" => {
                expressions.either_of([field("consequence"), field("alternative")].into_iter().flatten())
            }
            "binary_expression" if source.field(node, "operator") == "??" => expressions.either(node),
            "assignment_expression" => expressions.field(node, "right"),
            "switch_expression" => {
                let arms = named_children(node).into_iter();
                let arms = arms.filter(|child| child.kind() == "switch_expression_arm");
                expressions.either_of(arms.filter_map(last_named))
            }
            "initializer_expression" => partial_member_name(node, expressions),
            _ => None,
        }
    }

    fn bindings(&self, node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
        let source = expressions.source;
        let name = node.child_in("name");
        let written = typed(node.child_in("type"), source);
        let (name, value) = match node.kind() {
            "local_declaration_statement" | "using_statement" | "for_statement" | "fixed_statement" => {
                return bind_locals(node, expressions, found);
            }
            "parameter"
            | "parameter_list"
            | "catch_declaration"
            | "declaration_expression"
            | "declaration_pattern"
            | "recursive_pattern"
            | "var_pattern" => (name, written),
            "implicit_parameter" => (Some(node), None),
            "foreach_statement" => {
                let name = node.child_in("left").filter(|left| left.kind() == "identifier");
                (name, written.or_else(|| Some(expressions.field(node, "right")?.element())))
            }
            "from_clause" => (name, written.or_else(|| Some(expressions.read(last_named(node)?)?.element()))),
            "let_clause" => (node.named_child(0), last_named(node).and_then(|value| expressions.read(value))),
            _ => return,
        };
        found.extend(name.map(|name| Binding::new(name, value, source)));
    }

    fn use_of<'tree>(&self, node: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<NodeUse<'tree>> {
        let bare = |name| NodeUse { name, kind: UseKind::Bare };
        match node.kind() {
            "qualified_name" if is_namespace_name(node, expressions) => None,
            "member_access_expression" | "conditional_access_expression" | "qualified_name" => {
                let (object, name) = member(node)?;
                Some(NodeUse { name, kind: UseKind::Member(expressions.read(object)?) })
            }
            "invocation_expression" => simple_name(node.child_in("function")?).map(bare),
            "object_creation_expression" => {
                let name = simple_name(node.child_in("type")?)?;
                Some(NodeUse { name, kind: UseKind::New })
            }
            "attribute" => {
                let name = node.child_in("name").filter(|name| name.kind() != "qualified_name");
                simple_name(name?).map(bare)
            }
            "assignment_expression" => {
                let name = node.child_in("left").filter(|left| left.kind() == "identifier")?;
                Some(NodeUse { name, kind: UseKind::Member(initialized(node, expressions)?) })
            }
            "with_initializer" => {
                let object = expressions.read(expressions.parent(node)?)?;
                Some(NodeUse { name: node.named_child(0)?, kind: UseKind::Member(object) })
            }
            "identifier" => is_mentioned(node, expressions).then(|| bare(node)),
            _ => None,
        }
    }

    fn holds_uses(&self, node: Node<'_>) -> bool {
        !matches!(
            node.kind(),
            "using_directive" | "file_scoped_namespace_declaration" | "extern_alias_directive"
        )
    }

    fn targets(&self, _from: &str, module: &str, _projects: &Projects) -> Vec<ModuleTarget> {
        vec![ModuleLocation::Namespace(module.into()).into()]
    }

    fn implicit(&self, _from: &str, namespace: &str) -> Vec<ModuleTarget> {
        let parents = std::iter::successors(Some(namespace), |inner| {
            (!inner.is_empty()).then(|| inner.rsplit_once('.').map_or("", |(outer, _)| outer))
        });
        parents.map(|namespace| ModuleLocation::Namespace(namespace.into()).into()).collect()
    }

    fn test_code(&self, node: Node<'_>, source: SourceText<'_>) -> TestCode {
        const TESTS: [&str; 5] = ["Fact", "Theory", "Test", "TestCase", "TestMethod"];
        let is_test = node.kind() == "method_declaration"
            && named_children(node)
                .into_iter()
                .filter(|child| child.kind() == "attribute_list")
                .flat_map(named_children)
                .any(|attribute| names_test(attribute, source, &TESTS));
        if is_test { TestCode::Test } else { TestCode::No }
    }
}

/// Returns the receiver before the last dot, and the name after it.
fn member(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let field = |name| node.child_in(name);
    let (object, name) = match node.kind() {
        "member_access_expression" => (field("expression"), field("name")),
        "conditional_access_expression" => (
            field("condition"),
            last_named(node)
                .filter(|last| last.kind() == "member_binding_expression")
                .and_then(|last| last.child_in("name")),
        ),
        _ => (field("qualifier"), field("name")),
    };
    Some((object?, simple_name(name?)?))
}

fn member_expr(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let Some((object, name)) = member(node) else {
        // The only other form after a `?` is an index.
        return Some(expressions.field(node, "condition")?.element());
    };
    Some(Expr::Member(Box::new(expressions.read(object)?), expressions.source.text_of(name).into()))
}

/// Returns the name of a type or function without arguments and qualifiers.
fn simple_name(mut node: Node<'_>) -> Option<Node<'_>> {
    loop {
        node = match node.kind() {
            "identifier" => return Some(node),
            "generic_name" => node.named_child(0)?,
            "qualified_name" | "alias_qualified_name" => node.child_in("name")?,
            _ => return None,
        }
    }
}

/// Returns a value of the type at `node`; `None` for `var`.
fn typed(node: Option<Node<'_>>, source: SourceText<'_>) -> Option<Expr> {
    let written = node.filter(|node| node.kind() != "implicit_type")?;
    Some(Expr::Typed(source.type_text(Some(written))))
}

fn bind_locals(statement: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
    let list = named_children(statement).into_iter().find(|child| child.kind() == "variable_declaration");
    let Some(list) = list else { return };
    let written = typed(list.child_in("type"), expressions.source);
    for declarator in declarators(list) {
        let Some(name) = declarator.child_in("name") else { continue };
        let value = || last_named(declarator).filter(|value| *value != name);
        let value = written.clone().or_else(|| expressions.read(value()?));
        found.push(Binding::new(name, value, expressions.source));
    }
}

/// Maximum number of levels between `new()` and the declaration with its type.
const MAX_CLIMB: usize = 3;

/// Returns the type written in the declaration around a `new()`.
fn declared_type<'n>(node: Node<'n>, expressions: ExpressionReader<'n>) -> Option<Node<'n>> {
    let parent = |node: &Node<'n>| expressions.parent(*node);
    let around = std::iter::successors(parent(&node), parent).take(MAX_CLIMB);
    let is_value = |around: &Node<'_>| {
        matches!(
            around.kind(),
            "variable_declarator"
                | "variable_declaration"
                | "property_declaration"
                | "arrow_expression_clause"
        )
    };
    around.take_while(is_value).find_map(|around| around.child_in("type"))
}

/// Returns the object whose member is assigned in `new ValueType { Member = value }`.
fn initialized(assignment: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let list = expressions.parent(assignment).filter(|parent| parent.kind() == "initializer_expression")?;
    created(list, expressions)
}

fn created(initializer: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    expressions.read(
        expressions
            .parent(initializer)
            .filter(|parent| parent.kind().ends_with("object_creation_expression"))?,
    )
}

/// Returns the partially typed member at the end of `new ValueType { FirstPieceListener = 1, Sec`.
fn partial_member_name(initializer: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let name = last_named(initializer).filter(|last| last.kind() == "identifier")?;
    Some(Expr::Member(Box::new(created(initializer, expressions)?), expressions.source.text_of(name).into()))
}

/// Whether an unqualified name may refer to a type elsewhere, or to its member.
fn is_mentioned<'n>(node: Node<'n>, expressions: ExpressionReader<'n>) -> bool {
    let source = expressions.source;
    let before = source.text.get(..node.start_byte()).unwrap_or_default().trim_end();
    let is_capital = source.text_of(node).starts_with(char::is_uppercase);
    is_capital
        && !before.ends_with('.')
        && expressions.parent(node).is_none_or(|parent| {
            parent.child_in("name") != Some(node) && !is_namespace_name(parent, expressions)
        })
}

/// Whether a qualified name is the name of a namespace declared here.
fn is_namespace_name<'n>(node: Node<'n>, expressions: ExpressionReader<'n>) -> bool {
    let mut around = node;
    while around.kind() == "qualified_name" {
        let Some(parent) = expressions.parent(around) else { return false };
        around = parent;
    }
    around.kind() == "namespace_declaration" && around != node
}
