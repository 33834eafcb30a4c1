//! RepoQA: find a described function in a long context and repeat it.
//!
//! ```text
//! repository --dependency_order, context--> prompt        answer --sanitize--> code --score--> best function, similarity
//! ```
//!
//! The original is Apache-2.0. It supports Python, Java, TypeScript, Rust, C++ and Go; the other languages use the nearest rule.

mod aggregate;
mod bleu;
mod build;
mod case;
mod comments;
mod context;
mod dataset_reader;
mod dependency_order;
mod description;
mod export;
mod function_table;
mod functions;
mod output_scores;
mod output_sheet;
mod prompt;
mod rows;
mod run_sheet;
mod sanitize;
mod score;

pub use aggregate::{THRESHOLDS, ThresholdCurve};
pub use bleu::{BestReference, References};
pub use build::{BuiltRepoqa, RepoqaBuildConfig, build_dataset};
pub use case::{REPOQA, RepoqaCaseConfig, repoqa_cases};
pub use comments::remove_comments;
pub use context::{CommentCleaning, ContextRequest, FindContext, build_context};
pub use dependency_order::dependency_order;
pub use description::Describer;
pub use export::{repoqa_file, repoqa_row};
pub use function_table::{FunctionRow, FunctionTable, function_table};
pub use functions::{FileFunction, file_functions};
pub use output_scores::{NeedleDepth, OutputScores, RepoqaTask, score_outputs};
pub use output_sheet::output_sheet;
pub use prompt::{INSTRUCTION, chat_prompt, code_prompt};
pub use rows::{BrokenRepository, DatasetError, RepoqaDataset, RepoqaNeedle, RepoqaOutput, RepoqaRepository};
pub(crate) use run_sheet::run_sheets;
pub use sanitize::sanitize;
pub use score::{AnswerScores, CommentMode, FindScore, Needle, Needles};
