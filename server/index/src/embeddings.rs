//! The strategy `functions` by embeddings: which functions mean something like the one that is being written.
//!
//! ```text
//! functions of the searcher ─► hash of model and text ─► VectorStore ─► similarity to the query ─► distinct hits
//!                                                            ▲
//!                                what it lacks ─► Embedder ──┘
//! ```
//!
//! Everything but the similarity is that of the lexical kind in [`crate::functions`]: what a query and a candidate are, and that
//! copies are none. Where the embedder fails, the lexical answer stands in.

use std::collections::BinaryHeap;
use std::error::Error as StdError;

use rustc_hash::FxHashSet;
use thiserror::Error;

use crate::functions::{Candidate, distinct};
use crate::{FunctionQuery, Hit, Searcher};

mod direction;
mod store;

pub use store::VectorStore;

use direction::Direction;
use store::Key;

/// Texts that an embedder is given at once: enough for it to work on several.
const BATCH: usize = 32;

/// Their bytes together, unless it is one: some four thousand tokens, which even a slow processor reads in a minute.
const BATCH_BYTES: usize = 16 << 10;

/// Of a longer text its beginning is embedded, bytes: about a thousand tokens, which all but the smallest models can read.
const TEXT_BYTES: usize = 4096;

/// What an embedder's own errors are to the index: something to be told.
pub type EmbedderError = Box<dyn StdError + Send + Sync>;

/// Turns texts into vectors of which near ones mean nearly the same.
pub trait Embedder {
    /// The model's name. Vectors of models with the same name are taken for comparable, also on another day.
    fn model(&self) -> &str;

    /// One vector for each of `texts`, in their order. May block for as long as the model takes.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedderError>;

    /// Told after each request how many of the functions that a search lacked are embedded.
    fn progress(&self, _done: usize, _total: usize) {}
}

/// Why there are no embeddings.
#[derive(Debug, Error)]
pub enum EmbeddingError {
    /// The embedder said so.
    #[error(transparent)]
    Embedder(#[from] EmbedderError),
    /// It does not do what it promises.
    #[error("{got} vectors came for {asked} texts")]
    Number {
        /// Texts given.
        asked: usize,
        /// Vectors received.
        got: usize,
    },
    /// Vectors of different lengths cannot be compared.
    #[error("a vector of {got} numbers came where others have {expected}")]
    Length {
        /// Numbers of the query's vector.
        expected: usize,
        /// Numbers of the other one.
        got: usize,
    },
    /// Its vector is empty, zero or has numbers that are none.
    #[error("a vector came that points nowhere")]
    Nowhere,
}

/// Functions like the query.
#[derive(Debug)]
pub struct SimilarFunctions {
    /// The functions, nearest first.
    pub hits: Vec<Hit>,
    /// Texts that were embedded for it, the query's among them; all others were known.
    pub embedded: usize,
    /// Why similarity is lexical after all.
    pub fallback: Option<EmbeddingError>,
}

impl Searcher {
    /// As [`Searcher::functions`], but similarity is that of embeddings.
    ///
    /// What was embedded before it failed stays in `store`, so the next search goes on from there. Where there are more functions than
    /// the store has room for, those are compared that lexically resemble the query most.
    pub fn functions_by_embedding(
        &self,
        query: &FunctionQuery<'_>,
        limit: usize,
        store: &mut VectorStore,
        embedder: &dyn Embedder,
    ) -> SimilarFunctions {
        store.begin_search();
        let mut asking = Asking { embedder, store, embedded: 0 };
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
        asking: &mut Asking<'_>,
    ) -> Result<Vec<Hit>, EmbeddingError> {
        let mut candidates = self.function_candidates(query);
        if candidates.is_empty() || query.text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let wanted = asking.query(query.text)?;
        keep_best(&mut candidates, asking.store.room(wanted.dimensions()));
        let keys = asking.know(&candidates, wanted.dimensions())?;
        for (candidate, key) in candidates.iter_mut().zip(&keys) {
            let direction = asking.store.get(key, wanted.dimensions());
            candidate.score = direction.map_or(f32::MIN, |direction| direction.similarity(&wanted));
        }
        let model = asking.embedder.model();
        let chosen = distinct(BinaryHeap::from(candidates), query, limit);
        let hit = |candidate: &Candidate<'_>| {
            candidate.hit(format!("similarity {:.2} by {model}", candidate.score))
        };
        Ok(chosen.iter().map(hit).collect())
    }
}

/// Keeps the `room` best candidates, in any order.
fn keep_best(candidates: &mut Vec<Candidate<'_>>, room: usize) {
    if candidates.len() > room {
        candidates.select_nth_unstable_by(room, |one, other| other.cmp(one));
        candidates.truncate(room);
    }
}

/// One search's dealings with the embedder.
struct Asking<'a> {
    embedder: &'a dyn Embedder,
    store: &'a mut VectorStore,
    /// Texts embedded so far.
    embedded: usize,
}

impl Asking<'_> {
    /// The direction of the query. It is not stored: the next one is another.
    fn query(&mut self, text: &str) -> Result<Direction, EmbeddingError> {
        let direction = self.embed(&[beginning(text)])?.pop();
        Ok(direction.expect("one text has one direction"))
    }

    /// Sees to it that the store has the directions of all candidates; tells under which keys.
    fn know(&mut self, candidates: &[Candidate<'_>], dimensions: usize) -> Result<Vec<Key>, EmbeddingError> {
        let model = self.embedder.model();
        let texts = candidates.iter().map(|candidate| beginning(candidate.text()));
        let known: Vec<(Key, &str)> = texts.map(|text| (Key::new(model, text), text)).collect();
        let mut seen = FxHashSet::default();
        let missing = known.iter().filter(|(key, _)| !self.store.touch(key, dimensions) && seen.insert(*key));
        let missing: Vec<(Key, &str)> = missing.copied().collect();
        let mut rest = &missing[..];
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(batch(rest));
            self.learn(batch, dimensions)?;
            self.embedder.progress(missing.len() - after.len(), missing.len());
            rest = after;
        }
        Ok(known.into_iter().map(|(key, _)| key).collect())
    }

    fn learn(&mut self, batch: &[(Key, &str)], dimensions: usize) -> Result<(), EmbeddingError> {
        let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
        for ((key, _), direction) in batch.iter().zip(self.embed(&texts)?) {
            let got = direction.dimensions();
            if got != dimensions {
                return Err(EmbeddingError::Length { expected: dimensions, got });
            }
            self.store.insert(*key, direction);
        }
        Ok(())
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Direction>, EmbeddingError> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let vectors = self.embedder.embed(&texts)?;
        if vectors.len() != texts.len() {
            return Err(EmbeddingError::Number { asked: texts.len(), got: vectors.len() });
        }
        self.embedded += texts.len();
        vectors.into_iter().map(|vector| Direction::of(&vector).ok_or(EmbeddingError::Nowhere)).collect()
    }
}

/// How many of the texts go into one request, at least one.
fn batch(texts: &[(Key, &str)]) -> usize {
    let mut bytes = 0;
    let fits = |(_, text): &&(Key, &str)| {
        bytes += text.len();
        bytes <= BATCH_BYTES
    };
    texts.iter().take(BATCH).take_while(fits).count().max(1)
}

/// As much of `text` as is embedded.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES)]
}

#[cfg(test)]
mod tests;
