//! Names in C and C++, whose trees have the same node kinds for the common part.

mod declarators;
mod define;
mod values;

use tree_sitter::Node;

use self::declarators::{outermost, path, template_name};
use crate::expr::{Expr, ExpressionReader};
use crate::language_rules::LanguageRules;
use crate::module_resolution::{ModuleLocation, ModuleTarget, Projects, folder, join};
use crate::node_fields::NodeFields;
use crate::outline::{OutlineBuilder, SourceText};
use crate::scope::Binding;
use crate::test_code::TestCode;
use crate::uses::{NodeUse, UseKind};

/// The rules of C and C++.
pub(crate) struct CRules;

impl LanguageRules for CRules {
    fn define(&self, node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
        define::define(node, outline)
    }

    fn expr(&self, node: Node<'_>, expressions: ExpressionReader<'_>) -> Option<Expr> {
        values::expr(node, expressions)
    }

    fn bindings(&self, node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
        values::bindings(node, expressions, found);
    }

    fn use_of<'tree>(&self, node: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<NodeUse<'tree>> {
        match node.kind() {
            "field_expression" => {
                let name = template_name(node.child_in("field")?);
                let object = expressions.field(node, "argument").unwrap_or(Expr::UNKNOWN);
                Some(NodeUse { name, kind: UseKind::Member(object) })
            }
            "qualified_identifier" => qualified(node, expressions),
            "call_expression" => {
                let name = template_name(node.child_in("function")?);
                (name.kind() == "identifier").then_some(NodeUse { name, kind: UseKind::Bare })
            }
            "new_expression" => {
                let name = template_name(node.child_in("type")?);
                (name.kind() == "type_identifier").then_some(NodeUse { name, kind: UseKind::New })
            }
            "type_identifier" | "namespace_identifier" => mentioned(node, expressions),
            // A capital letter distinguishes macros and constants from variables.
            "identifier" if expressions.source.text_of(node).contains(char::is_uppercase) => {
                mentioned(node, expressions)
            }
            _ => None,
        }
    }

    fn holds_uses(&self, node: Node<'_>) -> bool {
        !matches!(
            node.kind(),
            "preproc_include" | "preproc_def" | "preproc_function_def" | "preproc_call" | "using_declaration"
        )
    }

    fn targets(&self, from: &str, module: &str, _projects: &Projects) -> Vec<ModuleTarget> {
        if module.contains("::") {
            return vec![ModuleLocation::Namespace(module.replace("::", ".").into()).into()];
        }
        let beside = join(folder(from), module).map(|path| ModuleLocation::File(path.into()));
        let ending =
            join("", module.trim_start_matches("../")).map(|path| ModuleLocation::FileEnding(path.into()));
        // Standard headers look like namespaces.
        let namespace = (!module.contains(['.', '/'])).then(|| ModuleLocation::Namespace(module.into()));
        [beside, ending, namespace].into_iter().flatten().map(ModuleTarget::from).collect()
    }

    fn implicit(&self, _from: &str, namespace: &str) -> Vec<ModuleTarget> {
        let parents = std::iter::successors(Some(namespace), |inner| Some(inner.rsplit_once('.')?.0));
        let named = parents.filter(|name| !name.is_empty());
        named.map(|name| ModuleLocation::Namespace(name.into()).into()).collect()
    }

    fn test_code(&self, node: Node<'_>, source: SourceText<'_>) -> TestCode {
        // Macros of GoogleTest, Catch2, doctest, Boost and Check: with names as arguments they look like functions, with texts like calls
        // before a block.
        const TESTS: [&str; 11] = [
            "TEST",
            "TEST_F",
            "TEST_P",
            "TYPED_TEST",
            "TEST_CASE",
            "TEST_CASE_METHOD",
            "TEST_SUITE",
            "SCENARIO",
            "BOOST_AUTO_TEST_CASE",
            "BOOST_FIXTURE_TEST_CASE",
            "START_TEST",
        ];
        let names_test =
            || source.text_of(node).split_once('(').is_some_and(|it| TESTS.contains(&it.0.trim()));
        match node.kind() {
            "function_definition" if names_test() => TestCode::Test,
            "expression_statement" if names_test() => TestCode::Next,
            "comment" => TestCode::Between,
            _ => TestCode::No,
        }
    }
}

/// Returns the last name of `a::b::c`, unless it defines a member of a type.
fn qualified<'tree>(node: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<NodeUse<'tree>> {
    let Expr::Member(object, _) = expressions.read(node)? else { return None };
    let name = path(node).pop().filter(|name| name.kind().ends_with("identifier"))?;
    let whole = outermost(node, expressions);
    let declarator = expressions.parent(whole)?.child_in("declarator");
    (declarator != Some(whole)).then_some(NodeUse { name, kind: UseKind::Member(*object) })
}

/// Returns an unqualified type, macro or constant, unless it is only being declared.
fn mentioned<'tree>(name: Node<'tree>, expressions: ExpressionReader<'_>) -> Option<NodeUse<'tree>> {
    let parent = expressions.parent(name)?;
    let is_named =
        ["name", "declarator"].iter().any(|field| parent.child_in(field).is_some_and(|named| named == name));
    let is_template = matches!(parent.kind(), "template_type" | "template_function");
    (!is_named || is_template).then_some(NodeUse { name, kind: UseKind::Bare })
}
