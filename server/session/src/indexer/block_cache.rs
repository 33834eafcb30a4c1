//! The cache of a folder whose index is beyond the memory budget: its data as it is in use, in blocks.
//!
//! ```text
//! cold:   derive a part ─► block of files … ─► index ─► blocks of its layers ─► finish
//! reopen: blocks ─► copies that this process alone can reach ─► the same index
//! ```
//!
//! Nothing is derived, decoded or combined again, so reopening takes as long as copying. The layers of an index are saved with it;
//! without them, because a process was killed or a block is damaged, the files serve as far as they are sound.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cache::{BlocksWriter, Cache, CacheBlocks, CacheError, CacheMiss, DiskBlocks, SaveSummary};
use index::{FileIndex, FilePlace, Index, SavedFile, load_files, save_files};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use stored::{BlockStore, LoadedBlock, SavedBlock};
use workspace::{DiskStamp, KnownFile, TextHash};

/// Returns the format of the blocks.
pub(crate) fn format() -> String {
    format!("{}, {}", Index::FORMAT, FileIndex::FORMAT)
}

/// The blocks of a folder in use.
#[derive(Default)]
pub(super) struct BlockCache {
    /// Distinct files with their stamps.
    pub(super) files: Vec<SavedFile>,
    /// The index of these files.
    pub(super) index: Option<Index>,
    /// The blocks of a killed process, if they are not complete.
    pub(super) begun: Option<BegunBlocks>,
    /// Why all or a part of it could not be used.
    pub(super) miss: Option<CacheMiss>,
}

/// Blocks of files without an index.
pub(super) struct BegunBlocks {
    blocks: CacheBlocks,
    /// By path.
    places: FxHashMap<Arc<str>, FilePlace>,
}

impl BlockCache {
    /// Reads the blocks of the workspace at `root`, unless they have at most `above_bytes` bytes of text, so that their index belongs into
    /// memory. Without blocks there are no files.
    pub(super) fn read(cache: &Cache, root: &Path, store: &Arc<DiskBlocks>, above_bytes: u64) -> BlockCache {
        match cache.open_blocks(root, &format()) {
            Ok(blocks) if blocks.text_bytes() > above_bytes => BlockCache::load(&blocks, store),
            Ok(_) => BlockCache::default(),
            Err(miss) => BlockCache::read_begun(cache, root, store, Some(miss).filter(CacheMiss::is_loss)),
        }
    }

    fn load(blocks: &CacheBlocks, store: &Arc<DiskBlocks>) -> BlockCache {
        let miss = Mutex::new(None);
        let load = |number: u32| match blocks.load(number as usize, store) {
            Ok(block) => Some(block),
            Err(error) => {
                *miss.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                None
            }
        };
        let later: Arc<dyn BlockStore> = Arc::clone(store) as Arc<dyn BlockStore>;
        let loaded = Index::load(Some(later), blocks.count() as u32, &load);
        let (index, files) = match loaded {
            Some((index, files)) => (Some(index), files),
            None => (None, distinct_files(load_all(blocks, store)).0),
        };
        BlockCache {
            files,
            index,
            begun: None,
            miss: miss.into_inner().unwrap_or_else(PoisonError::into_inner),
        }
    }

    fn read_begun(cache: &Cache, root: &Path, store: &DiskBlocks, miss: Option<CacheMiss>) -> BlockCache {
        let Ok(blocks) = cache.open_begun_blocks(root, &format()) else {
            return BlockCache { miss, ..BlockCache::default() };
        };
        let (files, places) = distinct_files(load_all(&blocks, store));
        BlockCache { files, index: None, begun: Some(BegunBlocks { blocks, places }), miss }
    }
}

/// Returns the files of all sound blocks, by their numbers.
fn load_all(blocks: &CacheBlocks, store: &DiskBlocks) -> Vec<(u32, Vec<SavedFile>)> {
    let load = |number: u32| {
        let block: LoadedBlock = blocks.load(number as usize, store).ok()?;
        Some((number, load_files(&block)?))
    };
    (0..blocks.count() as u32).into_par_iter().filter_map(load).collect()
}

/// Returns the last version of each file, and its place.
fn distinct_files(blocks: Vec<(u32, Vec<SavedFile>)>) -> (Vec<SavedFile>, FxHashMap<Arc<str>, FilePlace>) {
    let mut last = FxHashMap::default();
    let mut places = FxHashMap::default();
    for (block, files) in blocks {
        for (position, file) in (0..).zip(files) {
            let path = &file.index.file().path;
            places.insert(Arc::clone(path), FilePlace { block, position });
            last.insert(Arc::clone(path), file);
        }
    }
    (last.into_values().collect(), places)
}

/// Returns what the tracker has to know of a saved file; `None` if it was saved without, because it is an old version.
pub(super) fn known_file(saved: &SavedFile) -> Option<KnownFile> {
    let (hash, stamp) = saved.note.split_first_chunk::<{ size_of::<TextHash>() }>()?;
    let file = saved.index.file();
    Some(KnownFile {
        path: Arc::clone(&file.path),
        stamp: DiskStamp::from_bytes(stamp),
        hash: *hash,
        text: file.text.clone(),
    })
}

/// Returns the note of a file.
pub(super) fn note(known: &KnownFile) -> Vec<u8> {
    let stamp = known.stamp.map(DiskStamp::to_bytes);
    [&known.hash[..], stamp.as_ref().map_or(&[], |stamp| stamp.as_slice())].concat()
}

/// Blocks that are written while a folder is indexed.
pub(super) struct BegunBlocksWriter {
    writer: BlocksWriter,
    /// Files that are in blocks, by path.
    places: FxHashMap<Arc<str>, FilePlace>,
}

impl BegunBlocksWriter {
    /// Begins blocks, or continues those of a killed process.
    pub(super) fn begin(
        cache: &Cache,
        root: &Path,
        begun: Option<BegunBlocks>,
    ) -> Result<BegunBlocksWriter, CacheError> {
        let writer = cache.begin_blocks(root, &format(), begun.as_ref().map(|begun| &begun.blocks))?;
        let places = begun.filter(|_| writer.count() > 0).map(|begun| begun.places).unwrap_or_default();
        Ok(BegunBlocksWriter { writer, places })
    }

    /// Adds files with their notes.
    pub(super) fn add<'a>(
        &mut self,
        files: impl IntoIterator<Item = (&'a FileIndex, Vec<u8>)>,
    ) -> Result<(), CacheError> {
        let files: Vec<(&FileIndex, Vec<u8>)> = files.into_iter().collect();
        if files.is_empty() {
            return Ok(());
        }
        let paths: Vec<Arc<str>> = files.iter().map(|(file, _)| Arc::clone(&file.file().path)).collect();
        let block = self.writer.add(&save_files(files))?;
        let placed = (0..).zip(paths).map(|(position, path)| (path, FilePlace { block, position }));
        self.places.extend(placed);
        Ok(())
    }

    /// Adds the files of `index` that are in no block yet, and its layers.
    pub(super) fn finish(
        mut self,
        index: &Index,
        note: &dyn Fn(&FileIndex) -> Vec<u8>,
        store: &dyn BlockStore,
    ) -> Result<SaveSummary, CacheError> {
        let searcher = index.hide(&[]);
        let missing = searcher.files().into_iter().filter(|file| !self.places.contains_key(file.path()));
        let missing: Vec<(&FileIndex, Vec<u8>)> = missing.map(|file| (&**file, note(file))).collect();
        self.add(missing)?;
        let BegunBlocksWriter { mut writer, places } = self;
        index.save_with(&places, &mut |block| add_and_release(&mut writer, &block, store))?;
        writer.finish(index.files())
    }
}

/// Appends a block, and releases the memory of the data that was read for it.
fn add_and_release(
    writer: &mut BlocksWriter,
    block: &SavedBlock,
    store: &dyn BlockStore,
) -> Result<u32, CacheError> {
    let number = writer.add(block);
    store.release_pages();
    number
}

/// Saves all files of a folder and their index, whose data is in `store`. `notes` are by path.
pub(super) fn save(
    cache: &Cache,
    root: &Path,
    index: &Index,
    notes: &FxHashMap<Arc<str>, Vec<u8>>,
    store: &dyn BlockStore,
) -> Result<SaveSummary, CacheError> {
    let mut writer = cache.rewrite_blocks(root, &format())?;
    let note = |file: &FileIndex| notes.get(file.path()).cloned().unwrap_or_default();
    index.save(&note, &mut |block| add_and_release(&mut writer, &block, store))?;
    writer.finish(index.files())
}
