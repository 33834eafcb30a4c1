//! The syntax tree of an open document, brought up to date when somebody wants it, once per version.

use std::sync::Arc;

use syntax::{Language, Tree};

/// The newest text that was parsed.
#[derive(Default)]
pub(crate) struct SyntaxCache(Option<(Arc<str>, Tree)>);

impl SyntaxCache {
    /// The tree of `text`. Takes as long as parsing what changed; tasks that want the same text wait and find it done.
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
