//! The token corpus of a folder, for engines that read it: loaded from the cache and updated, or rebuilt.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use builtin::{Corpus, CorpusLimit, SharedBytes};
use cache::{Cache, CacheImage};
use stored::BlockStore;
use syntax::SourceFile;

/// A folder's corpus, as loaded or built.
pub struct LoadedCorpus {
    /// The corpus.
    pub corpus: Corpus,
    /// Whether the cached corpus differs by a few changes at most, so that saving it again is not worth it.
    pub is_cached: bool,
    /// Why an existing cache file could not be used.
    pub miss: Option<String>,
}

impl LoadedCorpus {
    /// Returns the corpus of `files`, the files of the folder at `root`, within `limit`. Files that are unchanged in the cache are
    /// not lexed.
    pub fn open(
        cache: Option<&Cache>,
        root: &Path,
        files: &[SourceFile],
        limit: CorpusLimit,
        store: Option<&dyn BlockStore>,
    ) -> LoadedCorpus {
        let build = |miss| {
            let corpus = store_corpus(Corpus::build_within(limit.clone(), files), &limit, store);
            LoadedCorpus { corpus, is_cached: false, miss }
        };
        let cached = match cache.map(|cache| read_corpus(cache, root, limit.tokens, store)) {
            Some(Ok(cached)) => cached.with_limit(limit.clone()).synced_to(files),
            Some(Err(miss)) => return build(miss),
            None => return build(None),
        };
        let is_cached = !cached.needs_rebuild();
        let corpus = if is_cached { cached } else { store_corpus(cached.rebuilt(files), &limit, store) };
        LoadedCorpus { corpus, is_cached, miss: None }
    }
}

/// Saves the corpus of the folder at `root`, without the changes since it was built. Returns the number of bytes written.
pub fn save_corpus(cache: &Cache, root: &Path, corpus: &Corpus) -> Result<u64, cache::CacheError> {
    cache.save_image(root, &format(corpus.max_tokens()), &corpus.image())
}

fn read_corpus(
    cache: &Cache,
    root: &Path,
    max_tokens: usize,
    store: Option<&dyn BlockStore>,
) -> Result<Corpus, Option<String>> {
    let image: CacheImage = cache
        .open_image(root, &format(max_tokens))
        .map_err(|miss| miss.is_loss().then(|| miss.to_string()))?;
    let stored = store.and_then(|store| write_block(store, &[Cow::Borrowed(image.as_ref())]).ok());
    Corpus::from_image(stored.unwrap_or_else(|| Arc::new(image))).map_err(|error| Some(error.to_string()))
}

/// Moves a corpus that was just built, and has no changes on top, to a store; it stays in memory if that fails.
pub(crate) fn store_corpus(corpus: Corpus, limit: &CorpusLimit, store: Option<&dyn BlockStore>) -> Corpus {
    let stored = store.and_then(|store| write_block(store, &corpus.image()).ok());
    let stored = stored.and_then(|block| Corpus::from_image(block).ok());
    stored.map_or(corpus, |stored| stored.with_limit(limit.clone()))
}

fn write_block(store: &dyn BlockStore, pieces: &[Cow<'_, [u8]>]) -> io::Result<SharedBytes> {
    let mut block = store.create()?;
    pieces.iter().try_for_each(|piece| block.write_all(piece))?;
    block.finish()
}

/// The content of an image depends on the token limit, so the limit is part of the format's name.
fn format(max_tokens: usize) -> String {
    format!("up to {max_tokens} tokens")
}
