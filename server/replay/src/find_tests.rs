//! Finds the unit tests that judge the cases of a repository, by running them.
//!
//! A case keeps its tests only if they pass with the truth and fail with nothing, with a placeholder and with a changed truth in its
//! place. Tests whose results differ between equal runs judge nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use benchmarks::codev_bench::Mutants;
use cases::{Case, CaseTests, TestVerdict};
use sandbox::{CoveredLines, TestResults, TestRunner, TestSelection, TestState};
use syntax::Language;
use tokio_util::sync::CancellationToken;

use crate::ReplayError;
use crate::test_judge::SandboxJudge;

/// Tests of a case at most: the fastest ones of those that execute it.
const MAX_TESTS: usize = 25;

/// Bytes of output in a message.
const OUTPUT_BYTES: usize = 2_000;

/// The stable tests of a repository, and the lines that they execute.
#[derive(Debug)]
pub struct RepositoryTests {
    runner: TestRunner,
    /// Tests that passed in every run, with their time in seconds.
    stable: BTreeMap<String, f64>,
    flaky: usize,
    failing: usize,
    /// Ids of the tests by number, and their numbers by path and line; `None` if the runner cannot say.
    covered: Option<(Vec<String>, CoveredLines)>,
    /// Time of a run of all tests, in seconds.
    whole_seconds: f64,
    /// The part of it that no test takes, in seconds: to start, to build, to load the files of tests.
    start_seconds: f64,
}

/// Numbers of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestCounts {
    /// Passed in every run.
    pub stable: usize,
    /// Passed in no run.
    pub failing: usize,
    /// Passed in some runs.
    pub flaky: usize,
}

/// Cases with tests, and why others have none.
#[derive(Debug)]
pub struct CasesWithTests {
    /// Cases that their tests can judge.
    pub cases: Vec<Case>,
    /// Number of the others by reason.
    pub left_out: BTreeMap<String, usize>,
}

/// The tests of a case, or why it has none.
#[derive(Clone, Debug, PartialEq)]
pub enum FoundTests {
    /// Tests that can judge it.
    Judges(CaseTests),
    /// The reason.
    None(&'static str),
}

impl RepositoryTests {
    /// Runs all tests of a repository `runs` times, or until it is stopped. A run that takes longer than `limit` ends. `on_run` gets the
    /// number of finished runs.
    ///
    /// # Errors
    ///
    /// The sandbox does not work, or no test passes in it.
    pub fn run(
        judge: &SandboxJudge,
        runner: TestRunner,
        runs: u32,
        limit: Option<Duration>,
        on_run: impl Fn(u32),
    ) -> Result<RepositoryTests, ReplayError> {
        let selection = TestSelection { time_limit: limit, ..TestSelection::default() };
        let start = Instant::now();
        let covering = TestSelection { covers_lines: runner.can_cover_lines(), ..selection };
        let first = run_all(judge, &runner, covering)?;
        let whole_seconds = start.elapsed().as_secs_f64();
        let reported = first.covered.map(|lines| (first.tests.keys().cloned().collect(), lines));
        let mut seen = SeenTests::default();
        seen.note(&first.tests, whole_seconds);
        on_run(1);
        for run in 2..=runs {
            let start = Instant::now();
            let results = run_all(judge, &runner, selection)?;
            seen.note(&results.tests, start.elapsed().as_secs_f64());
            on_run(run);
        }
        let SeenTests { states, times, start_seconds } = seen;
        let with = |outcomes: &[bool]| {
            let outcomes: BTreeSet<bool> = outcomes.iter().copied().collect();
            states.iter().filter(|(_, seen)| **seen == outcomes).map(|(id, _)| id.clone()).collect::<Vec<_>>()
        };
        let stable: BTreeMap<String, f64> =
            with(&[true]).into_iter().map(|id| (id.clone(), times[&id])).collect();
        let covered = match reported {
            Some(reported) => Some(reported),
            None => {
                let ids: Vec<String> = stable.keys().cloned().collect();
                let lines = runner.cover(judge.sandbox(), &ids);
                lines
                    .map_err(|error| ReplayError::Sandbox { reason: error.to_string() })?
                    .map(|lines| (ids, lines))
            }
        };
        let (flaky, failing) = (with(&[true, false]).len(), with(&[false]).len());
        Ok(RepositoryTests { runner, stable, flaky, failing, covered, whole_seconds, start_seconds })
    }

    /// Returns the runner.
    pub fn runner(&self) -> &TestRunner {
        &self.runner
    }

    /// Returns the numbers of tests.
    pub fn counts(&self) -> TestCounts {
        TestCounts { stable: self.stable.len(), failing: self.failing, flaky: self.flaky }
    }

    /// Whether it is known which lines a test executes.
    pub fn covers_lines(&self) -> bool {
        self.covered.is_some()
    }

    /// Gives tests with power to cases, and leaves out the others. Once `stop` is cancelled, the rest is left out without a reason.
    ///
    /// # Errors
    ///
    /// The sandbox does not work, or a case is not that of the workspace.
    pub fn find_all(
        &self,
        judge: &SandboxJudge,
        cases: Vec<Case>,
        jobs: usize,
        stop: &CancellationToken,
        on_progress: impl Fn(usize) + Sync,
    ) -> Result<CasesWithTests, ReplayError> {
        let is_here = |case: &Case| judge.place(case, &case.truth).is_ok();
        let (cases, others): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(is_here);
        let next = AtomicUsize::new(0);
        let found: Mutex<BTreeMap<usize, Result<FoundTests, ReplayError>>> = Mutex::default();
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, cases.len().max(1)) {
                scope.spawn(|| {
                    while !stop.is_cancelled() {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(case) = cases.get(place) else { return };
                        let tests = self.find(judge, case);
                        let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                        found.insert(place, tests);
                        on_progress(found.len());
                    }
                });
            }
        });
        let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut with_tests = CasesWithTests { cases: Vec::new(), left_out: BTreeMap::new() };
        if !others.is_empty() {
            // Masked secrets, or a function that is there twice.
            with_tests.left_out.insert("its code is not found once in its file".to_owned(), others.len());
        }
        for (place, case) in cases.into_iter().enumerate() {
            match found.remove(&place).transpose()? {
                Some(FoundTests::Judges(tests)) => {
                    with_tests.cases.push(Case { tests: Some(Box::new(tests)), ..case });
                }
                Some(FoundTests::None(reason)) => {
                    *with_tests.left_out.entry(reason.to_owned()).or_default() += 1;
                }
                None => {}
            }
        }
        Ok(with_tests)
    }

    /// Finds the tests of a case.
    ///
    /// # Errors
    ///
    /// The sandbox does not work, or the case is not that of the workspace.
    pub fn find(&self, judge: &SandboxJudge, case: &Case) -> Result<FoundTests, ReplayError> {
        let Some(language) = Language::from_name(&case.language).filter(|_| !case.truth.trim().is_empty())
        else {
            return Ok(FoundTests::None("nothing to write"));
        };
        let mutants = match case.write_function() {
            Some(_) => Mutants::of_body(language, &case.truth),
            None => Mutants::of(language, &case.truth),
        };
        let mut ids = self.executing(judge, case);
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
            must_return: false,
        };
        let ids = self.fastest(ids);
        // Elsewhere a build may take most of the time.
        let expected_seconds = match self.runner.can_cover_lines() {
            true => self.start_seconds + ids.iter().map(|id| self.stable[id]).sum::<f64>(),
            false => self.whole_seconds,
        };
        let mut judges = tests(ids, expected_seconds);
        if let Some(reason) = lack_of_power(judge, case, &judges, &mutants)? {
            return Ok(FoundTests::None(reason));
        }
        let run = judge.run(&judges, judge.place(case, &case.truth)?)?;
        match run.verdict(&judges) {
            TestVerdict::Passed => {}
            TestVerdict::TimedOut => {
                return Ok(FoundTests::None("its tests take too long if they run alone"));
            }
            _ => return Ok(FoundTests::None("its tests fail if they run alone")),
        }
        judges.seconds = run.outcome.wall.as_secs_f64();
        judges.must_return = run.results.all_return == Some(true);
        Ok(FoundTests::Judges(judges))
    }

    /// Returns the stable tests that execute a line of the truth, or all if the runner cannot say.
    fn executing(&self, judge: &SandboxJudge, case: &Case) -> Vec<String> {
        let Some((ids, lines)) = &self.covered else { return self.stable.keys().cloned().collect() };
        let Some(lines) = lines.get(&case.path) else { return Vec::new() };
        let Some(first) = judge.first_line(case) else { return Vec::new() };
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
    ) -> Result<Vec<String>, ReplayError> {
        for text in mutants.changed.iter().chain(&mutants.empty) {
            let limit = Duration::from_secs(10) + Duration::from_secs_f64(10.0 * self.whole_seconds);
            let selection = TestSelection { time_limit: Some(limit), ..TestSelection::default() };
            let run = self.runner.run(judge.sandbox(), &[judge.place(case, text)?], selection);
            let run = run.map_err(|error| ReplayError::Sandbox { reason: error.to_string() })?;
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

/// Results of the same tests in several runs.
#[derive(Default)]
struct SeenTests {
    states: BTreeMap<String, BTreeSet<bool>>,
    /// Shortest time in seconds.
    times: BTreeMap<String, f64>,
    /// Shortest part of a run that no test took, in seconds; 0 before the first run.
    start_seconds: f64,
}

impl SeenTests {
    /// Adds the results of a run that took some seconds.
    fn note(&mut self, results: &BTreeMap<String, sandbox::TestResult>, whole_seconds: f64) {
        let mut sum = 0.0;
        let is_first = self.states.is_empty();
        for (id, test) in results.iter().filter(|(_, test)| test.state != TestState::Skipped) {
            self.states.entry(id.clone()).or_default().insert(test.state == TestState::Passed);
            let seconds = test.time.map_or(0.0, |time| time.as_secs_f64());
            self.times.entry(id.clone()).and_modify(|known| *known = known.min(seconds)).or_insert(seconds);
            sum += seconds;
        }
        let start_seconds = (whole_seconds - sum).max(0.0);
        self.start_seconds = if is_first { start_seconds } else { self.start_seconds.min(start_seconds) };
    }
}

/// Returns why tests cannot judge a case: they do not fail with other code in the place of the truth. `None` if they do.
fn lack_of_power(
    judge: &SandboxJudge,
    case: &Case,
    tests: &CaseTests,
    mutants: &Mutants,
) -> Result<Option<&'static str>, ReplayError> {
    let mut noticed = BTreeSet::new();
    for text in &mutants.empty {
        match judge.verdict(case, tests, text)? {
            TestVerdict::Passed => return Ok(Some("tests pass without it")),
            verdict => noticed.insert(verdict),
        };
    }
    let mut is_change_noticed = mutants.changed.is_empty();
    for text in &mutants.changed {
        let verdict = judge.verdict(case, tests, text)?;
        if verdict != TestVerdict::Passed {
            is_change_noticed = true;
            noticed.insert(verdict);
        }
        if is_change_noticed && noticed.contains(&TestVerdict::Failed) {
            break;
        }
    }
    if !is_change_noticed {
        return Ok(Some("tests pass with a changed truth"));
    }
    Ok(if noticed.contains(&TestVerdict::Failed) {
        None
    } else if noticed.contains(&TestVerdict::TimedOut) {
        Some("other code takes too long, so that its tests prove nothing")
    } else {
        Some("other code does not compile, so that its tests prove nothing")
    })
}

/// Runs all tests; none of them may be lost.
fn run_all(
    judge: &SandboxJudge,
    runner: &TestRunner,
    selection: TestSelection<'_>,
) -> Result<TestResults, ReplayError> {
    let run = runner
        .run(judge.sandbox(), &[], selection)
        .map_err(|error| ReplayError::Sandbox { reason: error.to_string() })?;
    if run.results.tests.values().any(|test| test.state == TestState::Passed) {
        return Ok(run.results);
    }
    let output = run.outcome.output.trim_end();
    let end = output.ceil_char_boundary(output.len().saturating_sub(OUTPUT_BYTES));
    let reason = format!(
        "no test passes in the sandbox ({:?}). The end of the output:\n{}",
        run.outcome.exit,
        &output[end..]
    );
    Err(ReplayError::Sandbox { reason })
}

#[cfg(test)]
mod tests {
    use sandbox::TestResult;

    use super::*;

    #[test]
    fn start_is_the_part_of_the_fastest_run_that_no_test_takes() {
        let results = |tests: &[(&str, TestState, f64)]| -> BTreeMap<String, TestResult> {
            let result = |state, seconds| TestResult { state, time: Some(Duration::from_secs_f64(seconds)) };
            tests.iter().map(|&(id, state, seconds)| (id.to_owned(), result(state, seconds))).collect()
        };
        let both = results(&[("a", TestState::Passed, 2.0), ("b", TestState::Failed, 1.0)]);
        let mut seen = SeenTests::default();
        seen.note(&both, 15.0);
        assert!((seen.start_seconds - 12.0).abs() < 1e-9, "{}", seen.start_seconds);
        seen.note(&both, 11.0);
        seen.note(&both, 14.0);
        assert!((seen.start_seconds - 8.0).abs() < 1e-9, "{}", seen.start_seconds);
        // Tests that ran at the same time.
        seen.note(&both, 2.5);
        assert!(seen.start_seconds.abs() < 1e-9, "{}", seen.start_seconds);
        assert_eq!(seen.states["a"], BTreeSet::from([true]));
        assert_eq!(seen.states["b"], BTreeSet::from([false]));
    }
}
