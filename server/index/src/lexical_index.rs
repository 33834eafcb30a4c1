//! Interface of the lexical search, so that its implementation can be replaced.

use std::sync::Arc;

use crate::window_search::{WindowHit, WindowQuery, search};
use crate::{CancelFlag, FileIndex, Index, Searcher, Term};

/// Finds windows of code by weighted terms, ranked by BM25, in files that change.
pub trait LexicalIndex {
    /// Returns the windows most similar to the query, best first, equal scores by path and position.
    fn search<'a>(&'a self, query: &WindowQuery<'_>) -> Vec<WindowHit<'a>>;

    /// Returns the number of windows with `term`.
    fn windows_with(&self, term: Term) -> u64;

    /// Adds new and changed files, and removes others; the next search sees the changes.
    fn update(&mut self, changed: Vec<Arc<FileIndex>>, removed: &[Arc<str>]);
}

/// In memory: the default.
impl LexicalIndex for Index {
    fn search<'a>(&'a self, query: &WindowQuery<'_>) -> Vec<WindowHit<'a>> {
        search(self.layers(), query, &CancelFlag::default())
    }

    fn windows_with(&self, term: Term) -> u64 {
        self.layers().iter().map(|layer| layer.windows_with(term)).sum()
    }

    fn update(&mut self, changed: Vec<Arc<FileIndex>>, removed: &[Arc<str>]) {
        *self = self.apply(changed, removed);
    }
}

/// A request's view of the index in memory: its changes are discarded with it.
impl LexicalIndex for Searcher {
    fn search<'a>(&'a self, query: &WindowQuery<'_>) -> Vec<WindowHit<'a>> {
        search(self.layers(), query, self.cancel())
    }

    fn windows_with(&self, term: Term) -> u64 {
        Searcher::windows_with(self, term)
    }

    fn update(&mut self, changed: Vec<Arc<FileIndex>>, removed: &[Arc<str>]) {
        let removed: Vec<&str> = removed.iter().map(|path| &**path).collect();
        *self = self.hide(&removed).overlay(changed);
    }
}
