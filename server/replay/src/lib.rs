//! Replaying recorded cases: what is to be asked, asking it, and keeping every answer.
//!
//! ```text
//! suite + engines --plan--> attempts --ask--> predictions --append--> run folder --score--> scores
//! ```
//!
//! A run is append-only and resumable: a killed process loses at most the row being written, and going on repeats none. Replay has
//! nothing private of completion: it asks through [`completion::complete`] like everything else, with the case's file reduced to
//! prefix and suffix and other versions of that file hidden, so that no engine can reach the removed text.

mod ask;
mod elsewhere;
mod plan;
mod run_folder;
mod score;

pub use ask::{ConfiguredEngine, ask_all};
pub use plan::{Attempt, plan};
pub use run_folder::{Contents, Error, RunFolder, read_run, read_suite, write_scores, write_suite};
pub use score::score_all;
