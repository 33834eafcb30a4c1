//! The index of one folder, kept up to date: reads the files that changed on disk, derives their index entries and caches them.
//!
//! ```text
//! cache ──► texts and their index entries ─┐
//! disk  ──► workspace::WorkspaceTracker ──► changes ┴──► index::Index ──► IndexedFolder (a snapshot)
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
use index::{FileIndex, Index};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use syntax::{Projects, SourceFile};
use workspace::{Changes, LoadProgress, ReadLimits, Snapshot, WorkspaceError, WorkspaceTracker};

pub use corpus::{LoadedCorpus, save_corpus};
use index_cache::IndexCache;

/// A snapshot of a folder's files and their index.
#[derive(Clone, Debug)]
pub struct IndexedFolder {
    /// The files.
    pub files: Snapshot,
    /// The index of the files.
    pub index: Index,
    /// Modules and import paths by the manifests.
    pub projects: Arc<Projects>,
}

/// Keeps the index of a folder up to date.
pub struct Indexer {
    follower: WorkspaceTracker,
    indexed: IndexedFolder,
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

    /// Same as [`Indexer::open`], but fails with [`Error::Cancelled`] as soon as `keep_going`, called for each file, returns
    /// `false`.
    pub fn open_while(
        root: &Path,
        limits: &ReadLimits,
        cache: Option<Cache>,
        progress: &(dyn Fn(LoadProgress) + Sync),
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Indexer, OpenStats), WorkspaceError> {
        let mut cached =
            cache.as_ref().map_or_else(IndexCache::default, |cache| IndexCache::read(cache, root));
        let follower = WorkspaceTracker::open_while(root, limits, cached.take_known(), progress, keep_going)?;
        let files = follower.snapshot().clone();
        let old: Vec<Option<Arc<FileIndex>>> =
            files.files().iter().map(|file| cached.take_index(file)).collect();
        let reused = old.iter().flatten().count();
        let derive = |(old, file): (Option<Arc<FileIndex>>, &SourceFile)| {
            keep_going().then(|| old.unwrap_or_else(|| derive(file)))
        };
        let is_new = |(file, old): (_, &Option<_>)| old.is_none().then_some(file);
        let unsaved = files.files().iter().zip(&old).filter_map(is_new).map(size).collect();
        let derived: Option<Vec<Arc<FileIndex>>> =
            old.into_par_iter().zip(&**files.files()).map(derive).collect();
        let derived = derived.ok_or_else(|| WorkspaceError::Cancelled { path: root.to_owned() })?;
        let opening = OpenStats { reused, rebuilt: derived.len() - reused, miss: cached.miss };
        let projects = Arc::new(Projects::new(files.manifests()));
        let indexed = IndexedFolder { files, index: Index::from_files(derived), projects };
        Ok((Indexer { follower, indexed, cache, unsaved, retry_save_bytes: 0 }, opening))
    }

    /// Returns the folder as of the last refresh.
    pub fn current(&self) -> &IndexedFolder {
        &self.indexed
    }

    /// Returns the cache of derived entries.
    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    /// Returns the follower, for a watcher.
    pub fn follower(&self) -> &WorkspaceTracker {
        &self.follower
    }

    /// Checks paths that may have changed. Returns whether anything differs.
    pub fn refresh(
        &mut self,
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<bool, WorkspaceError> {
        let changes = self.follower.refresh(paths)?;
        Ok(self.apply(changes))
    }

    /// Checks the paths that no watcher reports, as [`WorkspaceTracker::poll`] does. Returns whether anything differs.
    pub fn poll(&mut self) -> Result<bool, WorkspaceError> {
        let changes = self.follower.poll()?;
        Ok(self.apply(changes))
    }

    /// Checks all files. Returns whether anything differs.
    pub fn refresh_all(&mut self) -> Result<bool, WorkspaceError> {
        let changes = self.follower.refresh_all()?;
        Ok(self.apply(changes))
    }

    fn apply(&mut self, changes: Changes) -> bool {
        if changes.is_empty() {
            // The skipped files may still differ.
            self.indexed.files = changes.snapshot;
            return false;
        }
        let Changes { changed, removed, manifests_changed, snapshot } = changes;
        for path in &removed {
            self.unsaved.remove(path);
        }
        self.unsaved.extend(changed.iter().map(size));
        let derived: Vec<Arc<FileIndex>> = changed.par_iter().map(derive).collect();
        if manifests_changed {
            self.indexed.projects = Arc::new(Projects::new(snapshot.manifests()));
        }
        self.indexed.index = self.indexed.index.apply(derived, &removed);
        self.indexed.files = snapshot;
        true
    }

    /// Caches the derived entries if that is worth it; `None` if it is not, or without a cache. After an error it is not retried
    /// before twice as much has changed: a full disk usually stays full for a while.
    pub fn save(&mut self) -> Result<Option<SaveSummary>, cache::CacheError> {
        let unsaved = self.unsaved.values().sum();
        let total = self.indexed.files.files().iter().map(|file| size(file).1).sum();
        if unsaved < self.retry_save_bytes || !cache::is_worth_saving(unsaved, total) {
            return Ok(None);
        }
        self.retry_save_bytes = 2 * unsaved;
        self.save_all()
    }

    /// Caches the derived entries in any case; `None` if all are cached, or without a cache.
    pub fn save_all(&mut self) -> Result<Option<SaveSummary>, cache::CacheError> {
        let Some(cache) = self.cache.as_ref().filter(|_| !self.unsaved.is_empty()) else { return Ok(None) };
        let saved = index_cache::save(cache, &self.follower, &self.indexed.index)?;
        self.unsaved.clear();
        self.retry_save_bytes = 0;
        Ok(Some(saved))
    }
}

fn derive(file: &SourceFile) -> Arc<FileIndex> {
    Arc::new(FileIndex::new(file.clone()))
}

/// A file's path and the length of its text in bytes.
fn size(file: &SourceFile) -> (Arc<str>, u64) {
    (Arc::clone(&file.path), file.text.len() as u64)
}

#[cfg(test)]
mod tests;
