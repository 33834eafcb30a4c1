//! The index of one folder, kept up to date: reads the files that changed on disk, derives their index entries and caches them.
//!
//! ```text
//! cache ──► texts and their index entries ─┐
//! disk  ──► workspace::WorkspaceTracker ──► changes ┴──► completion::WorkspaceIndex (immutable)
//! cache ──► corpus image, used in place, with changes on top ──► builtin::Corpus, if an engine reads it
//! ```
//!
//! Joins crates that are independent of each other: `workspace` reads files, `index` and `builtin` derive from texts, `cache`
//! stores bytes. An [`Indexer`] belongs to one thread; its snapshots are immutable and cheap to clone. It starts no threads of
//! its own but uses the current rayon pool. A cache that is missing, damaged or of another version costs only time.

mod corpus;
mod index_cache;

use std::path::Path;
use std::sync::Arc;

use cache::{Cache, CacheMiss, SaveSummary};
use completion::WorkspaceIndex;
use index::{FileIndex, Index};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use syntax::{Projects, SourceFile, Tree};
use workspace::{
    LoadProgress, ReadLimits, ScanScope, Snapshot, WorkspaceChanges, WorkspaceError, WorkspaceTracker,
};

pub use corpus::{LoadedCorpus, save_corpus};
use index_cache::IndexCache;

use crate::release_memory::release_memory;

/// Called with a file and its syntax tree.
pub type TreeObserver<'a> = dyn Fn(&SourceFile, &Tree) + Sync + 'a;

/// Keeps the index of a folder up to date.
pub struct Indexer {
    tracker: WorkspaceTracker,
    index: WorkspaceIndex,
    cache: Option<Cache>,
    /// Bytes of text by path, of the files whose current text is not in the cache.
    unsaved: FxHashMap<Arc<str>, u64>,
    /// Unsaved bytes required before the next attempt to save, after a failed one.
    retry_save_bytes: u64,
}

/// Statistics of opening a folder.
#[derive(Debug)]
pub struct OpenStats {
    /// Files that were taken from the cache unchanged.
    pub reused: usize,
    /// Files that were derived from their text.
    pub rebuilt: usize,
    /// Why the cache, or a part of it, could not be used.
    pub miss: Option<CacheMiss>,
}

impl Indexer {
    /// Indexes the folder at `root`. Files that look unchanged are taken from `cache` and not read again. `progress` is called
    /// from several threads.
    pub fn open(
        root: &Path,
        limits: &ReadLimits,
        cache: Option<Cache>,
        progress: &(dyn Fn(LoadProgress) + Sync),
    ) -> Result<(Indexer, OpenStats), WorkspaceError> {
        Indexer::open_while(root, limits, cache, progress, &|| true)
    }

    /// Same as [`Indexer::open`], but calls `on_tree`, from several threads, with each file that is not taken from the cache and
    /// its syntax tree, so that the caller can derive more from it without a second parse.
    pub fn open_observed(
        root: &Path,
        limits: &ReadLimits,
        cache: Option<Cache>,
        progress: &(dyn Fn(LoadProgress) + Sync),
        on_tree: &TreeObserver<'_>,
    ) -> Result<(Indexer, OpenStats), WorkspaceError> {
        Indexer::open_with(root, limits, cache, progress, &|| true, on_tree)
    }

    /// Same as [`Indexer::open`], but fails with [`WorkspaceError::Cancelled`] as soon as `keep_going`, called for each file, returns
    /// `false`.
    pub fn open_while(
        root: &Path,
        limits: &ReadLimits,
        cache: Option<Cache>,
        progress: &(dyn Fn(LoadProgress) + Sync),
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Indexer, OpenStats), WorkspaceError> {
        Indexer::open_with(root, limits, cache, progress, keep_going, &|_, _| {})
    }

    fn open_with(
        root: &Path,
        limits: &ReadLimits,
        cache: Option<Cache>,
        progress: &(dyn Fn(LoadProgress) + Sync),
        keep_going: &(dyn Fn() -> bool + Sync),
        on_tree: &TreeObserver<'_>,
    ) -> Result<(Indexer, OpenStats), WorkspaceError> {
        let mut cached =
            cache.as_ref().map_or_else(IndexCache::default, |cache| IndexCache::read(cache, root));
        let tracker = WorkspaceTracker::open_while(root, limits, cached.take_known(), progress, keep_going)?;
        let files = Arc::clone(tracker.snapshot().files());
        let old: Vec<Option<Arc<FileIndex>>> = files.iter().map(|file| cached.take_index(file)).collect();
        let reused = old.iter().flatten().count();
        let unsaved = files
            .iter()
            .zip(&old)
            .filter_map(|(file, old)| old.is_none().then_some(file))
            .map(size)
            .collect();
        let derived: Option<Vec<Arc<FileIndex>>> = old
            .into_par_iter()
            .zip(&*files)
            .map(|(old, file)| keep_going().then(|| old.unwrap_or_else(|| derive_observed(file, on_tree))))
            .collect();
        let derived = derived.ok_or_else(|| WorkspaceError::Cancelled { path: root.to_owned() })?;
        let opening = OpenStats { reused, rebuilt: derived.len() - reused, miss: cached.miss };
        let projects = Arc::new(Projects::new(tracker.snapshot().manifests()));
        let index = WorkspaceIndex::empty().with_index(files, Index::from_files(derived), projects);
        release_memory();
        Ok((Indexer { tracker, index, cache, unsaved, retry_save_bytes: 0 }, opening))
    }

    /// Returns the index as of the last refresh.
    pub fn current(&self) -> &WorkspaceIndex {
        &self.index
    }

    /// Returns the files as of the last refresh, with those that were skipped.
    pub fn files(&self) -> &Snapshot {
        self.tracker.snapshot()
    }

    /// Returns the cache of derived entries.
    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    /// Returns the tracker of the files, for a watcher.
    pub fn tracker(&self) -> &WorkspaceTracker {
        &self.tracker
    }

    /// Adopts the tokens of `built`, an earlier state of this index, and updates them to the current files.
    pub fn adopt_tokens_of(&mut self, built: &WorkspaceIndex) {
        self.index = self.index.with_tokens_of(built);
    }

    /// Scans for changes and applies them to the index. Returns whether anything differs.
    pub fn refresh(&mut self, scope: &ScanScope) -> Result<bool, WorkspaceError> {
        let changes = match scope {
            ScanScope::Paths(paths) => self.tracker.refresh(paths)?,
            ScanScope::Unwatched => self.tracker.poll()?,
            ScanScope::Everything => self.tracker.refresh_all()?,
        };
        Ok(self.apply(changes))
    }

    fn apply(&mut self, changes: WorkspaceChanges) -> bool {
        if changes.is_empty() {
            return false;
        }
        let WorkspaceChanges { changed, removed, manifests_changed, snapshot } = changes;
        for path in &removed {
            self.unsaved.remove(path);
        }
        self.unsaved.extend(changed.iter().map(size));
        let derived: Vec<Arc<FileIndex>> = changed.par_iter().map(derive).collect();
        let projects = match manifests_changed {
            true => Arc::new(Projects::new(snapshot.manifests())),
            false => Arc::clone(self.index.projects()),
        };
        let index = self.index.index().apply(derived, &removed);
        self.index = self.index.with_index(Arc::clone(snapshot.files()), index, projects);
        true
    }

    /// Caches the derived entries if that is worth it; `None` if it is not, or without a cache. After an error it is not retried
    /// before twice as much has changed: a full disk usually stays full for a while.
    pub fn save(&mut self) -> Result<Option<SaveSummary>, cache::CacheError> {
        let unsaved = self.unsaved.values().sum();
        let total = self.index.files().iter().map(|file| size(file).1).sum();
        if unsaved < self.retry_save_bytes || !cache::is_worth_saving(unsaved, total) {
            return Ok(None);
        }
        self.retry_save_bytes = 2 * unsaved;
        self.save_all()
    }

    /// Caches the derived entries in any case; `None` if all are cached, or without a cache.
    pub fn save_all(&mut self) -> Result<Option<SaveSummary>, cache::CacheError> {
        let Some(cache) = self.cache.as_ref().filter(|_| !self.unsaved.is_empty()) else { return Ok(None) };
        let saved = index_cache::save(cache, &self.tracker, self.index.index())?;
        self.unsaved.clear();
        self.retry_save_bytes = 0;
        Ok(Some(saved))
    }
}

fn derive(file: &SourceFile) -> Arc<FileIndex> {
    derive_observed(file, &|_, _| {})
}

fn derive_observed(file: &SourceFile, on_tree: &TreeObserver<'_>) -> Arc<FileIndex> {
    let tree = syntax::parse(file.language, &file.text);
    on_tree(file, &tree);
    Arc::new(FileIndex::with_tree(file.clone(), &tree))
}

/// A file's path and the length of its text in bytes.
fn size(file: &SourceFile) -> (Arc<str>, u64) {
    (Arc::clone(&file.path), file.text.len() as u64)
}

#[cfg(test)]
mod tests;
