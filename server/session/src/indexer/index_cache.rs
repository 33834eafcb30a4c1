//! Reads and writes a folder's cache: texts with their stamps, and the index entries derived from them.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use cache::{Cache, CacheMiss, CacheSegment, Entry, SaveSummary};
use index::{FileIndex, Index};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use syntax::{Language, SourceFile};
use workspace::{DiskStamp, KnownFile, WorkspaceTracker};

/// Files that are encoded at once.
const FILES_PER_PART: usize = 256;

/// The content of a cache.
#[derive(Default)]
pub(crate) struct IndexCache {
    known: Vec<KnownFile>,
    derived: FxHashMap<Arc<str>, Arc<FileIndex>>,
    /// Why all or a part of it could not be used.
    pub(crate) miss: Option<CacheMiss>,
}

impl IndexCache {
    pub(crate) fn read(cache: &Cache, root: &Path) -> IndexCache {
        let mut cached = IndexCache::default();
        let runs = match cache.open(root, FileIndex::FORMAT) {
            Ok(opened) => opened,
            Err(miss) => return IndexCache { miss: Some(miss).filter(CacheMiss::is_loss), ..cached },
        };
        // The file is read in one pass; its segments are decoded on all threads.
        let parts: Vec<Result<Vec<CacheEntry>, CacheMiss>> =
            runs.par_bridge().map(|run| run.and_then(|run| decode(&run))).collect();
        for part in parts {
            match part {
                Ok(part) => part.into_iter().for_each(|part| cached.add(part)),
                Err(miss) => cached.miss = Some(miss),
            }
        }
        cached
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
        let is_same = Arc::ptr_eq(&derived.file().text, &file.text) && derived.language() == file.language;
        is_same.then_some(derived)
    }
}

type CacheEntry = (KnownFile, Option<Arc<FileIndex>>);

fn decode(run: &CacheSegment) -> Result<Vec<CacheEntry>, CacheMiss> {
    Ok(run.entries()?.iter().map(decode_entry).collect())
}

/// Decodes an entry. The text is usable even if the derived part cannot be decoded.
fn decode_entry(entry: &Entry<'_>) -> CacheEntry {
    let known = KnownFile {
        path: entry.path.into(),
        stamp: DiskStamp::from_bytes(entry.stamp),
        hash: entry.hash,
        text: entry.text.into(),
    };
    let derived = split_language(&entry.payload).and_then(|(language, payload)| {
        let file = SourceFile { path: Arc::clone(&known.path), language, text: Arc::clone(&known.text) };
        FileIndex::decode(file, payload).ok().map(Arc::new)
    });
    (known, derived)
}

/// Saves all files of a folder.
pub(crate) fn save(
    cache: &Cache,
    follower: &WorkspaceTracker,
    index: &Index,
) -> Result<SaveSummary, cache::CacheError> {
    let searcher = index.hide(&[]);
    let known: Vec<(KnownFile, Option<[u8; DiskStamp::BYTES]>)> =
        follower.known_files().map(|known| (known.clone(), known.stamp.map(DiskStamp::to_bytes))).collect();
    let payload = |(known, _): &(KnownFile, _)| {
        searcher.file(&known.path).map_or_else(Vec::new, |derived| with_language(derived))
    };
    // Encoded in parts on all threads, so that few of them are in memory.
    let entries = known.chunks(FILES_PER_PART).flat_map(|part| {
        let payloads: Vec<Vec<u8>> = part.par_iter().map(payload).collect();
        part.iter().zip(payloads).map(|((known, stamp), payload)| Entry {
            path: &known.path,
            stamp: stamp.as_ref().map_or(&[], |stamp| stamp.as_slice()),
            hash: known.hash,
            text: &known.text,
            payload: Cow::Owned(payload),
        })
    });
    cache.save(follower.root(), FileIndex::FORMAT, entries)
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
