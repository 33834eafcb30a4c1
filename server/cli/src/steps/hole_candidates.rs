//! The hole candidates of a workspace: collected while its files are parsed for the index, and cached in a file of their own, which
//! only mining reads.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use cache::{Cache, CacheSegment, Entry};
use index::ContentHash;
use mining::HoleCandidates;
use rayon::prelude::*;
use session::lock;
use syntax::{SourceFile, Tree};

use crate::output::print_message;
use crate::steps::index::IndexedWorkspace;

/// Candidates by the content of their file.
type ByContent = HashMap<[u8; ContentHash::BYTES], HoleCandidates>;

/// Collects the candidates of one workspace.
pub(crate) struct CandidateCollector {
    cache: Option<Cache>,
    cached: ByContent,
    /// Candidates of the files that were parsed, by path.
    found: Mutex<HashMap<Arc<str>, HoleCandidates>>,
}

impl CandidateCollector {
    /// Reads the cached candidates of the workspace at `root`.
    pub(crate) fn open(root: &Path, cache: Option<&Cache>) -> CandidateCollector {
        let cache = cache.map(Cache::for_mining);
        let cached = cache.as_ref().map(|cache| read(cache, root)).unwrap_or_default();
        CandidateCollector { cache, cached, found: Mutex::default() }
    }

    /// Finds the candidates of a file that was parsed for the index.
    pub(crate) fn observe(&self, file: &SourceFile, tree: &Tree) {
        let candidates = HoleCandidates::new(file, tree);
        lock(&self.found).insert(Arc::clone(&file.path), candidates);
    }

    /// Returns the candidates of all files, in their order, and caches them if that is worth it. Parses the files whose candidates
    /// are neither cached nor collected.
    pub(crate) fn finish(self, indexed: &IndexedWorkspace) -> Vec<HoleCandidates> {
        let files = indexed.index.files();
        let searcher = indexed.index.index().hide(&[]);
        let hashes: Vec<[u8; ContentHash::BYTES]> = files
            .par_iter()
            .map(|file| hash(file, searcher.file(&file.path).map(|file| file.hash())))
            .collect();
        let found = self.found.into_inner().unwrap_or_default();
        let candidates: Vec<HoleCandidates> = files
            .par_iter()
            .zip(&hashes)
            .map(|(file, hash)| {
                let known = found.get(&file.path).or_else(|| self.cached.get(hash));
                known.cloned().unwrap_or_else(|| HoleCandidates::of(file))
            })
            .collect();
        let size = |file: &SourceFile| file.text.len() as u64;
        let changed = files
            .iter()
            .zip(&hashes)
            .filter(|(_, hash)| !self.cached.contains_key(*hash))
            .map(|(file, _)| size(file))
            .sum();
        if let Some(cache) =
            self.cache.filter(|_| cache::is_worth_saving(changed, files.iter().map(size).sum()))
        {
            save(&cache, indexed.snapshot.root(), files, &hashes, &candidates);
        }
        candidates
    }
}

fn hash(file: &SourceFile, known: Option<ContentHash>) -> [u8; ContentHash::BYTES] {
    *known.unwrap_or_else(|| ContentHash::of(file)).bytes()
}

/// Reads a cache. Damaged parts are left out.
fn read(cache: &Cache, root: &Path) -> ByContent {
    let mut cached = ByContent::new();
    let entry = |entry: &Entry<'_>| (entry.hash, HoleCandidates::from_bytes(&entry.payload));
    let mut add = |part: CacheSegment| {
        cached.extend(part.entries()?.iter().map(entry));
        Ok(())
    };
    let opened = cache.open(root, HoleCandidates::FORMAT);
    let read = opened.and_then(|mut parts| parts.try_for_each(|part| add(part?)));
    if let Err(miss) = read
        && miss.is_loss()
    {
        print_message(&format!("rebuilding the holes: {miss}"));
    }
    cached
}

fn save(
    cache: &Cache,
    root: &Path,
    files: &[SourceFile],
    hashes: &[[u8; ContentHash::BYTES]],
    candidates: &[HoleCandidates],
) {
    let entries = files.iter().zip(hashes).zip(candidates).map(|((file, &hash), candidates)| Entry {
        path: &file.path,
        stamp: &[],
        hash,
        text: "",
        payload: Cow::Borrowed(candidates.as_bytes()),
    });
    if let Err(error) = cache.save(root, HoleCandidates::FORMAT, entries) {
        print_message(&format!("the cache is not saved: {error}"));
    }
}
