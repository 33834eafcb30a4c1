//! Reads and writes a folder's cache: texts with their stamps, and the index entries derived from them.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use cache::{Cache, CacheMiss, CacheReader, CacheSegment, CacheWriter, DiskBlocks, Entry, SaveSummary};
use completion::WorkspaceIndex;
use index::{FileIndex, Index};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use stored::{BlockStore, SharedText};
use syntax::{Language, SourceFile};
use workspace::{DiskStamp, KnownFile, TextStore, WorkspaceTracker};

use super::block_cache::{self, BegunBlocks, BegunBlocksWriter, BlockCache};
use super::derive_files::store_entries;

/// Files that are encoded at once.
const FILES_PER_PART: usize = 256;
/// Segments, of about a megabyte, that are decoded and stored at once.
const SEGMENTS_PER_PART: usize = 64;
/// Bytes of a cache for each byte of text: the text and as much derived data.
const CACHE_BYTES_PER_TEXT_BYTE: u64 = 2;

/// The content of a cache.
#[derive(Default)]
pub(crate) struct IndexCache {
    known: Vec<KnownFile>,
    derived: FxHashMap<Arc<str>, Arc<FileIndex>>,
    /// The index of these files, if it was beyond the memory budget.
    index: Option<Index>,
    /// The part of such an index that a killed process wrote.
    begun: Option<BegunBlocks>,
    /// Whether a complete cache was found, whatever its state.
    is_complete: bool,
    /// Why all or a part of it could not be used.
    pub(crate) miss: Option<CacheMiss>,
}

impl IndexCache {
    /// Reads the cache of the workspace at `root`; if its texts have more than `above_bytes` bytes, its content moves to `store`.
    pub(crate) fn read(cache: &Cache, root: &Path, store: &Arc<DiskBlocks>, above_bytes: u64) -> IndexCache {
        let blocks = BlockCache::read(cache, root, store, above_bytes);
        if !blocks.files.is_empty() {
            return IndexCache::of_blocks(blocks);
        }
        let texts = TextStore { store: Arc::clone(store) as Arc<dyn BlockStore>, above_bytes };
        let mut cached = IndexCache::read_entries(cache, root, &texts);
        cached.miss = blocks.miss.or(cached.miss);
        cached
    }

    fn of_blocks(blocks: BlockCache) -> IndexCache {
        let BlockCache { files, index, begun, miss } = blocks;
        let known = files.iter().filter_map(block_cache::known_file).collect();
        let derived = files.into_iter().map(|file| (Arc::clone(&file.index.file().path), file.index));
        IndexCache { known, derived: derived.collect(), is_complete: begun.is_none(), index, begun, miss }
    }

    fn read_entries(cache: &Cache, root: &Path, texts: &TextStore) -> IndexCache {
        let mut cached = IndexCache::default();
        match cache.open(root, FileIndex::FORMAT) {
            Ok(segments) => {
                cached.is_complete = true;
                cached.read_segments(segments, texts);
            }
            Err(miss) => cached.miss = Some(miss).filter(CacheMiss::is_loss),
        }
        if !cached.is_complete
            && let Ok(segments) = cache.open_begun(root, FileIndex::FORMAT)
        {
            let miss = cached.miss.take();
            cached.read_segments(segments, texts);
            // Its end is damaged if the process was killed while it wrote.
            cached.miss = miss;
        }
        cached
    }

    /// Returns the index of all files as it was cached, with their texts; `None` if it was not cached as a whole. Project files are not in the
    /// cache, so imports that need a project's settings lead nowhere.
    pub(crate) fn whole_index(&self) -> Option<WorkspaceIndex> {
        let index = self.index.clone()?;
        let mut files: Vec<SourceFile> = self.derived.values().map(|file| file.file().clone()).collect();
        files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Some(WorkspaceIndex::empty().with_index(files.into(), index, Arc::default()))
    }

    /// Takes the index of all files out, and the paths of those that were not taken.
    pub(crate) fn take_whole_index(&mut self) -> Option<(Index, Vec<Arc<str>>)> {
        Some((self.index.take()?, self.derived.keys().cloned().collect()))
    }

    /// Returns whether an index beyond the memory budget was cached as a whole.
    pub(crate) fn has_whole_index(&self) -> bool {
        self.index.is_some()
    }

    /// Returns whether the cache can be written while the workspace is indexed: there is no complete one, of which a part would be lost.
    pub(crate) fn can_be_begun(&self) -> bool {
        !self.is_complete
    }

    fn read_segments(&mut self, mut segments: CacheReader, texts: &TextStore) {
        let is_large = segments.bytes() / CACHE_BYTES_PER_TEXT_BYTE > texts.above_bytes;
        let store = is_large.then_some(&*texts.store);
        loop {
            // The file is read in one pass; its segments are decoded on all threads.
            let part: Vec<_> = segments.by_ref().take(SEGMENTS_PER_PART).collect();
            if part.is_empty() {
                return;
            }
            let entries: Vec<Result<Vec<UndecodedEntry>, CacheMiss>> = part
                .into_par_iter()
                .map(|segment| segment.and_then(|segment| read_entries(&segment)))
                .collect();
            let mut sound = Vec::new();
            for entries in entries {
                match entries {
                    Ok(entries) => sound.extend(entries),
                    Err(miss) => self.miss = Some(miss),
                }
            }
            decode(sound, store).into_iter().for_each(|entry| self.add(entry));
            store.iter().for_each(|store| store.release_pages());
        }
    }

    fn add(&mut self, (known, derived): CacheEntry) {
        if let Some(derived) = derived {
            self.derived.insert(Arc::clone(&known.path), derived);
        }
        self.known.push(known);
    }

    /// Takes the texts out.
    pub(crate) fn take_known(&mut self) -> Vec<KnownFile> {
        std::mem::take(&mut self.known)
    }

    /// Takes the index entry of a file if its text and language are those of `file`.
    pub(crate) fn take_index(&mut self, file: &SourceFile) -> Option<Arc<FileIndex>> {
        let derived = self.derived.remove(&file.path)?;
        let is_same = derived.file().text.is_same(&file.text) && derived.language() == file.language;
        is_same.then_some(derived)
    }
}

type CacheEntry = (KnownFile, Option<Arc<FileIndex>>);

/// A file, and its index entry as stored.
type UndecodedEntry = (KnownFile, Vec<u8>);

fn read_entries(segment: &CacheSegment) -> Result<Vec<UndecodedEntry>, CacheMiss> {
    let read = |entry: Entry<'_>| {
        let known = KnownFile {
            path: entry.path.into(),
            stamp: DiskStamp::from_bytes(entry.stamp),
            hash: entry.hash,
            text: entry.text.into(),
        };
        (known, entry.payload.into_owned())
    };
    Ok(segment.entries()?.into_iter().map(read).collect())
}

/// Decodes index entries. A text is usable even if its entry cannot be decoded.
fn decode(mut entries: Vec<UndecodedEntry>, store: Option<&dyn BlockStore>) -> Vec<CacheEntry> {
    if let Some(store) = store {
        let texts = entries.iter_mut().map(|(known, _)| &mut known.text).collect();
        if let Err(error) = SharedText::move_all(store, texts) {
            tracing::warn!(%error, "texts beyond the memory budget stay in memory");
        }
    }
    let derived: Vec<Option<FileIndex>> = entries.par_iter().map(decode_entry).collect();
    let is_decoded: Vec<bool> = derived.iter().map(Option::is_some).collect();
    let mut derived: Vec<FileIndex> = derived.into_iter().flatten().collect();
    store.into_iter().for_each(|store| store_entries(&mut derived, store));
    let mut derived = derived.into_iter().map(Arc::new);
    let known = entries.into_iter().map(|(known, _)| known);
    known
        .zip(is_decoded)
        .map(|(known, is_decoded)| (known, is_decoded.then(|| derived.next()).flatten()))
        .collect()
}

fn decode_entry((known, payload): &UndecodedEntry) -> Option<FileIndex> {
    let (language, payload) = split_language(payload)?;
    let file = SourceFile { path: Arc::clone(&known.path), language, text: known.text.clone() };
    FileIndex::decode(file, payload).ok()
}

/// Saves all files of a folder; as blocks if its data is in a store.
pub(crate) fn save(
    cache: &Cache,
    follower: &WorkspaceTracker,
    index: &Index,
    store: Option<&dyn BlockStore>,
) -> Result<SaveSummary, cache::CacheError> {
    if let Some(store) = store {
        let notes = follower.known_files().map(|known| (Arc::clone(&known.path), block_cache::note(&known)));
        return block_cache::save(cache, follower.root(), index, &notes.collect(), store);
    }
    let searcher = index.hide(&[]);
    let known: Vec<StampedFile> = follower.known_files().map(StampedFile::new).collect();
    let payload = |file: &StampedFile| {
        searcher.file(&file.known.path).map_or_else(Vec::new, |derived| with_language(&derived))
    };
    // Encoded in parts on all threads, so that few of them are in memory.
    let entries = known.chunks(FILES_PER_PART).flat_map(|part| {
        let payloads: Vec<Vec<u8>> = part.par_iter().map(payload).collect();
        part.iter().zip(payloads).map(|(file, payload)| file.entry(payload))
    });
    cache.save(follower.root(), FileIndex::FORMAT, entries)
}

/// A file with its stamp as bytes.
struct StampedFile {
    known: KnownFile,
    stamp: Option<[u8; DiskStamp::BYTES]>,
}

impl StampedFile {
    fn new(known: KnownFile) -> StampedFile {
        let stamp = known.stamp.map(DiskStamp::to_bytes);
        StampedFile { known, stamp }
    }

    fn entry(&self, payload: Vec<u8>) -> Entry<'_> {
        Entry {
            path: &self.known.path,
            stamp: self.stamp.as_ref().map_or(&[], |stamp| stamp.as_slice()),
            hash: self.known.hash,
            text: &self.known.text,
            payload: Cow::Owned(payload),
        }
    }
}

/// The cache of a folder that is indexed for the first time, written meanwhile.
pub(super) struct BegunCache {
    writer: BegunWriter,
    /// All files, by path.
    known: FxHashMap<Arc<str>, KnownFile>,
}

enum BegunWriter {
    Entries(CacheWriter),
    /// Beyond the memory budget: the data is in the store.
    Blocks(BegunBlocksWriter, Arc<dyn BlockStore>),
}

impl BegunCache {
    /// Begins the cache, or continues `cached`; `None` if that is impossible, for example because another process does.
    pub(super) fn begin(
        cache: &Cache,
        tracker: &WorkspaceTracker,
        cached: &mut IndexCache,
        store: Option<Arc<dyn BlockStore>>,
    ) -> Option<BegunCache> {
        let root = tracker.root();
        let begun = match store {
            Some(store) => BegunBlocksWriter::begin(cache, root, cached.begun.take())
                .map(|writer| BegunWriter::Blocks(writer, store)),
            None => cache.begin(root, FileIndex::FORMAT).map(BegunWriter::Entries),
        };
        let writer = match begun {
            Ok(writer) => writer,
            Err(error) => {
                tracing::debug!(%error, "the cache is written at the end");
                return None;
            }
        };
        let known = tracker.known_files().map(|known| (Arc::clone(&known.path), known));
        Some(BegunCache { writer, known: known.collect() })
    }

    /// Adds files that were just derived.
    pub(super) fn add(&mut self, derived: &[Arc<FileIndex>]) -> Result<(), cache::CacheError> {
        let known = &self.known;
        match &mut self.writer {
            BegunWriter::Entries(writer) => {
                let payloads: Vec<Vec<u8>> = derived.par_iter().map(|file| with_language(file)).collect();
                let known: Vec<Option<StampedFile>> = derived
                    .iter()
                    .map(|file| known.get(file.path()).cloned().map(StampedFile::new))
                    .collect();
                writer.add(
                    known
                        .iter()
                        .zip(payloads)
                        .filter_map(|(known, payload)| Some(known.as_ref()?.entry(payload))),
                )
            }
            BegunWriter::Blocks(writer, _) => {
                writer.add(derived.iter().map(|file| (&**file, note_of(known, file))))
            }
        }
    }

    /// Completes the cache of all files, which are those of `index`.
    pub(super) fn finish(self, index: &Index) -> Result<SaveSummary, cache::CacheError> {
        match self.writer {
            BegunWriter::Entries(writer) => writer.finish(),
            BegunWriter::Blocks(writer, store) => {
                writer.finish(index, &|file| note_of(&self.known, file), &*store)
            }
        }
    }
}

fn note_of(known: &FxHashMap<Arc<str>, KnownFile>, file: &FileIndex) -> Vec<u8> {
    known.get(file.path()).map(block_cache::note).unwrap_or_default()
}

/// A file's language can depend on its neighbors, so it is stored with the entry that was derived under it.
fn with_language(derived: &FileIndex) -> Vec<u8> {
    let name = derived.language().name();
    let mut bytes = vec![name.len() as u8];
    bytes.extend(name.as_bytes());
    bytes.extend(derived.encode());
    bytes
}

fn split_language(payload: &[u8]) -> Option<(Language, &[u8])> {
    let (&length, rest) = payload.split_first()?;
    let (name, rest) = rest.split_at_checked(length.into())?;
    Some((Language::from_name(std::str::from_utf8(name).ok()?)?, rest))
}
