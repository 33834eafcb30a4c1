//! The functions of TypeScript and JavaScript code, with types inferred from their bodies if no type is written.

use tree_sitter::Node;

use super::define::{MAX_VALUE_BYTES, NO_SIGNATURE, holds_definitions};
use super::{EcmaScriptRules, exports, types};
use crate::expr::{Expr, ExpressionReader};
use crate::language_rules::LanguageRules;
use crate::locals::LocalVariables;
use crate::node_fields::NodeFields;
use crate::outline::{
    Definition, DefinitionKind, OutlineBuilder, Parameter, SourceText, collapse_whitespace,
};
use crate::tree::named_children;
use crate::walk::TreeWalk;

/// Maximum number of returned values that are read; more of them seldom have more types.
const MAX_RETURNS: usize = 3;

/// Adds a function declared by `node`; `function` has the parameters and the body.
pub(super) fn define_function(
    node: Node<'_>,
    function: Node<'_>,
    name: &str,
    kind: DefinitionKind,
    outline: &mut OutlineBuilder<'_>,
) {
    let definition = callable(node, function, name, kind, outline);
    finish_function(definition, function, None, outline);
}

pub(super) fn callable(
    node: Node<'_>,
    function: Node<'_>,
    name: &str,
    kind: DefinitionKind,
    outline: &OutlineBuilder<'_>,
) -> Definition {
    let source = outline.source;
    let body = function.child_in("body");
    Definition {
        signature: source.signature_without(node, body, NO_SIGNATURE),
        doc: source.doc_above(node.start_byte()),
        type_text: source.type_text(function.child_in("return_type")),
        parameters: parameters(function, source),
        ..outline.definition(name, kind, node)
    }
}

fn parameters(function: Node<'_>, source: SourceText<'_>) -> Vec<Parameter> {
    let listed = function.child_in("parameters").map(named_children).unwrap_or_default();
    let parameters = listed.into_iter().chain(function.child_in("parameter"));
    let parameters = parameters.filter(|parameter| parameter.kind() != "comment").map(|parameter| {
        let pattern = ["pattern", "left"].into_iter().find_map(|field| parameter.child_in(field));
        let name = collapse_whitespace(
            source.text_of(pattern.unwrap_or(parameter)).trim_start_matches('.'),
            MAX_VALUE_BYTES,
        );
        Parameter { name, type_text: source.type_text(parameter.child_in("type")) }
    });
    parameters.filter(|parameter| *parameter.name != *"this").collect()
}

/// Adds a function, with its return value and the fields of its class inferred from its body.
pub(super) fn finish_function(
    mut definition: Definition,
    function: Node<'_>,
    class: Option<u32>,
    outline: &mut OutlineBuilder<'_>,
) {
    let body = function.child_in("body");
    let is_constructor = definition.kind == DefinitionKind::Constructor;
    let is_told = !definition.type_text.is_empty() && !is_constructor;
    let Some(body) = body.filter(|_| !is_told) else {
        outline.insert(definition);
        return;
    };
    let facts = FunctionBody::read(function, body, outline);
    definition.value = facts.locals.one_of(&facts.returns).filter(|_| !is_constructor);
    outline.insert(definition);
    if is_constructor {
        types::define_parameter_properties(function, outline);
    }
    if let Some(class) = class {
        facts.define_fields(class, outline);
    }
}

/// Externally visible effects of a function.
struct FunctionBody<'tree> {
    locals: LocalVariables,
    /// Returned values, with their offsets.
    returns: Vec<(Expr, usize)>,
    /// Assignments to members of `this`, with their values if known.
    fields: Vec<(Node<'tree>, Option<Expr>)>,
}

impl<'tree> FunctionBody<'tree> {
    /// Reads the statements of a body, and adds the imports in it.
    fn read(function: Node<'tree>, body: Node<'tree>, outline: &mut OutlineBuilder<'_>) -> Self {
        let walk = TreeWalk::new(function);
        let expressions = ExpressionReader::new(&EcmaScriptRules, outline.source).at_walk(&walk);
        let (mut bindings, mut returns, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        EcmaScriptRules.bindings(function, expressions, &mut bindings);
        if let Some(parameters) = function.child_in("parameters") {
            EcmaScriptRules.bindings(parameters, expressions, &mut bindings);
        }
        if body.kind() != "statement_block" {
            returns.extend(expressions.read(body).map(|value| (value, body.start_byte())));
        }
        let mut walk = TreeWalk::new(body);
        while let Some(node) = walk.node() {
            match node.kind() {
                "return_statement" if returns.len() < MAX_RETURNS => {
                    returns.extend(expressions.inner(node).map(|value| (value, node.start_byte())));
                }
                "assignment_expression" if member_of_this(node, outline.source).is_some() => {
                    fields.push((node, expressions.field(node, "right")));
                }
                "variable_declarator" if exports::import_required(node, outline) => {}
                _ => EcmaScriptRules.bindings(node, expressions.at_walk(&walk), &mut bindings),
            }
            walk.advance(holds_statements(node.kind()));
        }
        FunctionBody { locals: LocalVariables::new(bindings), returns, fields }
    }

    /// Adds the members of `this` that are assigned here, unless the class has them already.
    fn define_fields(&self, class: u32, outline: &mut OutlineBuilder<'_>) {
        let source = outline.source;
        for (node, value) in &self.fields {
            let Some(name) = member_of_this(*node, source) else { continue };
            if outline.member(class, name).is_some() {
                continue;
            }
            let mut field = Definition {
                container: Some(class),
                signature: collapse_whitespace(source.text_of(*node), MAX_VALUE_BYTES),
                is_private: name.starts_with(['_', '#']),
                ..outline.definition(name, DefinitionKind::Field, *node)
            };
            field.set_value(
                value.as_ref().and_then(|value| self.locals.without_locals(value, node.start_byte())),
            );
            outline.insert(field);
        }
    }
}

/// The kinds of nodes on the path to all statements of a function.
fn holds_statements(kind: &str) -> bool {
    holds_definitions(kind)
        || matches!(
            kind,
            "for_statement"
                | "for_in_statement"
                | "while_statement"
                | "do_statement"
                | "finally_clause"
                | "switch_statement"
                | "switch_body"
                | "switch_case"
                | "switch_default"
                | "labeled_statement"
        )
}

/// Returns the `name` of `this.name = value`.
fn member_of_this<'a>(assignment: Node<'_>, source: SourceText<'a>) -> Option<&'a str> {
    let target = assignment.child_in("left").filter(|left| left.kind() == "member_expression")?;
    (source.field(target, "object") == "this").then(|| source.field(target, "property"))
}
