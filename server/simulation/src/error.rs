//! Errors of a simulation.

use std::io;
use std::path::PathBuf;

use trial::StoreError;

/// Why a simulation stopped.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// A file or folder of the simulation.
    #[error("failed to write {}", path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A program does not start or ended.
    #[error("failed to run {}", program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The server does not answer.
    #[error("the language server did not answer `{method}`")]
    NoAnswer {
        /// The method of the request.
        method: String,
    },
    /// The server answers with an error.
    #[error("the language server refused `{method}`: {message}")]
    Refused {
        /// The method of the request.
        method: String,
        /// Its message.
        message: String,
    },
    /// Git fails.
    #[error("`git {command}` failed: {message}")]
    Git {
        /// The arguments.
        command: String,
        /// Its message.
        message: String,
    },
    /// The definition of the trial.
    #[error("failed to write the definition of the trial: {0}")]
    Definition(String),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}
