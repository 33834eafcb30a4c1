//! Names in TypeScript and JavaScript: expressions and uses. Definitions are in `define.rs`, imports and exports in `exports.rs`,
//! variables in `variables.rs`, locations of modules in `modules.rs`.

use tree_sitter::Node;

use crate::expr::{Expr, ExpressionReader};
use crate::language_rules::LanguageRules;
use crate::module_resolution::{ModuleTarget, Projects};
use crate::node_fields::NodeFields;
use crate::outline::{OutlineBuilder, SourceText};
use crate::scope::Binding;
use crate::test_code::TestCode;
use crate::tree::named_children;
use crate::uses::{NodeUse, UseKind};

mod define;
mod exports;
mod functions;
mod manifests;
mod modules;
mod types;
mod variables;

pub(crate) use manifests::{package_json, tsconfig};

/// The rules of TypeScript, with and without JSX, and of JavaScript.
pub(crate) struct EcmaScriptRules;

impl LanguageRules for EcmaScriptRules {
    fn define(&self, node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
        define::define(node, outline)
    }

    fn expr(&self, node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
        match node.kind() {
            "identifier" | "type_identifier" | "shorthand_property_identifier" => {
                Some(Expr::Name(expressions.source.text_of(node).into()))
            }
            "this" => Some(Expr::This),
            "super" => Some(Expr::Super),
            "member_expression" | "nested_identifier" => expressions.member(node, "object", "property"),
            "nested_type_identifier" => expressions.member(node, "module", "name"),
            "subscript_expression" => Some(expressions.field(node, "object")?.element()),
            "call_expression" => call(node, expressions),
            "new_expression" => Some(expressions.field(node, "constructor")?.call()),
            "as_expression" => asserted_type(node, expressions),
            "type_assertion" => {
                let written = expressions.source.text_of(node.named_child(0)?);
                Some(Expr::Typed(written.trim_matches(['<', '>']).into()))
            }
            "await_expression"
            | "parenthesized_expression"
            | "non_null_expression"
            | "satisfies_expression"
            | "instantiation_expression"
            | "generic_type" => expressions.inner(node),
            "ternary_expression" => expressions.either_of(
                ["consequence", "alternative"].map(|name| node.child_in(name)).into_iter().flatten(),
            ),
            "binary_expression" => match expressions.source.field(node, "operator") {
                "||" | "??" => expressions.either(node),
                "&&" => expressions.field(node, "right"),
                _ => None,
            },
            "assignment_expression" => expressions.field(node, "right"),
            _ => None,
        }
    }

    fn bindings(&self, node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
        variables::bindings(node, expressions, found);
    }

    fn use_of<'tree>(&self, node: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<NodeUse<'tree>> {
        let member = |object, name| {
            let object = node.child_in(object).filter(|object| !is_literal(*object))?;
            let kind = UseKind::Member(expressions.read(object).unwrap_or(Expr::UNKNOWN));
            Some(NodeUse { name: node.child_in(name)?, kind })
        };
        match node.kind() {
            "member_expression" | "nested_identifier" => member("object", "property"),
            "nested_type_identifier" => member("module", "name"),
            "new_expression" => {
                let name = node.child_in("constructor")?;
                (name.kind() == "identifier").then_some(NodeUse { name, kind: UseKind::New })
            }
            "identifier" | "type_identifier" | "shorthand_property_identifier" => {
                let is_used = is_mentioned(node, expressions);
                is_used.then_some(NodeUse { name: node, kind: UseKind::Bare })
            }
            _ => None,
        }
    }

    fn holds_uses(&self, node: Node<'_>) -> bool {
        !matches!(node.kind(), "import_statement" | "import_alias" | "export_clause" | "jsx_closing_element")
    }

    fn targets(&self, from: &str, module: &str, projects: &Projects) -> Vec<ModuleTarget> {
        modules::targets(from, module, projects)
    }

    fn test_code(&self, node: Node<'_>, source: SourceText<'_>) -> TestCode {
        let is_test = match node.kind() {
            "if_statement" => source.field(node, "condition").contains("import.meta.vitest"),
            "expression_statement" => calls_test_runner(node, source),
            _ => false,
        };
        if is_test { TestCode::Test } else { TestCode::No }
    }
}

/// Methods of collections that return one of their elements or another collection of these.
const OF_COLLECTION: &[&str] = &[
    "at", "concat", "filter", "find", "findLast", "get", "pop", "reverse", "shift", "slice", "sort",
    "splice", "values",
];
/// Functions that return their argument.
const IDENTITIES: &[&str] =
    &["Object.assign", "Object.freeze", "Promise.all", "Promise.resolve", "Array.from"];

/// Converts a call. The result of a method with the name of an array method may also be an element.
fn call(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let function = node.child_in("function")?;
    if IDENTITIES.contains(&expressions.source.text_of(function)) {
        return expressions.read(node.child_in("arguments")?.named_child(0)?);
    }
    let callee = expressions.read(function)?;
    Some(match &callee {
        Expr::Member(object, method) if OF_COLLECTION.contains(&&**method) => {
            // Takes only the last of several alternatives, so that a chain of calls does not grow exponentially.
            let collection = match &**object {
                Expr::Either(some) => some.last()?,
                object => object,
            };
            let element = collection.clone().element();
            Expr::Either(vec![callee.call(), element])
        }
        _ => callee.call(),
    })
}

/// Returns the type after `as`; the expression itself for `as const`.
fn asserted_type(node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    match node.named_child(1) {
        Some(written) => Some(Expr::Typed(expressions.source.type_text(Some(written)))),
        None => expressions.inner(node),
    }
}

/// Whether a node is a value of a built-in type.
fn is_literal(node: Node<'_>) -> bool {
    matches!(node.kind(), "string" | "template_string" | "number" | "regex" | "array" | "object")
}

/// Whether a name is a use of a value or type, not a definition or binding.
fn is_mentioned<'n>(node: Node<'n>, expressions: ExpressionReader<'n>) -> bool {
    let Some(parent) = expressions.parent(node) else { return false };
    let is_field = |field| parent.child_in(field) == Some(node);
    match parent.kind() {
        "variable_declarator"
        | "function_declaration"
        | "generator_function_declaration"
        | "function_expression"
        | "function_signature"
        | "class_declaration"
        | "abstract_class_declaration"
        | "class"
        | "interface_declaration"
        | "enum_declaration"
        | "type_alias_declaration"
        | "type_parameter"
        | "internal_module"
        | "module"
        | "mapped_type_clause"
        | "index_signature"
        | "type_predicate" => !is_field("name"),
        "required_parameter" | "optional_parameter" => !is_field("pattern"),
        "arrow_function" | "catch_clause" => !is_field("parameter"),
        "assignment_pattern" | "object_assignment_pattern" | "for_in_statement" => !is_field("left"),
        "formal_parameters" | "rest_pattern" | "array_pattern" | "pair_pattern" | "infer_type" => false,
        // Lower-case elements are built into the browser.
        "jsx_opening_element" | "jsx_self_closing_element" => {
            !is_field("name") || expressions.source.text_of(node).starts_with(char::is_uppercase)
        }
        _ => true,
    }
}

/// Whether a word or sign is a direct child of a node.
fn has_word(node: Node<'_>, word: &str) -> bool {
    node.children(&mut node.walk()).any(|child| child.kind() == word)
}

fn is_function(kind: &str) -> bool {
    matches!(kind, "arrow_function" | "function_expression" | "generator_function")
}

/// Whether a statement calls a test runner with a function: `it('adds', () => {})`, also with `it.each(...)(...)`.
fn calls_test_runner(statement: Node<'_>, source: SourceText<'_>) -> bool {
    const RUNNERS: [&str; 5] = ["describe", "it", "test", "suite", "bench"];
    let Some(call) = statement.named_child(0).filter(|call| call.kind() == "call_expression") else {
        return false;
    };
    let function = source.field(call, "function");
    let name = function.split(['.', '(', '`']).next().unwrap_or_default().trim();
    let arguments = call.child_in("arguments").map(named_children).unwrap_or_default();
    RUNNERS.contains(&name) && arguments.into_iter().any(|argument| is_function(argument.kind()))
}
