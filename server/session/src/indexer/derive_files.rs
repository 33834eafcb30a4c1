//! Derives the index entries of files in parts: each is stored if the index is beyond the memory budget, and cached, while the next one
//! is derived.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use index::FileIndex;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use stored::{BlockStore, parts};
use syntax::SourceFile;

use super::index_cache::{BegunCache, IndexCache};
use super::{IndexProgress, TreeObserver, size};
use crate::step_threads::StepThreads;

/// Bytes of text whose entries are stored and cached together, while the next ones are derived: two seconds of work. A killed process
/// loses two such parts at most.
const PART_BYTES: u64 = if cfg!(test) { 64 } else { 16 << 20 };
/// Entries of fewer bytes of text stay in memory: changes of a few files are not worth a block.
const MIN_STORED_BYTES: usize = if cfg!(test) { 1 } else { 4 << 20 };

/// Index entries of files, in their order.
pub(super) struct DerivedFiles {
    pub(super) files: Vec<Arc<FileIndex>>,
    /// Bytes of text by path, of the files that were not in the cache.
    pub(super) unsaved: FxHashMap<Arc<str>, u64>,
}

/// The entries of a part: by file those of the cache, and in their order the others.
struct DerivedPart {
    known: Vec<Option<Arc<FileIndex>>>,
    new: Vec<FileIndex>,
}

/// How entries are derived.
pub(super) struct Deriving<'a> {
    /// Where they are stored; `None` for memory.
    pub(super) store: Option<Arc<dyn BlockStore>>,
    /// The threads of each part.
    pub(super) threads: &'a StepThreads,
    /// Called from several threads.
    pub(super) progress: &'a (dyn Fn(IndexProgress) + Sync),
    pub(super) keep_going: &'a (dyn Fn() -> bool + Sync),
    pub(super) on_tree: Option<&'a TreeObserver<'a>>,
}

impl Deriving<'_> {
    /// Returns the entries of `files`, from the cache where it has them; `None` if cancelled. Adds the others to `begun`, unless that
    /// fails.
    pub(super) fn derive_all(
        &self,
        files: &[SourceFile],
        cached: &mut IndexCache,
        begun: &mut Option<BegunCache>,
    ) -> Option<DerivedFiles> {
        let mut all = DerivedFiles { files: Vec::with_capacity(files.len()), unsaved: FxHashMap::default() };
        let done = AtomicUsize::new(0);
        let report = |more: usize| {
            let done = done.fetch_add(more, Ordering::Relaxed) + more;
            (self.progress)(IndexProgress::Deriving { done, total: files.len() });
        };
        let mut last = None;
        for part in parts(files, PART_BYTES, |file| file.text.len() as u64) {
            let known: Vec<Option<Arc<FileIndex>>> =
                part.iter().map(|file| cached.take_index(file)).collect();
            let new: Vec<&SourceFile> =
                part.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(file, _)| file).collect();
            report(part.len() - new.len());
            all.unsaved.extend(new.iter().map(|file| size(file)));
            // Writing uses one thread.
            let keep_last =
                || last.take().into_iter().for_each(|last| self.keep(last, &mut all.files, begun));
            let (new, ()) = self.threads.run(|| rayon::join(|| self.derive(&new, &report), keep_last));
            last = Some(DerivedPart { known, new: new? });
        }
        self.threads.run(|| last.into_iter().for_each(|last| self.keep(last, &mut all.files, begun)));
        Some(all)
    }

    fn derive(&self, files: &[&SourceFile], report: &(dyn Fn(usize) + Sync)) -> Option<Vec<FileIndex>> {
        let derive = |file: &&SourceFile| {
            let derived = (self.keep_going)().then(|| self.derive_one(file));
            report(1);
            derived
        };
        files.par_iter().map(derive).collect()
    }

    /// Stores the new entries of a part, adds them to the cache, and all entries to `files`.
    fn keep(&self, part: DerivedPart, files: &mut Vec<Arc<FileIndex>>, begun: &mut Option<BegunCache>) {
        let DerivedPart { known, mut new } = part;
        let bytes: usize = new.iter().map(|file| file.text().len()).sum();
        if let Some(store) = self.store.as_deref().filter(|_| bytes >= MIN_STORED_BYTES) {
            store_entries(&mut new, store);
        }
        let new: Vec<Arc<FileIndex>> = new.into_iter().map(Arc::new).collect();
        let failed = begun.as_mut().and_then(|begun| begun.add(&new).err());
        if let Some(error) = failed {
            tracing::warn!(%error, "the cache cannot be written");
            *begun = None;
        }
        self.store.iter().for_each(|store| store.release_pages());
        let mut new = new.into_iter();
        files.extend(known.into_iter().filter_map(|known| known.or_else(|| new.next())));
    }

    fn derive_one(&self, file: &SourceFile) -> FileIndex {
        let Some(on_tree) = self.on_tree else { return FileIndex::new(file.clone()) };
        let tree = syntax::parse(file.language, &file.text);
        on_tree(file, &tree);
        FileIndex::with_tree(file.clone(), &tree)
    }
}

/// Moves entries to a store; they stay in memory if it fails, for example because the disk is full.
pub(super) fn store_entries(entries: &mut [FileIndex], store: &dyn BlockStore) {
    if let Err(error) = FileIndex::store_all(entries, store) {
        tracing::warn!(%error, files = entries.len(), "an index beyond the memory budget stays in memory");
    }
}
