//! The index of one folder, kept up to date: what changed on disk is read, derived anew, and kept for the next time.
//!
//! ```text
//! cache ──► texts and what was derived of them ─┐
//! disk  ──► workspace::WorkspaceTracker ──► changes ────┴──► index::Index ──► IndexedFolder (a snapshot)
//! cache ──► tokens, in place, with what differs on top ──► builtin::Corpus, where an engine reads them
//! ```
//!
//! It joins crates that know nothing of each other: `workspace` reads files, `index` and `builtin` derive from texts, `cache` keeps
//! bytes. An [`Indexer`] belongs to one thread; what it hands out is immutable and cheap to clone. It starts no threads of its own
//! but uses those of the current rayon pool. A cache that is missing, damaged or from another version costs time and nothing else.

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

/// A folder's files with what they hold, at one moment.
#[derive(Clone, Debug)]
pub struct IndexedFolder {
    /// The files.
    pub files: Snapshot,
    /// What they hold.
    pub index: Index,
    /// What the manifests say of modules.
    pub projects: Arc<Projects>,
}

/// Keeps the index of a folder.
pub struct Indexer {
    follower: WorkspaceTracker,
    indexed: IndexedFolder,
    cache: Option<Cache>,
    /// Bytes of text by path, of files that are not in the cache as they are.
    unsaved: FxHashMap<Arc<str>, u64>,
    /// How much has to be unsaved before it is tried again to save, after that failed.
    retry_save_bytes: u64,
}

/// How opening went.
#[derive(Debug)]
pub struct OpenStats {
    /// Files that were taken from the cache as they were.
    pub reused: usize,
    /// Files that were derived anew.
    pub rebuilt: usize,
    /// Why the cache, or a part of it, was of no use.
    pub miss: Option<CacheMiss>,
}

impl Indexer {
    /// Indexes the folder at `root`. What `cache` holds of files that look as they did is not read again. `progress` is called from
    /// several threads.
    pub fn open(
        root: &Path,
        limits: &ReadLimits,
        cache: Option<Cache>,
        progress: &(dyn Fn(LoadProgress) + Sync),
    ) -> Result<(Indexer, OpenStats), WorkspaceError> {
        Indexer::open_while(root, limits, cache, progress, &|| true)
    }

    /// The same as long as `keep_going`, which is asked for each file, says `true`; then [`Error::Cancelled`].
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

    /// The folder as of the last look.
    pub fn current(&self) -> &IndexedFolder {
        &self.indexed
    }

    /// Where it keeps what was derived.
    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    /// What is followed, for a watcher.
    pub fn follower(&self) -> &WorkspaceTracker {
        &self.follower
    }

    /// Looks at paths at which something has happened; says whether anything is different.
    pub fn refresh(
        &mut self,
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<bool, WorkspaceError> {
        let changes = self.follower.refresh(paths)?;
        Ok(self.apply(changes))
    }

    /// Looks at what no watcher reports, as [`WorkspaceTracker::poll`] does; says whether anything is different.
    pub fn poll(&mut self) -> Result<bool, WorkspaceError> {
        let changes = self.follower.poll()?;
        Ok(self.apply(changes))
    }

    /// Looks at everything; says whether anything is different.
    pub fn refresh_all(&mut self) -> Result<bool, WorkspaceError> {
        let changes = self.follower.refresh_all()?;
        Ok(self.apply(changes))
    }

    fn apply(&mut self, changes: Changes) -> bool {
        if changes.is_empty() {
            // What is left out may be something else.
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

    /// Keeps what was derived for the next time, where that pays; `None` where it does not, or there is no cache. After an error it is
    /// not tried again before twice as much has changed: a full disk stays full for a while.
    pub fn save(&mut self) -> Result<Option<SaveSummary>, cache::CacheError> {
        let unsaved = self.unsaved.values().sum();
        let total = self.indexed.files.files().iter().map(|file| size(file).1).sum();
        if unsaved < self.retry_save_bytes || !cache::is_worth_saving(unsaved, total) {
            return Ok(None);
        }
        self.retry_save_bytes = 2 * unsaved;
        self.save_all()
    }

    /// Keeps what was derived, whether that pays or not; `None` where all of it is kept, or there is no cache.
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

/// A file's path, and the bytes of its text.
fn size(file: &SourceFile) -> (Arc<str>, u64) {
    (Arc::clone(&file.path), file.text.len() as u64)
}

#[cfg(test)]
mod tests;
