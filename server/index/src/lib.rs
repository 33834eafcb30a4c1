//! What the files of a workspace hold, and what of it resembles or explains a piece of code.
//!
//! ```text
//! text -> FileIndex (one file alone; immutable, storable) -> Segment (many files, inverted)
//!      -> Index = layers of segments; Index::apply(changed, removed) -> Index
//!      -> Searcher = Index with files hidden and open buffers in their place -> hits
//! ```
//!
//! Nothing here reads a file: texts come from whoever has them. Hits, scores and reasons are those of an index built from just the
//! files that a searcher sees, in whatever order they came. An index that lacks files, or is behind them, gives fewer hits,
//! never an error.
#![deny(clippy::disallowed_methods)]

use std::sync::Arc;

mod bags;
mod bm25;
pub mod cceval;
mod codec;
mod content_hash;
mod copies;
mod embeddings;
mod endings;
mod file_index;
mod functions;
pub mod hybrid;
mod index;
mod layer;
mod lexical;
mod names;
mod postings;
mod resolve;
mod retrieve;
mod searcher;
mod segment;
mod similar_lines;
mod terms;
mod uses;
mod view;
mod windows;
mod words;

pub use content_hash::ContentHash;
pub use embeddings::{Embedder, EmbedderError, EmbeddingError, SimilarFunctions, VectorStore};
pub use file_index::{BLOCK_LINES, CodeLine, DecodeError, FileIndex, WINDOW_BLOCKS};
pub use functions::{FUNCTIONS, FunctionQuery};
pub use index::Index;
pub use lexical::LexicalIndex;
pub use retrieve::{Budget, Query, Strategy, Visit};
pub use searcher::{Occurrence, Searcher};
pub use terms::{Term, identifiers};
pub use uses::{CrossFileUse, Defined};
pub use windows::{WindowHit, WindowQuery};

/// A piece of code that a strategy found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// File, relative to the workspace root.
    pub path: Arc<str>,
    /// First line, 0-based.
    pub start_line: u32,
    /// Line after the last one.
    pub end_line: u32,
    /// The lines of which it shows something, in the order in which it shows them; empty if these are all.
    pub lines: Vec<u32>,
    /// What it shows: the lines as they are or signatures made from them, without the last line end.
    pub text: String,
    /// The strategy's score; higher is nearer.
    pub score: f64,
    /// Name of the strategy.
    pub strategy: &'static str,
    /// Why it was found, for people.
    pub reason: String,
}
