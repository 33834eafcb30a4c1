//! From the matches of a query to constructs: what the patterns say about one construct, put together.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::{Node, QueryCursor, QueryMatch, StreamingIterator, TextProvider};

use crate::queries::{Kind, Role, RoleQuery};
use crate::tree::Tree;

/// What the structure query finds.
#[derive(Debug, Default)]
pub(crate) struct Structure<'tree> {
    pub(crate) constructs: Vec<Construct<'tree>>,
    pub(crate) comments: Vec<Range<usize>>,
}

/// Everything the patterns of a query say about one construct.
#[derive(Debug)]
pub(crate) struct Construct<'tree> {
    pub(crate) kind: Kind,
    pub(crate) node: Node<'tree>,
    pub(crate) range: Range<usize>,
    pub(crate) has_error: bool,
    pub(crate) body: Option<Node<'tree>>,
    pub(crate) open: Option<Node<'tree>>,
    pub(crate) close: Option<Node<'tree>>,
    pub(crate) name: Option<Node<'tree>>,
    pub(crate) docstring: Option<Node<'tree>>,
}

/// All constructs that touch `within`, in no particular order, and the comments.
pub(crate) fn structure(tree: &Tree, within: Option<Range<usize>>) -> Structure<'_> {
    let query = RoleQuery::structure(tree.language);
    let mut structure = Structure::default();
    let mut by_identity = HashMap::new();
    for_each_match(tree, query, within, |found| {
        let Some(construct) = Construct::from_match(found, query) else {
            structure.comments.extend(found.captures().iter().map(|capture| capture.node.byte_range()));
            return;
        };
        let next = structure.constructs.len();
        match construct.identity().map(|identity| *by_identity.entry(identity).or_insert(next)) {
            Some(known) if known < next => structure.constructs[known].join(construct),
            _ => structure.constructs.push(construct),
        }
    });
    structure
}

/// Calls `visit` with every match that touches `within`.
pub(crate) fn for_each_match<'tree>(
    tree: &'tree Tree,
    query: &RoleQuery,
    within: Option<Range<usize>>,
    mut visit: impl FnMut(&QueryMatch<'_, 'tree>),
) {
    let mut cursor = QueryCursor::new();
    if let Some(within) = within {
        cursor.set_byte_range(within);
    }
    let mut matches = cursor.matches(&query.query, tree.root(), NoText);
    while let Some(found) = matches.next() {
        visit(found);
    }
}

impl<'tree> Construct<'tree> {
    fn from_match(found: &QueryMatch<'_, 'tree>, query: &RoleQuery) -> Option<Construct<'tree>> {
        let part = |role| {
            found.captures().iter().find(|capture| query.role(capture) == role).map(|capture| capture.node)
        };
        let mut wholes = found.captures().iter().filter_map(|capture| match query.role(capture) {
            Role::Construct(kind) => Some((kind, capture.node)),
            _ => None,
        });
        let (kind, node) = wholes.next()?;
        let range = wholes.fold(node.byte_range(), |range, (_, node)| cover(range, node.byte_range()));
        Some(Construct {
            kind,
            node,
            range,
            has_error: node.has_error(),
            body: part(Role::Body),
            open: part(Role::Open),
            close: part(Role::Close),
            name: part(Role::Name),
            docstring: part(Role::Docstring),
        })
    }

    /// What tells apart two constructs, and is the same in all matches about one. `None` for what is matched once.
    fn identity(&self) -> Option<(Kind, usize)> {
        self.body.or(self.open).or(self.name).map(|node| (self.kind, node.id()))
    }

    /// Takes in what another pattern says about the same construct.
    fn join(&mut self, other: Construct<'tree>) {
        self.range = cover(self.range.clone(), other.range);
        self.has_error |= other.has_error;
        self.open = self.open.or(other.open);
        self.name = self.name.or(other.name);
        self.docstring = self.docstring.or(other.docstring);
    }
}

/// The smallest range that holds both.
fn cover(a: Range<usize>, b: Range<usize>) -> Range<usize> {
    a.start.min(b.start)..a.end.max(b.end)
}

/// The queries decide by the shape of the tree alone; none has a predicate on the text.
struct NoText;

impl TextProvider<&'static [u8]> for NoText {
    type I = std::iter::Empty<&'static [u8]>;

    fn text(&mut self, _node: Node) -> Self::I {
        std::iter::empty()
    }
}
