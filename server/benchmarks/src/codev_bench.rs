//! Codev-Bench: complete a block, judged by the project's unit tests and by three rules about the answer's shape.
//!
//! ```text
//! general model's reply --extract_code--> response --judges, unit_test_passes--> passed or not --> CodevTable
//! ```
//!
//! The original has no licence: nothing of it is copied, and its data must not be redistributed.

mod build;
mod case;
mod judges;
mod mutants;
mod response;
mod result_sheet;
mod rows;
mod table;
mod unit_test_log;

pub(crate) use build::block_row;
pub use build::{CodevBuilder, CodevRow};
pub use judges::{has_right_indent, is_empty, is_on_one_line, line_length};
pub use mutants::Mutants;
pub use response::extract_code;
pub use result_sheet::{CodevPrediction, CodevResultFiles, CodevShard};
pub use rows::{CodevBlock, CodevFile, CodevItem};
pub use table::{CodevColumn, CodevGroup, CodevResult, CodevTable};
pub use unit_test_log::unit_test_passes;
