//! Where a file uses names that another file may define.

use std::ops::Range;

use tree_sitter::Node;

use crate::expr::{Expr, Expressions};
use crate::outline::Source;
use crate::tree::Tree;
use crate::walk::Walk;

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
        let mut uses = Vec::new();
        let mut walk = Walk::new(self.root());
        while let Some(node) = walk.node() {
            let found = rules.use_of(node, expressions.at(&walk));
            let found = found.map(|NodeUse { name, kind }| Use { name: name.byte_range(), kind });
            // The parser puts names without a text where it misses one.
            uses.extend(found.filter(|one| !one.name.is_empty()));
            walk.advance(rules.holds_uses(node));
        }
        uses.sort_by_key(|one| (one.name.start, one.name.end));
        uses.dedup_by_key(|one| one.name.start);
        uses
    }
}
