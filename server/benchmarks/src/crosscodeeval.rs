//! CrossCodeEval: complete a statement that needs names from other files.
//!
//! ```text
//! line_completion*.jsonl + prediction.jsonl --score_predictions--> scoring::cceval --> AggregateScore
//! ```
//!
//! The original is Apache-2.0. Its metrics are in [`scoring::cceval`], its retriever in the crate `index`.

mod case;
mod rows;
mod score;

pub use rows::{CcevalChunk, CcevalContext, CcevalItem, CcevalMetadata, CcevalPrediction};
pub use score::{PredictionSetScore, score_predictions};
