//! Expressions as far as the type of their value can be told without running anything: a form that is the same for all languages.

use tree_sitter::Node;

use crate::outline::Source;
use crate::rules::Rules;
use crate::walk::Walk;

mod stored;

/// An expression whose value may have a type that can be found. Whatever code it was made from, it nests little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A name.
    Name(Box<str>),
    /// The value or type whose member is being written.
    This,
    /// The same as one of the type's bases.
    Super,
    /// A member of a value, type or module.
    Member(Box<Expr>, Box<str>),
    /// What a function returns, or a new value of a type.
    Call(Box<Expr>),
    /// A value of the type as written.
    Typed(Box<str>),
    /// An element of a collection.
    Element(Box<Expr>),
    /// One of several; of none where a variable is known and its value is not.
    Either(Vec<Expr>),
}

impl Expr {
    /// How deep one nests that is kept: deeper than any whose type is looked for, and far from what exhausts a stack.
    pub(crate) const MAX_DEPTH: usize = 64;

    /// A value of which nothing can be told.
    pub(crate) const UNKNOWN: Expr = Expr::Either(Vec::new());

    /// One of `some`, `None` if there is none.
    pub(crate) fn one_of(mut some: Vec<Expr>) -> Option<Expr> {
        match some.len() {
            0 | 1 => some.pop(),
            _ => Some(Expr::Either(some)),
        }
    }

    /// Whether it nests no deeper than `depth`; a name nests one deep.
    pub(crate) fn is_within(&self, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self {
            Expr::Name(_) | Expr::This | Expr::Super | Expr::Typed(_) => true,
            Expr::Member(inner, _) | Expr::Call(inner) | Expr::Element(inner) => inner.is_within(depth),
            Expr::Either(some) => some.iter().all(|one| one.is_within(depth)),
        }
    }

    /// What calling it gives.
    pub(crate) fn call(self) -> Expr {
        Expr::Call(Box::new(self))
    }

    /// An element of it.
    pub(crate) fn element(self) -> Expr {
        Expr::Element(Box::new(self))
    }
}

/// Deeper expressions have no type that could be told: real chains of calls are shorter, and hostile ones must not exhaust the stack.
const MAX_DEPTH: usize = 24;

/// Turns nodes into expressions by a language's rules, down to a limited depth.
#[derive(Clone, Copy)]
pub(crate) struct Expressions<'a> {
    rules: &'static dyn Rules,
    pub(crate) source: Source<'a>,
    depth: usize,
    /// Where a walk is, if one finds the nodes that are looked at.
    walk: Option<&'a Walk<'a>>,
}

impl<'a> Expressions<'a> {
    pub(crate) fn new(rules: &'static dyn Rules, source: Source<'a>) -> Expressions<'a> {
        Expressions { rules, source, depth: 0, walk: None }
    }

    /// The same for the current node of a walk and nodes in it.
    pub(crate) fn at<'w>(self, walk: &'w Walk<'w>) -> Expressions<'w>
    where
        'a: 'w,
    {
        Expressions { walk: Some(walk), ..self }
    }

    /// The node directly around another one.
    pub(crate) fn parent<'n>(self, node: Node<'n>) -> Option<Node<'n>>
    where
        'a: 'n,
    {
        match self.walk {
            Some(walk) => walk.parent_of(node),
            None => node.parent(),
        }
    }

    /// What `node` says; `None` where nothing can be told.
    pub(crate) fn of(self, node: Node<'_>) -> Option<Expr> {
        let deeper = Expressions { depth: self.depth + 1, ..self };
        (self.depth < MAX_DEPTH).then(|| self.rules.expr(node, deeper))?
    }

    /// What the child in `field` says.
    pub(crate) fn field(self, node: Node<'_>, field: &str) -> Option<Expr> {
        self.of(node.child_by_field_name(field)?)
    }

    /// What the first named child says: for nodes that only wrap another one.
    pub(crate) fn wrapped(self, node: Node<'_>) -> Option<Expr> {
        self.of(node.named_child(0)?)
    }

    /// A member: `object` and `member` are fields of the node.
    pub(crate) fn member(self, node: Node<'_>, object: &str, member: &str) -> Option<Expr> {
        let name = node.child_by_field_name(member)?;
        Some(Expr::Member(Box::new(self.field(node, object)?), self.source.of(name).into()))
    }

    /// One of the named children: for conditional expressions and their like.
    pub(crate) fn either(self, node: Node<'_>) -> Option<Expr> {
        let mut cursor = node.walk();
        self.either_of(node.named_children(&mut cursor))
    }

    /// One of what the nodes say.
    pub(crate) fn either_of<'tree>(self, nodes: impl IntoIterator<Item = Node<'tree>>) -> Option<Expr> {
        Expr::one_of(nodes.into_iter().filter_map(|node| self.of(node)).collect())
    }
}
