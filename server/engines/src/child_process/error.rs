//! Errors of child processes, each with a remedy and without keys.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// Error of a program. Messages name it as in `command`, quote its standard error without keys, and give a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramError {
    /// Program not found.
    #[error("there is no program `{program}`; install it, or correct `command`")]
    NotFound {
        /// Its name or path.
        program: String,
    },
    /// The file is not executable.
    #[error("`{program}` is not executable; make it executable, or correct `command`")]
    NotExecutable {
        /// Its name or path.
        program: String,
    },
    /// The working directory doesn't exist.
    #[error("there is no folder {} to run `{program}` in; correct `folder`", .folder.display())]
    NoFolder {
        /// Its name or path.
        program: String,
        /// The folder.
        folder: PathBuf,
    },
    /// The system failed to start it.
    #[error("`{program}` cannot be started: {reason}")]
    NotStarted {
        /// Its name or path.
        program: String,
        /// The system's error.
        reason: String,
    },
    /// It ended.
    #[error("`{program}` ended {how}{}", .last_line.as_ref().map(|last_line| format!(": {last_line}")).unwrap_or_default())]
    Ended {
        /// Its name or path.
        program: String,
        /// The signal or exit code.
        how: String,
        /// The last line of its standard error.
        last_line: Option<String>,
    },
    /// Timeout without any output.
    #[error("`{program}` {awaited} within {waited:?}{}", .last_line.as_ref().map(|last_line| format!("; it said last: {last_line}")).unwrap_or_default())]
    Timeout {
        /// Its name or path.
        program: String,
        /// The expected event, as the rest of a sentence.
        awaited: &'static str,
        /// The timeout.
        waited: Duration,
        /// The last line of its standard error.
        last_line: Option<String>,
    },
    /// The program runs, but its answers don't come or don't end.
    #[error("`{program}` {missing} within {waited:?}; {remedy}")]
    Unanswered {
        /// Its name or path.
        program: String,
        /// The missing event, as the rest of a sentence.
        missing: &'static str,
        /// The timeout.
        waited: Duration,
        /// Remedy, as a sentence.
        remedy: &'static str,
    },
    /// Its output violates its protocol.
    #[error("`{program}` wrote something else than {expected}: {reason}")]
    Malformed {
        /// Its name or path.
        program: String,
        /// Expected output.
        expected: &'static str,
        /// The error, without code.
        reason: String,
    },
    /// Its output exceeds a limit.
    #[error("`{program}` wrote {what} of more than {} MB", .limit >> 20)]
    TooLong {
        /// Its name or path.
        program: String,
        /// The output's name.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// A language server without support for the configured request.
    #[error("`{program}` does not offer `{method}`{remedy}")]
    NotOffered {
        /// Its name or path.
        program: String,
        /// The request's method.
        method: String,
        /// Remedy, as the rest of a sentence.
        remedy: &'static str,
    },
    /// Any of these errors, of a program with a log file.
    #[error("{fault}; its log is {}", .log.display())]
    Logged {
        /// The error.
        fault: Box<ProgramError>,
        /// The log file.
        log: PathBuf,
    },
    /// It reported an error.
    #[error("`{program}` failed: {message}")]
    Failed {
        /// Its name or path.
        program: String,
        /// Its message.
        message: String,
    },
}

impl ProgramError {
    /// Identifier of the cause, the same for all its messages, so that each cause is reported once.
    pub fn cause(&self) -> &'static str {
        match self {
            ProgramError::NotFound { .. } => "program_not_found",
            ProgramError::NotExecutable { .. } => "program_not_executable",
            ProgramError::NoFolder { .. } => "no_folder",
            ProgramError::NotStarted { .. } => "program_not_started",
            ProgramError::Ended { .. } => "program_ended",
            ProgramError::Timeout { .. } | ProgramError::Unanswered { .. } => "program_silent",
            ProgramError::Malformed { .. } => "program_malformed",
            ProgramError::TooLong { .. } => "program_too_long",
            ProgramError::Logged { fault, .. } => fault.cause(),
            ProgramError::NotOffered { .. } => "not_offered",
            ProgramError::Failed { .. } => "program_failed",
        }
    }
}
