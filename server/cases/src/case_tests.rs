//! Unit tests that judge the answers to a case, and their judgements.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::SchemaVersion;
use crate::case::CaseId;
use crate::string_enum::string_enum;

string_enum! {
    /// A program that runs tests.
    TestRunnerKind {
        /// pytest, also for tests of `unittest`.
        Pytest = "pytest",
        /// `unittest` of Python's own library.
        Unittest = "unittest",
        /// `cargo test`.
        Cargo = "cargo",
        /// `go test`.
        Go = "go",
        /// The test runner of Node.js.
        Node = "node",
        /// Vitest.
        Vitest = "vitest",
        /// Jest.
        Jest = "jest",
        /// CTest in a configured build folder.
        Ctest = "ctest",
        /// The target `check` or `test` of a Makefile, also of one that autotools make.
        Make = "make",
        /// Maven with Surefire.
        Maven = "maven",
        /// The command of the settings.
        Command = "command",
    }
}

string_enum! {
    /// A judgement of code by tests.
    TestVerdict {
        /// All expected tests ran and passed, and the runner says so.
        Passed = "passed",
        /// A test failed, or the runner was tampered with.
        Failed = "failed",
        /// The code could not be compiled or loaded, so that no expected test ran.
        BuildError = "build_error",
        /// The time limit was reached.
        TimedOut = "timed_out",
        /// The memory limit was reached.
        OutOfMemory = "out_of_memory",
        /// Some expected tests did not run, and none failed.
        NotRun = "not_run",
        /// Equal runs ended differently.
        Flaky = "flaky",
    }
}

/// The tests of a case. They pass with the truth in its place and fail with other code there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseTests {
    /// Their runner.
    pub runner: TestRunnerKind,
    /// Folder of the runner, relative to the workspace; empty for the workspace itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// Ids in the runner's own notation.
    pub ids: Vec<String>,
    /// Time of a run with the truth in place, in seconds.
    pub seconds: f64,
    /// Whether all test programs return from `main` with the truth in place, so that one that exits before has not run its tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub must_return: bool,
}

/// The judgement of one prediction by the tests of its case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Format version.
    pub schema: SchemaVersion,
    /// The case.
    pub case: CaseId,
    /// Name of the engine.
    pub engine: String,
    /// Repetition.
    pub repetition: u32,
    /// Hash of the judged input: workspace, changed file, runner and tests. Equal code is judged once.
    pub patch: String,
    /// The verdict.
    pub verdict: TestVerdict,
    /// Expected tests that did not pass, ordered.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub not_passed: BTreeSet<String>,
    /// Time of the tests, in seconds; 0 if equal code had been judged before.
    pub seconds: f64,
    /// End of the output, unless the tests passed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

impl Judgement {
    /// Returns the key of its prediction.
    pub fn key(&self) -> (&str, &str, u32) {
        (&self.case, &self.engine, self.repetition)
    }
}
