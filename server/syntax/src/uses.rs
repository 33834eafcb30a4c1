//! Uses of names that another file may define.

use std::ops::Range;

use tree_sitter::Node;

use crate::expr::{Expr, ExpressionReader};
use crate::outline::SourceText;
use crate::tree::Tree;
use crate::walk::TreeWalk;

/// Kind of a use.
#[derive(Clone, Debug, PartialEq)]
pub enum UseKind {
    /// As a member of the expression before it.
    Member(Expr),
    /// Called or mentioned without a receiver.
    Bare,
    /// As the type of a new value, as written.
    New,
}

/// A use of a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NameUse {
    /// The name, in bytes.
    pub name: Range<usize>,
    /// Kind of the use.
    pub kind: UseKind,
}

/// A use found by [`LanguageRules::use_of`](crate::language_rules::LanguageRules::use_of) at a node.
pub(crate) struct NodeUse<'tree> {
    /// The name.
    pub(crate) name: Node<'tree>,
    /// Kind of the use.
    pub(crate) kind: UseKind,
}

impl Tree {
    /// Returns the uses in the parsed `text`, in order of their names.
    pub fn uses(&self, text: &str) -> Vec<NameUse> {
        let rules = self.language.spec().rules;
        let expressions = ExpressionReader::new(rules, SourceText { text });
        let mut uses = Vec::new();
        let mut walk = TreeWalk::new(self.root());
        while let Some(node) = walk.node() {
            let found = rules.use_of(node, expressions.at_walk(&walk));
            let found = found.map(|NodeUse { name, kind }| NameUse { name: name.byte_range(), kind });
            // The parser inserts empty names where a name is missing.
            uses.extend(found.filter(|one| !one.name.is_empty()));
            walk.advance(rules.holds_uses(node));
        }
        uses.sort_by_key(|one| (one.name.start, one.name.end));
        uses.dedup_by_key(|one| one.name.start);
        uses
    }
}
