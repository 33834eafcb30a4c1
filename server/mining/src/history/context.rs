//! The context of a case from a commit: retrieved from the tree before the commit, with the commit's earlier files applied.
//!
//! A case carries its context, because no checkout has that tree: any later one may contain the truth and its uses.

use std::collections::BTreeMap;
use std::sync::Arc;

use cases::{Case, ContextItem};
use index::{CopyIndex, FileIndex, Hit, Index, RemovedCode, RetrievalQuery, Searcher, Strategy, TokenBudget};
use rayon::prelude::*;
use syntax::{Language, Manifest, Projects, SourceFile};

use super::FileChange;
use crate::cross_file::without_whitespace;
use crate::cut_case::context_item;

/// The default strategy of an editor.
const STRATEGY: Strategy = Strategy::Hybrid;
/// The default budget of an editor.
const BUDGET: TokenBudget = TokenBudget { tokens: 1024 };

/// The files of one commit, indexed. It follows a history from tree to tree.
#[derive(Clone, Debug)]
pub struct HistoryTree {
    index: Index,
    manifests: BTreeMap<Arc<str>, Manifest>,
    projects: Projects,
}

impl Default for HistoryTree {
    fn default() -> HistoryTree {
        HistoryTree {
            index: Index::from_files(Vec::new()),
            manifests: BTreeMap::new(),
            projects: Projects::default(),
        }
    }
}

impl HistoryTree {
    /// Adds or replaces files, and removes others.
    pub fn apply(&mut self, changed: Vec<SourceFile>, manifests: Vec<Manifest>, removed: &[Arc<str>]) {
        if !manifests.is_empty() || removed.iter().any(|path| self.manifests.contains_key(path)) {
            self.manifests.retain(|path, _| !removed.contains(path));
            self.manifests
                .extend(manifests.into_iter().map(|manifest| (Arc::clone(&manifest.path), manifest)));
            self.projects = Projects::new(&self.manifests.values().cloned().collect::<Vec<_>>());
        }
        self.index = self.index.apply(indexed(changed), removed);
    }

    /// Returns the context of a commit whose parent has this tree.
    pub fn commit<'a>(&'a self, files: &'a [FileChange]) -> CommitContext<'a> {
        let written = files.iter().filter_map(|file| {
            let text = Arc::clone(file.after.as_ref()?);
            Some(SourceFile { path: Arc::clone(&file.path), language: file.language, text: text.into() })
        });
        CommitContext { tree: self, files, written: indexed(written.collect()) }
    }
}

fn indexed(files: Vec<SourceFile>) -> Vec<Arc<FileIndex>> {
    files.into_par_iter().map(|file| Arc::new(FileIndex::new(file))).collect()
}

/// The tree before a commit, and the files of the commit.
#[derive(Clone, Debug)]
pub struct CommitContext<'a> {
    tree: &'a HistoryTree,
    files: &'a [FileChange],
    /// The files with a text after the commit.
    written: Vec<Arc<FileIndex>>,
}

impl CommitContext<'_> {
    /// Gives a case of the commit the code that an editor would send with it, without copies of its truth.
    pub fn add_to(&self, case: &mut Case) {
        let Some(language) = Language::from_name(&case.language) else { return };
        let query = RetrievalQuery {
            path: &case.path,
            language,
            prefix: &case.prefix,
            suffix: &case.suffix,
            recent: &[],
        };
        let searcher = self.searcher(&case.path);
        let hits = searcher.retrieve(STRATEGY, &self.tree.projects, &query, BUDGET);
        case.context = without_copies(case, language, &searcher, hits);
        case.id = case.compute_id();
    }

    /// Returns a searcher without the file at `path`, in which the files before it are committed and those after it are not.
    fn searcher(&self, path: &str) -> Searcher {
        let earlier = self.written.iter().filter(|file| file.path() < path).cloned().collect();
        let own = self.files.iter().filter(|file| *file.path == *path);
        let removed = self.files.iter().filter(|file| *file.path < *path && file.after.is_none());
        let moved =
            self.files.iter().filter(|file| *file.path <= *path).filter_map(|file| file.old_path.as_ref());
        let hidden: Vec<&str> =
            own.chain(removed).map(|file| &*file.path).chain(moved.map(|path| &**path)).collect();
        self.tree.index.hide(&hidden).overlay(earlier)
    }
}

/// Returns the hits that neither contain the truth nor come from a file with a copy of it.
fn without_copies(case: &Case, language: Language, searcher: &Searcher, hits: Vec<Hit>) -> Vec<ContextItem> {
    let of_hits: BTreeMap<&str, SourceFile> =
        hits.iter().filter_map(|hit| Some((&*hit.path, searcher.file(&hit.path)?.file().clone()))).collect();
    let code = RemovedCode {
        path: &case.path,
        language,
        prefix: &case.prefix,
        removed: &case.truth,
        suffix: &case.suffix,
    };
    let copies = CopyIndex::new(&of_hits.into_values().collect::<Vec<_>>()).files_with_copy(&code);
    let truth = without_whitespace(&case.truth);
    let is_copy = |hit: &Hit| {
        copies.iter().any(|path| **path == *hit.path) || without_whitespace(&hit.text).contains(&truth)
    };
    hits.into_iter().filter(|hit| !is_copy(hit)).map(context_item).collect()
}
