//! The index of a workspace's files, and retrieval of code that resembles or explains a piece of code.
//!
//! ```text
//! text -> FileIndex (one file alone; immutable, storable) -> Segment (many files, inverted)
//!      -> Index = layers of segments; Index::apply(changed, removed) -> Index
//!      -> Searcher = Index with files hidden and open buffers in their place -> hits
//! ```
//!
//! This crate must not read files: callers pass texts. Hits, scores and reasons equal those of an index built from exactly the
//! files that a searcher sees, in any order. An incomplete or outdated index returns fewer hits, never an error.
#![deny(clippy::disallowed_methods)]

mod bags;
mod bm25;
mod cancel;
pub mod cceval;
mod codec;
mod content_hash;
mod copies;
mod copy_index;
mod embeddings;
mod endings;
mod file_index;
mod functions;
mod hit;
pub mod hybrid;
mod import_lines;
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
mod threads;
mod uses;
mod view;
mod windows;
mod words;

pub use cancel::{Cancel, CancelOnDrop};
pub use content_hash::ContentHash;
pub use copy_index::{CopyIndex, MIN_NAMES, MIN_RUN, RemovedCode};
pub use embeddings::{Embedder, EmbedderError, EmbeddingError, SimilarFunctions, VectorStore};
pub use file_index::{BLOCK_LINES, CodeLine, DecodeError, FileIndex, WINDOW_BLOCKS};
pub use functions::{FUNCTIONS, FunctionQuery};
pub use hit::{Hit, HitKind, tokens};
pub use index::Index;
pub use lexical::LexicalIndex;
pub use retrieve::{Budget, Query, Strategy, Visit};
pub use searcher::{Occurrence, Searcher};
pub use terms::{Term, identifiers};
pub use uses::{CrossFileUse, Defined};
pub use windows::{WindowHit, WindowQuery};
