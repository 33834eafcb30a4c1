//! The tokens of a folder's files, for engines that read them: out of the cache, with what has changed since, or put together anew.

use std::path::Path;
use std::sync::Arc;

use builtin::{Corpus, SharedBytes};
use cache::{Cache, CacheImage, CacheMiss};
use syntax::SourceFile;

/// The tokens of files.
pub struct LoadedCorpus {
    /// The tokens.
    pub corpus: Corpus,
    /// Whether the cache holds them but for a few changes, so that saving them would not pay.
    pub is_cached: bool,
    /// Why the cache, which holds something, was of no use.
    pub miss: Option<String>,
}

impl LoadedCorpus {
    /// The tokens of `files`, which are those of the folder at `root`. Of files that are in the cache as they are, nothing is lexed.
    pub fn open(cache: Option<&Cache>, root: &Path, files: &[SourceFile]) -> LoadedCorpus {
        let cached = match cache.map(|cache| read_corpus(cache, root)) {
            Some(Ok(cached)) => cached.synced_to(files),
            Some(Err(miss)) => return LoadedCorpus { miss, ..LoadedCorpus::build(files) },
            None => return LoadedCorpus::build(files),
        };
        let is_cached = !cached.needs_rebuild();
        let corpus = if is_cached { cached } else { cached.rebuilt(files) };
        LoadedCorpus { corpus, is_cached, miss: None }
    }

    /// The tokens of `files`, put together anew.
    fn build(files: &[SourceFile]) -> LoadedCorpus {
        LoadedCorpus { corpus: Corpus::build(files), is_cached: false, miss: None }
    }
}

/// Keeps the tokens of the folder at `root` for the next time, without what has changed since they were put together; tells how many
/// bytes that takes.
pub fn save_corpus(cache: &Cache, root: &Path, corpus: &Corpus) -> Result<u64, cache::CacheError> {
    cache.save_image(root, &format(), &corpus.image())
}

fn read_corpus(cache: &Cache, root: &Path) -> Result<Corpus, Option<String>> {
    let loss = |miss: CacheMiss| Some(miss).filter(CacheMiss::is_loss).map(|miss| miss.to_string());
    let image: CacheImage = cache.open_image(root, &format()).map_err(loss)?;
    Corpus::from_image(Arc::new(image) as SharedBytes).map_err(|error| Some(error.to_string()))
}

/// What stands in an image depends on how much of a workspace is read.
fn format() -> String {
    format!("up to {} tokens", Corpus::MAX_TOKENS)
}
