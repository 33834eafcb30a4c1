//! A simulated developer: types the added text of real commits into a language server that records a trial, and compares
//! the recorded truths with the commits.
//!
//! ```text
//! files of a commit ─hunks─► Typist: keys, corrections, pastes, jumps, formatter ─► Editor ─LSP─► ghostbench lsp ─► store
//!                                    └── the text that the commit adds after each cursor ──► judge ◄── rows ──────────┘
//! ```
//!
//! Time is simulated, so hours of typing take minutes; with the system's clock a short session shows the same. The expected texts
//! come from the commits alone: nothing here asks the recorder what is right. The workspace, its git repository and all files of the
//! server are in a temporary folder.

mod connection;
mod developer;
mod editor;
mod engine;
mod error;
mod hunks;
mod judge;
mod scratch;
mod typist;

use std::path::PathBuf;

use cases::Opportunity;
use mining::history::FileChange;
use text::SplitMix64;

use editor::Editor;

pub use editor::ProvenanceDifference;
pub use engine::{EngineScript, answer_requests};
pub use error::SimulationError;
pub use judge::{LanguageResults, ServerFacts, ServerResources, SimulationResults, StageCounts, WrongTruth};

/// Settings of a simulation.
#[derive(Clone, Debug)]
pub struct SimulationSettings {
    /// The program `ghostbench`.
    pub program: PathBuf,
    /// Random seed.
    pub seed: u64,
    /// Whether time passes as usual, without a simulated clock.
    pub is_real_time: bool,
    /// Number of times that the server is killed and started again while files are open.
    pub kills: u32,
    /// Hours after which nothing more is typed than the text that was begun.
    pub max_hours: Option<f64>,
}

/// Develops commits one after the other.
#[derive(Debug)]
pub struct Simulation {
    editor: Editor,
    random: SplitMix64,
    kills: u32,
}

impl Simulation {
    /// Starts a server with an empty workspace in which a trial with three engines runs.
    ///
    /// # Errors
    /// The temporary folder cannot be written, or the server does not start.
    pub fn start(settings: &SimulationSettings) -> Result<Simulation, SimulationError> {
        Ok(Simulation {
            editor: Editor::start(settings)?,
            random: SplitMix64::new(settings.seed),
            kills: settings.kills,
        })
    }

    /// Types the changes of a commit, and commits them.
    ///
    /// # Errors
    /// The server ends, does not answer or refuses a request; files cannot be written; git fails.
    pub fn develop(&mut self, commit: &str, files: &[FileChange]) -> Result<(), SimulationError> {
        developer::develop(&mut self.editor, &mut self.random, &mut self.kills, commit, files)
    }

    /// Returns the number of requests at different cursors so far: at least the number of opportunities.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn opportunities(&self) -> Result<u64, SimulationError> {
        self.editor.scratch().stored()
    }

    /// Returns whether the developer's time is over.
    pub fn is_over(&self) -> bool {
        self.editor.is_over()
    }

    /// Ends the server, and compares the recorded truths with the commits. Returns the recorded rows, too.
    ///
    /// # Errors
    /// The server does not end, or the store cannot be read.
    pub fn finish(self) -> Result<(SimulationResults, Vec<Opportunity>), SimulationError> {
        let (scratch, expected, server) = self.editor.finish()?;
        let rows = scratch.rows()?;
        let results = judge::judge(&rows, &expected, server);
        Ok((results, rows))
    }
}
