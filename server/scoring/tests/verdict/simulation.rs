//! Repeats verdicts on made-up runs and counts what they claim.

use cases::Metric;
use scoring::verdict::{Claim, VerdictSettings, verdict};
use scoring::{ComparedRuns, Interval, Verdict};

use crate::mock_runs::{MockEngine, MockSuite, mock_run};

/// Returns the verdict on one made-up run in one metric.
pub(crate) fn verdict_of(engines: &[MockEngine], suite: &MockSuite, metric: Metric, seed: u64) -> Verdict {
    verdict_with(engines, suite, &VerdictSettings { metric, ..VerdictSettings::new(seed) })
}

/// Returns the answer to a question, whose seed decides the run, too.
pub(crate) fn verdict_with(engines: &[MockEngine], suite: &MockSuite, question: &VerdictSettings) -> Verdict {
    let run = mock_run(engines, suite, question.seed);
    let runs = ComparedRuns::new(&[run.rows()]);
    let (section, _) = runs.sections()[0];
    verdict(&runs, section, question).expect("a verdict")
}

/// Returns the share of right answers among all requests to an engine.
pub(crate) fn quality(engine: &MockEngine) -> f64 {
    engine.accuracy * (1.0 - engine.faults)
}

/// What verdicts claimed in a number of runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClaimCounts {
    /// Runs.
    pub(crate) runs: usize,
    /// Runs in which a group is ahead of another one with an engine that is as good or better.
    pub(crate) wrong: usize,
    /// Runs whose proven winner is not the best engine.
    pub(crate) wrong_winner: usize,
    /// Runs with a proven winner.
    pub(crate) winner: usize,
    /// Runs in which a difference is claimed between any two engines that are equally good.
    pub(crate) equal_claimed: usize,
    /// Claimed pairs of engines that differ.
    pub(crate) claimed_pairs: usize,
}

/// Repeats a run with other seeds, from `first`, and counts the claims. Engines whose quality differs by less than a thousandth are
/// equally good.
pub(crate) fn count_claims(
    engines: &[MockEngine],
    suite: &MockSuite,
    metric: Metric,
    seeds: std::ops::Range<u64>,
) -> ClaimCounts {
    let mut counts = ClaimCounts::default();
    let best = engines.iter().map(quality).fold(0.0, f64::max);
    let quality = |engine: usize| quality(&engines[engine]);
    for seed in seeds {
        let verdict = verdict_of(engines, suite, metric, seed);
        let claims =
            |pair: &&scoring::verdict::PairVerdict| matches!(pair.claim, Claim::Better | Claim::Worse);
        let is_equal = |pair: &&scoring::verdict::PairVerdict| {
            (quality(pair.engine) - quality(pair.baseline)).abs() < 1e-3
        };
        counts.runs += 1;
        counts.wrong += usize::from(verdict.groups.iter().enumerate().any(|(rank, group)| {
            let mut later = verdict.groups[rank + 1..].iter().flatten();
            later.any(|&later| group.iter().any(|&engine| quality(engine) < quality(later) + 1e-3))
        }));
        counts.winner += usize::from(verdict.winner().is_some());
        counts.wrong_winner += usize::from(verdict.winner().is_some_and(|engine| quality(engine) < best));
        counts.equal_claimed += usize::from(verdict.pairs.iter().filter(claims).any(|pair| is_equal(&pair)));
        counts.claimed_pairs += verdict.pairs.iter().filter(claims).filter(|pair| !is_equal(pair)).count();
    }
    counts
}

/// Coverage of the intervals of one pair of engines, or of one engine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Coverage {
    /// Runs with an interval.
    pub(crate) intervals: usize,
    /// Those that contain the true difference.
    pub(crate) covered: usize,
    /// Sum of their widths.
    pub(crate) width: f64,
    /// Runs without an interval.
    pub(crate) without: usize,
}

impl Coverage {
    fn add(&mut self, interval: Interval, truth: f64) {
        self.intervals += 1;
        self.covered += usize::from(interval.low - 1e-12 <= truth && truth <= interval.high + 1e-12);
        self.width += interval.high - interval.low;
    }

    /// Returns the share of intervals that contain the true difference.
    pub(crate) fn share(self) -> f64 {
        self.covered as f64 / self.intervals as f64
    }
}

/// Repeats a run of two engines and counts the intervals that contain the true difference, second engine minus first.
pub(crate) fn coverage(
    engines: &[MockEngine; 2],
    suite: &MockSuite,
    metric: Metric,
    truth: f64,
    seeds: std::ops::Range<u64>,
) -> Coverage {
    let mut coverage = Coverage::default();
    for seed in seeds {
        let verdict = verdict_of(engines, suite, metric, seed);
        let Some(pair) = verdict.pairs.first() else { continue };
        let truth = if pair.engine == 1 { truth } else { -truth };
        match pair.difference.interval {
            None => coverage.without += 1,
            Some(interval) => coverage.add(interval, truth),
        }
    }
    coverage
}

/// Repeats a run of one engine and counts the intervals that contain its true quality.
pub(crate) fn engine_coverage(
    engine: &MockEngine,
    suite: &MockSuite,
    metric: Metric,
    truth: f64,
    seeds: std::ops::Range<u64>,
) -> Coverage {
    let mut coverage = Coverage::default();
    for seed in seeds {
        let run = mock_run(std::slice::from_ref(engine), suite, seed);
        let summary = run.rows().summary();
        let cell =
            summary.sections.first().and_then(|section| section.overall.lines.first()?.metrics.get(&metric));
        match cell.and_then(|cell| cell.interval) {
            None => coverage.without += 1,
            Some(interval) => coverage.add(interval, truth),
        }
    }
    coverage
}

/// Seven engines: a clear best one, two that are equally good, one that is accurate but fails often, two that are close, a weak one.
pub(crate) fn seven_engines() -> Vec<MockEngine> {
    let engine = MockEngine::new;
    vec![
        engine("weak", 0.15),
        MockEngine { latency: 900.0, cost: Some(0.02), ..engine("best", 0.75) },
        MockEngine { latency: 400.0, cost: Some(0.01), ..engine("equal-a", 0.55) },
        MockEngine { latency: 250.0, cost: Some(0.01), ..engine("equal-b", 0.55) },
        MockEngine { latency: 500.0, faults: 0.4, ..engine("flaky", 0.70) },
        engine("close-a", 0.35),
        engine("close-b", 0.32),
    ]
}

/// Returns a suite with known correlation of differences within files.
pub(crate) fn suite(files: usize, cases_per_file: f64, engine_in_file: f64) -> MockSuite {
    MockSuite { files, cases_per_file, is_even: false, file: 0.05, engine_in_file, case: 0.4 }
}
