//! Judges the answers of a run by unit tests: `verdicts.jsonl` in its folder.
//!
//! A row is appended when its tests have ended, so a killed process repeats those in flight only. Equal code of several engines is judged
//! once. Must never change a prediction.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;

use cases::{
    Case, CaseId, CaseTests, Judgement, Metric, MetricValue, Prediction, SchemaVersion, Score, TaskKind,
    TestVerdict, to_line,
};
use sandbox::{ChangedFile, PreparedTests};
use tokio_util::sync::CancellationToken;

use crate::ReplayError;
use crate::file_io::{self, AppendFile, write_error};
use crate::judging_rules::{CodevShape, JudgingRules, judge_as_codev_bench};
use crate::run_folder::{LOCK, RunContents};
use crate::test_judge::{JudgedCode, TestJudge};

/// File of the judgements in the run's folder.
pub(crate) const VERDICTS: &str = "verdicts.jsonl";

/// Bytes of the stored output of tests.
const OUTPUT_BYTES: usize = 4_000;

/// Answers to judge.
pub struct JudgingJob<'a> {
    /// The run's folder.
    pub folder: &'a Path,
    /// Its cases and answers.
    pub contents: &'a RunContents,
    /// The judge.
    pub judge: &'a TestJudge,
    /// Hash of the workspace's files.
    pub tree_hash: &'a str,
    /// The rules.
    pub rules: &'a JudgingRules,
    /// Number of sandboxes at a time.
    pub jobs: usize,
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

/// Code to judge, and the answers that consist of it. The changed file is made again when its tests run: a run has thousands.
struct Patch<'a> {
    hash: String,
    case: &'a Case,
    tests: &'a CaseTests,
    answers: Vec<&'a Prediction>,
}

/// Judges the answers that have no judgement yet. `on_progress` gets the number of judged patches and of all.
pub fn judge_answers(
    job: &JudgingJob<'_>,
    on_progress: impl Fn(usize, usize) + Sync,
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
        if patches
            .get(&row.patch)
            .is_some_and(|patch| patch.answers.iter().any(|answer| key(answer) == row.key()))
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
        let mut rest = patch.answers.iter().copied().filter(|answer| !is_done(answer)).peekable();
        if rest.peek().is_none() {
            continue;
        }
        match known.get(&patch.hash) {
            Some(row) => rest.try_for_each(|answer| writer.append(&again(row, answer)))?,
            None => to_run.push(patch),
        }
    }
    let runs = run_patches(job, &to_run, &is_done, &mut writer, on_progress)?;
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
        let Some(change) = job.judge.place(case, answer, job.rules)? else {
            failed.push(answer);
            continue;
        };
        let hash = patch_hash(job, tests, &change);
        let patch = Patch { hash: hash.clone(), case, tests, answers: Vec::new() };
        patches.entry(hash).or_insert(patch).answers.push(answer);
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

/// A patch and the sandbox for its tests, or why there is none; see [`prepare`].
type Prepared<'a> = (&'a Patch<'a>, Result<Option<PreparedTests<'a>>, ReplayError>);

/// Runs the tests of patches, some at a time, and returns their number.
///
/// While tests run, the sandboxes of the next ones are made: at most one for each worker.
fn run_patches(
    job: &JudgingJob<'_>,
    patches: &[Patch<'_>],
    is_done: &dyn Fn(&Prediction) -> bool,
    writer: &mut VerdictWriter,
    on_progress: impl Fn(usize, usize) + Sync,
) -> Result<usize, ReplayError> {
    let workers = job.jobs.clamp(1, patches.len().max(1));
    let (sender, prepared) = mpsc::sync_channel::<Prepared<'_>>(workers - 1);
    let prepared = Arc::new(Mutex::new(prepared));
    let (finished_sender, finished) = mpsc::channel();
    let (working, ended) = mpsc::channel::<()>();
    let mut runs = 0;
    on_progress(0, patches.len());
    thread::scope(|scope| {
        scope.spawn(move || {
            let wanted = patches.iter().take_while(|_| !job.stop.is_cancelled());
            for patch in wanted {
                if sender.send((patch, prepare(job, patch))).is_err() {
                    break;
                }
            }
            drop(sender);
            // A sandbox ends with the thread that made it, so this one stays as long as tests run.
            let _ = ended.recv();
        });
        for _ in 0..workers {
            let (prepared, finished, working) =
                (Arc::clone(&prepared), finished_sender.clone(), working.clone());
            scope.spawn(move || {
                while let Some((patch, tests)) = next(&prepared) {
                    let judged = tests.and_then(|tests| judge(job, patch, tests));
                    let is_stopped = judged.is_err() && job.stop.is_cancelled();
                    if is_stopped || finished.send((patch, judged)).is_err() {
                        break;
                    }
                }
                drop((prepared, working));
            });
        }
        // The workers have ends of their own: the last one ends the loops.
        drop((prepared, finished_sender, working));
        for (patch, judged) in finished {
            let judged = judged?;
            runs += 1;
            let mut answers = patch.answers.iter().filter(|answer| !is_done(answer));
            if let Some(first) = answers.next() {
                let row =
                    Judgement { engine: first.engine.name.clone(), repetition: first.repetition, ..judged };
                writer.append(&row)?;
                answers.try_for_each(|answer| writer.append(&again(&row, answer)))?;
            }
            on_progress(runs, patches.len());
        }
        Ok(runs)
    })
}

/// Waits for the next sandbox; `None` if there is none any more.
fn next<'a>(prepared: &Mutex<Receiver<Prepared<'a>>>) -> Option<Prepared<'a>> {
    prepared.lock().ok()?.recv().ok()
}

/// Makes the sandbox for a patch; `None` if a program judges, or Codev-Bench's rule, which runs several commands.
fn prepare<'a>(job: &JudgingJob<'a>, patch: &Patch<'_>) -> Result<Option<PreparedTests<'a>>, ReplayError> {
    match shapes_of_codev_bench(job, patch) {
        Some(_) => Ok(None),
        None => job.judge.prepare(patch.tests, placed(job, patch)?),
    }
}

/// Returns the shapes that the rule of Codev-Bench's program demands; `None` if another rule judges the patch.
fn shapes_of_codev_bench<'a>(job: &JudgingJob<'a>, patch: &Patch<'_>) -> Option<&'a [CodevShape]> {
    match job.rules {
        JudgingRules::Original { shapes } if patch.case.task.kind() == TaskKind::Complete => Some(shapes),
        JudgingRules::Original { .. } | JudgingRules::Ours => None,
    }
}

/// Returns the changed file of a patch.
fn placed(job: &JudgingJob<'_>, patch: &Patch<'_>) -> Result<ChangedFile, ReplayError> {
    let answer =
        patch.answers.first().ok_or_else(|| ReplayError::Sandbox { reason: "no answer".to_owned() })?;
    let placed = job.judge.place(patch.case, answer, job.rules)?;
    placed.ok_or_else(|| ReplayError::Sandbox { reason: "no code".to_owned() })
}

fn judge(
    job: &JudgingJob<'_>,
    patch: &Patch<'_>,
    prepared: Option<PreparedTests<'_>>,
) -> Result<Judgement, ReplayError> {
    let (judged, verdict) = verdict(job, patch, prepared)?;
    let has_passed = verdict == TestVerdict::Passed;
    let output = secrets::redact(&judged.output);
    let end = output.ceil_char_boundary(output.len().saturating_sub(OUTPUT_BYTES));
    Ok(Judgement {
        schema: SchemaVersion::CURRENT,
        case: patch.case.id.clone(),
        engine: String::new(),
        repetition: 0,
        patch: patch.hash.clone(),
        verdict,
        not_passed: if has_passed { BTreeSet::new() } else { judged.not_passed },
        seconds: judged.wall.as_secs_f64(),
        output: if has_passed { String::new() } else { output[end..].to_owned() },
    })
}

/// Judges a patch by the rules of the job.
fn verdict(
    job: &JudgingJob<'_>,
    patch: &Patch<'_>,
    prepared: Option<PreparedTests<'_>>,
) -> Result<(JudgedCode, TestVerdict), ReplayError> {
    if let Some(shapes) = shapes_of_codev_bench(job, patch) {
        let TestJudge::Sandbox(judge) = job.judge else {
            let reason = "a program judges here, which cannot apply the rule of Codev-Bench's program";
            return Err(ReplayError::Sandbox { reason: reason.to_owned() });
        };
        let change = placed(job, patch)?;
        let code = (patch.answers[0].text.as_str(), &change);
        let judged = judge_as_codev_bench(judge, shapes, patch.case, patch.tests, code)?;
        let verdict = judged.verdict;
        return Ok((judged, verdict));
    }
    let judge = || job.judge.judge(patch.tests, &placed(job, patch)?);
    let judged = match prepared {
        Some(prepared) => JudgedCode::of_prepared(prepared, patch.tests)?,
        None => judge()?,
    };
    let verdict = confirmed(judged.verdict, || Ok(judge()?.verdict))?;
    Ok((judged, verdict))
}

/// Returns a verdict, or flaky if a failure does not come again: tests may depend on time or chance with this code only. A time limit is not
/// tried again: it would cost the most and prove the least.
fn confirmed(
    verdict: TestVerdict,
    again: impl FnOnce() -> Result<TestVerdict, ReplayError>,
) -> Result<TestVerdict, ReplayError> {
    let is_failure = matches!(verdict, TestVerdict::Failed | TestVerdict::NotRun);
    if is_failure && again()? == TestVerdict::Passed { Ok(TestVerdict::Flaky) } else { Ok(verdict) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_failure_that_comes_again_is_one() {
        use TestVerdict::{BuildError, Failed, Flaky, NotRun, Passed, TimedOut};
        for (first, second, verdict) in [
            (Failed, Passed, Flaky),
            (Failed, Failed, Failed),
            (Failed, TimedOut, Failed),
            (NotRun, Passed, Flaky),
        ] {
            assert_eq!(confirmed(first, || Ok(second)).ok(), Some(verdict), "{first:?}, then {second:?}");
        }
        for once in [Passed, BuildError, TimedOut] {
            assert_eq!(confirmed(once, || unreachable!("it is not run again")).ok(), Some(once));
        }
    }
}
