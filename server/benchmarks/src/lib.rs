//! The public benchmarks Codev-Bench, CrossCodeEval, RepoQA and YABLoCo: their rules and their scores, a module each.
//!
//! ```text
//! public file --RowReader--> items
//! items + answers --codev_bench | crosscodeeval | repoqa | yabloco--> the original's numbers
//! ```
//!
//! Pure and deterministic. Readers and writers come from the caller: the crate never opens files, sends requests to engines or lays out
//! tables. CrossCodeEval's metrics and both variants of edit similarity are in `scoring`, which uses them for every run.
#![deny(clippy::disallowed_methods)]

pub mod codev_bench;
pub mod crosscodeeval;
mod export;
mod fences;
mod function_tasks;
pub mod further_sources;
mod imported_case;
mod json_text;
mod left_out;
mod ordered_map;
mod published;
pub mod repoqa;
mod row_reader;
mod row_template;
mod rules;
mod run_tables;
mod score_sheet;
pub mod yabloco;

pub use export::{ExportedRow, export_cceval_rows, export_codev_rows, imported_rows, in_imported_order};
pub use function_tasks::{FunctionPrompts, FunctionScorer, function_answer, function_prompts};
pub use json_text::JsonText;
pub use left_out::LeftOutCounts;
pub use ordered_map::OrderedMap;
pub use row_reader::{
    BenchmarkItem, BrokenRow, ImportedRow, MAX_ROW_BYTES, RowReader, decompress, write_rows,
};
pub use row_template::{ROW_TAG, add_repeated_row, row_of, row_tag};
pub use rules::ScoringRules;
pub use run_tables::{BenchmarkTables, run_tables};
pub use score_sheet::{CountedIds, RuleDifference, ScoreSheet, ScoreTable, TablePicture};
