//! Merges the matches of a query into constructs.
//!
//! The query runs at one node after the other instead of on the whole tree, which takes half as long: most nodes are of a kind
//! that no pattern begins with. So a pattern must not match siblings of its outermost node.

use std::collections::HashMap;
use std::iter::Peekable;
use std::ops::Range;
use std::str::MatchIndices;

use tree_sitter::{Node, QueryCursor, QueryMatch, StreamingIterator, TextProvider};

use crate::blocks::BlockKind;
use crate::queries::{CaptureRole, ConstructKind, RoleQuery};
use crate::tree::Tree;
use crate::walk::{TreeWalk, walk};

/// Result of the structure query.
#[derive(Default)]
pub(crate) struct Structure<'tree> {
    /// In no particular order.
    pub(crate) constructs: Vec<Construct<'tree>>,
    pub(crate) comments: Vec<Range<usize>>,
    by_identity: HashMap<(ConstructKind, usize), usize>,
}

/// One construct, merged from all matches about it.
pub(crate) struct Construct<'tree> {
    pub(crate) kind: ConstructKind,
    pub(crate) node: Node<'tree>,
    pub(crate) range: Range<usize>,
    pub(crate) has_error: bool,
    pub(crate) body: Option<Node<'tree>>,
    pub(crate) open: Option<Node<'tree>>,
    pub(crate) close: Option<Node<'tree>>,
    pub(crate) name: Option<Node<'tree>>,
    pub(crate) docstring: Option<Node<'tree>>,
}

/// Returns all constructs and comments in a tree.
pub(crate) fn structure(tree: &Tree) -> Structure<'_> {
    structure_within(tree, ALL)
}

/// Returns the constructs and comments in the nodes that touch `within`.
pub(crate) fn structure_within(tree: &Tree, within: Range<usize>) -> Structure<'_> {
    found_within(tree, within, RoleQuery::structure(tree.language))
}

/// Returns all functions and comments in a tree.
pub(crate) fn functions(tree: &Tree) -> Structure<'_> {
    found_within(tree, ALL, RoleQuery::functions(tree.language))
}

/// The whole text. Excludes an empty node at the start of the text.
const ALL: Range<usize> = 0..usize::MAX;

/// Returns the constructs and comments that `query` finds in the nodes that touch `within`.
fn found_within<'tree>(
    tree: &'tree Tree,
    within: Range<usize>,
    query: &'static RoleQuery,
) -> Structure<'tree> {
    let touches = |node: Node| node.start_byte() < within.end && within.start < node.end_byte();
    let mut collector = ConstructCollector::new(query);
    walk(tree.root(), touches).filter(|&node| touches(node)).for_each(|node| collector.visit(node));
    collector.structure
}

/// Returns all functions with a body in the tree of `text`, without comments.
pub(crate) fn functions_with_body<'tree>(tree: &'tree Tree, text: &str) -> Structure<'tree> {
    let mut signs = SignPositions::new(tree.language.spec().body_signs, text);
    let mut collector = ConstructCollector::new(RoleQuery::functions_with_body(tree.language));
    let mut walk = TreeWalk::new(tree.root());
    while let Some(node) = walk.node() {
        // The parser may insert a missing body.
        let may_hold_body = signs.occur_in(node.byte_range()) || node.has_error();
        if may_hold_body {
            collector.visit(node)
        } else {
            collector.skip(node)
        }
        // Enters comments too: a node inside of a comment ends the attributes before it.
        walk.advance(may_hold_body || node.is_extra());
    }
    collector.structure
}

/// Collects the constructs that a query finds at nodes in walk order.
struct ConstructCollector<'tree> {
    structure: Structure<'tree>,
    matcher: NodeMatcher,
    attributes: PendingAttributes,
}

impl<'tree> ConstructCollector<'tree> {
    fn new(query: &'static RoleQuery) -> ConstructCollector<'tree> {
        let attributes = PendingAttributes { query, pending: None };
        ConstructCollector { structure: Structure::default(), matcher: NodeMatcher::new(query), attributes }
    }

    /// Collects the constructs that begin at `node`.
    fn visit(&mut self, node: Node<'tree>) {
        let start = self.attributes.start_before(node);
        self.matcher.matches_at(node, |query, found| self.structure.add(query, found, start));
    }

    /// Skips a node at which no construct begins.
    fn skip(&mut self, node: Node<'tree>) {
        self.attributes.start_before(node);
    }
}

impl<'tree> Structure<'tree> {
    fn add(&mut self, query: &RoleQuery, found: &QueryMatch<'_, 'tree>, attributes_start: Option<usize>) {
        let Some(mut construct) = Construct::from_match(query, found) else {
            self.comments.extend(found.captures().iter().map(|capture| capture.node.byte_range()));
            return;
        };
        if let (ConstructKind::Block(BlockKind::Function), Some(start)) = (construct.kind, attributes_start) {
            construct.range.start = start;
        }
        let next = self.constructs.len();
        match construct.identity().map(|identity| *self.by_identity.entry(identity).or_insert(next)) {
            Some(known) if known < next => self.constructs[known].merge(construct),
            _ => self.constructs.push(construct),
        }
    }
}

impl<'tree> Construct<'tree> {
    fn from_match(query: &RoleQuery, found: &QueryMatch<'_, 'tree>) -> Option<Construct<'tree>> {
        let (kind, node) = found.captures().iter().find_map(|capture| match query.role(capture) {
            CaptureRole::Construct(kind) => Some((kind, capture.node)),
            _ => None,
        })?;
        let part = |role| {
            found.captures().iter().find(|capture| query.role(capture) == role).map(|capture| capture.node)
        };
        Some(Construct {
            kind,
            node,
            range: node.byte_range(),
            has_error: node.has_error(),
            body: part(CaptureRole::Body),
            open: part(CaptureRole::Open),
            close: part(CaptureRole::Close),
            name: part(CaptureRole::Name),
            docstring: part(CaptureRole::Docstring),
        })
    }

    /// Returns the key that is the same in all matches about one construct, or `None` for a construct that has a single match.
    fn identity(&self) -> Option<(ConstructKind, usize)> {
        self.body.or(self.open).or(self.name).map(|node| (self.kind, node.id()))
    }

    /// Merges another match about the same construct.
    fn merge(&mut self, other: Construct<'tree>) {
        self.range = self.range.start.min(other.range.start)..self.range.end.max(other.range.end);
        self.has_error |= other.has_error;
        self.open = self.open.or(other.open);
        self.name = self.name.or(other.name);
        self.docstring = self.docstring.or(other.docstring);
    }
}

/// Maximum of a query's matches in progress; more make tree-sitter drop the oldest. Real code has less than ten. Each costs
/// memory and is checked for every child of its node.
const MAX_MATCHES_UNDER_WAY: u32 = 256;

/// Runs a query at single nodes.
pub(crate) struct NodeMatcher {
    query: &'static RoleQuery,
    cursor: QueryCursor,
}

impl NodeMatcher {
    pub(crate) fn new(query: &'static RoleQuery) -> NodeMatcher {
        let mut cursor = QueryCursor::new();
        cursor.set_max_start_depth(Some(0));
        cursor.set_match_limit(MAX_MATCHES_UNDER_WAY);
        NodeMatcher { query, cursor }
    }

    /// Calls `visit` with every match whose outermost node is `node`.
    pub(crate) fn matches_at<'tree>(
        &mut self,
        node: Node<'tree>,
        mut visit: impl FnMut(&RoleQuery, &QueryMatch<'_, 'tree>),
    ) {
        if !self.query.may_begin_at(node) {
            return;
        }
        let mut matches = self.cursor.matches(&self.query.query, node, NoPredicateText);
        while let Some(found) = matches.next() {
            visit(self.query, found);
        }
    }
}

/// Positions of some signs in a text, for queries in ascending order.
struct SignPositions<'a> {
    rest: Vec<Peekable<MatchIndices<'a, &'static str>>>,
}

impl<'a> SignPositions<'a> {
    fn new(signs: &[&'static str], text: &'a str) -> SignPositions<'a> {
        SignPositions { rest: signs.iter().map(|&sign| text.match_indices(sign).peekable()).collect() }
    }

    /// Whether one of the signs begins in `range`. Ranges must be passed in ascending order of their start.
    fn occur_in(&mut self, range: Range<usize>) -> bool {
        self.rest.iter_mut().any(|sign| {
            while sign.next_if(|(at, _)| *at < range.start).is_some() {}
            sign.peek().is_some_and(|(at, _)| *at < range.end)
        })
    }
}

/// The last attributes or decorators seen on a walk, which belong to the construct after them.
struct PendingAttributes {
    query: &'static RoleQuery,
    pending: Option<Range<usize>>,
}

impl PendingAttributes {
    /// Returns the start of the attributes directly before `node`, which is the next node of the walk.
    fn start_before(&mut self, node: Node) -> Option<usize> {
        if self.query.is_attribute(node) {
            let start = self.pending.as_ref().map_or(node.start_byte(), |pending| pending.start);
            self.pending = Some(start..node.end_byte());
            return None;
        }
        // The walk also visits the nodes inside the attributes, and there may be comments between attributes.
        let is_past = self.pending.as_ref().is_some_and(|pending| pending.end <= node.start_byte());
        if is_past && !node.is_extra() { self.pending.take().map(|pending| pending.start) } else { None }
    }
}

/// Text provider for queries without predicates: all of them match on the shape of the tree only.
struct NoPredicateText;

impl TextProvider<&'static [u8]> for NoPredicateText {
    type I = std::iter::Empty<&'static [u8]>;

    fn text(&mut self, _node: Node) -> Self::I {
        std::iter::empty()
    }
}
