//! Judges the answers of a run by unit tests: `verdicts.jsonl` in its folder.
//!
//! A row is appended when its tests have ended, so a killed process repeats those in flight only. Equal code of several engines is judged
//! once. Must never change a prediction.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::path::Path;

use cases::{
    Case, CaseId, CaseTests, Judgement, Metric, MetricValue, Prediction, SchemaVersion, Score, TestVerdict,
    to_line,
};
use sandbox::ChangedFile;
use tokio_util::sync::CancellationToken;

use crate::ReplayError;
use crate::file_io::{self, AppendFile, write_error};
use crate::judging_rules::JudgingRules;
use crate::patches::{Patch, PatchRunner};
use crate::placed_code::place_answer;
use crate::run_folder::{LOCK, RunContents};

/// File of the judgements in the run's folder.
pub(crate) const VERDICTS: &str = "verdicts.jsonl";

/// Answers to judge.
pub struct JudgingJob<'a> {
    /// The run's folder.
    pub folder: &'a Path,
    /// Its cases and answers.
    pub contents: &'a RunContents,
    /// The workspace of the tests, which the answers are placed in.
    pub workspace: &'a Path,
    /// Runs the tests.
    pub runner: &'a dyn PatchRunner,
    /// Hash of the workspace's files.
    pub tree_hash: &'a str,
    /// The rules.
    pub rules: &'a JudgingRules,
    /// Once it is cancelled, no new tests start; those that run end, or fail if the judge is stopped, too.
    pub stop: &'a CancellationToken,
}

/// Result of judging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JudgedAnswers {
    /// Answers to cases with tests.
    pub answers: usize,
    /// Answers with a judgement.
    pub judged: usize,
    /// Runs of tests of this call.
    pub runs: usize,
}

/// Judges the answers that have no judgement yet. `on_progress` gets the number of judged patches and of all.
pub fn judge_answers(
    job: &JudgingJob<'_>,
    on_progress: impl Fn(usize, usize),
) -> Result<JudgedAnswers, ReplayError> {
    let lock_path = job.folder.join(LOCK);
    let Some(_lock) = file_io::lock(&lock_path).map_err(write_error(&lock_path))? else {
        return Err(ReplayError::Locked { path: job.folder.to_owned() });
    };
    let path = job.folder.join(VERDICTS);
    let stored = read_verdicts(&path)?;
    let rows = AppendFile::open(&path).map_err(write_error(&path))?;
    rows.remove_incomplete_line().map_err(write_error(&path))?;
    let cases = cases_with_tests(&job.contents.cases);
    let answers = job.contents.predictions.iter().filter(|prediction| cases.contains_key(&*prediction.case));
    let answers: Vec<&Prediction> = answers.collect();
    let mut writer = VerdictWriter { rows, judged: 0 };
    let (patches, failed) = patches(job, &cases, &answers)?;
    let mut known: HashMap<String, Judgement> = HashMap::new();
    let mut done: BTreeSet<(CaseId, String, u32)> = BTreeSet::new();
    for row in stored.into_values() {
        if patches.get(&row.patch).is_some_and(|patch| patch.answers().any(|answer| key(answer) == row.key()))
            || row.patch.is_empty() && failed.iter().any(|answer| key(answer) == row.key())
        {
            done.insert((row.case.clone(), row.engine.clone(), row.repetition));
            known.insert(row.patch.clone(), row);
        }
    }
    writer.judged = done.len();
    let is_done = |answer: &Prediction| {
        done.contains(&(answer.case.clone(), answer.engine.name.clone(), answer.repetition))
    };
    for answer in failed.into_iter().filter(|answer| !is_done(answer)) {
        writer.append(&without_code(answer))?;
    }
    let mut to_run = Vec::new();
    for patch in patches.into_values() {
        // An answer with a judgement makes its patch a known one.
        match known.get(&patch.hash) {
            Some(row) => {
                let mut rest = patch.answers().filter(|answer| !is_done(answer));
                rest.try_for_each(|answer| writer.append(&again(row, answer)))?;
            }
            None => to_run.push(patch),
        }
    }
    let runs = run_patches(job, &to_run, &mut writer, on_progress)?;
    Ok(JudgedAnswers { answers: answers.len(), judged: writer.judged, runs })
}

/// Adds the judgements of a run to the scores of its answers: [`Metric::TestsPassed`].
pub(crate) fn add_verdicts<'a>(folder: &Path, scores: impl IntoIterator<Item = &'a mut Score>) {
    let judgements = judgements(folder);
    if judgements.is_empty() {
        return;
    }
    let rows: HashMap<(&str, &str, u32), &Judgement> =
        judgements.iter().map(|row| (row.key(), row)).collect();
    for score in scores {
        let key = (&*score.case, &*score.engine, score.repetition);
        // Tests that are not the same twice say nothing about the answer.
        if let Some(row) = rows.get(&key).filter(|row| row.verdict != TestVerdict::Flaky) {
            let value = f64::from(u8::from(row.verdict == TestVerdict::Passed));
            score.metrics.insert(Metric::TestsPassed, MetricValue::Value(value));
        }
    }
}

/// Returns the judgements of a run, the last of each answer. Unreadable ones count as missing; judging again reports why.
pub fn judgements(folder: &Path) -> Vec<Judgement> {
    read_verdicts(&folder.join(VERDICTS)).map_or_else(|_| Vec::new(), |stored| stored.into_values().collect())
}

/// Returns the last judgement of each answer.
fn read_verdicts(path: &Path) -> Result<BTreeMap<(CaseId, String, u32), Judgement>, ReplayError> {
    let row = |row: Judgement| ((row.case.clone(), row.engine.clone(), row.repetition), row);
    Ok(file_io::read_rows(path)?.into_iter().map(row).collect())
}

fn cases_with_tests(cases: &[Case]) -> HashMap<&str, (&Case, &CaseTests)> {
    cases.iter().filter_map(|case| Some((&*case.id, (case, case.tests.as_deref()?)))).collect()
}

fn key(answer: &Prediction) -> (&str, &str, u32) {
    (&answer.case, &answer.engine.name, answer.repetition)
}

/// Returns the different patches by hash, in no order that is visible, and the answers without code.
fn patches<'a>(
    job: &JudgingJob<'a>,
    cases: &HashMap<&str, (&'a Case, &'a CaseTests)>,
    answers: &[&'a Prediction],
) -> Result<(BTreeMap<String, Patch<'a>>, Vec<&'a Prediction>), ReplayError> {
    let mut patches: BTreeMap<String, Patch<'a>> = BTreeMap::new();
    let mut failed = Vec::new();
    for &answer in answers {
        let (case, tests) = cases[&*answer.case];
        if answer.has_failed() {
            failed.push(answer);
            continue;
        }
        let Some(change) = place_answer(job.workspace, case, answer, job.rules)? else {
            failed.push(answer);
            continue;
        };
        let hash = patch_hash(job, tests, &change);
        match patches.entry(hash.clone()) {
            Entry::Vacant(entry) => drop(entry.insert(Patch { case, answer, others: Vec::new(), hash })),
            Entry::Occupied(entry) => entry.into_mut().others.push(answer),
        }
    }
    Ok((patches, failed))
}

/// Returns the first 128 bits of the BLAKE3 hash of everything that decides a verdict, each part preceded by its length.
fn patch_hash(job: &JudgingJob<'_>, tests: &CaseTests, change: &ChangedFile) -> String {
    let mut hasher = blake3::Hasher::new();
    let (path, rules) = (change.path.to_string_lossy(), job.rules.name());
    let parts = [job.tree_hash, tests.runner.name(), &tests.folder, &path, &change.text];
    let rules = Some(rules.as_str()).filter(|rules| !rules.is_empty());
    for part in parts.into_iter().chain(tests.ids.iter().map(String::as_str)).chain(rules) {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Runs the tests of patches, and returns the number of judged ones.
fn run_patches(
    job: &JudgingJob<'_>,
    patches: &[Patch<'_>],
    writer: &mut VerdictWriter,
    on_progress: impl Fn(usize, usize),
) -> Result<usize, ReplayError> {
    let (mut runs, mut failure) = (0, None);
    on_progress(0, patches.len());
    let mut record = |place: usize, judged: Judgement| {
        let Some(patch) = patches.get(place) else { return ControlFlow::Continue(()) };
        let row = Judgement { patch: patch.hash.clone(), ..judged };
        let written = writer
            .append(&row)
            .and_then(|()| patch.others.iter().try_for_each(|answer| writer.append(&again(&row, answer))));
        runs += 1;
        on_progress(runs, patches.len());
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    let ran = job.runner.run(patches, job.rules, job.stop, &mut record);
    failure.map_or(ran, Err)?;
    Ok(runs)
}

/// Returns the judgement of an answer that equals a judged one.
fn again(row: &Judgement, answer: &Prediction) -> Judgement {
    Judgement {
        case: answer.case.clone(),
        engine: answer.engine.name.clone(),
        repetition: answer.repetition,
        seconds: 0.0,
        ..row.clone()
    }
}

/// Returns the judgement of an answer without code. A failed request is a failure in every metric.
fn without_code(answer: &Prediction) -> Judgement {
    let (verdict, output) = match answer.has_failed() {
        true => (TestVerdict::Failed, "the request failed"),
        false => (TestVerdict::BuildError, "the answer has no code"),
    };
    Judgement {
        schema: SchemaVersion::CURRENT,
        case: answer.case.clone(),
        engine: answer.engine.name.clone(),
        repetition: answer.repetition,
        patch: String::new(),
        verdict,
        not_passed: BTreeSet::new(),
        seconds: 0.0,
        output: output.to_owned(),
    }
}

/// Appends judgements.
struct VerdictWriter {
    rows: AppendFile,
    judged: usize,
}

impl VerdictWriter {
    fn append(&mut self, row: &Judgement) -> Result<(), ReplayError> {
        let written = self.rows.append(&to_line(row));
        written.map_err(|reason| ReplayError::Append { path: self.rows.path().to_owned(), reason })?;
        self.judged += 1;
        Ok(())
    }
}
