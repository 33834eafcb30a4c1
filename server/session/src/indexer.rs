//! The index of one folder, kept up to date: reads the files that changed on disk, derives their index entries and caches them.
//!
//! ```text
//! cache ──► texts and their index entries, beyond the memory budget the whole index ─┐
//! disk  ──► workspace::WorkspaceTracker ──► changes ┴──► completion::WorkspaceIndex (immutable)
//! cache ──► corpus image, used in place, with changes on top ──► builtin::Corpus, if an engine reads it
//! ```
//!
//! Joins crates that are independent of each other: `workspace` reads files, `index` and `builtin` derive from texts, `cache`
//! stores bytes. An [`Indexer`] belongs to one thread; its snapshots are immutable and cheap to clone. It starts no threads of
//! its own but uses the current rayon pool. A cache that is missing, damaged or of another version costs only time.

mod block_cache;
mod corpus;
mod derive_files;
mod index_cache;
mod prepared_changes;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cache::{Cache, CacheMiss, DiskBlocks, SaveSummary};
use completion::WorkspaceIndex;
use index::Index;
use rustc_hash::FxHashMap;
use stored::BlockStore;
use syntax::{Projects, SourceFile, Tree};
use workspace::{
    LoadProgress, ReadLimits, ScanScope, Snapshot, TextStore, WorkspaceChanges, WorkspaceError,
    WorkspaceTracker,
};

pub(crate) use corpus::store_corpus;
pub use corpus::{LoadedCorpus, save_corpus};
use derive_files::{DerivedFiles, Deriving};
use index_cache::{BegunCache, IndexCache};
use prepared_changes::{IndexChanges, PreparedChanges};

use crate::allocator::release_memory;
use crate::index_memory::IndexMemory;
use crate::step_threads::StepThreads;

/// A workspace with fewer bytes of text is cached when it is indexed; that takes less than a second.
const MIN_BEGUN_BYTES: usize = if cfg!(test) { 100_000 } else { 32 << 20 };

/// So many changed paths are a checkout, whose indexing takes a second or more: idle time of other cores is worth waking their threads.
const MIN_CHECKOUT_PATHS: usize = if cfg!(test) { 2 } else { 500 };

/// Time between two returns of freed memory while files change: each takes milliseconds in a large workspace.
const RELEASE_INTERVAL: Duration = Duration::from_secs(30);

/// Time between two looks for unused parts of an index on disk: requests while somebody types use the same ones again and again. In a minute
/// of work all over the Linux kernel, these parts grow to 70 MB, which is a quarter of the server's memory.
const TRIM_INTERVAL: Duration = Duration::from_secs(20);

/// Called with a file and its syntax tree.
pub type TreeObserver<'a> = dyn Fn(&SourceFile, &Tree) + Sync + 'a;

/// Progress of opening a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexProgress {
    /// Files are found and read.
    Loading(LoadProgress),
    /// Files are indexed, which takes most of the time.
    Deriving {
        /// Files indexed so far.
        done: usize,
        /// Files to index.
        total: usize,
    },
}

/// Keeps the index of a folder up to date.
pub struct Indexer {
    tracker: WorkspaceTracker,
    index: WorkspaceIndex,
    /// Changes that the tracker has and the index has not.
    prepared: PreparedChanges,
    /// Number of changes that the index has and its tokens have not.
    changes_without_tokens: usize,
    cache: Option<Cache>,
    /// Where the index is if it exceeds the memory budget; `None` if it is in memory.
    blocks: Option<Arc<DiskBlocks>>,
    /// Bytes of text by path, of the files whose current text is not in the cache.
    unsaved: FxHashMap<Arc<str>, u64>,
    /// Whether the cache has another form than that of this index.
    needs_rewrite: bool,
    /// Unsaved bytes required before the next attempt to save, after a failed one.
    retry_save_bytes: u64,
    /// When freed memory was last returned to the system.
    released_at: Instant,
    /// When unused parts of the index were last dropped.
    trimmed_at: Instant,
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

/// How a folder is opened. All functions are called from several threads.
pub(crate) struct OpenRun<'a> {
    pub(crate) memory: IndexMemory,
    pub(crate) progress: &'a (dyn Fn(IndexProgress) + Sync),
    /// Called for each file; returns whether to go on.
    pub(crate) keep_going: &'a (dyn Fn() -> bool + Sync),
    /// Called for each file that is not taken from the cache.
    pub(crate) on_tree: Option<&'a TreeObserver<'a>>,
    /// Called with the index as it was cached, if it was as a whole, before the folder is compared with it.
    pub(crate) on_cached: &'a (dyn Fn(WorkspaceIndex) + Sync),
    pub(crate) threads: &'a StepThreads,
}

/// The default memory budget, on the rayon pool of the caller, to the end.
impl Default for OpenRun<'_> {
    fn default() -> Self {
        let memory = IndexMemory::of_machine();
        OpenRun {
            memory,
            progress: &|_| {},
            keep_going: &|| true,
            on_tree: None,
            on_cached: &|_| {},
            threads: &StepThreads::CALLER,
        }
    }
}

impl Indexer {
    /// Indexes the folder at `root`. Files that look unchanged are taken from `cache` and not read again. `progress` is called
    /// from several threads.
    pub fn open(
        root: &Path,
        limits: &ReadLimits,
        cache: Option<Cache>,
        progress: &(dyn Fn(IndexProgress) + Sync),
    ) -> Result<(Indexer, OpenStats), WorkspaceError> {
        Indexer::open_with(root, limits, cache, &OpenRun { progress, ..OpenRun::default() })
    }

    /// Same as [`Indexer::open`], but calls `on_tree`, from several threads, with each file that is not taken from the cache and
    /// its syntax tree, so that the caller can derive more from it without a second parse.
    pub fn open_observed(
        root: &Path,
        limits: &ReadLimits,
        cache: Option<Cache>,
        memory: IndexMemory,
        progress: &(dyn Fn(IndexProgress) + Sync),
        on_tree: Option<&TreeObserver<'_>>,
    ) -> Result<(Indexer, OpenStats), WorkspaceError> {
        let run = OpenRun { memory, progress, on_tree, ..OpenRun::default() };
        Indexer::open_with(root, limits, cache, &run)
    }

    /// Same as [`Indexer::open`], but calls `on_cached` with the index of a folder beyond the memory budget as it was cached, before the
    /// folder is compared with it: it may have files that are changed or gone.
    pub fn open_early(
        root: &Path,
        limits: &ReadLimits,
        cache: Option<Cache>,
        on_cached: &(dyn Fn(WorkspaceIndex) + Sync),
    ) -> Result<(Indexer, OpenStats), WorkspaceError> {
        Indexer::open_with(root, limits, cache, &OpenRun { on_cached, ..OpenRun::default() })
    }

    /// Same as [`Indexer::open`], but as `run` says. Fails with [`WorkspaceError::Cancelled`] as soon as it need not go on.
    pub(crate) fn open_with(
        root: &Path,
        limits: &ReadLimits,
        cache: Option<Cache>,
        run: &OpenRun<'_>,
    ) -> Result<(Indexer, OpenStats), WorkspaceError> {
        let &OpenRun { memory, progress, keep_going, on_tree, on_cached, threads } = run;
        let blocks = |cache: &Cache| cache.blocks().released_if(move || memory.is_exceeded());
        let blocks = cache.as_ref().map(|cache| Arc::new(blocks(cache)));
        let above_bytes = memory.text_bytes();
        let texts = blocks.clone().map(|store| TextStore { store, above_bytes });
        let mut cached = match cache.as_ref().zip(blocks.as_ref()) {
            Some((cache, blocks)) => IndexCache::read(cache, root, blocks, above_bytes),
            None => IndexCache::default(),
        };
        cached.whole_index().into_iter().for_each(on_cached);
        let loading = |loaded| progress(IndexProgress::Loading(loaded));
        let known = cached.take_known();
        let tracker =
            threads.run(|| WorkspaceTracker::open_while(root, limits, known, texts, &loading, keep_going))?;
        let files = Arc::clone(tracker.snapshot().files());
        let is_large = cached.has_whole_index() || text_bytes(&files) as u64 > above_bytes;
        let blocks = blocks.filter(|_| is_large);
        // The texts, as they were read, were in memory until they moved.
        if blocks.is_some() && !cached.has_whole_index() {
            release_memory();
        }
        let deriving = Deriving { store: as_store(&blocks), threads, progress, keep_going, on_tree };
        let begun = cache.as_ref().filter(|_| cached.can_be_begun() && text_bytes(&files) >= MIN_BEGUN_BYTES);
        let mut begun =
            begun.and_then(|cache| BegunCache::begin(cache, &tracker, &mut cached, as_store(&blocks)));
        // The next time it is opened as a whole.
        let needs_rewrite = blocks.is_some() && !cached.can_be_begun() && !cached.has_whole_index();
        let derived = deriving.derive_all(&files, &mut cached, &mut begun);
        let DerivedFiles { files: derived, mut unsaved } =
            derived.ok_or_else(|| WorkspaceError::Cancelled { path: root.to_owned() })?;
        let (reused, rebuilt) = (derived.len() - unsaved.len(), unsaved.len());
        let index = match cached.take_whole_index() {
            Some((index, removed)) if unsaved.is_empty() && removed.is_empty() => index,
            Some((index, removed)) => {
                let changed = derived.into_iter().filter(|file| unsaved.contains_key(file.path()));
                let changed = changed.collect();
                threads.run(|| index.apply(changed, &removed))
            }
            None => threads.run(|| Index::in_store(as_store(&blocks), derived)),
        };
        match begun.map(|begun| begun.finish(&index)) {
            Some(Ok(_)) => unsaved.clear(),
            // Saving tries again, and reports the reason.
            Some(Err(error)) => tracing::debug!(%error, "the cache cannot be completed"),
            None => {}
        }
        let opening = OpenStats { reused, rebuilt, miss: cached.miss.take() };
        drop(cached);
        let projects = Arc::new(Projects::new(tracker.snapshot().manifests()));
        let index = WorkspaceIndex::empty().with_index(files, index, projects);
        let indexer = Indexer {
            tracker,
            index,
            prepared: PreparedChanges::default(),
            changes_without_tokens: 0,
            cache,
            blocks,
            unsaved,
            needs_rewrite,
            retry_save_bytes: 0,
            released_at: Instant::now(),
            trimmed_at: Instant::now(),
        };
        indexer.release_memory();
        Ok((indexer, opening))
    }

    /// Returns whether the folder at `root` has a cache that opens about as fast as the code near a document is indexed.
    pub(crate) fn opens_fast(cache: &Cache, root: &Path) -> bool {
        cache.has_blocks(root, &block_cache::format())
    }

    /// Returns memory that is not needed to answer requests to the system.
    fn release_memory(&self) {
        self.blocks.iter().for_each(|blocks| blocks.release_all());
        release_memory();
    }

    /// Returns the place of the index if it is too large for memory.
    pub fn store(&self) -> Option<Arc<dyn BlockStore>> {
        as_store(&self.blocks)
    }

    /// Drops what requests have read from the store, and not asked for since the last time, which would otherwise grow; once in
    /// [`TRIM_INTERVAL`]. Returns whether the index was replaced.
    pub fn drop_unused(&mut self, now: Instant) -> bool {
        if self.store().is_none() || now < self.trimmed_at + TRIM_INTERVAL {
            return false;
        }
        self.trimmed_at = now;
        let Some(index) = self.index.index().without_unused() else { return false };
        self.index = self.index.with_same_files(index);
        true
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

    /// Updates the tokens to the current files. Returns whether anything differs.
    pub(crate) fn update_tokens(&mut self, threads: &StepThreads) -> bool {
        let changes = std::mem::take(&mut self.changes_without_tokens);
        let updated = threads_for(changes, threads).run(|| self.index.with_current_tokens());
        let is_different = updated.is_some();
        self.index = updated.unwrap_or_else(|| self.index.clone());
        is_different
    }

    /// Scans for changes and applies them to the index, except for its tokens. Returns whether anything differs.
    pub fn refresh(&mut self, scope: &ScanScope) -> Result<bool, WorkspaceError> {
        self.refresh_on(scope, &StepThreads::CALLER)
    }

    /// The same on `threads`.
    pub(crate) fn refresh_on(
        &mut self,
        scope: &ScanScope,
        threads: &StepThreads,
    ) -> Result<bool, WorkspaceError> {
        self.prepare(scope, threads)?;
        Ok(self.apply_prepared(threads))
    }

    /// Scans for changes, and derives the entries of changed files, which the next refresh applies.
    pub(crate) fn prepare(&mut self, scope: &ScanScope, threads: &StepThreads) -> Result<(), WorkspaceError> {
        // What requests have read.
        self.store().iter().for_each(|store| store.release_pages());
        let paths = match scope {
            ScanScope::Paths(paths) => paths.len(),
            ScanScope::Unwatched => 0,
            ScanScope::Everything => usize::MAX,
        };
        let changes = threads_for(paths, threads).run(|| match scope {
            ScanScope::Paths(paths) => self.tracker.refresh(paths),
            ScanScope::Unwatched => self.tracker.poll(),
            ScanScope::Everything => self.tracker.refresh_all(),
        })?;
        let WorkspaceChanges { changed, removed, manifests_changed, .. } = changes;
        for path in &removed {
            self.unsaved.remove(path);
        }
        self.unsaved.extend(changed.iter().map(size));
        let threads = &threads_for(changed.len(), threads);
        let deriving =
            Deriving { store: self.store(), threads, progress: &|_| {}, keep_going: &|| true, on_tree: None };
        let derived = deriving.derive_all(&changed, &mut IndexCache::default(), &mut None);
        let changed = derived.map(|derived| derived.files).unwrap_or_default();
        self.prepared.add(IndexChanges { changed, removed, manifests_changed });
        Ok(())
    }

    /// Applies the prepared changes to the index. Returns whether there are any.
    fn apply_prepared(&mut self, threads: &StepThreads) -> bool {
        if self.prepared.is_empty() {
            return false;
        }
        let IndexChanges { changed, removed, manifests_changed } = self.prepared.take();
        let snapshot = self.tracker.snapshot();
        let projects = match manifests_changed {
            true => Arc::new(Projects::new(snapshot.manifests())),
            false => Arc::clone(self.index.projects()),
        };
        self.changes_without_tokens += changed.len() + removed.len();
        let threads = threads_for(changed.len(), threads);
        let index = threads.run(|| self.index.index().apply(changed, &removed));
        self.index = self.index.with_index(Arc::clone(snapshot.files()), index, projects);
        if self.released_at.elapsed() >= RELEASE_INTERVAL {
            release_memory();
            self.released_at = Instant::now();
        }
        true
    }

    /// Caches the derived entries if that is worth it; `None` if it is not, or without a cache. After an error it is not retried
    /// before twice as much has changed: a full disk usually stays full for a while.
    pub fn save(&mut self) -> Result<Option<SaveSummary>, cache::CacheError> {
        let unsaved = self.unsaved.values().sum();
        let total = self.index.files().iter().map(|file| size(file).1).sum();
        let is_worth_it = std::mem::take(&mut self.needs_rewrite) || cache::is_worth_saving(unsaved, total);
        if unsaved < self.retry_save_bytes || !is_worth_it {
            return Ok(None);
        }
        self.retry_save_bytes = 2 * unsaved;
        self.write_cache()
    }

    /// Caches the derived entries in any case; `None` if all are cached, or without a cache.
    pub fn save_all(&mut self) -> Result<Option<SaveSummary>, cache::CacheError> {
        if self.unsaved.is_empty() && !std::mem::take(&mut self.needs_rewrite) {
            return Ok(None);
        }
        self.write_cache()
    }

    fn write_cache(&mut self) -> Result<Option<SaveSummary>, cache::CacheError> {
        let Some(cache) = &self.cache else { return Ok(None) };
        let saved = index_cache::save(cache, &self.tracker, self.index.index(), self.store().as_deref())?;
        self.unsaved.clear();
        self.retry_save_bytes = 0;
        Ok(Some(saved))
    }
}

fn as_store(blocks: &Option<Arc<DiskBlocks>>) -> Option<Arc<dyn BlockStore>> {
    blocks.clone().map(|blocks| blocks as Arc<dyn BlockStore>)
}

/// Returns the threads for so many changed paths.
fn threads_for(paths: usize, threads: &StepThreads) -> StepThreads {
    if paths < MIN_CHECKOUT_PATHS { threads.clone() } else { threads.with_idle_time() }
}

fn text_bytes(files: &[SourceFile]) -> usize {
    files.iter().map(|file| file.text.len()).sum()
}

/// A file's path and the length of its text in bytes.
fn size(file: &SourceFile) -> (Arc<str>, u64) {
    (Arc::clone(&file.path), file.text.len() as u64)
}

#[cfg(test)]
mod tests;
