//! The token corpus of a folder, for engines that read it: loaded from the cache and updated, or rebuilt.

use std::path::Path;
use std::sync::Arc;

use builtin::{Corpus, CorpusLimit, SharedBytes};
use cache::{Cache, CacheImage};
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
    ) -> LoadedCorpus {
        let cached = match cache.map(|cache| read_corpus(cache, root)) {
            Some(Ok(cached)) => cached.with_limit(limit).synced_to(files),
            Some(Err(miss)) => return LoadedCorpus { miss, ..LoadedCorpus::build(files, limit) },
            None => return LoadedCorpus::build(files, limit),
        };
        let is_cached = !cached.needs_rebuild();
        let corpus = if is_cached { cached } else { cached.rebuilt(files) };
        LoadedCorpus { corpus, is_cached, miss: None }
    }

    /// Builds the corpus of `files` from their texts.
    fn build(files: &[SourceFile], limit: CorpusLimit) -> LoadedCorpus {
        LoadedCorpus { corpus: Corpus::build_within(limit, files), is_cached: false, miss: None }
    }
}

/// Saves the corpus of the folder at `root`, without the changes since it was built. Returns the number of bytes written.
pub fn save_corpus(cache: &Cache, root: &Path, corpus: &Corpus) -> Result<u64, cache::CacheError> {
    cache.save_image(root, &format(), &corpus.image())
}

fn read_corpus(cache: &Cache, root: &Path) -> Result<Corpus, Option<String>> {
    let image: CacheImage =
        cache.open_image(root, &format()).map_err(|miss| miss.is_loss().then(|| miss.to_string()))?;
    Corpus::from_image(Arc::new(image) as SharedBytes).map_err(|error| Some(error.to_string()))
}

/// The content of an image depends on the token limit, so the limit is part of the format's name.
fn format() -> String {
    format!("up to {} tokens", Corpus::MAX_TOKENS)
}
