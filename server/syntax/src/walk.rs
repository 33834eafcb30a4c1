//! Walking a tree without recursion, so that no nesting is too deep.

use tree_sitter::{Node, TreeCursor};

/// How far above the current node [`Walk::parent_of`] knows a parent: farther than the rules of any language climb.
const REACH: usize = 32;

/// A walk through the nodes below a root, parents before their children.
pub(crate) struct Walk<'tree> {
    cursor: TreeCursor<'tree>,
    /// The nodes around the current one, outermost first.
    around: Vec<Node<'tree>>,
    node: Option<Node<'tree>>,
}

impl<'tree> Walk<'tree> {
    pub(crate) fn new(root: Node<'tree>) -> Walk<'tree> {
        Walk { cursor: root.walk(), around: Vec::new(), node: Some(root) }
    }

    /// The current node; `None` after the last one.
    pub(crate) fn node(&self) -> Option<Node<'tree>> {
        self.node
    }

    /// The node directly around the current one; `None` at the root.
    pub(crate) fn parent(&self) -> Option<Node<'tree>> {
        self.around.last().copied()
    }

    /// The node directly around one that is the current one, not far around it, or in it.
    ///
    /// The parser itself looks for a parent from the root on, through all children at each level: in deep or wide trees, whoever asks
    /// it at every node takes as long as the square of their size.
    pub(crate) fn parent_of<'n>(&self, node: Node<'n>) -> Option<Node<'n>>
    where
        'tree: 'n,
    {
        let current = self.node?;
        if node == current {
            return self.parent();
        }
        let near = &self.around[self.around.len().saturating_sub(REACH)..];
        match near.iter().rposition(|around| *around == node) {
            Some(position) => near[..position].last().copied(),
            None => parent_below(current, node),
        }
    }

    /// Goes on to the next node: into the current one if `enters`, past it otherwise.
    pub(crate) fn advance(&mut self, enters: bool) {
        let Some(node) = self.node else { return };
        if enters && self.cursor.goto_first_child() {
            self.around.push(node);
        } else {
            while !self.cursor.goto_next_sibling() {
                if !self.cursor.goto_parent() {
                    self.node = None;
                    return;
                }
                self.around.pop();
            }
        }
        self.node = Some(self.cursor.node());
    }
}

/// The nodes below `root`, parents before their children; the children of a node come only if `enters` says so.
pub(crate) fn walk<'tree>(
    root: Node<'tree>,
    mut enters: impl FnMut(Node<'tree>) -> bool,
) -> impl Iterator<Item = Node<'tree>> {
    let mut walk = Walk::new(root);
    std::iter::from_fn(move || {
        let node = walk.node()?;
        walk.advance(enters(node));
        Some(node)
    })
}

/// The parent of `node`, which is in `above`.
fn parent_below<'tree>(above: Node<'tree>, node: Node<'tree>) -> Option<Node<'tree>> {
    // For a node without a text, which the parser puts where it misses one, the parser's search is a recursion.
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
