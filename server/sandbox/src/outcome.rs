//! Outcome of a command.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// With an exit code.
    Code(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// At its time limit.
    TimedOut,
    /// At its memory limit.
    OutOfMemory,
    /// At its limit of processes.
    TooManyProcesses,
    /// At its limit of output.
    TooMuchOutput,
}

/// A file that the command wrote and that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Path in the workspace.
    pub path: PathBuf,
    /// Its content; invalid UTF-8 is replaced.
    pub text: String,
}

/// The outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandOutcome {
    /// How it ended.
    pub exit: Exit,
    /// Beginning and end of its standard output and standard error, in the order of writing.
    pub output: String,
    /// The reports, ordered by path. Missing, oversized and special files are left out.
    pub reports: Vec<Report>,
    /// Wall time from its start to its end.
    pub wall: Duration,
    /// Largest resident memory of all processes together that was seen, in bytes.
    pub peak_memory_bytes: u64,
}

impl CommandOutcome {
    /// Whether the command ended by itself with exit code 0.
    pub fn is_success(&self) -> bool {
        self.exit == Exit::Code(0)
    }
}
