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

mod code_version;
mod data_folder;
mod error;
mod execute;
mod file_io;
mod fingerprint;
mod latest_answers;
mod leaked_copies;
mod machine;
mod plan;
mod recorded_suite;
mod run_folder;
mod runner;
mod score_predictions;
mod suite;
mod truth_copies;

pub use code_version::CodeVersion;
pub use data_folder::{DataFolder, RunsStamp};
pub use error::ReplayError;
pub use execute::{RunAnswers, describe_run, execute, replay};
pub use file_io::FileStamp;
pub use latest_answers::{LatestAnswers, SuiteRun, latest_answers, scores_of};
pub use machine::cores;
pub use plan::{Attempt, plan};
pub use recorded_suite::{AddedCase, RecordedCase, RecordedSuite};
pub use run_folder::{RunContents, RunFolder, read_run, write_scores};
pub use runner::{ConfiguredEngine, RunInputs, StopSignal, run_attempts, spans};
pub use score_predictions::score_all;
pub use suite::{read_suite, write_suite};
pub use truth_copies::TruthCopies;
