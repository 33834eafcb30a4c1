//! Judges code by the tests of a case: in the place of the truth, in a throw-away copy of the workspace.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use cases::{Case, CaseTests, TestVerdict};
use sandbox::{ChangedFile, Sandbox, TestRun, TestRunner, TestSelection};

use crate::ReplayError;
use crate::file_io::read_text;

/// Judges code over one workspace.
#[derive(Debug)]
pub struct TestJudge {
    sandbox: Sandbox,
    /// Runner in place of those of the cases.
    runner: Option<TestRunner>,
}

impl TestJudge {
    /// Creates a judge. The runner of the settings, if there is one, takes the place of those that cases name.
    pub fn new(sandbox: Sandbox, runner: Option<TestRunner>) -> TestJudge {
        TestJudge { sandbox, runner }
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
        let path = PathBuf::from(&case.path);
        let file = self.sandbox.workspace().join(&path);
        let other = || ReplayError::OtherCode { path: file.clone(), line: case.line + 1 };
        if !path.components().all(|component| matches!(component, Component::Normal(_))) {
            return Err(other());
        }
        let code = read_text(&file)?;
        let (start, end) = (case.byte_range.start, case.byte_range.end);
        let has_truth = code.get(..start) == Some(&case.prefix) && code.get(start..end) == Some(&case.truth);
        let rest = code.get(end..).filter(|_| has_truth).ok_or_else(other)?;
        Ok(ChangedFile { path, text: [&code[..start], text, rest].concat() })
    }

    /// Runs tests of a case with a changed file.
    pub fn run(&self, tests: &CaseTests, change: ChangedFile) -> Result<TestRun, ReplayError> {
        let runner = self
            .runner
            .clone()
            .unwrap_or_else(|| TestRunner::of_kind(tests.runner, Path::new(&tests.folder)));
        // A wrong answer may never end; a slow machine is not ten times slower.
        let limit = Duration::from_secs(10)
            + Duration::try_from_secs_f64(10.0 * tests.seconds).unwrap_or(Duration::MAX / 2);
        let selection =
            TestSelection { tests: Some(&tests.ids), time_limit: Some(limit), ..TestSelection::default() };
        runner
            .run(&self.sandbox, &[change], selection)
            .map_err(|error| ReplayError::Sandbox { reason: error.to_string() })
    }

    /// Returns the verdict on a text in place of a case's truth.
    pub fn verdict(&self, case: &Case, tests: &CaseTests, text: &str) -> Result<TestVerdict, ReplayError> {
        Ok(self.run(tests, self.place(case, text)?)?.verdict(&tests.ids))
    }
}
