//! The index of a workspace's files, and retrieval of code that resembles or explains a piece of code.
//!
//! ```text
//! text -> FileIndex (one file alone; immutable, storable) -> Segment (many files, inverted)
//!      -> Index = layers of segments; Index::apply(changed, removed) -> Index
//!      -> saved as blocks, and used in place by a later process
//!      -> Searcher = Index with files hidden and open buffers in their place -> hits
//! ```
//!
//! This crate must not read files: callers pass texts. Hits, scores and reasons equal those of an index built from exactly the
//! files that a searcher sees, in any order. An incomplete or outdated index returns fewer hits, never an error.
#![deny(clippy::disallowed_methods)]

mod bags;
mod bm25;
mod cancel_flag;
pub mod cceval;
mod code_words;
mod codec;
mod content_hash;
mod copy_index;
mod cross_file_uses;
mod embeddings;
mod file_index;
mod file_passes;
mod hit;
pub mod hybrid;
mod import_lines;
mod index;
mod index_layer;
mod inverted_bags;
mod key_table;
mod keyed_lists;
mod lexical_index;
mod line_set;
mod name_table;
mod name_view;
mod near_duplicate_files;
mod near_search;
mod occurrences;
mod parallelism;
mod path_suffixes;
mod postings;
mod resolver;
mod retrieve;
mod saved_index;
mod searcher;
mod segment;
mod side_task;
mod similar_functions;
mod terms;
mod window_search;

pub use config::Strategy;

pub use cancel_flag::{CancelFlag, CancelOnDrop};
pub use content_hash::ContentHash;
pub use copy_index::{CopyIndex, MIN_NAMES, MIN_RUN, RemovedCode};
pub use cross_file_uses::{CrossFileDefinition, CrossFileUse};
pub use embeddings::{Embedder, EmbedderError, EmbeddingSearchError, SimilarFunctions, VectorStore};
pub use file_index::{BLOCK_LINES, CodeLine, DecodeError, FileIndex, SegmentFile, WINDOW_BLOCKS};
pub use hit::{Hit, HitKind, budget_tokens};
pub use index::Index;
pub use lexical_index::LexicalIndex;
pub use occurrences::Occurrence;
pub use retrieve::{RecentLocation, RetrievalQuery, TokenBudget, retrieval_count};
pub use saved_index::{FilePlace, SavedFile, load_files, save_files};
pub use searcher::Searcher;
pub use similar_functions::{FUNCTIONS, FunctionQuery};
pub use terms::{Term, identifiers};
pub use window_search::{WindowHit, WindowQuery};
