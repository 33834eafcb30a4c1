//! Finds the unit tests that judge the cases of a repository, by running them.
//!
//! A case keeps its tests only if they pass with the truth and fail with nothing, with a placeholder and with a changed truth in its
//! place. Tests whose results differ between equal runs judge nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use benchmarks::codev_bench::Mutants;
use cases::{Case, CaseTests, TestVerdict};
use replay::SandboxJudge;
use sandbox::{CoveredLines, TestResults, TestRunner, TestSelection, TestState};
use serde_json::{Value, json};
use syntax::Language;
use tokio_util::sync::CancellationToken;

use crate::exit::UsageError;
use crate::output::count;
use crate::progress::Progress;

/// Tests of a case at most: the fastest ones of those that execute it.
const MAX_TESTS: usize = 25;

/// The stable tests of a repository, and the lines that they execute.
pub(crate) struct RepositoryTests {
    runner: TestRunner,
    /// Tests that passed in every run, with their time in seconds.
    stable: BTreeMap<String, f64>,
    flaky: usize,
    failing: usize,
    /// Ids of the tests by number, and their numbers by path and line; `None` if the runner cannot say.
    covered: Option<(Vec<String>, CoveredLines)>,
    /// Time of a run of all tests, in seconds.
    whole_seconds: f64,
}

/// Cases with tests, and why others have none.
pub(crate) struct CasesWithTests {
    pub(crate) cases: Vec<Case>,
    pub(crate) left_out: BTreeMap<String, usize>,
}

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

impl RepositoryTests {
    /// Runs all tests of a repository `runs` times.
    pub(crate) fn run(
        judge: &SandboxJudge,
        runner: TestRunner,
        runs: u32,
    ) -> anyhow::Result<RepositoryTests> {
        let progress = Progress::new("ran all tests", "times");
        progress.set(0, u64::from(runs));
        let start = Instant::now();
        let first = run_all(judge, &runner, runner.can_cover_lines())?;
        let whole_seconds = start.elapsed().as_secs_f64();
        let covered = first.covered.map(|lines| (first.tests.keys().cloned().collect(), lines));
        let mut states: BTreeMap<String, BTreeSet<bool>> = BTreeMap::new();
        let mut times: BTreeMap<String, f64> = BTreeMap::new();
        let mut note = |results: &BTreeMap<String, sandbox::TestResult>| {
            for (id, test) in results.iter().filter(|(_, test)| test.state != TestState::Skipped) {
                states.entry(id.clone()).or_default().insert(test.state == TestState::Passed);
                let seconds = test.time.map_or(0.0, |time| time.as_secs_f64());
                times.entry(id.clone()).and_modify(|known| *known = known.min(seconds)).or_insert(seconds);
            }
        };
        note(&first.tests);
        for done in 1..runs {
            progress.set(u64::from(done), u64::from(runs));
            note(&run_all(judge, &runner, false)?.tests);
        }
        let with = |outcomes: &[bool]| {
            let outcomes: BTreeSet<bool> = outcomes.iter().copied().collect();
            states
                .iter()
                .filter(move |(_, seen)| **seen == outcomes)
                .map(|(id, _)| id.clone())
                .collect::<Vec<_>>()
        };
        let stable: BTreeMap<String, f64> =
            with(&[true]).into_iter().map(|id| (id.clone(), times[&id])).collect();
        let (flaky, failing) = (with(&[true, false]).len(), with(&[false]).len());
        progress.finish(&format!("{} pass, {failing} fail, {flaky} do both", count(stable.len(), "test")));
        Ok(RepositoryTests { runner, stable, flaky, failing, covered, whole_seconds })
    }

    /// Returns counts for a datasheet.
    pub(crate) fn counts(&self) -> Value {
        json!({
            "runner": self.runner.kind,
            "stable": self.stable.len(),
            "failing": self.failing,
            "flaky": self.flaky,
            "covers_lines": self.covered.is_some(),
        })
    }

    /// Gives tests with power to cases, and leaves out the others.
    pub(crate) fn judge_cases(
        &self,
        judge: &SandboxJudge,
        cases: Vec<Case>,
        jobs: usize,
        stop: &CancellationToken,
    ) -> anyhow::Result<CasesWithTests> {
        let progress = Progress::new("found tests", "cases");
        let next = AtomicUsize::new(0);
        let total = cases.len();
        let found: Mutex<Vec<(usize, anyhow::Result<FoundTests>)>> = Mutex::default();
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, total.max(1)) {
                scope.spawn(|| {
                    while !stop.is_cancelled() {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(case) = cases.get(place) else { return };
                        let tests = self.find(judge, case);
                        let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        found.push((place, tests));
                        progress.set(found.len() as u64, total as u64);
                    }
                });
            }
        });
        let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.sort_by_key(|(place, _)| *place);
        let mut kept = Vec::new();
        let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
        let mut cases: Vec<Option<Case>> = cases.into_iter().map(Some).collect();
        for (place, tests) in found {
            match tests? {
                FoundTests::Judges(tests) => {
                    kept.extend(
                        cases[place].take().map(|case| Case { tests: Some(Box::new(tests)), ..case }),
                    );
                }
                FoundTests::None(reason) => *left_out.entry(reason.to_owned()).or_default() += 1,
            }
        }
        progress.finish(&format!("{} of {}", kept.len(), count(total, "case")));
        Ok(CasesWithTests { cases: kept, left_out })
    }

    fn find(&self, judge: &SandboxJudge, case: &Case) -> anyhow::Result<FoundTests> {
        let Some(language) = Language::from_name(&case.language).filter(|_| !case.truth.trim().is_empty())
        else {
            return Ok(FoundTests::None("nothing to write"));
        };
        let mutants = Mutants::of(language, &case.truth);
        let mut ids = self.executing(case);
        if ids.is_empty() {
            return Ok(FoundTests::None("no test executes it"));
        }
        if self.covered.is_none() {
            ids = self.failing_with(judge, case, &ids, &mutants)?;
            if ids.is_empty() {
                return Ok(FoundTests::None("tests pass without it"));
            }
        }
        let tests = |ids: Vec<String>, seconds| CaseTests {
            runner: self.runner.kind,
            folder: self.runner.folder.to_string_lossy().into_owned(),
            ids,
            seconds,
        };
        let ids = self.fastest(ids);
        let expected_seconds = match self.covered {
            Some(_) => ids.iter().map(|id| self.stable[id]).sum(),
            None => self.whole_seconds,
        };
        let mut judges = tests(ids, expected_seconds);
        let mut has_failed = false;
        for text in &mutants.empty {
            match judge.verdict(case, &judges, text)? {
                TestVerdict::Passed => return Ok(FoundTests::None("tests pass without it")),
                verdict => has_failed |= verdict == TestVerdict::Failed,
            }
        }
        let mut has_noticed = false;
        for text in &mutants.changed {
            let verdict = judge.verdict(case, &judges, text)?;
            has_failed |= verdict == TestVerdict::Failed;
            has_noticed |= verdict != TestVerdict::Passed;
            if has_noticed && has_failed {
                break;
            }
        }
        if !has_noticed && !mutants.changed.is_empty() {
            return Ok(FoundTests::None("tests pass with a changed truth"));
        }
        if !has_failed {
            return Ok(FoundTests::None("other code does not compile, so that its tests prove nothing"));
        }
        let run = judge.run(&judges, judge.place(case, &case.truth)?)?;
        if run.verdict(&judges.ids) != TestVerdict::Passed {
            return Ok(FoundTests::None("its tests fail if they run alone"));
        }
        judges.seconds = run.outcome.wall.as_secs_f64();
        Ok(FoundTests::Judges(judges))
    }

    /// Returns the stable tests that execute a line of the truth, or all if the runner cannot say.
    fn executing(&self, case: &Case) -> Vec<String> {
        let Some((ids, lines)) = &self.covered else { return self.stable.keys().cloned().collect() };
        let Some(lines) = lines.get(&case.path) else { return Vec::new() };
        let first = case.line + 1;
        let last =
            first + u32::try_from(case.truth.trim_end().matches('\n').count()).unwrap_or(u32::MAX - first);
        let numbers: BTreeSet<u32> =
            lines.range(first..=last).flat_map(|(_, tests)| tests.iter().copied()).collect();
        let ids = numbers.into_iter().filter_map(|number| ids.get(number as usize));
        ids.filter(|id| self.stable.contains_key(*id)).cloned().collect()
    }

    /// Returns the tests that fail with a changed truth that can be compiled.
    fn failing_with(
        &self,
        judge: &SandboxJudge,
        case: &Case,
        ids: &[String],
        mutants: &Mutants,
    ) -> anyhow::Result<Vec<String>> {
        for text in mutants.changed.iter().chain(&mutants.empty) {
            let limit = Duration::from_secs(10) + Duration::from_secs_f64(10.0 * self.whole_seconds);
            let selection = TestSelection { time_limit: Some(limit), ..TestSelection::default() };
            let run = self.runner.run(judge.sandbox(), &[judge.place(case, text)?], selection);
            let run = run.context("cannot run the tests")?;
            let failed =
                |id: &&String| run.results.tests.get(*id).is_some_and(|test| test.state == TestState::Failed);
            let failed: Vec<String> = ids.iter().filter(failed).cloned().collect();
            if !failed.is_empty() {
                return Ok(failed);
            }
        }
        Ok(Vec::new())
    }

    fn fastest(&self, mut ids: Vec<String>) -> Vec<String> {
        ids.sort_by(|a, b| self.stable[a].total_cmp(&self.stable[b]).then_with(|| a.cmp(b)));
        ids.truncate(MAX_TESTS);
        ids.sort();
        ids
    }
}

/// The tests of a case, or why it has none.
enum FoundTests {
    Judges(CaseTests),
    None(&'static str),
}

/// Runs all tests; none of them may be lost.
fn run_all(judge: &SandboxJudge, runner: &TestRunner, covers_lines: bool) -> anyhow::Result<TestResults> {
    let run = runner.run(judge.sandbox(), &[], TestSelection { covers_lines, ..TestSelection::default() })?;
    let has_passed = run.results.tests.values().any(|test| test.state == TestState::Passed);
    if !has_passed {
        let output = run.outcome.output.trim_end();
        let end = output.ceil_char_boundary(output.len().saturating_sub(2_000));
        anyhow::bail!(
            "no test passes in the sandbox ({:?}). The end of the output:\n{}",
            run.outcome.exit,
            &output[end..]
        );
    }
    Ok(run.results)
}
