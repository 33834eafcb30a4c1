//! YABLoCo: write the body of a C or C++ function in a large repository.
//!
//! ```text
//! answer --read_generation--> code --splice--> file        answers + truths --> exact match, edit similarity, accuracy, pass@k
//! ```
//!
//! The original is MIT; the function texts of its data keep the licences of their projects.

mod build;
mod case;
mod clangd_index;
mod compile_commands;
mod document;
mod export;
mod function_text;
mod generation;
mod generation_sheet;
mod mera_rows;
mod metrics;
mod prompt;
mod run_sheet;
mod standard_library;
mod table;

pub use build::{BuiltYabloco, LastCommits, YablocoBuildConfig, build_functions};
pub use case::{YABLOCO, mera_case, yabloco_case};
pub use clangd_index::{ClangdIndex, ClangdIndexError, IndexedTarget, MAX_INDEX_BYTES};
pub use compile_commands::CompileCommands;
pub use document::{YablocoDocument, result_place};
pub use export::{YablocoFiles, yabloco_row_text};
pub use function_text::{function_text, splice};
pub use generation::{is_bad_generation, read_generation};
pub use generation_sheet::{
    MeraFunction, YablocoFunction, YablocoGenerations, YablocoResult, yabloco_functions,
};
pub use mera_rows::MeraRow;
pub use metrics::{
    GenerationPair, accuracy, any_of_first_passes, edit_similarity, exact_match, pass_at_k_estimate,
    single_edit_similarity,
};
pub use prompt::chat_prompt;
pub(crate) use run_sheet::run_sheets;
pub use table::{TableError, YablocoFunctions, YablocoRow, YablocoTable};
