//! Declarators of C and C++: the declared name is inside, wrapped in the parts that make it a pointer, an array or a function.

use tree_sitter::Node;

use crate::expr::ExpressionReader;
use crate::node_fields::NodeFields;
use crate::outline::SourceText;

/// Maximum nesting of declarators, or of names, that is read.
const MAX_DEPTH: usize = 24;

/// A declared name.
#[derive(Clone, Copy)]
pub(super) struct DeclaredName<'tree> {
    /// The whole name, with its qualifiers, as in `a::b::name`.
    pub(super) name: Node<'tree>,
    /// The declarator with the parameters, if it declares a function (not a pointer to one).
    pub(super) function: Option<Node<'tree>>,
}

/// Finds the name in a declarator.
pub(super) fn declared_name(declarator: Node<'_>) -> Option<DeclaredName<'_>> {
    let mut node = declarator;
    let mut function = None;
    for _ in 0..MAX_DEPTH {
        match node.kind() {
            "function_declarator" => function = Some(node),
            "pointer_declarator" | "pointer_type_declarator" | "array_declarator" => function = None,
            "init_declarator"
            | "attributed_declarator"
            | "parenthesized_declarator"
            | "reference_declarator"
            | "variadic_declarator" => {}
            "identifier"
            | "field_identifier"
            | "type_identifier"
            | "primitive_type"
            | "qualified_identifier"
            | "structured_binding_declarator" => return Some(DeclaredName { name: node, function }),
            "template_function" | "template_method" => {
                return Some(DeclaredName { name: node.child_in("name")?, function });
            }
            _ => return None,
        }
        node = node.child_in("declarator").or_else(|| declarator_child(node))?;
    }
    None
}

/// Returns the declarator in a node that has no field for it.
fn declarator_child(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .find(|child| child.kind().ends_with("declarator") || child.kind().ends_with("identifier"))
}

/// Returns the declarators of a declaration.
pub(super) fn declarators(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children_by_field_name("declarator", &mut cursor).collect()
}

/// Returns the whole of `a::b::c`, given the nested `b::c`.
pub(super) fn outermost<'n>(name: Node<'n>, expressions: ExpressionReader<'n>) -> Node<'n> {
    let around =
        |name: &Node<'n>| expressions.parent(*name).filter(|parent| parent.kind() == "qualified_identifier");
    std::iter::successors(Some(name), around).take(MAX_DEPTH).last().unwrap_or(name)
}

/// Returns the names of `a::b::c`, without template arguments.
pub(super) fn path(name: Node<'_>) -> Vec<Node<'_>> {
    let mut names = Vec::new();
    let mut rest = name;
    while rest.kind() == "qualified_identifier" && names.len() < MAX_DEPTH {
        names.extend(rest.child_in("scope").map(template_name));
        let Some(inner) = rest.child_in("name") else { return names };
        rest = inner;
    }
    names.push(template_name(rest));
    names
}

/// Returns the name of a template that has arguments.
pub(super) fn template_name(name: Node<'_>) -> Node<'_> {
    let mut name = name;
    for _ in 0..MAX_DEPTH {
        let inner = match name.kind() {
            "template_type" | "template_function" | "template_method" => name.child_in("name"),
            "dependent_name" | "dependent_type" => name.named_child(0),
            _ => None,
        };
        let Some(inner) = inner else { break };
        name = inner;
    }
    name
}

/// Returns the type in the field `type`; only its name if it is also defined there or written after `struct`.
pub(super) fn type_text(source: SourceText<'_>, node: Node<'_>) -> Box<str> {
    let Some(of) = node.child_in("type") else { return "".into() };
    match of.kind() {
        "struct_specifier" | "union_specifier" | "class_specifier" | "enum_specifier" => {
            source.type_text(of.child_in("name"))
        }
        "type_descriptor" => type_text(source, of),
        "type_identifier" if is_macro(source.text_of(of)) => {
            source.type_text(Some(type_after_macro(of, node).unwrap_or(of)))
        }
        _ => source.type_text(Some(of)),
    }
}

/// Whether a name looks like a macro: `EXPORT`, not `T`.
fn is_macro(name: &str) -> bool {
    name.len() > 2 && !name.contains(char::is_lowercase)
}

/// Returns the type after a macro in `around`, if the parser takes the macro for the type.
fn type_after_macro<'tree>(name: Node<'tree>, around: Node<'tree>) -> Option<Node<'tree>> {
    let mut cursor = around.walk();
    let next = around.children(&mut cursor).skip_while(|child| *child != name).nth(1);
    next.filter(Node::is_error)
}

/// Whether the type is deduced from the value.
pub(super) fn is_auto(type_text: &str) -> bool {
    type_text.starts_with("auto") || type_text.starts_with("decltype")
}
