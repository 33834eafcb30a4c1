//! The syntax tree of an open document, updated on demand, once per version.

use std::sync::Arc;

use syntax::{Language, Tree};

/// The latest text that was parsed, with its tree.
#[derive(Default)]
pub(crate) struct SyntaxCache(Option<(Arc<str>, Tree)>);

impl SyntaxCache {
    /// Returns the tree of `text`. Parses only the changes; concurrent tasks that need the same text wait and find it done.
    pub(crate) fn tree(&mut self, language: Language, text: &Arc<str>) -> Tree {
        let tree = match &self.0 {
            Some((known, tree)) if Arc::ptr_eq(known, text) => return tree.clone(),
            Some((known, tree)) if tree.language() == language => tree.update(known, text),
            _ => syntax::parse(language, text),
        };
        self.0 = Some((Arc::clone(text), tree.clone()));
        tree
    }
}
