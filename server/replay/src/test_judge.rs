//! Judges code by the tests of a case: in the place of the truth, in a throw-away copy of the workspace.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use cases::{Case, CaseTests, TestVerdict};
use sandbox::{
    ChangedFile, CommandOutcome, JudgeProgram, PreparedTests, Sandbox, SandboxError, TestRun, TestRunner,
    TestSelection,
};

use crate::ReplayError;
use crate::placed_code::{first_line, place_code};

/// Judges code over one workspace.
#[derive(Debug)]
pub enum TestJudge {
    /// The tests run in a sandbox of this machine.
    Sandbox(Box<SandboxJudge>),
    /// A program of the settings judges.
    Program(JudgeProgram),
}

/// Judges code in a sandbox.
#[derive(Debug)]
pub struct SandboxJudge {
    sandbox: Sandbox,
    /// Runner in place of those of the cases.
    runner: Option<TestRunner>,
}

/// A verdict with its reasons.
pub(crate) struct JudgedCode {
    pub(crate) verdict: TestVerdict,
    /// Expected tests that did not pass; empty if all did.
    pub(crate) not_passed: BTreeSet<String>,
    /// Output of the tests, of any length.
    pub(crate) output: String,
    pub(crate) wall: Duration,
}

impl JudgedCode {
    /// Runs the tests of a prepared sandbox.
    pub(crate) fn of_prepared(
        prepared: PreparedTests<'_>,
        tests: &CaseTests,
    ) -> Result<JudgedCode, ReplayError> {
        Ok(JudgedCode::of_run(run_prepared(prepared)?, tests))
    }

    fn of_run(run: TestRun, tests: &CaseTests) -> JudgedCode {
        let not_passed = run.not_passed(&tests.ids).into_iter().map(str::to_owned).collect();
        JudgedCode {
            verdict: run.verdict(tests),
            not_passed,
            output: run.outcome.output,
            wall: run.outcome.wall,
        }
    }
}

impl TestJudge {
    /// Returns the workspace.
    pub fn workspace(&self) -> &Path {
        match self {
            TestJudge::Sandbox(judge) => judge.sandbox.workspace(),
            TestJudge::Program(program) => program.workspace(),
        }
    }

    /// Makes the sandbox for the tests of a changed file; `None` if a program judges.
    pub(crate) fn prepare(
        &self,
        tests: &CaseTests,
        change: ChangedFile,
    ) -> Result<Option<PreparedTests<'_>>, ReplayError> {
        match self {
            TestJudge::Sandbox(judge) => judge.prepare(tests, change).map(Some),
            TestJudge::Program(_) => Ok(None),
        }
    }

    /// Judges a changed file by the tests of its case.
    pub(crate) fn judge(&self, tests: &CaseTests, change: &ChangedFile) -> Result<JudgedCode, ReplayError> {
        match self {
            TestJudge::Sandbox(judge) => Ok(JudgedCode::of_run(judge.run(tests, change.clone())?, tests)),
            TestJudge::Program(program) => {
                let start = Instant::now();
                let judged = program.judge(tests, change, time_limit(tests));
                let judged = judged.map_err(|error| ReplayError::Sandbox { reason: error.to_string() })?;
                let wall = start.elapsed();
                Ok(JudgedCode {
                    verdict: judged.verdict,
                    not_passed: judged.not_passed,
                    output: judged.output,
                    wall,
                })
            }
        }
    }
}

impl SandboxJudge {
    /// Creates a judge. The runner of the settings, if there is one, takes the place of those that cases name.
    pub fn new(sandbox: Sandbox, runner: Option<TestRunner>) -> SandboxJudge {
        SandboxJudge { sandbox, runner }
    }

    /// Returns the sandbox.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Returns the case's file with a text in place of the truth.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or does not contain the truth at the case's place.
    pub fn place(&self, case: &Case, text: &str) -> Result<ChangedFile, ReplayError> {
        place_code(self.sandbox.workspace(), case, text)
    }

    /// Runs one test of a case as Codev-Bench does, see [`TestRunner::run_for_log`].
    pub(crate) fn run_for_log(
        &self,
        tests: &CaseTests,
        change: &ChangedFile,
        test: &str,
        limit: Duration,
    ) -> Result<CommandOutcome, ReplayError> {
        let ran = self.runner_of(tests).run_for_log(&self.sandbox, change, test, limit);
        let ran = ran.ok_or_else(|| ReplayError::Sandbox {
            reason: format!(
                "the rule of Codev-Bench's program is about pytest; {test} is a test of {}",
                tests.runner
            ),
        })?;
        ran.map_err(sandbox_error)
    }

    /// Returns the runner of the settings, or else that of the tests.
    fn runner_of(&self, tests: &CaseTests) -> TestRunner {
        let own = || TestRunner::of_kind(tests.runner, Path::new(&tests.folder));
        self.runner.clone().unwrap_or_else(own)
    }

    /// Returns the line of the truth in the case's file, 1-based; `None` if it is not there.
    pub(crate) fn first_line(&self, case: &Case) -> Option<u32> {
        first_line(self.sandbox.workspace(), case)
    }

    /// Runs tests of a case with a changed file.
    pub fn run(&self, tests: &CaseTests, change: ChangedFile) -> Result<TestRun, ReplayError> {
        run_prepared(self.prepare(tests, change)?)
    }

    fn prepare(&self, tests: &CaseTests, change: ChangedFile) -> Result<PreparedTests<'_>, ReplayError> {
        let selection = TestSelection {
            tests: Some(&tests.ids),
            time_limit: Some(time_limit(tests)),
            ..TestSelection::default()
        };
        self.runner_of(tests).prepare(&self.sandbox, &[change], selection).map_err(sandbox_error)
    }

    /// Returns the verdict on a text in place of a case's truth.
    pub fn verdict(&self, case: &Case, tests: &CaseTests, text: &str) -> Result<TestVerdict, ReplayError> {
        Ok(self.run(tests, self.place(case, text)?)?.verdict(tests))
    }
}

fn run_prepared(prepared: PreparedTests<'_>) -> Result<TestRun, ReplayError> {
    prepared.start();
    prepared.finish().map_err(sandbox_error)
}

fn sandbox_error(error: SandboxError) -> ReplayError {
    ReplayError::Sandbox { reason: error.to_string() }
}

/// Returns the time limit of tests: a wrong answer may never end, but a slow machine is not ten times slower.
fn time_limit(tests: &CaseTests) -> Duration {
    Duration::from_secs(10) + Duration::try_from_secs_f64(10.0 * tests.seconds).unwrap_or(Duration::MAX / 2)
}
