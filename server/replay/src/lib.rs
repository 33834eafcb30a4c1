//! Replaying recorded cases: what is to be asked, asking it, and keeping every answer.
//!
//! ```text
//! suite + engines --plan--> attempts --ask--> predictions --append--> run folder --score--> scores
//! ```
//!
//! A run is append-only and resumable: a killed process loses at most the row being written, and going on repeats none. Replay has
//! nothing private of completion: it asks through [`completion::complete`] like everything else, with the case's file reduced to
//! prefix and suffix and other versions of that file hidden, so that no engine can reach the removed text.
//!
//! Suites and runs are kept here for the command line and the language server alike. Neither options nor editors are known.

mod ask;
mod code;
mod copies;
mod data_folder;
mod elsewhere;
mod error;
mod files;
mod identity;
mod latest;
mod machine;
mod make;
mod plan;
mod recorded;
mod run_folder;
mod score;
mod suite;

pub use ask::{ConfiguredEngine, Questions, Stop, ask_all, spans};
pub use code::Code;
pub use copies::Copies;
pub use data_folder::{DataFolder, RunsStamp};
pub use error::Error;
pub use files::FileStamp;
pub use latest::{Latest, WholeRun, latest, scores_of};
pub use machine::cores;
pub use make::{Answers, answer, describe, replay};
pub use plan::{Attempt, plan};
pub use recorded::{Added, RecordedCase, RecordedSuite};
pub use run_folder::{Contents, RunFolder, read_run, write_scores};
pub use score::score_all;
pub use suite::{read_suite, write_suite};
