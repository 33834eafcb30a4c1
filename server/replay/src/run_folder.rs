//! A run on disk: `run.json`, `cases.jsonl`, `predictions.jsonl`, `scores.jsonl`.
//!
//! Predictions are appended one whole line at a time and never rewritten, so a killed process leaves at most an incomplete
//! last line, which is removed on resume. All other files are written atomically. Only one process writes a run at a time.

use std::collections::HashMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cases::{
    Case, CaseId, Prediction, Run, SchemaVersion, Score, parse_document, suite_hash, to_document, to_line,
};

use crate::ReplayError;
use crate::file_io::{self, AppendFile, FileStamp, parse_error, read_text, write_atomically, write_error};
use crate::fingerprint::{changes, check_names, differences};
use crate::judged_answers::VERDICTS;
use crate::suite::{read_suite, write_suite};

const RUN: &str = "run.json";
const CASES: &str = "cases.jsonl";
const PREDICTIONS: &str = "predictions.jsonl";
const SCORES: &str = "scores.jsonl";
pub(crate) const LOCK: &str = "lock";

/// Content of a run folder.
#[derive(Clone, Debug, PartialEq)]
pub struct RunContents {
    /// Description of the run.
    pub run: Run,
    /// The suite.
    pub cases: Arc<[Case]>,
    /// Predictions so far.
    pub predictions: Vec<Prediction>,
}

/// A run that is being written.
pub struct RunFolder {
    folder: PathBuf,
    predictions: AppendFile,
    /// Lock, held until it is dropped.
    _lock: File,
}

impl RunFolder {
    /// Starts a run in a folder that contains none yet.
    pub fn create(path: &Path, run: &Run, cases: &[Case]) -> Result<RunFolder, ReplayError> {
        check_names(run)?;
        private_files::create_folder(path).map_err(write_error(path))?;
        RunFolder::check_vacant(path)?;
        let folder = RunFolder::open(path)?;
        let predictions = path.join(PREDICTIONS);
        if folder.predictions.len().map_err(write_error(&predictions))? > 0 {
            return Err(ReplayError::Write { path: predictions, reason: ErrorKind::AlreadyExists.into() });
        }
        write_suite(&path.join(CASES), cases)?;
        // Written last, because this file makes the folder a run.
        write_atomically(&path.join(RUN), &to_document(run))?;
        Ok(folder)
    }

    /// Returns an error if the folder contains a run, so that a caller can fail before long work.
    pub fn check_vacant(path: &Path) -> Result<(), ReplayError> {
        if path.join(RUN).exists() { Err(ReplayError::Exists { path: path.to_owned() }) } else { Ok(()) }
    }

    /// Resumes a run of the same suite, engines, workspace and repetitions. An incomplete last prediction is removed.
    pub fn resume(path: &Path, run: &Run) -> Result<(RunFolder, RunContents), ReplayError> {
        if !path.join(RUN).exists() {
            return Err(ReplayError::NoRun { path: path.to_owned() });
        }
        let folder = RunFolder::open(path)?;
        check_names(run)?;
        let contents = read_run(path)?;
        check_same(path, &contents.run, run)?;
        folder.predictions.remove_incomplete_line().map_err(write_error(&path.join(PREDICTIONS)))?;
        Ok((folder, contents))
    }

    /// Adds the engines of `run`, which describes the same suite, workspace and repetitions, to an existing run. Engines that the run has
    /// already must not have changed. The engines are on disk before the first request: a stopped process is continued by the same
    /// call, or by [`RunFolder::resume`]. Returns the extended description and all answers so far.
    pub fn extend(path: &Path, run: &Run) -> Result<(RunFolder, RunContents), ReplayError> {
        if !path.join(RUN).exists() {
            return Err(ReplayError::NoRun { path: path.to_owned() });
        }
        let folder = RunFolder::open(path)?;
        let mut contents = read_run(path)?;
        check_same_requests(path, &contents.run, run)?;
        let extended = with_engines(path, &contents.run, run)?;
        check_names(&extended)?;
        folder.predictions.remove_incomplete_line().map_err(write_error(&path.join(PREDICTIONS)))?;
        write_atomically(&path.join(RUN), &to_document(&extended))?;
        contents.run = extended;
        Ok((folder, contents))
    }

    /// Returns the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    /// Appends a row; it is in the file when this returns.
    pub fn append(&mut self, prediction: &Prediction) -> Result<(), ReplayError> {
        let written = self.predictions.append(&to_line(prediction));
        written.map_err(|reason| ReplayError::Append { path: self.predictions.path().to_owned(), reason })
    }

    /// Removes the stored scores of which `is_removed` returns true for case, engine and repetition.
    pub(crate) fn remove_scores(
        &self,
        is_removed: impl Fn(&str, &str, u32) -> bool,
    ) -> Result<(), ReplayError> {
        let mut scores = ScoresFile::of(&self.folder).read();
        scores.retain(|score| !is_removed(&score.case, &score.engine, score.repetition));
        write_scores(&self.folder, &scores)
    }

    /// Opens the folder for writing, and locks it against other processes.
    fn open(path: &Path) -> Result<RunFolder, ReplayError> {
        let lock_path = path.join(LOCK);
        let Some(lock) = file_io::lock(&lock_path).map_err(write_error(&lock_path))? else {
            return Err(ReplayError::Locked { path: path.to_owned() });
        };
        let rows = path.join(PREDICTIONS);
        let predictions = AppendFile::open(&rows).map_err(write_error(&rows))?;
        Ok(RunFolder { folder: path.to_owned(), predictions, _lock: lock })
    }
}

/// Reads a run, finished or not, without blocking its writer.
pub fn read_run(path: &Path) -> Result<RunContents, ReplayError> {
    let run = read_run_file(path)?;
    let cases = read_suite(&path.join(CASES))?;
    if run.suite != suite_hash(&cases) {
        return Err(ReplayError::OtherSuite {
            path: path.to_owned(),
            theirs: run.suite,
            ours: suite_hash(&cases),
        });
    }
    Ok(RunContents { run, cases: cases.into(), predictions: read_predictions(path)? })
}

/// Reads a run like [`read_run`]. If its suite has the same bytes as that of one of `others`, folders and their contents, the cases are
/// shared: suites are most of what large runs need memory and time for.
pub fn read_run_beside<'a>(
    path: &Path,
    others: impl IntoIterator<Item = (&'a Path, &'a RunContents)>,
) -> Result<RunContents, ReplayError> {
    let run = read_run_file(path)?;
    let suite = path.join(CASES);
    let has_same_suite = |(folder, other): &(&Path, &RunContents)| {
        other.run.suite == run.suite && file_io::have_same_bytes(&folder.join(CASES), &suite).unwrap_or(false)
    };
    match others.into_iter().find(has_same_suite) {
        Some((_, other)) => {
            let predictions = read_predictions(path)?;
            Ok(RunContents { run, cases: Arc::clone(&other.cases), predictions })
        }
        None => read_run(path),
    }
}

/// Reads a run and its predictions without the suite, which may be large.
pub(crate) fn read_answers(path: &Path) -> Result<(Run, Vec<Prediction>), ReplayError> {
    Ok((read_run_file(path)?, read_predictions(path)?))
}

/// The stored scores of a run, as they were at one moment.
pub(crate) struct ScoresFile<'a> {
    folder: &'a Path,
    stamp: FileStamp,
}

impl<'a> ScoresFile<'a> {
    /// Describes the scores of the run at `folder`, which may lack them.
    pub(crate) fn of(folder: &'a Path) -> ScoresFile<'a> {
        ScoresFile { folder, stamp: FileStamp::of(&folder.join(SCORES)) }
    }

    /// Reads the scores. Unreadable ones count as missing, because they can be recomputed from the answers.
    pub(crate) fn read(&self) -> Vec<Score> {
        file_io::read_rows(&self.folder.join(SCORES)).unwrap_or_default()
    }

    /// Replaces the scores if no other process has changed them or is writing the run: its scores are newer. Failures, as in a folder
    /// that cannot be written, are ignored, because they only cost the time to score again.
    pub(crate) fn replace_unless_changed(&self, scores: &[Score]) {
        let Ok(Some(_lock)) = file_io::lock(&self.folder.join(LOCK)) else { return };
        if FileStamp::of(&self.folder.join(SCORES)) == self.stamp {
            let _ = write_scores(self.folder, scores);
        }
    }
}

/// Returns the files of the run at `path` that change after its start.
pub(crate) fn growing_files(path: &Path) -> [PathBuf; 3] {
    [PREDICTIONS, SCORES, VERDICTS].map(|name| path.join(name))
}

/// Replaces all scores of the run at `path`.
pub fn write_scores(path: &Path, scores: &[Score]) -> Result<(), ReplayError> {
    write_atomically(&path.join(SCORES), &scores.iter().map(to_line).collect::<String>())
}

fn check_same(path: &Path, theirs: &Run, ours: &Run) -> Result<(), ReplayError> {
    check_same_requests(path, theirs, ours)?;
    let differences = differences(theirs, ours);
    if differences.is_empty() {
        return Ok(());
    }
    Err(ReplayError::OtherEngines { path: path.to_owned(), differences })
}

/// Checks everything that decides the requests to an engine, except the engine.
fn check_same_requests(path: &Path, theirs: &Run, ours: &Run) -> Result<(), ReplayError> {
    let path = path.to_owned();
    if theirs.suite != ours.suite {
        return Err(ReplayError::OtherSuite { path, theirs: theirs.suite.clone(), ours: ours.suite.clone() });
    }
    for (what, theirs, ours) in [
        ("workspace", workspace(theirs), workspace(ours)),
        ("--repeat", theirs.repeat.to_string(), ours.repeat.to_string()),
    ] {
        if theirs != ours {
            return Err(ReplayError::OtherOption { path, what, theirs, ours });
        }
    }
    Ok(())
}

/// Returns the description of a run with the engines of another one that it lacks.
fn with_engines(path: &Path, theirs: &Run, ours: &Run) -> Result<Run, ReplayError> {
    let mut extended = theirs.clone();
    extended.schema = SchemaVersion::CURRENT;
    for config in &ours.engines {
        let differences = changes(theirs, config);
        if !differences.is_empty() {
            let name = config.engine.name.clone();
            return Err(ReplayError::OtherEngine { path: path.to_owned(), name, differences });
        }
        if !theirs.engines.iter().any(|known| known.engine.name == config.engine.name) {
            extended.engines.push(config.clone());
        }
    }
    if theirs.copies.is_empty() {
        extended.copies.clone_from(&ours.copies);
    } else if !ours.copies.is_empty() && theirs.copies != ours.copies {
        let [theirs, ours] = [theirs, ours].map(|run| format!("{} cases", run.copies.len()));
        return Err(ReplayError::OtherOption {
            path: path.to_owned(),
            what: "list of cases with copies",
            theirs,
            ours,
        });
    }
    Ok(extended)
}

fn workspace(run: &Run) -> String {
    run.workspace.as_ref().map_or("none", |workspace| &workspace.tree_hash).to_owned()
}

fn read_run_file(path: &Path) -> Result<Run, ReplayError> {
    let run_path = path.join(RUN);
    if !run_path.exists() {
        return Err(ReplayError::NoRun { path: path.to_owned() });
    }
    parse_document(&read_text(&run_path)?).map_err(parse_error(&run_path))
}

fn read_predictions(path: &Path) -> Result<Vec<Prediction>, ReplayError> {
    Ok(last_attempts(file_io::read_rows(&path.join(PREDICTIONS))?))
}

/// Returns the last answer to each request, at the place of the first: failed requests may have been repeated.
fn last_attempts(rows: Vec<Prediction>) -> Vec<Prediction> {
    if rows.iter().all(|row| row.attempt <= 1) {
        return rows;
    }
    let mut places: HashMap<(CaseId, String, u32), usize> = HashMap::new();
    let mut last: Vec<Prediction> = Vec::new();
    for row in rows {
        let key = (row.case.clone(), row.engine.name.clone(), row.repetition);
        match places.get(&key) {
            Some(&place) => last[place] = row,
            None => {
                places.insert(key, last.len());
                last.push(row);
            }
        }
    }
    last
}
