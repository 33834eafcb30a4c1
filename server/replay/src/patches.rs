//! Patches: the different code among the answers of a run. Each is judged once, here or elsewhere.
//!
//! Must never write a row: the caller of a [`PatchRunner`] does.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;

use cases::{Case, CaseTests, Judgement, Prediction, SchemaVersion, TaskKind, TestVerdict};
use sandbox::{ChangedFile, PreparedTests};
use tokio_util::sync::CancellationToken;

use crate::ReplayError;
use crate::judging_rules::{JudgingRules, judge_as_codev_bench};
use crate::placed_code::{place_answer, place_code};
use crate::test_judge::{JudgedCode, SandboxJudge, TestJudge};

/// Bytes of the stored output of tests.
const OUTPUT_BYTES: usize = 4_000;

/// Code to judge. The changed file is made again when its tests run: a run has thousands.
#[derive(Clone, Debug)]
pub struct Patch<'a> {
    /// The case, which has tests.
    pub case: &'a Case,
    /// The first answer that consists of this code.
    pub answer: &'a Prediction,
    /// Further answers that do.
    pub(crate) others: Vec<&'a Prediction>,
    /// Hash of everything that decides the verdict.
    pub(crate) hash: String,
}

impl<'a> Patch<'a> {
    /// Returns all answers that consist of this code.
    pub(crate) fn answers(&self) -> impl Iterator<Item = &'a Prediction> {
        [self.answer].into_iter().chain(self.others.iter().copied())
    }
}

/// Runs the tests of patches: in this process, or elsewhere.
pub trait PatchRunner {
    /// Judges patches, and passes each judgement with the index of its patch to `record` in the order of completion, until all are judged,
    /// `stop` is cancelled or `record` returns `Break`.
    ///
    /// # Errors
    ///
    /// Further patches cannot be judged. All judgements so far are recorded.
    fn run(
        &self,
        patches: &[Patch<'_>],
        rules: &JudgingRules,
        stop: &CancellationToken,
        record: &mut dyn FnMut(usize, Judgement) -> ControlFlow<()>,
    ) -> Result<(), ReplayError>;
}

/// Judges in this process, some patches at a time.
#[derive(Clone, Copy, Debug)]
pub struct LocalJudge<'a> {
    /// The judge.
    pub judge: &'a TestJudge,
    /// Number of sandboxes at a time.
    pub jobs: usize,
}

/// The place of a patch, and the sandbox for its tests, or why there is none; see [`AnswerJudge::prepare`].
type Prepared<'a> = (usize, Result<Option<PreparedTests<'a>>, ReplayError>);

impl PatchRunner for LocalJudge<'_> {
    /// While tests run, the sandboxes of the next ones are made, at most one for each job.
    fn run(
        &self,
        patches: &[Patch<'_>],
        rules: &JudgingRules,
        stop: &CancellationToken,
        record: &mut dyn FnMut(usize, Judgement) -> ControlFlow<()>,
    ) -> Result<(), ReplayError> {
        let judge = AnswerJudge { judge: self.judge, rules, shown_as: None };
        let jobs = self.jobs.clamp(1, patches.len().max(1));
        let (sender, prepared) = mpsc::sync_channel::<Prepared<'_>>(jobs - 1);
        let prepared = Arc::new(Mutex::new(prepared));
        let (finished_sender, finished) = mpsc::channel();
        let (working, worked) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                for (place, patch) in patches.iter().enumerate().take_while(|_| !stop.is_cancelled()) {
                    if sender.send((place, judge.prepare(patch.case, patch.answer))).is_err() {
                        break;
                    }
                }
                drop(sender);
                // A sandbox ends with the thread that made it, so this one stays as long as tests run.
                let _ = worked.recv();
            });
            for _ in 0..jobs {
                let (prepared, finished) = (Arc::clone(&prepared), finished_sender.clone());
                let working = working.clone();
                scope.spawn(move || {
                    // Sandboxes that are made when the judgement is stopped are not used.
                    while let Some((place, tests)) = next(&prepared).filter(|_| !stop.is_cancelled()) {
                        let Patch { case, answer, .. } = patches[place];
                        let judged = tests.and_then(|tests| judge.judge_prepared(case, answer, tests));
                        let is_stopped = judged.is_err() && stop.is_cancelled();
                        if is_stopped || finished.send((place, judged)).is_err() {
                            break;
                        }
                    }
                    drop((prepared, working));
                });
            }
            // The threads have ends of their own: the last one ends the loops.
            drop((prepared, finished_sender, working));
            for (place, judged) in finished {
                if record(place, judged?).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }
}

/// Waits for the next sandbox; `None` if there is none any more.
fn next<'a>(prepared: &Mutex<Receiver<Prepared<'a>>>) -> Option<Prepared<'a>> {
    prepared.lock().ok()?.recv().ok()
}

/// Judges answers over the judge's workspace.
#[derive(Clone, Copy, Debug)]
pub struct AnswerJudge<'a> {
    /// The judge.
    pub judge: &'a TestJudge,
    /// The rules.
    pub rules: &'a JudgingRules,
    /// The path that the stored output shows in place of the workspace's, if the workspace is a copy.
    pub shown_as: Option<&'a Path>,
}

impl<'a> AnswerJudge<'a> {
    /// Judges an answer by the tests of its case. The judgement names no patch.
    ///
    /// # Errors
    ///
    /// The tests cannot run, or the case is not that of the workspace. This says nothing about the answer.
    pub fn judge(&self, case: &Case, answer: &Prediction) -> Result<Judgement, ReplayError> {
        self.judge_prepared(case, answer, self.prepare(case, answer)?)
    }

    /// Makes the sandbox for the tests of an answer; `None` if a program judges, or Codev-Bench's rule, which runs several commands.
    fn prepare(&self, case: &Case, answer: &Prediction) -> Result<Option<PreparedTests<'a>>, ReplayError> {
        match self.rules.of_codev_bench(case) {
            Some(_) => Ok(None),
            None => self.judge.prepare(tests_of(case)?, self.place(case, answer)?),
        }
    }

    fn judge_prepared(
        &self,
        case: &Case,
        answer: &Prediction,
        prepared: Option<PreparedTests<'_>>,
    ) -> Result<Judgement, ReplayError> {
        let (judged, verdict) = self.verdict(case, answer, prepared)?;
        let has_passed = verdict == TestVerdict::Passed;
        Ok(Judgement {
            schema: SchemaVersion::CURRENT,
            case: case.id.clone(),
            engine: answer.engine.name.clone(),
            repetition: answer.repetition,
            patch: String::new(),
            verdict,
            not_passed: if has_passed { BTreeSet::new() } else { judged.not_passed },
            seconds: judged.wall.as_secs_f64(),
            output: if has_passed { String::new() } else { self.stored_output(judged.output) },
        })
    }

    /// Checks that the tests of a case pass with the truth.
    ///
    /// # Errors
    ///
    /// They do not, or cannot run, or cannot judge by the rules.
    pub fn check_truth(&self, case: &Case) -> Result<(), ReplayError> {
        if self.rules.of_codev_bench(case).is_some() {
            self.sandbox_for_codev_bench()?;
        }
        let (tests, change) = (tests_of(case)?, place_code(self.judge.workspace(), case, &case.truth)?);
        let judged = self.judge.judge(tests, &change)?;
        match confirmed(judged.verdict, || Ok(self.judge.judge(tests, &change)?.verdict))? {
            TestVerdict::Passed | TestVerdict::Flaky => Ok(()),
            _ => {
                let output = self.stored_output(judged.output);
                let last = output.lines().rev().find(|line| !line.trim().is_empty());
                let last = last.unwrap_or("there is no output").trim().to_owned();
                Err(ReplayError::TruthFails { path: case.path.clone(), line: case.line + 1, last })
            }
        }
    }

    /// Judges by the rules.
    fn verdict(
        &self,
        case: &Case,
        answer: &Prediction,
        prepared: Option<PreparedTests<'_>>,
    ) -> Result<(JudgedCode, TestVerdict), ReplayError> {
        let tests = tests_of(case)?;
        if let Some(shapes) = self.rules.of_codev_bench(case) {
            let judge = self.sandbox_for_codev_bench()?;
            let code = (answer.text.as_str(), &self.place(case, answer)?);
            let judged = judge_as_codev_bench(judge, shapes, case, tests, code)?;
            let verdict = judged.verdict;
            return Ok((judged, verdict));
        }
        let judge = || self.judge.judge(tests, &self.place(case, answer)?);
        let judged = match prepared {
            Some(prepared) => JudgedCode::of_prepared(prepared, tests)?,
            None => judge()?,
        };
        let verdict = confirmed(judged.verdict, || Ok(judge()?.verdict))?;
        Ok((judged, verdict))
    }

    /// Returns the case's file with an answer in place of the truth.
    fn place(&self, case: &Case, answer: &Prediction) -> Result<ChangedFile, ReplayError> {
        let placed = place_answer(self.judge.workspace(), case, answer, self.rules)?;
        placed.ok_or_else(|| ReplayError::Sandbox { reason: "no code".to_owned() })
    }

    fn sandbox_for_codev_bench(&self) -> Result<&'a SandboxJudge, ReplayError> {
        match self.judge {
            TestJudge::Sandbox(judge) => Ok(judge),
            TestJudge::Program(_) => {
                let reason = "a program judges here, which cannot apply the rule of Codev-Bench's program";
                Err(ReplayError::Sandbox { reason: reason.to_owned() })
            }
        }
    }

    /// Returns the end of an output, without secrets.
    fn stored_output(&self, output: String) -> String {
        let output = match (self.shown_as, self.judge.workspace().to_str()) {
            (Some(shown), Some(workspace)) => output.replace(workspace, &shown.to_string_lossy()),
            _ => output,
        };
        let output = secrets::redact(&output);
        let end = output.ceil_char_boundary(output.len().saturating_sub(OUTPUT_BYTES));
        output[end..].to_owned()
    }
}

fn tests_of(case: &Case) -> Result<&CaseTests, ReplayError> {
    let none = || ReplayError::Sandbox { reason: format!("the case {} has no tests", case.id) };
    case.tests.as_deref().ok_or_else(none)
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

impl JudgingRules {
    /// Returns the shapes of Codev-Bench's rule, if it judges the case.
    fn of_codev_bench(&self, case: &Case) -> Option<&[crate::CodevShape]> {
        match self {
            JudgingRules::Original { shapes } if case.task.kind() == TaskKind::Complete => Some(shapes),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use cases::{EngineIdentity, Status, TestRunnerKind};
    use sandbox::JudgeProgram;

    use super::*;
    use crate::score_predictions::tests::case;

    /// A case whose truth follows `x := ` in `a.go`.
    fn judged_case(folder: &Path) -> Case {
        std::fs::write(folder.join("a.go"), "x := f(a)").expect("a file");
        let tests = CaseTests {
            runner: TestRunnerKind::Command,
            folder: String::new(),
            ids: vec!["command".to_owned()],
            seconds: 0.1,
            must_return: false,
        };
        Case { byte_range: 5..9, tests: Some(Box::new(tests)), ..case("f(a)") }
    }

    #[cfg(unix)]
    #[test]
    fn stopped_judgement_starts_nothing_that_is_prepared() {
        let folder = tempfile::tempdir().expect("a folder");
        let case = judged_case(folder.path());
        let name = || "e".to_owned();
        let engine = EngineIdentity { name: name(), kind: name(), model: name(), fingerprint: name() };
        let answers = ["f(a)", "f(b)", "f(c)"].map(|text| Prediction {
            text: text.to_owned(),
            ..Prediction::empty(case.id.clone(), engine.clone(), Status::Ok)
        });
        let patch = |answer| Patch { case: &case, answer, others: Vec::new(), hash: String::new() };
        let patches = [&answers[0], &answers[1], &answers[2]].map(patch);
        let [started, may_end] = ["started", "may-end"].map(|name| folder.path().join(name));
        let script = "touch \"$0\"; until test -e \"$1\"; do sleep 0.01; done; echo '{\"verdict\": \"passed\"}' > \"$2/verdict.json\"";
        let words = ["sh", "-c", script].into_iter().map(str::to_owned);
        let files = [&started, &may_end].map(|path| path.to_string_lossy().into_owned());
        let program = JudgeProgram::new(words.chain(files).collect(), folder.path().to_owned());
        let judge = TestJudge::Program(program);
        let (stop, mut judged) = (CancellationToken::new(), Vec::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                while !started.exists() {
                    thread::yield_now();
                }
                stop.cancel();
                std::fs::write(&may_end, "").expect("a file");
            });
            let mut record = |place, _| {
                judged.push(place);
                ControlFlow::Continue(())
            };
            let runner = LocalJudge { judge: &judge, jobs: 1 };
            runner.run(&patches, &JudgingRules::Ours, &stop, &mut record).expect("judgements");
        });
        assert_eq!(judged, [0]);
    }

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
