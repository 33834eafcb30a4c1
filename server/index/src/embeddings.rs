//! The strategy `functions` with embeddings: functions with a meaning similar to the one being written.
//!
//! ```text
//! functions of the searcher ─► hash of model and text ─► VectorStore ─► similarity to the query ─► distinct hits
//!                                                            ▲
//!                              missing vectors ─► Embedder ──┘
//! ```
//!
//! Only the similarity differs from the lexical variant in [`crate::similar_functions`]: queries, candidates and the exclusion of
//! copies are the same. If the embedder fails, the lexical result is used.

use std::collections::BinaryHeap;
use std::error::Error as StdError;

use rustc_hash::FxHashSet;
use thiserror::Error;

use crate::similar_functions::{FunctionCandidate, without_duplicates};
use crate::{FunctionQuery, Hit, Searcher};

mod unit_vector;
mod vector_store;

pub use vector_store::VectorStore;

use unit_vector::UnitVector;
use vector_store::VectorKey;

/// Maximum number of texts in one request: enough for batching.
const BATCH: usize = 32;

/// Maximum bytes of texts in one request, except for a single text: about four thousand tokens, which even a slow processor
/// reads in a minute.
const BATCH_BYTES: usize = 16 << 10;

/// Only this many bytes of a longer text are embedded: about a thousand tokens, within the limit of all but the smallest
/// models.
const TEXT_BYTES: usize = 4096;

/// An embedder's own error; the index only reports it.
pub type EmbedderError = Box<dyn StdError + Send + Sync>;

/// Computes vectors that are near each other for texts with similar meaning.
pub trait Embedder {
    /// Returns the model's name. Vectors of models with the same name are treated as comparable, even across sessions.
    fn model(&self) -> &str;

    /// Returns one vector for each of `texts`, in their order. May block for as long as the model takes.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError>;

    /// Called after each request with the numbers of embedded and missing functions of a search.
    fn progress(&self, _done: usize, _total: usize) {}
}

/// Error of a search with embeddings.
#[derive(Debug, Error)]
pub enum EmbeddingSearchError {
    /// The embedder failed.
    #[error(transparent)]
    Embedder(#[from] EmbedderError),
    /// The embedder returned a wrong number of vectors.
    #[error("the embedder returned {got} vectors for {asked} texts")]
    WrongCount {
        /// Number of texts.
        asked: usize,
        /// Number of vectors.
        got: usize,
    },
    /// Vectors of different lengths cannot be compared.
    #[error("the embedder returned a vector of {got} dimensions, expected {expected}")]
    DimensionMismatch {
        /// Dimensions of the query's vector.
        expected: usize,
        /// Dimensions of the other one.
        got: usize,
    },
    /// The vector is empty, zero, or contains NaN or infinity.
    #[error("the embedder returned a vector that is empty, zero or not finite")]
    InvalidVector,
}

/// Functions similar to the query.
#[derive(Debug)]
pub struct SimilarFunctions {
    /// The functions, nearest first.
    pub hits: Vec<Hit>,
    /// Number of texts embedded by this search, including the query's; all others were stored.
    pub embedded: usize,
    /// Why the lexical similarity was used instead.
    pub fallback: Option<EmbeddingSearchError>,
}

impl Searcher {
    /// As [`Searcher::similar_functions`], but with the similarity of embeddings.
    ///
    /// Vectors computed before a failure stay in `store`, so the next search continues from there. If there are more functions
    /// than the store has room for, only the lexically most similar ones are compared.
    pub fn functions_by_embedding(
        &self,
        query: &FunctionQuery<'_>,
        limit: usize,
        store: &mut VectorStore,
        embedder: &dyn Embedder,
    ) -> SimilarFunctions {
        store.begin_search();
        let mut asking = EmbeddingSession { embedder, store, embedded: 0 };
        let found = self.hide(&[query.path]).nearest_functions(query, limit, &mut asking);
        let embedded = asking.embedded;
        store.shrink();
        match found {
            Ok(hits) => SimilarFunctions { hits, embedded, fallback: None },
            Err(error) => {
                SimilarFunctions { hits: self.functions(query, limit), embedded, fallback: Some(error) }
            }
        }
    }

    fn nearest_functions(
        &self,
        query: &FunctionQuery<'_>,
        limit: usize,
        asking: &mut EmbeddingSession<'_>,
    ) -> Result<Vec<Hit>, EmbeddingSearchError> {
        let mut candidates = self.function_candidates(query);
        if candidates.is_empty() || query.text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let wanted = asking.embed_query(query.text)?;
        keep_best(&mut candidates, asking.store.room(wanted.dimensions()));
        let keys = asking.ensure_embedded(&candidates, wanted.dimensions())?;
        for (candidate, key) in candidates.iter_mut().zip(&keys) {
            let direction = asking.store.get(key, wanted.dimensions());
            candidate.score = direction.map_or(f32::MIN, |direction| direction.similarity(&wanted));
        }
        let model = asking.embedder.model();
        let chosen = without_duplicates(BinaryHeap::from(candidates), query, limit);
        Ok(chosen
            .iter()
            .map(|candidate| candidate.hit(format!("similarity {:.2} by {model}", candidate.score)))
            .collect())
    }
}

/// Keeps the `room` best candidates, in any order.
fn keep_best(candidates: &mut Vec<FunctionCandidate<'_>>, room: usize) {
    if candidates.len() > room {
        candidates.select_nth_unstable_by(room, |one, other| other.cmp(one));
        candidates.truncate(room);
    }
}

/// The embedder's requests of one search.
struct EmbeddingSession<'a> {
    embedder: &'a dyn Embedder,
    store: &'a mut VectorStore,
    /// Number of texts embedded so far.
    embedded: usize,
}

impl EmbeddingSession<'_> {
    /// Returns the query's unit vector. It is not stored, because every query is different.
    fn embed_query(&mut self, text: &str) -> Result<UnitVector, EmbeddingSearchError> {
        let direction = self.embed(&[truncate_text(text)])?.pop();
        Ok(direction.expect("one text has one direction"))
    }

    /// Ensures that the store has the vectors of all candidates; returns their keys.
    fn ensure_embedded(
        &mut self,
        candidates: &[FunctionCandidate<'_>],
        dimensions: usize,
    ) -> Result<Vec<VectorKey>, EmbeddingSearchError> {
        let model = self.embedder.model();
        let texts = candidates.iter().map(|candidate| truncate_text(candidate.text()));
        let known: Vec<(VectorKey, &str)> = texts.map(|text| (VectorKey::new(model, text), text)).collect();
        let mut seen = FxHashSet::default();
        let missing = known.iter().filter(|(key, _)| !self.store.touch(key, dimensions) && seen.insert(*key));
        let missing: Vec<(VectorKey, &str)> = missing.copied().collect();
        let mut rest = &missing[..];
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(batch_size(rest));
            self.embed_batch(batch, dimensions)?;
            self.embedder.progress(missing.len() - after.len(), missing.len());
            rest = after;
        }
        Ok(known.into_iter().map(|(key, _)| key).collect())
    }

    fn embed_batch(
        &mut self,
        batch: &[(VectorKey, &str)],
        dimensions: usize,
    ) -> Result<(), EmbeddingSearchError> {
        let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
        for ((key, _), direction) in batch.iter().zip(self.embed(&texts)?) {
            let got = direction.dimensions();
            if got != dimensions {
                return Err(EmbeddingSearchError::DimensionMismatch { expected: dimensions, got });
            }
            self.store.insert(*key, direction);
        }
        Ok(())
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<UnitVector>, EmbeddingSearchError> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let vectors = self.embedder.embed(&texts)?;
        if vectors.len() != texts.len() {
            return Err(EmbeddingSearchError::WrongCount { asked: texts.len(), got: vectors.len() });
        }
        self.embedded += texts.len();
        vectors
            .into_iter()
            .map(|vector| UnitVector::normalize(&vector).ok_or(EmbeddingSearchError::InvalidVector))
            .collect()
    }
}

/// Returns the number of texts in the next request, at least one.
fn batch_size(texts: &[(VectorKey, &str)]) -> usize {
    let mut bytes = 0;
    texts
        .iter()
        .take(BATCH)
        .take_while(|(_, text)| {
            bytes += text.len();
            bytes <= BATCH_BYTES
        })
        .count()
        .max(1)
}

/// Returns the part of `text` that is embedded.
fn truncate_text(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES)]
}

#[cfg(test)]
mod tests;
