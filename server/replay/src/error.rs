//! Errors of runs and suites.
//!
//! Messages contain the location and, if it is the same everywhere, the remedy. They do not mention command-line options,
//! because editors show them, too; the command line adds its own.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use cases::ParseError;
use thiserror::Error;

/// Why a run or a suite is not usable.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// Reading failed.
    #[error("cannot read {path}: {reason}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// Writing a whole file failed; its previous content is unchanged.
    #[error("cannot write {path}: {reason}", path = path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// A folder cannot be created in the data folder.
    #[error("cannot make a folder in {path}: {reason}", path = path.display())]
    Folder {
        /// Its parent folder.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// Appending a row to a run failed.
    #[error("cannot add to {path}: {reason}; finished answers are kept", path = path.display())]
    Append {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// Further requests cannot be made.
    #[error("{reason}; finished answers are kept")]
    Requests {
        /// Why, and the remedy.
        reason: Box<dyn Error + Send + Sync>,
    },
    /// Further answers cannot be judged.
    #[error("{reason}; finished verdicts are kept")]
    Judgements {
        /// Why, and the remedy.
        reason: Box<dyn Error + Send + Sync>,
    },
    /// The tests of a case do not pass with the truth.
    #[error("the tests of {path}:{line} do not pass with the truth: {last}")]
    TruthFails {
        /// The file.
        path: String,
        /// The line, 1-based.
        line: u32,
        /// The last line of their output.
        last: String,
    },
    /// Appending a case to a recorded suite failed.
    #[error("cannot add to {path}: {reason}; earlier cases are kept: free disk space or allow writing there, then record again", path = path.display())]
    Record {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// The code at a case's place is not its truth.
    #[error(
        "{path}, line {line}: the workspace has other code than the suite; check out the commit that it was made from",
        path = path.display()
    )]
    OtherCode {
        /// The file.
        path: PathBuf,
        /// Line of the case, from 1.
        line: u32,
    },
    /// A sandbox does not work.
    #[error("{reason}")]
    Sandbox {
        /// Why, and the remedy.
        reason: String,
    },
    /// A row is invalid.
    #[error("{path}, {problem}", path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Location and description.
        problem: ParseError,
    },
    /// A row of a recorded suite is invalid and skipped.
    #[error("{path}, {problem}; the other cases are used: correct that line, or delete it", path = path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Location and description.
        problem: ParseError,
    },
    /// The last row of a file is incomplete.
    #[error("{path}, line {line}: the last row is incomplete; delete that line to use the rows before it, or create the file again", path = path.display())]
    TruncatedRow {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: usize,
    },
    /// A case is in an unsupported language.
    #[error("{path}, case {id}: unknown language `{language}`; known are {known}", path = path.display())]
    Language {
        /// The file.
        path: PathBuf,
        /// The case.
        id: String,
        /// Its language.
        language: String,
        /// Supported languages.
        known: String,
    },
    /// The suite does not exist.
    #[error("the suite {path} does not exist; create one with `ghostbench mine`, or restore the file", path = path.display())]
    NoSuite {
        /// The file.
        path: PathBuf,
    },
    /// A suite has no cases.
    #[error("{path} contains no case; create a suite with `ghostbench mine`", path = path.display())]
    EmptySuite {
        /// The file.
        path: PathBuf,
    },
    /// The id of a case does not match its content.
    #[error("{path}, line {line}, case {id}: the line was edited, because the id does not match its content; restore the line, or delete it", path = path.display())]
    IdMismatch {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: usize,
        /// The case.
        id: String,
    },
    /// Two cases have the same id.
    #[error("{path}, case {id}: the case occurs twice; delete one of the two lines", path = path.display())]
    DuplicateCase {
        /// The file.
        path: PathBuf,
        /// The case.
        id: String,
    },
    /// The folder contains no run.
    #[error("{path} contains no run (run.json is missing); specify a folder created by `ghostbench try` or `replay`", path = path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// A new run would overwrite an old one.
    #[error("{path} already contains a run", path = path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The run belongs to another suite.
    #[error("{path} is a run of another suite ({theirs}, not {ours})", path = path.display())]
    OtherSuite {
        /// The folder.
        path: PathBuf,
        /// Hash in the run.
        theirs: String,
        /// Hash of the specified suite.
        ours: String,
    },
    /// The run was started with other engines, settings or prices.
    #[error("{path} was started with other engines or settings: {}; resume it with the same", differences.join("; "), path = path.display())]
    OtherEngines {
        /// The folder.
        path: PathBuf,
        /// Differences, by the engine's name and the setting's key.
        differences: Vec<String>,
    },
    /// A run has another engine of the same name.
    #[error(
        "{path} has another engine `{name}`: {}; rename the engine in the settings, or compare two runs with `ghostbench compare`",
        differences.join("; "), path = path.display()
    )]
    OtherEngine {
        /// The folder.
        path: PathBuf,
        /// The name.
        name: String,
        /// Differences by setting.
        differences: Vec<String>,
    },
    /// Two engines of a run have the same name.
    #[error("two engines are called `{name}`; rename one of them, because answers are kept by name")]
    SameName {
        /// The name.
        name: String,
    },
    /// The file of the key for hashes of settings is invalid.
    #[error("cannot use {path}: {reason}; delete it to create a new one; earlier runs then cannot be resumed", path = path.display())]
    HashKey {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: io::Error,
    },
    /// The run was started with another workspace or another number of repetitions.
    #[error("{path} was started with another {what} ({theirs}, not {ours}); resume it with the same", path = path.display())]
    OtherOption {
        /// The folder.
        path: PathBuf,
        /// The option.
        what: &'static str,
        /// The run's value.
        theirs: String,
        /// The requested value.
        ours: String,
    },
    /// The history is about another suite or metric.
    #[error("{path} is a history of another {what} ({theirs}, not {ours}); its nights cannot be compared with this one", path = path.display())]
    OtherHistory {
        /// The folder.
        path: PathBuf,
        /// The difference.
        what: &'static str,
        /// The history's value.
        theirs: String,
        /// The requested value.
        ours: String,
    },
    /// Another process is writing the run or the suite.
    #[error("{path} is being written by another ghostbench", path = path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
}
