//! The history of a watched suite on disk: a run folder for each night, and `history.jsonl` with one row for each of them, so that a year
//! opens without reading its runs.
//!
//! ```text
//! history.jsonl            one row per finished night, in the order of the runs
//! 1, 2, ...                run folders; one without a row was killed, and is left out
//! lock                     locked while a night runs
//! ```
//!
//! Nights are ordered by their rows, never by their times: clocks go backwards.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use cases::{
    Case, ChangeKind, Metric, Prediction, SchemaVersion, Score, WatchedChange, WatchedEngine, WatchedFailure,
    WatchedNight, WatchedShift, to_line,
};
use scoring::change_points::{NightAnswer, NightAnswers, SignalChange, TESTED_NIGHTS, find_change};
use scoring::run_summary::{EngineFailures, request_failures};
use scoring::{Counts, RunRows};

use crate::ReplayError;
use crate::data_folder::{create_numbered_folder, run_numbers};
use crate::file_io::{self, AppendFile, write_error};
use crate::run_folder::{RunContents, ScoresFile, read_answers};
use crate::run_scores::ScoresByKey;

const HISTORY: &str = "history.jsonl";
const LOCK: &str = "lock";

/// A history that this process may extend.
pub struct WatchHistory {
    folder: PathBuf,
    /// The nights so far.
    nights: Vec<WatchedNight>,
    rows: AppendFile,
    _lock: File,
}

/// Reads the nights of a history without blocking its writer; empty if there is none.
pub fn read_history(folder: &Path) -> Result<Vec<WatchedNight>, ReplayError> {
    let path = folder.join(HISTORY);
    file_io::read_rows(&path)
}

/// Returns the runs of a history that have no row, because their night was interrupted.
pub fn unfinished_nights(folder: &Path, nights: &[WatchedNight]) -> Vec<PathBuf> {
    let mut numbers = run_numbers(folder).unwrap_or_default();
    numbers.sort_unstable();
    let names = numbers
        .into_iter()
        .map(|number| number.to_string())
        .filter(|name| nights.iter().all(|night| night.run != *name));
    names.map(|name| folder.join(name)).collect()
}

impl WatchHistory {
    /// Opens a history, or creates it, and locks it. All its nights must be about this suite and metric.
    pub fn open(folder: &Path, suite: &str, metric: Metric) -> Result<WatchHistory, ReplayError> {
        private_files::create_folder(folder).map_err(write_error(folder))?;
        let lock_path = folder.join(LOCK);
        let Some(lock) = file_io::lock(&lock_path).map_err(write_error(&lock_path))? else {
            return Err(ReplayError::Locked { path: folder.to_owned() });
        };
        let path = folder.join(HISTORY);
        let nights: Vec<WatchedNight> = file_io::read_rows(&path)?;
        if let Some(last) = nights.last() {
            check_same(folder, "suite", &last.suite, suite)?;
            check_same(folder, "metric", last.metric.name(), metric.name())?;
        }
        let rows = AppendFile::open(&path).map_err(write_error(&path))?;
        rows.remove_incomplete_line().map_err(write_error(&path))?;
        Ok(WatchHistory { folder: folder.to_owned(), nights, rows, _lock: lock })
    }

    /// Returns the nights, the latest last.
    pub fn nights(&self) -> &[WatchedNight] {
        &self.nights
    }

    /// Creates the folder for the run of a night.
    pub fn new_run(&self) -> Result<PathBuf, ReplayError> {
        create_numbered_folder(&self.folder)
            .map_err(|reason| ReplayError::Folder { path: self.folder.clone(), reason })
    }

    /// Adds a finished night that began at `time`, and returns its row. Reads the runs that it is compared with, at most 34 of them; runs
    /// that were removed or damaged count as nights without answers.
    pub fn add(
        &mut self,
        run: &Path,
        time: String,
        metric: Metric,
        contents: &RunContents,
        scores: &[Score],
    ) -> Result<&WatchedNight, ReplayError> {
        let mut known = EarlierAnswers::default();
        let number = self.nights.len();
        let tree_hash = contents.run.workspace.as_ref().map(|workspace| workspace.tree_hash.clone());
        let mut engines = Vec::new();
        let RunContents { run: description, cases, predictions } = contents;
        let rows = RunRows { run: description, cases, predictions, scores, judgements: &[], notes: &[] };
        let all_failures = request_failures(&rows);
        for (index, config) in contents.run.engines.iter().enumerate() {
            let name = &config.engine.name;
            let own = || contents.predictions.iter().filter(|row| row.engine.name == *name);
            let answers = night_answers(&contents.cases, own(), scores, metric);
            let known_scores = answers.iter().flatten().map(|answer| answer.score);
            let (sum, count) = (known_scores.clone().sum::<f64>(), known_scores.count());
            let mut engine = WatchedEngine {
                name: name.clone(),
                fingerprint: config.engine.fingerprint.clone(),
                answers: own().count(),
                failed: own().filter(|row| row.has_failed()).count(),
                failures: watched_failures(&all_failures, index),
                value: (count > 0).then(|| sum / count as f64),
                since: number,
                change: None,
            };
            if let Some((last, before)) = self.last_night_of(name) {
                let restart = restart(last, before, tree_hash.as_ref(), &engine.fingerprint);
                engine.since = if restart.is_some() { number } else { before.since };
                engine.change =
                    restart.map(|kind| WatchedChange { kind, first: number, score: None, text: None });
            }
            if engine.since < number {
                self.compare(&mut engine, answers, &mut known, &contents.cases, metric);
            }
            engines.push(engine);
        }
        let name = run.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let night = WatchedNight {
            schema: SchemaVersion::CURRENT,
            run: name,
            time,
            suite: contents.run.suite.clone(),
            metric,
            tree_hash,
            engines,
        };
        let appended = self.rows.append(&to_line(&night));
        appended.map_err(|reason| ReplayError::Append { path: self.rows.path().to_owned(), reason })?;
        self.nights.push(night);
        Ok(&self.nights[number])
    }

    /// Returns the latest night with the engine, and its row there.
    fn last_night_of(&self, name: &str) -> Option<(&WatchedNight, &WatchedEngine)> {
        self.nights.iter().rev().find_map(|night| {
            let engine = night.engines.iter().find(|engine| engine.name == name)?;
            Some((night, engine))
        })
    }

    /// Compares the answers of this night with those since `engine.since`.
    fn compare(
        &self,
        engine: &mut WatchedEngine,
        answers: NightAnswers,
        known: &mut EarlierAnswers,
        cases: &[Case],
        metric: Metric,
    ) {
        let asked: Vec<usize> = (engine.since..self.nights.len())
            .filter(|&night| self.nights[night].engines.iter().any(|other| other.name == engine.name))
            .collect();
        let tested = &asked[(asked.len() + 1).saturating_sub(TESTED_NIGHTS)..];
        let mut nights: Vec<NightAnswers> = Vec::new();
        for &night in tested {
            let (predictions, scores) = known.read(&self.folder, &self.nights[night].run);
            let own = predictions.iter().filter(|row| row.engine.name == engine.name);
            nights.push(night_answers(cases, own, scores, metric));
        }
        nights.push(answers);
        let Some(found) = find_change(&nights) else { return };
        // The first changed night may be this one, which has no row yet.
        let first = tested.get(found.first).copied().unwrap_or(self.nights.len());
        engine.since = first;
        engine.change = Some(WatchedChange {
            kind: ChangeKind::Answers,
            first,
            score: Some(stored(found.score)),
            text: Some(stored(found.text)),
        });
    }
}

/// Longest kept reason, bytes: messages of servers may be whole pages.
const MAX_REASON: usize = 1_000;

/// Returns the failures of an engine by reason, as the history keeps them.
fn watched_failures(failures: &[EngineFailures], engine: usize) -> Vec<WatchedFailure> {
    let own = failures.iter().filter(|failures| failures.engine == engine);
    let kept = |reason: &str| reason[..reason.floor_char_boundary(MAX_REASON)].to_owned();
    own.flat_map(|failures| &failures.reasons)
        .map(|reason| WatchedFailure {
            status: reason.status,
            reason: reason.reason.as_deref().map(kept),
            count: reason.count,
        })
        .collect()
}

fn stored(SignalChange { before, after, p }: SignalChange) -> WatchedShift {
    WatchedShift { before, after, p }
}

fn check_same(path: &Path, what: &'static str, theirs: &str, ours: &str) -> Result<(), ReplayError> {
    if theirs == ours {
        return Ok(());
    }
    let (path, theirs, ours) = (path.to_owned(), theirs.to_owned(), ours.to_owned());
    Err(ReplayError::OtherHistory { path, what, theirs, ours })
}

/// Returns why an engine is not compared with its last night.
fn restart(
    last: &WatchedNight,
    before: &WatchedEngine,
    tree_hash: Option<&String>,
    fingerprint: &str,
) -> Option<ChangeKind> {
    if before.fingerprint != fingerprint {
        return Some(ChangeKind::Settings);
    }
    (last.tree_hash.as_ref() != tree_hash).then_some(ChangeKind::Workspace)
}

/// The answers of earlier nights, each read once for all engines.
#[derive(Default)]
struct EarlierAnswers(HashMap<String, (Vec<Prediction>, Vec<Score>)>);

impl EarlierAnswers {
    fn read(&mut self, history: &Path, run: &str) -> &(Vec<Prediction>, Vec<Score>) {
        self.0.entry(run.to_owned()).or_insert_with(|| {
            let folder = history.join(run);
            let predictions = read_answers(&folder).map(|(_, predictions)| predictions).unwrap_or_default();
            let mut stored = ScoresByKey::read(&ScoresFile::of(&folder));
            let scores = predictions.iter().filter_map(|row| stored.take(row)).collect();
            (predictions, scores)
        })
    }
}

/// Returns the first answers of one engine to the cases; failed and unscored ones are missing.
fn night_answers<'a>(
    cases: &[Case],
    own: impl Iterator<Item = &'a Prediction>,
    scores: &[Score],
    metric: Metric,
) -> NightAnswers {
    let of_key: HashMap<(&str, &str, u32), &Score> =
        scores.iter().map(|score| (score.key(), score)).collect();
    let mut answers = HashMap::new();
    for row in own.filter(|row| row.repetition == 0 && !row.has_failed()) {
        let score = of_key.get(&row.key()).and_then(|score| value(score, metric));
        answers.extend(
            score.map(|score| (row.case.as_str(), NightAnswer { score, text: text_hash(&row.text) })),
        );
    }
    cases.iter().map(|case| answers.get(case.id.as_str()).copied()).collect()
}

/// Returns the score by the metric; of cases whose right answer is nothing, to which most metrics do not apply, by restraint.
fn value(score: &Score, metric: Metric) -> Option<f64> {
    let value = score.metrics.get(&metric).or_else(|| score.metrics.get(&Metric::Restraint))?;
    Counts::from(*value).ratio()
}

fn text_hash(text: &str) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *blake3::hash(text.as_bytes()).as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}
