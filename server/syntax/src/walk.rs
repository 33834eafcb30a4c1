//! Walking a tree without recursion, so that no nesting is too deep.

use tree_sitter::{Node, TreeCursor};

/// The nodes of a tree, parents before their children.
pub(crate) struct Walk<'tree, F> {
    cursor: TreeCursor<'tree>,
    next: Option<Node<'tree>>,
    enters: F,
}

/// Walks the nodes below `root`; the children of a node come only if `enters` says so.
pub(crate) fn walk<'tree, F: FnMut(Node<'tree>) -> bool>(root: Node<'tree>, enters: F) -> Walk<'tree, F> {
    Walk { cursor: root.walk(), next: Some(root), enters }
}

impl<'tree, F: FnMut(Node<'tree>) -> bool> Iterator for Walk<'tree, F> {
    type Item = Node<'tree>;

    fn next(&mut self) -> Option<Node<'tree>> {
        let node = self.next?;
        let enters = (self.enters)(node);
        self.next =
            (enters && self.cursor.goto_first_child() || self.goto_next()).then(|| self.cursor.node());
        Some(node)
    }
}

impl<F> Walk<'_, F> {
    /// Goes to what follows the current node and everything in it.
    fn goto_next(&mut self) -> bool {
        while !self.cursor.goto_next_sibling() {
            if !self.cursor.goto_parent() {
                return false;
            }
        }
        true
    }
}
