//! Definitions and imports of a Python file.

use tree_sitter::Node;

use super::{PythonRules, variables};
use crate::expr::{Expr, ExpressionReader};
use crate::language_rules::LanguageRules;
use crate::locals::LocalVariables;
use crate::node_fields::NodeFields;
use crate::outline::{
    Definition, DefinitionKind, ImportedItem, OutlineBuilder, Parameter, SourceText, collapse_whitespace,
};
use crate::walk::TreeWalk;

/// Maximum length of an assignment shown as a signature, in bytes: the value matters less than the name.
const MAX_ASSIGNMENT_BYTES: usize = 90;
/// Maximum number of returned values that are read; more of them seldom have more types.
const MAX_RETURNS: usize = 3;

/// Adds the definitions of `node`; returns whether its children may contain definitions that other files can reach.
pub(super) fn define(node: Node<'_>, outline: &mut OutlineBuilder<'_>) -> bool {
    match node.kind() {
        "class_definition" => define_class(node, outline),
        "decorated_definition" => define_decorated(node, outline),
        "function_definition" if outline.start_around("decorated_definition").is_none() => {
            define_function(node, &[], outline);
        }
        "assignment" => define_value(node, outline),
        "type_alias_statement" => define_alias(node, outline),
        "import_statement" | "import_from_statement" => import(node, true, outline),
        _ => {}
    }
    holds_statements(node.kind()) || matches!(node.kind(), "class_definition" | "expression_statement")
}

/// Whether a node contains statements without having a scope of its own.
fn holds_statements(kind: &str) -> bool {
    matches!(
        kind,
        "module"
            | "block"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "try_statement"
            | "except_clause"
            | "finally_clause"
            | "with_statement"
            | "for_statement"
            | "while_statement"
            | "match_statement"
            | "case_clause"
            | "decorated_definition"
            | "ERROR"
    )
}

/// Returns the sign after which a body begins, comments included.
fn colon(node: Node<'_>) -> Option<Node<'_>> {
    node.children(&mut node.walk()).find(|child| child.kind() == ":")
}

fn is_private(name: &str) -> bool {
    name.starts_with('_') && !name.ends_with("__")
}

fn define_class(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let name = source.field(node, "name");
    let body = node.child_in("body");
    let bases = node.child_in("superclasses").map(|list| bases(list, source)).unwrap_or_default();
    outline.add(Definition {
        signature: source.signature(node, colon(node)),
        doc: docstring(body, source),
        bases,
        is_private: is_private(name),
        ..outline.definition(name, DefinitionKind::Type, node)
    });
}

fn bases(list: Node<'_>, source: SourceText<'_>) -> Vec<Box<str>> {
    let mut cursor = list.walk();
    let bases = list.named_children(&mut cursor);
    bases
        .filter(|base| !matches!(base.kind(), "keyword_argument" | "comment"))
        .map(|base| source.type_text(Some(base)))
        .collect()
}

/// Adds a function with decorators; a decorated class is added when the walk reaches it.
fn define_decorated(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let function = node.child_in("definition").filter(|of| of.kind() == "function_definition");
    if let Some(function) = function {
        define_function(function, &decorators(node, outline.source), outline);
    }
}

fn define_function(node: Node<'_>, decorators: &[&str], outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let body = node.child_in("body");
    let is = |names: &[&str]| decorators.iter().any(|decorator| names.contains(decorator));
    let name = source.field(node, "name");
    let class = outline.enclosing_type().map(|(position, _)| position);
    let kind = match class {
        Some(_) if is(&["property", "cached_property", "setter", "deleter"]) => DefinitionKind::Field,
        Some(_) if name == "__init__" => DefinitionKind::Constructor,
        Some(_) => DefinitionKind::Method,
        None => DefinitionKind::Function,
    };
    let has_receiver = class.is_some() && !is(&["staticmethod"]);
    let definition = Definition {
        signature: source.signature(node, colon(node)),
        doc: docstring(body, source),
        type_text: source.type_text(node.child_in("return_type")),
        parameters: parameters(node, has_receiver, source),
        is_private: is_private(name),
        is_static: is(&["staticmethod", "classmethod"]),
        ..outline.definition(name, kind, node)
    };
    let position = outline.add(definition);
    let Some(body) = body else { return };
    let body = FunctionBody::read(node, body, outline);
    if outline.definition_at(position).type_text.is_empty() {
        outline.change(position).value = body.locals.one_of(&body.returns);
    }
    if let Some(class) = class {
        body.define_fields(class, outline);
    }
}

/// Returns the last names of a function's decorators: `setter` of `@name.setter`, `wraps` of `@functools.wraps(f)`.
fn decorators<'a>(decorated: Node<'_>, source: SourceText<'a>) -> Vec<&'a str> {
    let mut cursor = decorated.walk();
    let decorators = decorated.named_children(&mut cursor).filter(|child| child.kind() == "decorator");
    decorators
        .filter_map(|decorator| {
            let name = source.text_of(decorator).trim_start_matches(['@', ' ']).split('(').next()?;
            name.trim().rsplit('.').next()
        })
        .collect()
}

fn parameters(function: Node<'_>, has_receiver: bool, source: SourceText<'_>) -> Vec<Parameter> {
    let Some(list) = function.child_in("parameters") else { return Vec::new() };
    let mut cursor = list.walk();
    let parameters = list.named_children(&mut cursor).filter_map(|parameter| {
        let name = source.text_of(variables::parameter_name(parameter)?).into();
        Some(Parameter { name, type_text: source.type_text(parameter.child_in("type")) })
    });
    parameters.skip(usize::from(has_receiver)).collect()
}

/// Returns the first sentence of the string at the start of a body.
fn docstring(body: Option<Node<'_>>, source: SourceText<'_>) -> Box<str> {
    let statement = body.and_then(|body| body.named_child(0));
    let string = statement
        .filter(|statement| statement.kind() == "expression_statement")
        .and_then(|statement| statement.named_child(0))
        .filter(|string| string.kind() == "string");
    string.map_or("".into(), |string| {
        source.doc(source.text_of(string).trim_start_matches(char::is_alphabetic))
    })
}

/// Externally visible effects of a function.
struct FunctionBody<'tree> {
    locals: LocalVariables,
    /// Returned values, with their offsets.
    returns: Vec<(Expr, usize)>,
    /// Assignments to members of `self`, with their values if known.
    fields: Vec<(Node<'tree>, Option<Expr>)>,
}

impl<'tree> FunctionBody<'tree> {
    /// Reads the statements of a body, and adds the imports in it.
    fn read(function: Node<'tree>, body: Node<'tree>, outline: &mut OutlineBuilder<'_>) -> Self {
        let expressions = ExpressionReader::new(&PythonRules, outline.source);
        let (mut bindings, mut returns, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(parameters) = function.child_in("parameters") {
            PythonRules.bindings(parameters, expressions, &mut bindings);
        }
        // End of an inner function.
        let mut inner_end = 0;
        let mut walk = TreeWalk::new(body);
        while let Some(node) = walk.node() {
            let is_own = node.start_byte() >= inner_end;
            match node.kind() {
                "function_definition" | "class_definition" if is_own => inner_end = node.end_byte(),
                "import_statement" | "import_from_statement" => import(node, false, outline),
                "return_statement" if is_own && returns.len() < MAX_RETURNS => {
                    returns.extend(expressions.inner(node).map(|value| (value, node.start_byte())));
                }
                "assignment" if member_of_self(node, outline.source).is_some() => {
                    fields.push((node, expressions.field(node, "right")));
                }
                _ if is_own => PythonRules.bindings(node, expressions.at_walk(&walk), &mut bindings),
                _ => {}
            }
            walk.advance(holds_statements_or_names(node.kind()));
        }
        FunctionBody { locals: LocalVariables::new(bindings), returns, fields }
    }

    /// Adds the members of `self` that are assigned here, if they are new or more is known of them now.
    fn define_fields(&self, class: u32, outline: &mut OutlineBuilder<'_>) {
        let source = outline.source;
        for (node, value) in &self.fields {
            let Some(name) = member_of_self(*node, source) else { continue };
            let value = value.as_ref().and_then(|value| self.locals.without_locals(value, node.start_byte()));
            let Some(position) = outline.member(class, name) else {
                define_field(*node, name, value, class, outline);
                continue;
            };
            let known = outline.definition_at(position);
            if known.type_text.is_empty() && known.value.is_none() && value.is_some() {
                let known = outline.change(position);
                known.set_value(value);
                known.signature = collapse_whitespace(source.text_of(*node), MAX_ASSIGNMENT_BYTES);
            }
        }
    }
}

/// The kinds of nodes on the path to all statements of a function, including those of inner functions, and to names bound by
/// `with`.
fn holds_statements_or_names(kind: &str) -> bool {
    holds_statements(kind)
        || matches!(
            kind,
            "expression_statement" | "with_clause" | "with_item" | "function_definition" | "class_definition"
        )
}

/// Returns the `name` of `self.name = value`.
fn member_of_self<'a>(assignment: Node<'_>, source: SourceText<'a>) -> Option<&'a str> {
    let target = assignment.child_in("left").filter(|left| left.kind() == "attribute")?;
    (source.field(target, "object") == "self").then(|| source.field(target, "attribute"))
}

fn define_field(
    node: Node<'_>,
    name: &str,
    value: Option<Expr>,
    class: u32,
    outline: &mut OutlineBuilder<'_>,
) {
    let source = outline.source;
    let mut field = Definition {
        container: Some(class),
        type_text: source.type_text(node.child_in("type")),
        is_private: is_private(name),
        ..outline.definition(name, DefinitionKind::Field, node)
    };
    if field.type_text.is_empty() {
        field.set_value(value);
    }
    field.signature = match &*field.type_text {
        "" => collapse_whitespace(source.text_of(node), MAX_ASSIGNMENT_BYTES),
        written => format!("self.{name}: {written}").into(),
    };
    outline.insert(field);
}

/// Adds a constant of the module, or a field of the class.
fn define_value(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let Some(left) = node.child_in("left") else { return };
    if !matches!(left.kind(), "pattern_list" | "tuple_pattern") {
        return define_name(left, node, outline);
    }
    for name in left.named_children(&mut left.walk()) {
        define_name(name, node, outline);
    }
}

fn define_name(name: Node<'_>, assignment: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    if name.kind() != "identifier" {
        return;
    }
    let source = outline.source;
    let right = assignment.child_in("right");
    let is_single = assignment.child_in("left") == Some(name);
    let written = assignment.child_in("type");
    let text = source.text_of(name);
    let alias = right.filter(|right| is_single && is_alias(text, written, *right, source));
    let kind = match outline.enclosing_type() {
        _ if alias.is_some() => DefinitionKind::Type,
        Some(_) => DefinitionKind::Field,
        None => DefinitionKind::Constant,
    };
    let is_enum_member = kind == DefinitionKind::Field && written.is_none() && in_enum(outline);
    let type_text = match outline.enclosing_type() {
        Some((_, class)) if is_enum_member => class.name.clone(),
        _ => source.type_text(alias.or(written)),
    };
    let value = right.filter(|_| is_single && type_text.is_empty());
    outline.insert(Definition {
        signature: collapse_whitespace(source.text_of(assignment), MAX_ASSIGNMENT_BYTES),
        value: value.and_then(|value| ExpressionReader::new(&PythonRules, source).read(value)),
        type_text,
        is_private: is_private(text),
        is_static: is_enum_member,
        ..outline.definition(text, kind, assignment)
    });
}

/// Whether `name = right` defines a type alias: it is annotated as one, or is named like a class and made of types.
fn is_alias(name: &str, written: Option<Node<'_>>, right: Node<'_>, source: SourceText<'_>) -> bool {
    let is_said = written.is_some_and(|written| source.text_of(written).ends_with("TypeAlias"));
    let is_class_name = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    let is_made_of_types = match right.kind() {
        "subscript" => true,
        "binary_operator" => source.field(right, "operator") == "|",
        _ => false,
    };
    is_said || is_class_name && written.is_none() && is_made_of_types
}

/// Whether the enclosing class is an enumeration, by the names of its bases.
fn in_enum(outline: &OutlineBuilder<'_>) -> bool {
    let bases = outline.enclosing_type().map(|(_, class)| class.bases.as_slice()).unwrap_or_default();
    bases.iter().any(|base| base.ends_with("Enum") || base.ends_with("Flag"))
}

/// `type Name = ...`.
fn define_alias(node: Node<'_>, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let name = source.field(node, "left").split('[').next().unwrap_or_default().trim();
    outline.insert(Definition {
        signature: collapse_whitespace(source.text_of(node), MAX_ASSIGNMENT_BYTES),
        type_text: source.type_text(node.child_in("right")),
        is_private: is_private(name),
        ..outline.definition(name, DefinitionKind::Type, node)
    });
}

/// Adds an import. Importers of a module also get the module's own imports; imports in a function are local.
fn import(node: Node<'_>, is_reexport: bool, outline: &mut OutlineBuilder<'_>) {
    let source = outline.source;
    let module_node = node.child_in("module_name");
    let module: String = module_node.map_or("", |module| source.text_of(module)).split_whitespace().collect();
    for child in node.named_children(&mut node.walk()).filter(|child| Some(*child) != module_node) {
        let (name, local) = match child.kind() {
            "wildcard_import" => ("*", "*"),
            "aliased_import" => (source.field(child, "name"), source.field(child, "alias")),
            "dotted_name" => (source.text_of(child), source.text_of(child)),
            _ => continue,
        };
        let (module, imported) = match (module_node, name) {
            (None, name) => (name, ImportedItem::Module),
            (Some(_), "*") => (&*module, ImportedItem::All),
            (Some(_), name) => (&*module, ImportedItem::Name(name.into())),
        };
        outline.import(node, local, module, imported).is_reexport = is_reexport;
    }
}
