//! Embeddings from the server named on the command line. Vectors are kept in the cache folder.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;

use anyhow::Context;
use cache::{Cache, CacheMiss, Entry};
use completion::ServerEmbedder;
use config::Secret;
use engines::{EmbeddingServer, HttpEmbedder, HttpServerConfig};
use index::{Embedder, EmbedderError, Hit, RetrievalQuery, Searcher, TokenBudget, VectorStore};
use tokio::runtime::Runtime;

use super::run_replay::runtime;
use crate::args::EmbeddingArgs;
use crate::exit::UsageError;
use crate::folders;
use crate::output::{count, print_message};
use crate::progress::Progress;

/// An embedding server and its vectors so far.
pub(crate) struct Embeddings {
    embedder: ProgressEmbedder,
    store: VectorStore,
    cache: Option<Cache>,
    /// Number of texts embedded by this command.
    embedded: usize,
    /// Whether the fallback to lexical similarity has been reported.
    is_announced: bool,
    /// Drives the connections of the server's client.
    _runtime: Runtime,
}

impl Embeddings {
    /// Opens the server of the command line with the cached vectors; `None` if there is none.
    pub(crate) fn open(args: &EmbeddingArgs) -> anyhow::Result<Option<Embeddings>> {
        let Some(url) = &args.server else { return Ok(None) };
        let key = args.key_variable.as_deref().map(key).transpose()?;
        let server = EmbeddingServer {
            server: HttpServerConfig { key, ..HttpServerConfig::at(url) },
            model: args.model.clone(),
            timeout: EmbeddingServer::DEFAULT_TIMEOUT,
        };
        let runtime = runtime()?;
        let embedder = HttpEmbedder::new(&server, runtime.handle().clone());
        let embedder = embedder.map_err(|error| UsageError(error.to_string()))?;
        let embedder = ProgressEmbedder {
            embedder: ServerEmbedder(embedder),
            url: url.clone(),
            is_announced: Cell::default(),
            progress: RefCell::default(),
        };
        let cache = folders::cache();
        let store = cache.as_ref().map_or_else(empty_store, |cache| load_or_empty(cache, embedder.model()));
        Ok(Some(Embeddings { embedder, store, cache, embedded: 0, is_announced: false, _runtime: runtime }))
    }

    /// Returns functions similar to the one around the cursor.
    pub(crate) fn retrieve(
        &mut self,
        searcher: &Searcher,
        query: &RetrievalQuery<'_>,
        budget: TokenBudget,
    ) -> Vec<Hit> {
        let similar = searcher.retrieve_functions(query, budget, &mut self.store, &self.embedder);
        self.embedded += similar.embedded;
        // After a failure the bar is still shown.
        drop(self.embedder.progress.take());
        if let Some(error) = similar.fallback
            && !self.is_announced
        {
            print_message(&format!("functions are compared by their words instead: {error}"));
            self.is_announced = true;
        }
        similar.hits
    }

    /// Saves the vectors and prints a summary.
    pub(crate) fn save(self) {
        if self.embedded == 0 {
            return;
        }
        let model = self.embedder.model();
        print_message(&format!("{} embedded by {model}", count(self.embedded, "text")));
        if let Some(cache) = &self.cache
            && let Err(error) = save(cache, model, &self.store)
        {
            print_message(&format!("the embeddings are not saved: {error:#}"));
        }
    }
}

/// An embedder that shows its progress if it takes more than one request.
struct ProgressEmbedder {
    embedder: ServerEmbedder,
    url: String,
    /// Whether the server's name has been printed.
    is_announced: Cell<bool>,
    progress: RefCell<Option<Progress>>,
}

impl Embedder for ProgressEmbedder {
    fn model(&self) -> &str {
        self.embedder.model()
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        if !self.is_announced.replace(true) {
            let patience = EmbeddingServer::DEFAULT_TIMEOUT.as_secs();
            print_message(&format!(
                "requesting embeddings from {}, at most {patience} s per request",
                self.url
            ));
        }
        self.embedder.embed(texts)
    }

    fn progress(&self, done: usize, total: usize) {
        let mut progress = self.progress.borrow_mut();
        if done < total {
            let progress = progress.get_or_insert_with(|| Progress::new("embedded", "functions"));
            progress.set(done as u64, total as u64);
        } else if let Some(progress) = progress.take() {
            progress.finish(&count(total, "function"));
        }
    }
}

fn key(variable: &str) -> Result<Secret, UsageError> {
    let value = std::env::var(variable).ok().filter(|value| !value.trim().is_empty());
    let value = value
        .ok_or_else(|| UsageError(format!("the environment variable {variable} holds no key; set it")))?;
    Ok(Secret::new(&value))
}

fn empty_store() -> VectorStore {
    VectorStore::new(VectorStore::STANDARD_LIMIT)
}

/// Loads the cached vectors of a model; an empty store if they are unusable.
fn load_or_empty(cache: &Cache, model: &str) -> VectorStore {
    load(cache, model).unwrap_or_else(|error| {
        let is_new = matches!(error.downcast_ref(), Some(CacheMiss::Absent));
        if !is_new {
            print_message(&format!("rebuilding the embeddings: {error:#}"));
        }
        empty_store()
    })
}

fn load(cache: &Cache, model: &str) -> anyhow::Result<VectorStore> {
    let run = cache
        .open(&cache_root(model), VectorStore::FORMAT)?
        .next()
        .context("the cached embeddings are empty")??;
    let entries = run.entries()?;
    let [entry] = &entries[..] else { anyhow::bail!("the cached embeddings have an invalid format") };
    VectorStore::decode(&entry.payload, VectorStore::STANDARD_LIMIT)
        .context("cannot read the cached embeddings")
}

fn save(cache: &Cache, model: &str, store: &VectorStore) -> anyhow::Result<()> {
    let payload = store.encode().into();
    let entry = Entry { path: model, stamp: &[], hash: [0; 32], text: "", payload };
    cache.save(&cache_root(model), VectorStore::FORMAT, [entry])?;
    Ok(())
}

/// Returns the cache root of a model, in place of a workspace's folder. It is no valid folder name, and lists show it.
fn cache_root(model: &str) -> PathBuf {
    PathBuf::from(format!("{CACHE_ROOT_PREFIX}{model}"))
}

const CACHE_ROOT_PREFIX: &str = "embeddings: ";

/// Returns whether a cache holds a model's embeddings rather than a workspace.
pub(crate) fn is_embedding_cache(root: Option<&str>) -> bool {
    root.is_some_and(|root| root.starts_with(CACHE_ROOT_PREFIX))
}
