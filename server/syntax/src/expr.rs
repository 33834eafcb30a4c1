//! Expressions in one form for all languages, as far as needed to infer the type of their value.

use tree_sitter::Node;

use crate::language_rules::LanguageRules;
use crate::node_fields::NodeFields;
use crate::outline::SourceText;
use crate::walk::TreeWalk;

mod serialization;

/// An expression whose value may have a type that can be inferred. Its depth is limited whatever code it is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A name.
    Name(Box<str>),
    /// The value or type whose member is being typed.
    This,
    /// Like `This`, but of one of the type's bases.
    Super,
    /// A member of a value, type or module.
    Member(Box<Expr>, Box<str>),
    /// The return value of a function, or a new value of a type.
    Call(Box<Expr>),
    /// A value of the type as written in the code.
    Typed(Box<str>),
    /// An element of a collection.
    Element(Box<Expr>),
    /// One of several expressions; empty for a known variable with an unknown value.
    Either(Vec<Expr>),
}

impl Expr {
    /// Maximum depth: deeper than any expression whose type is inferred, and far from exhausting a stack.
    pub(crate) const MAX_DEPTH: usize = 64;

    /// A value of unknown type.
    pub(crate) const UNKNOWN: Expr = Expr::Either(Vec::new());

    /// Returns an expression for one of `some`, `None` if it is empty.
    pub(crate) fn one_of(mut some: Vec<Expr>) -> Option<Expr> {
        match some.len() {
            0 | 1 => some.pop(),
            _ => Some(Expr::Either(some)),
        }
    }

    /// Whether the depth is at most `depth`; a name has depth one.
    pub(crate) fn is_within(&self, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self {
            Expr::Name(_) | Expr::This | Expr::Super | Expr::Typed(_) => true,
            Expr::Member(inner, _) | Expr::Call(inner) | Expr::Element(inner) => inner.is_within(depth),
            Expr::Either(some) => some.iter().all(|one| one.is_within(depth)),
        }
    }

    /// Returns the result of calling this expression.
    pub(crate) fn call(self) -> Expr {
        Expr::Call(Box::new(self))
    }

    /// Returns an element of this expression.
    pub(crate) fn element(self) -> Expr {
        Expr::Element(Box::new(self))
    }
}

/// Maximum depth. Real chains of calls are shorter, and hostile ones must not exhaust the stack.
const MAX_DEPTH: usize = 24;

/// Converts nodes to expressions by a language's rules, down to a limited depth.
#[derive(Clone, Copy)]
pub(crate) struct ExpressionReader<'a> {
    rules: &'static dyn LanguageRules,
    pub(crate) source: SourceText<'a>,
    depth: usize,
    /// The walk that visits the nodes, if any.
    walk: Option<&'a TreeWalk<'a>>,
}

impl<'a> ExpressionReader<'a> {
    pub(crate) fn new(rules: &'static dyn LanguageRules, source: SourceText<'a>) -> ExpressionReader<'a> {
        ExpressionReader { rules, source, depth: 0, walk: None }
    }

    /// Returns the same reader for the current node of a walk and the nodes in it.
    pub(crate) fn at_walk<'w>(self, walk: &'w TreeWalk<'w>) -> ExpressionReader<'w>
    where
        'a: 'w,
    {
        ExpressionReader { walk: Some(walk), ..self }
    }

    /// Returns the parent of a node.
    pub(crate) fn parent<'n>(self, node: Node<'n>) -> Option<Node<'n>>
    where
        'a: 'n,
    {
        match self.walk {
            Some(walk) => walk.parent_of(node),
            None => node.parent(),
        }
    }

    /// Converts `node`; `None` if nothing is known about its value.
    pub(crate) fn read(self, node: Node<'_>) -> Option<Expr> {
        let deeper = ExpressionReader { depth: self.depth + 1, ..self };
        (self.depth < MAX_DEPTH).then(|| self.rules.expr(node, deeper))?
    }

    /// Converts the child in `field`.
    pub(crate) fn field(self, node: Node<'_>, field: &'static str) -> Option<Expr> {
        self.read(node.child_in(field)?)
    }

    /// Converts the first named child: for nodes that only wrap another one.
    pub(crate) fn inner(self, node: Node<'_>) -> Option<Expr> {
        self.read(node.named_child(0)?)
    }

    /// Converts a member access; `object` and `member` are fields of the node.
    pub(crate) fn member(self, node: Node<'_>, object: &'static str, member: &'static str) -> Option<Expr> {
        let name = node.child_in(member)?;
        Some(Expr::Member(Box::new(self.field(node, object)?), self.source.text_of(name).into()))
    }

    /// Converts the named children to alternatives: for conditional expressions and the like.
    pub(crate) fn either(self, node: Node<'_>) -> Option<Expr> {
        let mut cursor = node.walk();
        self.either_of(node.named_children(&mut cursor))
    }

    /// Converts the nodes to alternatives.
    pub(crate) fn either_of<'tree>(self, nodes: impl IntoIterator<Item = Node<'tree>>) -> Option<Expr> {
        Expr::one_of(nodes.into_iter().filter_map(|node| self.read(node)).collect())
    }
}
