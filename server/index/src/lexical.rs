//! The interface of lexical search, so that what serves it can be replaced.

use std::sync::Arc;

use crate::windows::{WindowHit, WindowQuery, search};
use crate::{Cancel, FileIndex, Index, Searcher, Term};

/// Finds windows of code by weighted terms, ranked by BM25, in files that change.
pub trait LexicalIndex {
    /// The windows that are most like the query, best first, equals by path and place.
    fn search<'a>(&'a self, query: &WindowQuery<'_>) -> Vec<WindowHit<'a>>;

    /// How many windows have `term`.
    fn windows_with(&self, term: Term) -> u64;

    /// Takes in files that are new or have changed, and forgets removed ones; the next search sees it.
    fn update(&mut self, changed: Vec<Arc<FileIndex>>, removed: &[Arc<str>]);
}

/// In memory: the default.
impl LexicalIndex for Index {
    fn search<'a>(&'a self, query: &WindowQuery<'_>) -> Vec<WindowHit<'a>> {
        search(self.layers(), query, &Cancel::default())
    }

    fn windows_with(&self, term: Term) -> u64 {
        self.layers().iter().map(|layer| layer.windows_with(term)).sum()
    }

    fn update(&mut self, changed: Vec<Arc<FileIndex>>, removed: &[Arc<str>]) {
        *self = self.apply(changed, removed);
    }
}

/// What one request sees of the index in memory: its changes are forgotten with it.
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
