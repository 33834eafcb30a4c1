//! YABLoCo: write the body of a C or C++ function in a large repository.
//!
//! ```text
//! answer --read_generation--> code --splice--> file        answers + truths --> exact match, edit similarity, accuracy, pass@k
//! ```
//!
//! The original is MIT; the function texts of its data keep the licences of their projects.

mod build;
mod document;
mod function_text;
mod generation;
mod generation_sheet;
mod metrics;
mod standard_library;
mod table;

pub use build::{BuiltYabloco, YablocoBuildConfig, build_functions};
pub use document::{YablocoDocument, result_place};
pub use function_text::{function_text, splice};
pub use generation::{is_bad_generation, read_generation};
pub use generation_sheet::{
    MeraFunction, YablocoFunction, YablocoGenerations, YablocoResult, yabloco_functions,
};
pub use metrics::{
    GenerationPair, accuracy, any_of_first_passes, edit_similarity, exact_match, pass_at_k_estimate,
    single_edit_similarity,
};
pub use table::{TableError, YablocoFunctions, YablocoRow, YablocoTable};
