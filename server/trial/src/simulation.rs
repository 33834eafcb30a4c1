//! A simulated developer: types what the commits of a real repository added, and compares the recorder's truths with the commits.
//!
//! ```text
//! files of a commit --hunks--> keys, corrections, pastes, jumps, formatter, checkout --events--> Recorder --rows--> judge
//!                                   └────────── the text that the commit adds after each cursor ──────────────────────┘
//! ```
//!
//! The clock is simulated, so hours of typing take seconds. Two engines answer each request: a fast one, whose suggestions are
//! sometimes accepted, and a slow one in shadow. The expected texts come from the commits alone: this module must never ask the
//! recorder what is right.

mod developer;
mod hunks;
mod judge;
mod session;

use mining::history::FileChange;
use text::SplitMix64;

use crate::recorder::RecorderSettings;
use session::EditorSession;

pub use judge::{LanguageResults, SimulationResults, WrongTruth};

/// Develops commits one after the other.
#[derive(Debug)]
pub struct Simulation {
    session: EditorSession,
    random: SplitMix64,
}

impl Simulation {
    /// Creates a developer without open documents. The same seed and commits give the same results.
    pub fn new(seed: u64, settings: RecorderSettings) -> Simulation {
        Simulation { session: EditorSession::new(settings), random: SplitMix64::new(seed) }
    }

    /// Types the changes of a commit, and commits them.
    pub fn develop(&mut self, commit: &str, files: &[FileChange]) {
        for file in files {
            developer::develop(&mut self.session, &mut self.random, commit, file);
        }
        self.session.commit(commit);
    }

    /// Returns the number of opportunities so far.
    pub fn opportunities(&self) -> usize {
        self.session.opportunities()
    }

    /// Compares the recorded truths with what the commits added.
    pub fn results(&self) -> SimulationResults {
        judge::judge(&self.session)
    }
}
