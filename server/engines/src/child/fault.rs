//! What goes wrong between us and a program, each cause with its remedy, and no key in any of it.

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

/// Why a program gave no answer. Messages name it as it stands in `command`, quote its standard error without keys, and tell what to
/// do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramFault {
    /// Nobody knows such a program.
    #[error("there is no program `{program}`; install it, or correct `command`")]
    NotFound {
        /// Its name or path.
        program: String,
    },
    /// It may not be run.
    #[error("`{program}` is no program that may be run; make it executable, or correct `command`")]
    NotExecutable {
        /// Its name or path.
        program: String,
    },
    /// The folder that it shall run in is none.
    #[error("there is no folder {} to run `{program}` in; correct `folder`", .folder.display())]
    NoFolder {
        /// Its name or path.
        program: String,
        /// The folder.
        folder: PathBuf,
    },
    /// The system does not start it.
    #[error("`{program}` cannot be started: {reason}")]
    NotStarted {
        /// Its name or path.
        program: String,
        /// What the system says.
        reason: String,
    },
    /// It ended.
    #[error("`{program}` ended {how}{}", .said.as_ref().map(|said| format!(": {said}")).unwrap_or_default())]
    Ended {
        /// Its name or path.
        program: String,
        /// By what, or with which exit code.
        how: String,
        /// The last line of its standard error.
        said: Option<String>,
    },
    /// It is not ready, or gives no answer.
    #[error("`{program}` {awaited} within {waited:?}{}", .said.as_ref().map(|said| format!("; it said last: {said}")).unwrap_or_default())]
    Silent {
        /// Its name or path.
        program: String,
        /// What did not happen, as the rest of a sentence.
        awaited: &'static str,
        /// How long.
        waited: Duration,
        /// The last line of its standard error.
        said: Option<String>,
    },
    /// It runs, but its answers do not come or do not end.
    #[error("`{program}` {missing} within {waited:?}; {remedy}")]
    Unanswered {
        /// Its name or path.
        program: String,
        /// What is missing, as the rest of a sentence.
        missing: &'static str,
        /// How long was waited.
        waited: Duration,
        /// What to do about it, as a sentence.
        remedy: &'static str,
    },
    /// It says something else than its protocol.
    #[error("`{program}` wrote something else than {expected}: {reason}")]
    Malformed {
        /// Its name or path.
        program: String,
        /// What was expected.
        expected: &'static str,
        /// What is wrong with it, without code.
        reason: String,
    },
    /// It says far too much.
    #[error("`{program}` wrote {what} of more than {} MB", .limit >> 20)]
    TooLong {
        /// Its name or path.
        program: String,
        /// What of it.
        what: &'static str,
        /// What is read, bytes.
        limit: usize,
    },
    /// It is a language server that cannot do what is asked of it.
    #[error("`{program}` does not offer `{method}`{remedy}")]
    NotOffered {
        /// Its name or path.
        program: String,
        /// What is asked.
        method: String,
        /// What to do about it, as the rest of a sentence.
        remedy: &'static str,
    },
    /// Any of these, of a program that writes down what it does.
    #[error("{fault}; its log is {}", .log.display())]
    Logged {
        /// What went wrong.
        fault: Box<ProgramFault>,
        /// Where more about it may stand.
        log: PathBuf,
    },
    /// It tells of a failure of its own.
    #[error("`{program}` failed: {message}")]
    Failed {
        /// Its name or path.
        program: String,
        /// What it says.
        message: String,
    },
}

impl ProgramFault {
    /// A word for the cause, the same for all messages about it: whoever tells users says each once.
    pub fn cause(&self) -> &'static str {
        match self {
            ProgramFault::NotFound { .. } => "program_not_found",
            ProgramFault::NotExecutable { .. } => "program_not_executable",
            ProgramFault::NoFolder { .. } => "no_folder",
            ProgramFault::NotStarted { .. } => "program_not_started",
            ProgramFault::Ended { .. } => "program_ended",
            ProgramFault::Silent { .. } | ProgramFault::Unanswered { .. } => "program_silent",
            ProgramFault::Malformed { .. } => "program_malformed",
            ProgramFault::TooLong { .. } => "program_too_long",
            ProgramFault::Logged { fault, .. } => fault.cause(),
            ProgramFault::NotOffered { .. } => "not_offered",
            ProgramFault::Failed { .. } => "program_failed",
        }
    }
}
