//! Names in Python: expressions, variables and uses. Definitions are in `define.rs`, imports in `modules.rs`.

use tree_sitter::Node;

use crate::expr::{Expr, ExpressionReader};
use crate::language_rules::LanguageRules;
use crate::module_resolution::{ModuleTarget, Projects};
use crate::node_fields::NodeFields;
use crate::outline::{OutlineBuilder, SourceText};
use crate::scope::Binding;
use crate::test_code::TestCode;
use crate::uses::{NodeUse, UseKind};

mod define;
mod modules;
mod variables;

/// The rules of Python.
pub(crate) struct PythonRules;

impl LanguageRules for PythonRules {
    fn define(&self, node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
        define::define(node, outline)
    }

    fn expr(&self, node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
        match node.kind() {
            "identifier" | "keyword_identifier" => match expressions.source.text_of(node) {
                "self" | "cls" => Some(Expr::This),
                name => Some(Expr::Name(name.into())),
            },
            "attribute" => expressions.member(node, "object", "attribute"),
            "member_type" => {
                let name = expressions.source.text_of(node.named_child(1)?);
                Some(Expr::Member(Box::new(expressions.inner(node)?), name.into()))
            }
            "call" => call(node, expressions),
            "subscript" => Some(expressions.field(node, "value")?.element()),
            "await" | "parenthesized_expression" | "type" | "case_pattern" | "as_pattern" | "list_splat" => {
                expressions.inner(node)
            }
            "class_pattern" => Some(expressions.inner(node)?.call()),
            "dotted_name" => dotted(node, expressions),
            "boolean_operator" | "union_pattern" => expressions.either(node),
            "conditional_expression" => {
                expressions.either_of([node.named_child(0), node.named_child(2)].into_iter().flatten())
            }
            "named_expression" => expressions.field(node, "value"),
            "assignment" => expressions.field(node, "right"),
            _ => None,
        }
    }

    fn bindings(&self, node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
        variables::bindings(node, expressions, found);
    }

    fn use_of<'tree>(&self, node: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<NodeUse<'tree>> {
        match node.kind() {
            "attribute" => {
                let object = node.child_in("object").filter(|object| !is_literal(*object))?;
                let value = expressions.read(object).unwrap_or(Expr::UNKNOWN);
                Some(NodeUse { name: node.child_in("attribute")?, kind: UseKind::Member(value) })
            }
            "dotted_name" if node.named_child_count() > 1 && is_class_of_pattern(node, expressions) => {
                let Expr::Member(object, _) = dotted(node, expressions)? else { return None };
                let name = node.named_child(node.named_child_count() as u32 - 1)?;
                Some(NodeUse { name, kind: UseKind::Member(*object) })
            }
            "identifier" => {
                let is_own = matches!(expressions.source.text_of(node), "self" | "cls" | "super" | "_");
                (!is_own && is_mentioned(node, expressions))
                    .then_some(NodeUse { name: node, kind: UseKind::Bare })
            }
            _ => None,
        }
    }

    fn holds_uses(&self, node: Node<'_>) -> bool {
        !matches!(
            node.kind(),
            "import_statement" | "import_from_statement" | "future_import_statement" | "global_statement"
        )
    }

    fn targets(&self, from: &str, module: &str, _projects: &Projects) -> Vec<ModuleTarget> {
        modules::targets(from, module)
    }

    fn test_code(&self, node: Node<'_>, source: SourceText<'_>) -> TestCode {
        let is_test =
            node.kind() == "class_definition" && source.field(node, "superclasses").contains("TestCase");
        if is_test { TestCode::Test } else { TestCode::No }
    }
}

/// Converts a call; some built-in functions return their argument.
fn call(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let function = node.child_in("function")?;
    let argument = |position| node.child_in("arguments")?.named_child(position);
    match expressions.source.text_of(function) {
        "super" => return Some(Expr::Super),
        // `cls` is the type or a value of it; both are this.
        "cls" | "self.__class__" => return Some(Expr::This),
        "type" => return expressions.read(argument(0)?),
        "list" | "tuple" | "set" | "frozenset" | "sorted" | "reversed" | "iter" | "copy" | "deepcopy"
        | "copy.copy" | "copy.deepcopy" => return expressions.read(argument(0)?),
        "next" | "min" | "max" => return Some(expressions.read(argument(0)?)?.element()),
        "cast" | "t.cast" | "typing.cast" => {
            return Some(Expr::Typed(unquoted(expressions.source.text_of(argument(0)?))));
        }
        _ => {}
    }
    // Brackets after the name of a class contain type arguments.
    let callee = match function.kind() {
        "subscript" => function.child_in("value")?,
        _ => function,
    };
    Some(expressions.read(callee)?.call())
}

/// Converts `a.b.c` in patterns and imports; `None` for unrealistically long ones.
fn dotted(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let mut names = expressions.source.text_of(node).split('.').map(str::trim);
    let first = Expr::Name(names.next()?.into());
    let is_short = names.clone().nth(Expr::MAX_DEPTH).is_none();
    is_short.then(|| names.fold(first, |object, name| Expr::Member(Box::new(object), name.into())))
}

/// Returns a type, which may be in quotes.
fn unquoted(text: &str) -> Box<str> {
    text.trim_matches(['"', '\'']).into()
}

/// Whether a node is a value of a built-in type.
fn is_literal(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "string"
            | "concatenated_string"
            | "integer"
            | "float"
            | "list"
            | "dictionary"
            | "set"
            | "tuple"
            | "list_comprehension"
            | "dictionary_comprehension"
            | "set_comprehension"
    )
}

/// Whether an identifier is a use of a value, not a definition or binding.
fn is_mentioned<'n>(node: Node<'n>, expressions: ExpressionReader<'n>) -> bool {
    let Some(parent) = expressions.parent(node) else { return false };
    let is_field = |name| parent.child_in(name) == Some(node);
    match parent.kind() {
        "attribute" => is_field("object"),
        "function_definition"
        | "class_definition"
        | "default_parameter"
        | "typed_default_parameter"
        | "keyword_argument"
        | "named_expression" => !is_field("name"),
        "assignment" | "augmented_assignment" | "for_statement" | "for_in_clause" => !is_field("left"),
        "member_type" => parent.named_child(0) == Some(node),
        "keyword_pattern" => parent.named_child(0) != Some(node),
        "dotted_name" => parent.named_child(0) == Some(node) && is_class_of_pattern(parent, expressions),
        "parameters"
        | "lambda_parameters"
        | "typed_parameter"
        | "list_splat_pattern"
        | "dictionary_splat_pattern"
        | "pattern_list"
        | "tuple_pattern"
        | "list_pattern"
        | "as_pattern_target"
        | "case_pattern"
        | "splat_pattern"
        | "nonlocal_statement" => false,
        _ => true,
    }
}

/// Whether a name in a pattern is a class, not a bound variable.
fn is_class_of_pattern<'n>(name: Node<'n>, expressions: ExpressionReader<'n>) -> bool {
    expressions.parent(name).is_some_and(|parent| parent.kind() == "class_pattern")
}
