//! Walks a tree without recursion, so that no nesting is too deep.

use tree_sitter::{Node, TreeCursor};

/// Maximum distance above the current node for [`TreeWalk::parent_of`]: more than the rules of any language need.
const MAX_PARENT_DISTANCE: usize = 32;

/// A walk through the nodes below a root, parents before their children.
pub(crate) struct TreeWalk<'tree> {
    cursor: TreeCursor<'tree>,
    /// Ancestors of the current node, outermost first.
    ancestors: Vec<Node<'tree>>,
    node: Option<Node<'tree>>,
}

impl<'tree> TreeWalk<'tree> {
    pub(crate) fn new(root: Node<'tree>) -> TreeWalk<'tree> {
        TreeWalk { cursor: root.walk(), ancestors: Vec::new(), node: Some(root) }
    }

    /// Returns the current node; `None` after the last one.
    pub(crate) fn node(&self) -> Option<Node<'tree>> {
        self.node
    }

    /// Returns the number of nodes around the current one.
    pub(crate) fn depth(&self) -> usize {
        self.ancestors.len()
    }

    /// Returns the parent of the current node; `None` at the root.
    pub(crate) fn parent(&self) -> Option<Node<'tree>> {
        self.ancestors.last().copied()
    }

    /// Returns the parent of a node that is the current one, a near ancestor, or a descendant.
    ///
    /// The parser searches for a parent from the root, through all children of each level: in deep or wide trees, calling it at
    /// every node takes quadratic time.
    pub(crate) fn parent_of<'n>(&self, node: Node<'n>) -> Option<Node<'n>>
    where
        'tree: 'n,
    {
        let current = self.node?;
        if node == current {
            return self.parent();
        }
        let near = &self.ancestors[self.ancestors.len().saturating_sub(MAX_PARENT_DISTANCE)..];
        match near.iter().rposition(|around| *around == node) {
            Some(position) => near[..position].last().copied(),
            None => parent_below(current, node),
        }
    }

    /// Advances to the next node: into the current one if `enters`, past it otherwise.
    pub(crate) fn advance(&mut self, enters: bool) {
        let Some(node) = self.node else { return };
        if enters && self.cursor.goto_first_child() {
            self.ancestors.push(node);
        } else {
            while !self.cursor.goto_next_sibling() {
                if !self.cursor.goto_parent() {
                    self.node = None;
                    return;
                }
                self.ancestors.pop();
            }
        }
        self.node = Some(self.cursor.node());
    }
}

/// Visits the nodes below `root`, parents before their children; visits the children of a node only if `enters` returns true.
pub(crate) fn walk<'tree>(
    root: Node<'tree>,
    mut enters: impl FnMut(Node<'tree>) -> bool,
) -> impl Iterator<Item = Node<'tree>> {
    let mut walk = TreeWalk::new(root);
    std::iter::from_fn(move || {
        let node = walk.node()?;
        walk.advance(enters(node));
        Some(node)
    })
}

/// Returns the parent of `node`, which is in `above`.
fn parent_below<'tree>(above: Node<'tree>, node: Node<'tree>) -> Option<Node<'tree>> {
    // The parser's search is recursive for an empty node, which the parser inserts where one is missing.
    if node.byte_range().is_empty() {
        return None;
    }
    let mut parent = above;
    loop {
        let next = parent.child_with_descendant(node)?;
        if next == node {
            return Some(parent);
        }
        parent = next;
    }
}
