//! Converts errors to messages and exit codes.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};

use engines::CassetteError;
use replay::ReachedLimit;
use report::format;
use scoring::gate::UnknownEngineError;
use scoring::run_comparison::ComparisonError;
use scoring::verdict::VerdictError;

use crate::output;

const FINDING: u8 = 1;
const USAGE: u8 = 2;
const OUTSIDE: u8 = 3;
/// Exit code of a process ended by Ctrl-C, as set by shells.
pub(crate) const INTERRUPTED: u8 = 130;

/// Returns the exit code for a process that ran in place of this one; a killed one is 128 and the signal, as in shells.
pub(crate) fn code_of_process(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let signal = None;
    let code = status.code().or(signal).and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(OUTSIDE))
}

/// The user stopped the command; finished work is kept.
#[derive(Debug)]
pub(crate) struct InterruptedError {
    /// How to resume; empty if that is not possible.
    pub(crate) remedy: String,
}

impl fmt::Display for InterruptedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.remedy.as_str() {
            "" => f.write_str("stopped"),
            remedy => write!(f, "stopped; finished answers are kept. {remedy}"),
        }
    }
}

impl std::error::Error for InterruptedError {}

/// A limit of the user stopped the run; finished work is kept.
#[derive(Debug)]
pub(crate) struct LimitError {
    /// The limit.
    pub(crate) limit: ReachedLimit,
    /// How to resume.
    pub(crate) remedy: String,
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit {
            ReachedLimit::Budget { spent, next } => write!(
                f,
                "stopped by --budget: {} is spent, and the next request costs up to {}",
                format::amount(spent),
                format::amount(next)
            ),
            ReachedLimit::Requests(requests) => {
                write!(f, "stopped by --max-requests after {requests} requests")
            }
        }?;
        write!(f, "; finished answers are kept. {}", self.remedy)
    }
}

impl std::error::Error for LimitError {}

/// The command succeeded and found a problem.
#[derive(Debug)]
pub(crate) struct FindingError(pub &'static str);

impl fmt::Display for FindingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for FindingError {}

/// Rules that were to hold did not.
#[derive(Debug)]
pub(crate) struct FailedGatesError(pub String);

impl fmt::Display for FailedGatesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FailedGatesError {}

/// Engines gave no answer.
#[derive(Debug)]
pub(crate) struct NoAnswerError(pub String);

impl fmt::Display for NoAnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoAnswerError {}

/// Requests had no recorded answer in offline mode.
#[derive(Debug)]
pub(crate) struct MissingRecordingError {
    /// Number of requests.
    pub(crate) questions: usize,
    /// The cassette, if any.
    pub(crate) cassette: Option<PathBuf>,
}

impl fmt::Display for MissingRecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requests = output::count(self.questions, "request");
        match &self.cassette {
            Some(cassette) => write!(
                f,
                "{} holds no answer to {requests}; run once without --offline to record them",
                cassette.display()
            ),
            None => write!(
                f,
                "no answer to {requests} because of --offline; name a file of recorded answers with --cassette"
            ),
        }
    }
}

impl std::error::Error for MissingRecordingError {}

/// The command line is invalid: a wrong path, or no work to do.
#[derive(Debug)]
pub(crate) struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Prints the error, if any, and returns the exit code.
pub(crate) fn exit_code(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    if is_broken_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    let option = error.downcast_ref().and_then(helpful_option).unwrap_or_default();
    output::print_message(&format!("ghostbench: {error:#}{option}"));
    ExitCode::from(exit_number(&error))
}

/// Returns whether the reader of standard output has closed it, as `head` does.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_pipe = |io: &io::Error| io.kind() == ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(is_pipe))
}

fn exit_number(error: &anyhow::Error) -> u8 {
    if error.is::<InterruptedError>() {
        return INTERRUPTED;
    }
    if error.is::<FindingError>() || error.is::<FailedGatesError>() || error.is::<LimitError>() {
        return FINDING;
    }
    let is_usage = error.is::<UsageError>()
        || error.is::<VerdictError>()
        || error.is::<ComparisonError>()
        || error.is::<UnknownEngineError>()
        || error
            .downcast_ref::<workspace::WorkspaceError>()
            .is_some_and(|error| !matches!(error, workspace::WorkspaceError::Unreadable { .. }))
        || error.downcast_ref::<workspace::GitHistoryError>().is_some_and(is_usage_of_history)
        || error.downcast_ref::<replay::ReplayError>().is_some_and(is_usage)
        || error.downcast_ref::<CassetteError>().is_some_and(is_usage_of_cassette)
        || error
            .downcast_ref::<trial::StoreError>()
            .is_some_and(|error| matches!(error, trial::StoreError::Missing { .. }))
        || error.downcast_ref::<serve::OpenError>().is_some_and(|error| {
            matches!(error, serve::OpenError::Address { .. } | serve::OpenError::NoToken { .. })
        });
    if is_usage { USAGE } else { OUTSIDE }
}

fn is_usage(error: &replay::ReplayError) -> bool {
    use replay::ReplayError as E;
    match error {
        E::Read { reason, .. } => matches!(reason.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory),
        // A file in place of a folder, or a folder in place of a file.
        E::Write { reason, .. } => {
            matches!(
                reason.kind(),
                ErrorKind::IsADirectory | ErrorKind::NotADirectory | ErrorKind::AlreadyExists
            )
        }
        E::NoRun { .. } | E::Exists { .. } | E::NoSuite { .. } | E::EmptySuite { .. } => true,
        E::OtherSuite { .. } | E::OtherEngines { .. } | E::OtherEngine { .. } => true,
        E::OtherOption { .. } | E::SameName { .. } | E::OtherHistory { .. } | E::OtherCode { .. } => true,
        E::Folder { .. } | E::Append { .. } | E::Record { .. } | E::Locked { .. } | E::HashKey { .. } => {
            false
        }
        E::Requests { .. }
        | E::Judgements { .. }
        | E::TruthFails { .. }
        | E::Sandbox { .. }
        | E::Parse { .. }
        | E::Row { .. }
        | E::TruncatedRow { .. }
        | E::Language { .. }
        | E::IdMismatch { .. }
        | E::DuplicateCase { .. } => false,
    }
}

fn is_usage_of_history(error: &workspace::GitHistoryError) -> bool {
    use workspace::GitHistoryError as E;
    matches!(error, E::NoRepository { .. } | E::Range { .. })
}

fn is_usage_of_cassette(error: &CassetteError) -> bool {
    match error {
        CassetteError::Read { reason, .. } | CassetteError::Write { reason, .. } => matches!(
            reason.kind(),
            ErrorKind::NotFound
                | ErrorKind::IsADirectory
                | ErrorKind::NotADirectory
                | ErrorKind::AlreadyExists
        ),
        CassetteError::NotACassette { .. } => true,
        CassetteError::Busy { .. } | CassetteError::Version { .. } | CassetteError::Line { .. } => false,
    }
}

/// Returns the option that helps, as an ending of the error's message.
fn helpful_option(error: &replay::ReplayError) -> Option<&'static str> {
    use replay::ReplayError as E;
    Some(match error {
        E::Write { .. } | E::Folder { .. } => "; choose another place with --out",
        E::Append { .. } => ": make room, then continue with --resume",
        E::Exists { .. } => "; continue it with --resume, or choose another folder with --out",
        E::OtherSuite { .. } | E::OtherEngines { .. } => "; choose another folder with --out",
        E::OtherHistory { .. } => "; choose another folder with --history",
        E::OtherOption { .. } => ", or choose another folder with --out",
        E::Locked { .. } => "; wait for it, or choose another folder with --out",
        _ => return None,
    })
}
