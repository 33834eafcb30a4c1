//! Where a file uses names that another file may define.

use std::ops::Range;

use tree_sitter::Node;

use crate::expr::{Expr, Expressions};
use crate::outline::Source;
use crate::tree::Tree;
use crate::walk::walk;

/// How a name is used.
#[derive(Clone, Debug, PartialEq)]
pub enum UseKind {
    /// As a member of what stands before it.
    Member(Expr),
    /// Called, or mentioned, by itself.
    Bare,
    /// As the type of a new value, as written.
    New,
}

/// A place where a name is used.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// The name, in bytes.
    pub name: Range<usize>,
    /// How.
    pub kind: UseKind,
}

/// What [`Rules::use_of`](crate::rules::Rules::use_of) finds at a node.
pub(crate) struct NodeUse<'tree> {
    /// The name.
    pub(crate) name: Node<'tree>,
    /// How it is used.
    pub(crate) kind: UseKind,
}

impl Tree {
    /// The uses in the parsed `text`, in order of their names.
    pub fn uses(&self, text: &str) -> Vec<Use> {
        let rules = self.language.row().rules;
        let expressions = Expressions::new(rules, Source { text });
        let mut uses: Vec<Use> = walk(self.root(), |node| rules.holds_uses(node))
            .filter_map(|node| rules.use_of(node, expressions))
            .map(|NodeUse { name, kind }| Use { name: name.byte_range(), kind })
            // The parser puts names without a text where it misses one.
            .filter(|one| !one.name.is_empty())
            .collect();
        uses.sort_by_key(|one| (one.name.start, one.name.end));
        uses.dedup_by_key(|one| one.name.start);
        uses
    }
}
