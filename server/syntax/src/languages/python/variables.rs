//! The variables of Python code.
//!
//! A variable with an unknown value is added too, since it hides others of the same name.

use tree_sitter::Node;

use super::unquoted;
use crate::expr::{Expr, ExpressionReader};
use crate::node_fields::NodeFields;
use crate::scope::Binding;
use crate::tree::named_children;

/// Adds the variables that `node` directly binds.
pub(super) fn bindings(node: Node<'_>, expressions: ExpressionReader<'_>, found: &mut Vec<Binding>) {
    let field = |name| node.child_in(name);
    let mut binder = PatternBinder { expressions, found };
    match node.kind() {
        "assignment" => binder.assign(node),
        "named_expression" => binder.bind(field("name"), expressions.field(node, "value")),
        "parameters" | "lambda_parameters" => binder.parameters(node),
        "for_statement" | "for_in_clause" => binder.iterate(field("left"), field("right")),
        "as_pattern" => binder.rename(node),
        "except_clause" => binder.bind(field("alias"), caught(field("value"), expressions)),
        "call" => binder.narrow(node),
        _ => {}
    }
}

struct PatternBinder<'a, 'f> {
    expressions: ExpressionReader<'a>,
    found: &'f mut Vec<Binding>,
}

impl PatternBinder<'_, '_> {
    /// Binds `name` to `value`, if it is a name.
    fn bind(&mut self, name: Option<Node<'_>>, value: Option<Expr>) {
        let Some(node) = name.filter(|name| matches!(name.kind(), "identifier" | "keyword_identifier"))
        else {
            return;
        };
        let name = self.expressions.source.text_of(node).into();
        self.found.push(Binding { name, value: value.unwrap_or(Expr::UNKNOWN), start: node.start_byte() });
    }

    fn assign(&mut self, node: Node<'_>) {
        let (left, right) = (node.child_in("left"), node.child_in("right"));
        let typed = node.child_in("type").map(|node| typed(node, self.expressions));
        match left {
            Some(left) if is_pattern(left) => self.unpack(left, right),
            _ => self.bind(left, typed.or_else(|| self.expressions.read(right?))),
        }
    }

    /// `a, b = x, y`, or the elements of one value.
    fn unpack(&mut self, left: Node<'_>, right: Option<Node<'_>>) {
        let (names, values) = (named_children(left), right.map(named_children).unwrap_or_default());
        let is_list = right.is_some_and(|right| matches!(right.kind(), "expression_list" | "tuple" | "list"));
        let element = if is_list { None } else { right.and_then(|right| self.expressions.read(right)) };
        for (position, name) in names.into_iter().enumerate() {
            let value = values.get(position).filter(|_| is_list);
            let value = value.and_then(|value| self.expressions.read(*value));
            self.bind(Some(name), value.or_else(|| Some(element.clone()?.element())));
        }
    }

    fn parameters(&mut self, node: Node<'_>) {
        for parameter in named_children(node) {
            let name = parameter_name(parameter);
            let written = parameter.child_in("type").map(|node| typed(node, self.expressions));
            let value = written.or_else(|| self.expressions.field(parameter, "value"));
            if name.is_none_or(|name| !matches!(self.expressions.source.text_of(name), "self" | "cls")) {
                self.bind(name, value);
            }
        }
    }

    /// Binds the names of a loop: to elements, or for some functions to elements of their arguments.
    fn iterate(&mut self, left: Option<Node<'_>>, right: Option<Node<'_>>) {
        let (Some(left), Some(right)) = (left, right) else { return };
        let source = self.expressions.source;
        let function = right.child_in("function");
        let arguments = right.child_in("arguments").map(named_children).unwrap_or_default();
        let names = if is_pattern(left) { named_children(left) } else { vec![left] };
        let method = function.map_or("", |function| source.field(function, "attribute"));
        let of_mapping = function.and_then(|function| self.expressions.field(function, "object"));
        for (position, name) in names.iter().enumerate() {
            let of = |node: Option<&Node<'_>>| self.expressions.read(*node?);
            let collection = match (function.map_or("", |function| source.text_of(function)), method) {
                ("enumerate", _) if position == 1 => of(arguments.first()),
                ("zip", _) => of(arguments.get(position)),
                (_, "items") if position == 1 => of_mapping.clone(),
                (_, "values") => of_mapping.clone(),
                ("enumerate", _) | (_, "items") => None,
                _ => of(Some(&right)),
            };
            self.bind(Some(*name), collection.map(Expr::element));
        }
    }

    /// `x as name`, in `with`, `except` and `case`.
    fn rename(&mut self, node: Node<'_>) {
        let target = node.child_in("alias").and_then(|target| target.named_child(0));
        let name = target.or_else(|| node.named_child(1)).filter(|name| name.kind() == "identifier");
        let is_caught = self.expressions.parent(node).is_some_and(|parent| parent.kind() == "except_clause");
        let value = match node.named_child(0) {
            value if is_caught => caught(value, self.expressions),
            value => value.and_then(|value| self.expressions.read(value)),
        };
        self.bind(name, value);
    }

    /// `isinstance(x, T)`: after it, `x` is treated as a `T`.
    fn narrow(&mut self, call: Node<'_>) {
        let Some(arguments) = call.child_in("arguments") else { return };
        if self.expressions.source.field(call, "function") == "isinstance" {
            self.bind(arguments.named_child(0), caught(arguments.named_child(1), self.expressions));
        }
    }
}

/// Returns a value of a class, or of one of several in brackets.
fn caught(class: Option<Node<'_>>, expressions: ExpressionReader<'_>) -> Option<Expr> {
    let class = class.filter(|class| class.kind() != "as_pattern")?;
    match class.kind() {
        "tuple" => Expr::one_of(
            named_children(class)
                .into_iter()
                .filter_map(|one| expressions.read(one))
                .map(Expr::call)
                .collect(),
        ),
        _ => expressions.read(class).map(Expr::call),
    }
}

/// Returns the name in a parameter, after its stars.
pub(super) fn parameter_name(parameter: Node<'_>) -> Option<Node<'_>> {
    let mut name = parameter.child_in("name").unwrap_or(parameter);
    while matches!(name.kind(), "typed_parameter" | "list_splat_pattern" | "dictionary_splat_pattern") {
        name = name.named_child(0)?;
    }
    matches!(name.kind(), "identifier" | "keyword_identifier").then_some(name)
}

fn typed(node: Node<'_>, expressions: ExpressionReader<'_>) -> Expr {
    Expr::Typed(unquoted(&expressions.source.type_text(Some(node))))
}

fn is_pattern(node: Node<'_>) -> bool {
    matches!(node.kind(), "pattern_list" | "tuple_pattern" | "list_pattern")
}
