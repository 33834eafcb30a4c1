//! CrossCodeEval: complete a statement that needs names from other files.
//!
//! ```text
//! line_completion*.jsonl + prediction.jsonl --PredictionScorer--> scoring::cceval --> results
//! ```
//!
//! The original is Apache-2.0. Its metrics are in [`scoring::cceval`], its retriever in the crate `index`.

mod build;
mod case;
mod rows;
mod score;

pub(crate) use build::case_row;
pub use build::{CcevalBuilder, CcevalRow, CcevalRowChunk, CcevalRowContext, CcevalRowMetadata, CcevalRows};
pub use rows::{CcevalChunk, CcevalContext, CcevalItem, CcevalMetadata, CcevalPrediction};
pub use score::PredictionScorer;
