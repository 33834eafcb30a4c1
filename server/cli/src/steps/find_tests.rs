//! Finds the unit tests that judge the cases of a repository, with progress.

use std::path::Path;

use replay::{CasesWithTests, RepositoryTests, SandboxJudge};
use sandbox::TestRunner;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use cases::Case;

use crate::exit::UsageError;
use crate::output::count;
use crate::progress::Progress;

/// Returns the runner of a workspace: that of the settings, or the first one found.
pub(crate) fn find_runner(workspace: &Path, configured: Option<TestRunner>) -> anyhow::Result<TestRunner> {
    let found = configured.or_else(|| TestRunner::detect(workspace).into_iter().next());
    found.ok_or_else(|| {
        UsageError(
            "found no test runner: pytest, Cargo, Go, Vitest, Jest, Node.js, Maven or a CTest build folder; \
             set `command` in the section [tests] of ghostbench.toml"
                .to_owned(),
        )
        .into()
    })
}

/// Runs all tests of a repository `runs` times.
pub(crate) fn run_tests(
    judge: &SandboxJudge,
    runner: TestRunner,
    runs: u32,
) -> anyhow::Result<RepositoryTests> {
    let progress = Progress::new("ran all tests", "times");
    progress.set(0, u64::from(runs));
    let tests =
        RepositoryTests::run(judge, runner, runs, None, |done| progress.set(done.into(), u64::from(runs)))?;
    let counts = tests.counts();
    let stable = count(counts.stable, "test");
    progress.finish(&format!("{stable} pass, {} fail, {} do both", counts.failing, counts.flaky));
    Ok(tests)
}

/// Gives tests with power to cases, and leaves out the others.
pub(crate) fn judge_cases(
    tests: &RepositoryTests,
    judge: &SandboxJudge,
    cases: Vec<Case>,
    jobs: usize,
    stop: &CancellationToken,
) -> anyhow::Result<CasesWithTests> {
    let progress = Progress::new("found tests", "cases");
    let total = cases.len();
    let found = tests.find_all(judge, cases, jobs, stop, |done| progress.set(done as u64, total as u64))?;
    progress.finish(&format!("{} of {}", found.cases.len(), count(total, "case")));
    Ok(found)
}

/// Returns counts for a datasheet.
pub(crate) fn test_counts(tests: &RepositoryTests) -> Value {
    let counts = tests.counts();
    json!({
        "runner": tests.runner().kind,
        "stable": counts.stable,
        "failing": counts.failing,
        "flaky": counts.flaky,
        "covers_lines": tests.covers_lines(),
    })
}
