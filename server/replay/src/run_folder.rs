//! A run on disk: `run.json`, `cases.jsonl`, `predictions.jsonl`, `scores.jsonl`.
//!
//! Predictions are appended one whole line at a time and never rewritten, so a killed process tears at most the last line, which
//! the next reader cuts off. Everything else is written to a temporary file and renamed. One process writes a run at a time: it
//! holds the lock of a file that nobody reads, because a lock on Windows keeps readers out too.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use cases::{
    Case, Lines, ParseError, Prediction, Run, Score, parse_document, parse_lines, suite_hash, to_document,
    to_line,
};
use syntax::Language;
use thiserror::Error;

const RUN: &str = "run.json";
const CASES: &str = "cases.jsonl";
const PREDICTIONS: &str = "predictions.jsonl";
const SCORES: &str = "scores.jsonl";
const LOCK: &str = "lock";

/// Why a run or a suite could not be used.
#[derive(Debug, Error)]
pub enum Error {
    /// Reading failed.
    #[error("cannot read {path}: {reason}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's.
        reason: io::Error,
    },
    /// Writing a whole file failed; nothing was there before, or it is still there.
    #[error("cannot write {path}: {reason}; choose another place with --out", path = path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The system's.
        reason: io::Error,
    },
    /// Adding a row to a run failed.
    #[error("cannot add to {path}: {reason}; what is finished is kept: make room, then go on with --resume", path = path.display())]
    Append {
        /// The file.
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
    /// A file ends in the middle of a row.
    #[error("{path}, line {line}: the file ends in the middle of a row; delete that line to use the rows before it, or make the file anew", path = path.display())]
    Torn {
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
    /// Two cases with one id would be told apart by nothing.
    #[error("{path}, case {id} stands there twice; delete one of both lines", path = path.display())]
    Twice {
        /// The file.
        path: PathBuf,
        /// The case.
        id: String,
    },
    /// The folder holds no run.
    #[error("{path} holds no run (there is no {RUN}); name a folder that `ghostbench try` or `replay` made", path = path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// A new run would overwrite an old one.
    #[error("{path} holds a run already; go on with it by --resume, or choose another folder with --out", path = path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The run was made from other cases.
    #[error("{path} is a run of another suite ({theirs}, not {ours}); choose another folder with --out", path = path.display())]
    OtherSuite {
        /// The folder.
        path: PathBuf,
        /// Hash in the run.
        theirs: String,
        /// Hash of the given suite.
        ours: String,
    },
    /// The run was made by other engines or settings.
    #[error("{path} is a run of other engines or settings ({theirs}, not {ours}); choose another folder with --out", path = path.display())]
    OtherEngines {
        /// The folder.
        path: PathBuf,
        /// Fingerprints in the run.
        theirs: String,
        /// Fingerprints asked for.
        ours: String,
    },
    /// The run was begun with another workspace or another number of repetitions.
    #[error("{path} was begun with another {what} ({theirs}, not {ours}); go on with the same, or choose another folder with --out", path = path.display())]
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
    /// Another process is writing the run.
    #[error("{path} is being written by another ghostbench; wait for it, or choose another folder with --out", path = path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
}

/// Everything that a run folder holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// What was asked of whom.
    pub run: Run,
    /// The suite.
    pub cases: Vec<Case>,
    /// The answers so far.
    pub predictions: Vec<Prediction>,
}

/// A run that is being written.
pub struct RunFolder {
    path: PathBuf,
    predictions: File,
    /// Locked until it is closed.
    _lock: File,
}

impl RunFolder {
    /// Starts a run in a folder that holds none yet.
    pub fn create(path: &Path, run: &Run, cases: &[Case]) -> Result<RunFolder, Error> {
        fs::create_dir_all(path).map_err(write_error(path))?;
        RunFolder::check_vacant(path)?;
        let mut folder = RunFolder::open(path)?;
        if folder.seek_end()? > 0 {
            let reason = ErrorKind::AlreadyExists.into();
            return Err(Error::Write { path: path.join(PREDICTIONS), reason });
        }
        write_suite(&path.join(CASES), cases)?;
        // Last, because a folder is a run from the moment it holds this file.
        write_whole(&path.join(RUN), &to_document(run))?;
        Ok(folder)
    }

    /// Refuses a folder that holds a run, so that a caller can say so before it works for long.
    pub fn check_vacant(path: &Path) -> Result<(), Error> {
        if path.join(RUN).exists() { Err(Error::Exists { path: path.to_owned() }) } else { Ok(()) }
    }

    /// Goes on with a run of the same suite, engines, workspace and repetitions. A torn last prediction is cut off.
    pub fn resume(path: &Path, run: &Run) -> Result<(RunFolder, Contents), Error> {
        if !path.join(RUN).exists() {
            return Err(Error::NotARun { path: path.to_owned() });
        }
        let mut folder = RunFolder::open(path)?;
        let (contents, complete_bytes) = read(path)?;
        check_same(path, &contents.run, run)?;
        let cut = folder.predictions.set_len(complete_bytes as u64);
        cut.map_err(write_error(&path.join(PREDICTIONS)))?;
        folder.seek_end()?;
        Ok((folder, contents))
    }

    /// Adds a row; it is in the file when this returns.
    pub fn append(&mut self, prediction: &Prediction) -> Result<(), Error> {
        let written = self.predictions.write_all(to_line(prediction).as_bytes());
        written.map_err(|reason| Error::Append { path: self.path.join(PREDICTIONS), reason })
    }

    /// Opens the folder for writing, and keeps other processes from doing so.
    fn open(path: &Path) -> Result<RunFolder, Error> {
        let lock = open_to_write(&path.join(LOCK))?;
        // File systems without locks exist; two writers on one of them are the user's own doing.
        if let Err(fs::TryLockError::WouldBlock) = lock.try_lock() {
            return Err(Error::Busy { path: path.to_owned() });
        }
        let predictions = open_to_write(&path.join(PREDICTIONS))?;
        Ok(RunFolder { path: path.to_owned(), predictions, _lock: lock })
    }

    /// Goes to where the next row belongs, and tells how many bytes stand before it.
    fn seek_end(&mut self) -> Result<u64, Error> {
        self.predictions.seek(SeekFrom::End(0)).map_err(write_error(&self.path.join(PREDICTIONS)))
    }
}

/// Reads a run, finished or not, without disturbing whoever writes it.
pub fn read_run(path: &Path) -> Result<Contents, Error> {
    read(path).map(|(contents, _)| contents)
}

/// Writes all scores of the run at `path` anew.
pub fn write_scores(path: &Path, scores: &[Score]) -> Result<(), Error> {
    write_whole(&path.join(SCORES), &scores.iter().map(to_line).collect::<String>())
}

/// Reads a suite. Every row must be whole, in a known language and there once.
pub fn read_suite(path: &Path) -> Result<Vec<Case>, Error> {
    if !path.exists() {
        return Err(Error::NoSuite { path: path.to_owned() });
    }
    let text = read_text(path)?;
    let lines: Lines<Case> = parse_lines(&text).map_err(in_file(path))?;
    if lines.complete_bytes < text.len() {
        let line = text[..lines.complete_bytes].matches('\n').count() + 1;
        return Err(Error::Torn { path: path.to_owned(), line });
    }
    check_suite(path, &lines.rows)?;
    Ok(lines.rows)
}

/// Writes a suite: whole, or not at all.
pub fn write_suite(path: &Path, cases: &[Case]) -> Result<(), Error> {
    write_whole(path, &cases.iter().map(to_line).collect::<String>())
}

fn check_suite(path: &Path, cases: &[Case]) -> Result<(), Error> {
    let path = || path.to_owned();
    if cases.is_empty() {
        return Err(Error::EmptySuite { path: path() });
    }
    let mut ids = HashSet::new();
    for case in cases {
        if Language::from_name(&case.language).is_none() {
            let known = Language::ALL.map(Language::name).join(", ");
            return Err(Error::Language {
                path: path(),
                id: case.id.clone(),
                language: case.language.clone(),
                known,
            });
        }
        if !ids.insert(&case.id) {
            return Err(Error::Twice { path: path(), id: case.id.clone() });
        }
    }
    Ok(())
}

fn check_same(path: &Path, theirs: &Run, ours: &Run) -> Result<(), Error> {
    let path = path.to_owned();
    if theirs.suite != ours.suite {
        return Err(Error::OtherSuite { path, theirs: theirs.suite.clone(), ours: ours.suite.clone() });
    }
    for (what, theirs, ours) in [
        ("workspace", workspace(theirs), workspace(ours)),
        ("--repeat", theirs.repeat.to_string(), ours.repeat.to_string()),
    ] {
        if theirs != ours {
            return Err(Error::OtherOption { path, what, theirs, ours });
        }
    }
    let (theirs, ours) = (fingerprints(theirs), fingerprints(ours));
    if theirs == ours { Ok(()) } else { Err(Error::OtherEngines { path, theirs, ours }) }
}

fn workspace(run: &Run) -> String {
    run.workspace.as_ref().map_or("none", |workspace| &workspace.tree_hash).to_owned()
}

fn fingerprints(run: &Run) -> String {
    let mut all: Vec<_> = run.engines.iter().map(|config| config.engine.fingerprint.as_str()).collect();
    all.sort_unstable();
    all.join(" ")
}

/// The contents, and how many bytes of the predictions are whole rows.
fn read(path: &Path) -> Result<(Contents, usize), Error> {
    let run_path = path.join(RUN);
    if !run_path.exists() {
        return Err(Error::NotARun { path: path.to_owned() });
    }
    let run: Run = parse_document(&read_text(&run_path)?).map_err(in_file(&run_path))?;
    let cases = read_suite(&path.join(CASES))?;
    if run.suite != suite_hash(&cases) {
        return Err(Error::OtherSuite { path: path.to_owned(), theirs: run.suite, ours: suite_hash(&cases) });
    }
    let predictions_path = path.join(PREDICTIONS);
    let text = read_whole_lines(&predictions_path)?;
    let lines = parse_lines(&text).map_err(in_file(&predictions_path))?;
    Ok((Contents { run, cases, predictions: lines.rows }, lines.complete_bytes))
}

/// The file without a torn last line, which may end inside a character.
fn read_whole_lines(path: &Path) -> Result<String, Error> {
    let mut bytes = match fs::read(path) {
        Err(reason) if reason.kind() == ErrorKind::NotFound => Vec::new(),
        read => read.map_err(|reason| Error::Read { path: path.to_owned(), reason })?,
    };
    bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1));
    let utf8 = |_| Error::Read { path: path.to_owned(), reason: io::Error::other("not valid UTF-8") };
    String::from_utf8(bytes).map_err(utf8)
}

fn in_file(path: &Path) -> impl FnOnce(ParseError) -> Error {
    let path = path.to_owned();
    |problem| Error::Parse { path, problem }
}

fn read_text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|reason| Error::Read { path: path.to_owned(), reason })
}

fn open_to_write(path: &Path) -> Result<File, Error> {
    // Not for appending: Windows cuts no file that is open for that.
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    opened.map_err(write_error(path))
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    |reason| Error::Write { path, reason }
}

/// Writes a file whole, or leaves it as it was. A link stays a link, and what is no file (a terminal, a pipe) is written to.
fn write_whole(path: &Path, text: &str) -> Result<(), Error> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_replaceable = fs::metadata(&target).map_or(true, |metadata| metadata.is_file());
    let written = if is_replaceable { replace(&target, text) } else { fs::write(&target, text) };
    written.map_err(write_error(path))
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".partial");
    let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path));
    written.inspect_err(|_| {
        // Best effort: the error that is reported is the one that matters.
        let _ = fs::remove_file(&temporary);
    })
}
