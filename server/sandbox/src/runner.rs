//! Test runners: finds the one of a workspace, runs tests in a sandbox, and reads their results.
//!
//! A result counts only if the runner itself reports it, in its own format, and its exit code agrees. Output of a test is not a
//! result. Where tests and the code under test share a process, a test that must fail runs beside them: a runner that was
//! patched to let everything pass lets it pass, too.

mod cargo_test;
mod command;
mod cover;
mod go_test;
mod javascript;
mod junit;
mod make;
mod python;
mod returns;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cases::{CaseTests, TestRunnerKind, TestVerdict};
use serde::{Deserialize, Serialize};

use crate::outcome::{CommandOutcome, Exit};
use crate::prepared_command::PreparedCommand;
use crate::sandbox::{Sandbox, SandboxError};
use crate::spec::{ChangedFile, SandboxCommand};

/// Outcome of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestState {
    /// It ran and passed.
    Passed,
    /// It failed, or its setup or teardown did.
    Failed,
    /// It did not run.
    Skipped,
}

/// A result of one test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestResult {
    /// Its outcome.
    pub state: TestState,
    /// Its time, where the runner reports it.
    pub time: Option<Duration>,
}

/// Lines of files that tests executed, by path in the workspace; tests are numbers in the order of [`TestResults::tests`].
pub type CoveredLines = BTreeMap<String, BTreeMap<u32, Vec<u32>>>;

/// The results of a run of tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestResults {
    /// Results by the test's id. A test that was reported twice with different results has failed.
    pub tests: BTreeMap<String, TestResult>,
    /// Whether a file could not be loaded or compiled.
    pub has_build_error: bool,
    /// Whether the test that must fail failed; `None` for runners without one.
    pub has_failing_control: Option<bool>,
    /// Whether all programs of the workspace returned from `main`, for runners that know exit codes only; `None` if it is not known.
    pub all_return: Option<bool>,
    /// Executed lines, 1-based, if they were asked for; `None` if the runner cannot say.
    pub covered: Option<CoveredLines>,
}

/// A finished run of tests.
#[derive(Clone, Debug, PartialEq)]
pub struct TestRun {
    /// The results.
    pub results: TestResults,
    /// The command's outcome.
    pub outcome: CommandOutcome,
}

/// Tests whose sandbox is made, or being made, before they may [start](PreparedTests::start); see [`PreparedCommand`].
#[derive(Debug)]
pub struct PreparedTests<'a> {
    runner: TestRunner,
    workspace: &'a Path,
    nonce: String,
    command: PreparedCommand,
}

/// The test runner of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRunner {
    /// The program.
    pub kind: TestRunnerKind,
    /// Its folder, relative to the workspace.
    pub folder: PathBuf,
    /// Words of the command before the runner's own arguments; empty for its usual ones.
    pub command: Vec<String>,
    /// Report of [`TestRunnerKind::Command`] in JUnit's format, relative to `folder`; without it, its exit code is one test.
    pub report: Option<PathBuf>,
}

/// Tests to run, and details to note.
#[derive(Clone, Copy, Debug, Default)]
pub struct TestSelection<'a> {
    /// Ids of the tests; `None` for all.
    pub tests: Option<&'a [String]>,
    /// Whether to note the lines that each test executes.
    pub covers_lines: bool,
    /// Wall time, if it is shorter than that of the sandbox.
    pub time_limit: Option<Duration>,
}

impl TestRunner {
    /// Returns the runner of a kind with its usual command, in a folder relative to the workspace.
    pub fn of_kind(kind: TestRunnerKind, folder: &Path) -> TestRunner {
        TestRunner { kind, folder: folder.to_owned(), command: Vec::new(), report: None }
    }

    /// Finds the runners of a workspace in its files, the most specific first.
    pub fn detect(workspace: &Path) -> Vec<TestRunner> {
        let runner = |kind| TestRunner::of_kind(kind, Path::new(""));
        let has = |name: &str| workspace.join(name).exists();
        let mut found: Vec<TestRunner> = python::detect(workspace).map(runner).into_iter().collect();
        if has("Cargo.toml") {
            found.push(runner(TestRunnerKind::Cargo));
        }
        if has("go.mod") {
            found.push(runner(TestRunnerKind::Go));
        }
        found.extend(javascript::detect(workspace).map(runner));
        if has("pom.xml") {
            found.push(runner(TestRunnerKind::Maven));
        }
        let built = ["build", "."]
            .into_iter()
            .find(|folder| workspace.join(folder).join("CTestTestfile.cmake").is_file());
        if let Some(folder) = built {
            found.push(TestRunner::of_kind(TestRunnerKind::Ctest, Path::new(folder.trim_start_matches('.'))));
        }
        if make::detect(workspace) {
            found.push(runner(TestRunnerKind::Make));
        }
        if found.is_empty() {
            found.extend(python::detect_tests(workspace).map(runner));
        }
        found
    }

    /// Returns the lines that each of these tests executes, for runners whose results do not say it; the numbers are the tests' places.
    /// `None` if the tools of the language cannot say it, either.
    ///
    /// # Errors
    ///
    /// The sandbox does not work.
    pub fn cover(&self, sandbox: &Sandbox, tests: &[String]) -> Result<Option<CoveredLines>, SandboxError> {
        cover::cover(self, sandbox, tests)
    }

    /// Whether results come with the lines that each test executed.
    pub fn can_cover_lines(&self) -> bool {
        matches!(self.kind, TestRunnerKind::Pytest | TestRunnerKind::Unittest)
    }

    /// Runs tests in a copy of the workspace with some changed files.
    pub fn run(
        &self,
        sandbox: &Sandbox,
        changes: &[ChangedFile],
        selection: TestSelection<'_>,
    ) -> Result<TestRun, SandboxError> {
        let prepared = self.prepare(sandbox, changes, selection)?;
        prepared.start();
        prepared.finish()
    }

    /// Makes a copy of the workspace with some changed files for tests.
    pub fn prepare<'a>(
        &self,
        sandbox: &'a Sandbox,
        changes: &[ChangedFile],
        selection: TestSelection<'_>,
    ) -> Result<PreparedTests<'a>, SandboxError> {
        let nonce = nonce();
        let (mut command, support) = self.command(sandbox.workspace(), selection, &nonce);
        command.time_limit = selection.time_limit;
        let changes: Vec<ChangedFile> = changes.iter().cloned().chain(support).collect();
        let command = sandbox.prepare(&changes, &command)?;
        Ok(PreparedTests { runner: self.clone(), workspace: sandbox.workspace(), nonce, command })
    }

    /// Runs one test of pytest as Codev-Bench does: what it prints is the whole evidence. `None` if it is a test of another runner.
    pub fn run_for_log(
        &self,
        sandbox: &Sandbox,
        change: &ChangedFile,
        test: &str,
        limit: Duration,
    ) -> Option<Result<CommandOutcome, SandboxError>> {
        let is_pytest = self.kind == TestRunnerKind::Pytest;
        let command = is_pytest.then(|| python::plain_command(self, sandbox.workspace(), test))?;
        let command = SandboxCommand { time_limit: Some(limit), ..command };
        Some(sandbox.run(std::slice::from_ref(change), &command))
    }

    /// Returns the command and the files that it needs.
    fn command(
        &self,
        workspace: &Path,
        selection: TestSelection<'_>,
        nonce: &str,
    ) -> (SandboxCommand, Vec<ChangedFile>) {
        match self.kind {
            TestRunnerKind::Pytest | TestRunnerKind::Unittest => {
                python::command(self, workspace, selection, nonce)
            }
            TestRunnerKind::Make => make::command(self, workspace, nonce),
            TestRunnerKind::Cargo => (cargo_test::command(self, selection), Vec::new()),
            TestRunnerKind::Go => (go_test::command(self, selection), Vec::new()),
            TestRunnerKind::Node | TestRunnerKind::Vitest | TestRunnerKind::Jest => {
                javascript::command(self, workspace, selection, nonce)
            }
            TestRunnerKind::Ctest | TestRunnerKind::Maven | TestRunnerKind::Command => {
                command::command(self, selection, nonce)
            }
        }
    }

    fn read(&self, outcome: &CommandOutcome, workspace: &Path, nonce: &str) -> TestResults {
        let results = match self.kind {
            TestRunnerKind::Pytest | TestRunnerKind::Unittest => python::read(outcome, workspace, nonce),
            TestRunnerKind::Make => make::read(outcome, nonce),
            TestRunnerKind::Cargo => cargo_test::read(outcome),
            TestRunnerKind::Go => go_test::read(outcome),
            TestRunnerKind::Node | TestRunnerKind::Vitest | TestRunnerKind::Jest => {
                javascript::read(outcome, &workspace.join(&self.folder), nonce)
            }
            TestRunnerKind::Ctest | TestRunnerKind::Maven | TestRunnerKind::Command => {
                command::read(self, outcome)
            }
        };
        TestResults { all_return: returns::all_return(outcome, nonce), ..results }
    }
}

impl PreparedTests<'_> {
    /// Lets the tests start. Does not block.
    pub fn start(&self) {
        self.command.start();
    }

    /// Waits until the started tests have ended.
    ///
    /// # Errors
    ///
    /// The sandbox failed, or was stopped.
    pub fn finish(self) -> Result<TestRun, SandboxError> {
        let outcome = self.command.outcome()?;
        let results = self.runner.read(&outcome, self.workspace, &self.nonce);
        Ok(TestRun { results, outcome })
    }
}

impl TestRun {
    /// Returns the ids of the expected tests that did not pass.
    pub fn not_passed<'a>(&self, expected: &'a [String]) -> Vec<&'a str> {
        let has_passed =
            |id: &&String| self.results.tests.get(*id).is_some_and(|test| test.state == TestState::Passed);
        expected.iter().filter(|id| !has_passed(id)).map(String::as_str).collect()
    }

    /// Judges the code by the expected tests.
    pub fn verdict(&self, tests: &CaseTests) -> TestVerdict {
        let expected = &tests.ids;
        let state = |id: &String| self.results.tests.get(id).map(|test| test.state);
        match self.outcome.exit {
            Exit::TimedOut => return TestVerdict::TimedOut,
            Exit::OutOfMemory => return TestVerdict::OutOfMemory,
            Exit::TooManyProcesses | Exit::TooMuchOutput => return TestVerdict::Failed,
            Exit::Code(_) | Exit::Signal(_) => {}
        }
        if expected.iter().any(|id| state(id) == Some(TestState::Failed)) {
            return TestVerdict::Failed;
        }
        let has_run = expected.iter().any(|id| state(id) == Some(TestState::Passed));
        if self.results.has_build_error && !has_run {
            return TestVerdict::BuildError;
        }
        if expected.is_empty() || expected.iter().any(|id| state(id) != Some(TestState::Passed)) {
            return TestVerdict::NotRun;
        }
        if tests.must_return && self.results.all_return != Some(true) {
            return TestVerdict::NotRun;
        }
        // Other tests of the same files may fail, then the code differs; the selected ones are all that ran.
        let expected_exit = match self.results.has_failing_control {
            Some(true) => Exit::Code(1),
            Some(false) => return TestVerdict::Failed,
            None => Exit::Code(0),
        };
        if self.outcome.exit == expected_exit { TestVerdict::Passed } else { TestVerdict::Failed }
    }
}

impl TestResults {
    /// Adds a result.
    fn add(&mut self, id: String, state: TestState, time: Option<Duration>) {
        let result = TestResult { state, time };
        self.tests
            .entry(id)
            .and_modify(|known| {
                if known.state != state {
                    known.state = TestState::Failed;
                }
            })
            .or_insert(result);
    }
}

/// Returns a name that code under test cannot know.
fn nonce() -> String {
    let folder = tempfile::Builder::new().prefix("").rand_bytes(20).make(|path| Ok(path.to_owned()));
    let name =
        folder.ok().and_then(|name| name.path().file_name().map(|name| name.to_string_lossy().into_owned()));
    let name: String = name.unwrap_or_default().chars().filter(char::is_ascii_alphanumeric).collect();
    format!("control_{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(exit: Exit, tests: &[(&str, TestState)], control: Option<bool>) -> TestRun {
        let mut results = TestResults { has_failing_control: control, ..TestResults::default() };
        tests.iter().for_each(|&(id, state)| results.add(id.to_owned(), state, None));
        let outcome = CommandOutcome {
            exit,
            output: String::new(),
            reports: Vec::new(),
            wall: Duration::ZERO,
            peak_memory_bytes: 0,
        };
        TestRun { results, outcome }
    }

    fn tests(ids: &[&str]) -> CaseTests {
        CaseTests {
            runner: TestRunnerKind::Ctest,
            folder: String::new(),
            ids: ids.iter().copied().map(str::to_owned).collect(),
            seconds: 1.0,
            must_return: false,
        }
    }

    #[test]
    fn program_that_exits_early_has_not_run_its_tests() {
        let must = CaseTests { must_return: true, ..tests(&["a"]) };
        for (all_return, expected) in [
            (Some(true), TestVerdict::Passed),
            (Some(false), TestVerdict::NotRun),
            (None, TestVerdict::NotRun),
        ] {
            let mut passed = run(Exit::Code(0), &[("a", TestState::Passed)], None);
            passed.results.all_return = all_return;
            assert_eq!(passed.verdict(&must), expected, "{all_return:?}");
            assert_eq!(passed.verdict(&tests(&["a"])), TestVerdict::Passed);
        }
    }

    #[test]
    fn verdict_needs_every_expected_test_and_the_exit_code() {
        use TestState::{Failed, Passed, Skipped};
        let expected = tests(&["a", "b"]);
        let both = [("a", Passed), ("b", Passed)];
        for (exit, tests, control, verdict) in [
            (Exit::Code(0), &both[..], None, TestVerdict::Passed),
            (Exit::Code(1), &both, Some(true), TestVerdict::Passed),
            (Exit::Code(0), &both, Some(true), TestVerdict::Failed),
            (Exit::Code(1), &both, Some(false), TestVerdict::Failed),
            (Exit::Code(1), &both, None, TestVerdict::Failed),
            (Exit::Signal(11), &both, None, TestVerdict::Failed),
            (Exit::Code(0), &both[..1], None, TestVerdict::NotRun),
            (Exit::Code(0), &[], None, TestVerdict::NotRun),
            (Exit::Code(0), &[("a", Passed), ("b", Skipped)], None, TestVerdict::NotRun),
            (Exit::Code(1), &[("a", Passed), ("b", Failed)], None, TestVerdict::Failed),
            (Exit::Code(0), &[("a", Passed), ("b", Passed), ("b", Failed)], None, TestVerdict::Failed),
            (Exit::TimedOut, &both, None, TestVerdict::TimedOut),
            (Exit::OutOfMemory, &both, None, TestVerdict::OutOfMemory),
            (Exit::TooMuchOutput, &both, None, TestVerdict::Failed),
        ] {
            assert_eq!(
                run(exit, tests, control).verdict(&expected),
                verdict,
                "{exit:?} {tests:?} {control:?}"
            );
        }
    }

    #[test]
    fn nothing_is_never_passed() {
        assert_eq!(run(Exit::Code(0), &[], None).verdict(&tests(&[])), TestVerdict::NotRun);
    }

    #[test]
    fn build_error_is_a_verdict_only_if_no_expected_test_ran() {
        let mut failed = run(Exit::Code(2), &[], None);
        failed.results.has_build_error = true;
        assert_eq!(failed.verdict(&tests(&["a"])), TestVerdict::BuildError);
    }

    #[test]
    fn names_of_controls_differ() {
        assert_ne!(nonce(), nonce());
        assert!(nonce().len() > 20);
    }
}
