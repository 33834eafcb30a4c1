//! Why a run or a suite could not be used.
//!
//! Messages name the place and, where one helps everywhere, the remedy. Options of the command line stand in none of them: an
//! editor has no options. The command line adds its own.

use std::io;
use std::path::PathBuf;

use cases::ParseError;
use thiserror::Error;

/// Why a run or a suite could not be used.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// Reading failed.
    #[error("cannot read {path}: {reason}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's.
        reason: io::Error,
    },
    /// Writing a whole file failed; nothing was there before, or it is still there.
    #[error("cannot write {path}: {reason}", path = path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The system's.
        reason: io::Error,
    },
    /// The data folder takes no new folder.
    #[error("cannot make a folder in {path}: {reason}", path = path.display())]
    Folder {
        /// Where it should have been made.
        path: PathBuf,
        /// The system's.
        reason: io::Error,
    },
    /// Adding a row to a run failed.
    #[error("cannot add to {path}: {reason}; what is finished is kept", path = path.display())]
    Append {
        /// The file.
        path: PathBuf,
        /// The system's.
        reason: io::Error,
    },
    /// Adding a case to a recorded suite failed.
    #[error("cannot add to {path}: {reason}; the cases before are kept: make room or allow writing there, then record again", path = path.display())]
    Record {
        /// The file or folder.
        path: PathBuf,
        /// The system's.
        reason: io::Error,
    },
    /// A row is not what it should be.
    #[error("{path}, {problem}", path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and what.
        problem: ParseError,
    },
    /// A row of a recorded suite is not what it should be, and is left out.
    #[error("{path}, {problem}; the other cases are used: correct that line, or delete it", path = path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Where and what.
        problem: ParseError,
    },
    /// A file ends in the middle of a row.
    #[error("{path}, line {line}: the file ends in the middle of a row; delete that line to use the rows before it, or make the file anew", path = path.display())]
    TruncatedRow {
        /// The file.
        path: PathBuf,
        /// 1-based.
        line: usize,
    },
    /// A suite in a language that cannot be parsed.
    #[error("{path}, case {id}: unknown language `{language}`; this ghostbench knows {known}", path = path.display())]
    Language {
        /// The file.
        path: PathBuf,
        /// The case.
        id: String,
        /// Its language.
        language: String,
        /// What it could be.
        known: String,
    },
    /// There is no suite.
    #[error("there is no suite {path}; make one with `ghostbench mine`, or put it back where it was", path = path.display())]
    NoSuite {
        /// The file.
        path: PathBuf,
    },
    /// A suite without a case.
    #[error("{path} holds no case; make a suite with `ghostbench mine`", path = path.display())]
    EmptySuite {
        /// The file.
        path: PathBuf,
    },
    /// A case whose question or truth is not the one that its id was computed of.
    #[error("{path}, line {line}, case {id}: edited, because its id is not that of its question and truth; take the line back from where it came, or delete it", path = path.display())]
    IdMismatch {
        /// The file.
        path: PathBuf,
        /// 1-based.
        line: usize,
        /// The case.
        id: String,
    },
    /// Two cases with one id would be told apart by nothing.
    #[error("{path}, case {id} stands there twice; delete one of both lines", path = path.display())]
    DuplicateCase {
        /// The file.
        path: PathBuf,
        /// The case.
        id: String,
    },
    /// The folder holds no run.
    #[error("{path} holds no run (there is no run.json); name a folder that `ghostbench try` or `replay` made", path = path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// A new run would overwrite an old one.
    #[error("{path} holds a run already", path = path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The run was made from other cases.
    #[error("{path} is a run of another suite ({theirs}, not {ours})", path = path.display())]
    OtherSuite {
        /// The folder.
        path: PathBuf,
        /// Hash in the run.
        theirs: String,
        /// Hash of the given suite.
        ours: String,
    },
    /// The run was begun with other engines, settings or prices.
    #[error("{path} was begun with other engines or settings: {}; resume it with the same", differences.join("; "), path = path.display())]
    OtherEngines {
        /// The folder.
        path: PathBuf,
        /// What differs, by the engine's name and the setting's key.
        differences: Vec<String>,
    },
    /// Two engines of a run have one name.
    #[error("two engines are called `{name}`; rename one of them, because answers are kept by name")]
    SameName {
        /// The name.
        name: String,
    },
    /// The file of the key for hashes of settings is not usable.
    #[error("cannot use {path}: {reason}; delete it to get a new one, after which runs begun before cannot be resumed", path = path.display())]
    HashKey {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: io::Error,
    },
    /// The run was begun with another workspace or another number of repetitions.
    #[error("{path} was begun with another {what} ({theirs}, not {ours}); go on with the same", path = path.display())]
    OtherOption {
        /// The folder.
        path: PathBuf,
        /// The option.
        what: &'static str,
        /// What the run says.
        theirs: String,
        /// What was asked for.
        ours: String,
    },
    /// Another process is writing the run or the suite.
    #[error("{path} is being written by another ghostbench", path = path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
}
