//! Claims and intervals on made-up engines.

use cases::Metric;
use scoring::VerdictSettings;

use crate::mock_runs::MockEngine;
use crate::simulation::{
    count_claims, coverage, engine_coverage, seven_engines, suite, verdict_of, verdict_with,
};

/// Engines with known accuracy, latency, cost and faults over 300 cases: in files of one case, in 60 files, and in 20 files, in which the
/// best engine is not always proven.
#[test]
fn seven_engines_are_ordered_rightly_or_undecided_in_95_of_100_runs() {
    for (files, cases_per_file, correlation, proven) in
        [(300, 1.0, 0.0, 95), (60, 5.0, 0.05, 95), (20, 15.0, 0.05, 50)]
    {
        let suite = suite(files, cases_per_file, correlation);
        let counts = count_claims(&seven_engines(), &suite, Metric::ExactMatch, 0..100);
        assert!(
            counts.wrong <= 5 && counts.wrong_winner <= 5 && counts.equal_claimed <= 5,
            "{files} files: {counts:?}"
        );
        assert!(counts.winner >= proven, "300 cases prove a lead of 20 points: {counts:?}");
        assert!(counts.claimed_pairs >= 100 * 13, "{files} files: {counts:?}");
    }
}

/// Two equal engines on 200 seeds: a difference is claimed in at most 5 % of all runs. A suite alone may exceed it by two standard
/// errors, which are 3.1 points.
#[test]
fn two_equal_engines_are_told_apart_in_at_most_5_percent() {
    const RUNS: u64 = 200;
    let equal = ["a", "b"].map(|name| MockEngine::new(name, 0.5));
    let suites =
        [(5, 8.0, 0.2), (8, 8.0, 0.2), (12, 8.0, 0.2), (20, 8.0, 0.2), (20, 1.0, 0.0), (40, 4.0, 0.4)];
    let (mut claimed, mut runs) = (0, 0);
    for (number, (files, cases_per_file, correlation)) in suites.into_iter().enumerate() {
        for metric in [Metric::ExactMatch, Metric::EditSimilarity, Metric::IdentifierRecall] {
            let first = 1_000 * (number as u64 + 1);
            let suite = suite(files, cases_per_file, correlation);
            let counts = count_claims(&equal, &suite, metric, first..first + RUNS);
            let share = counts.equal_claimed as f64 / RUNS as f64;
            assert!(share <= 0.05 + 0.031, "{files} files, {metric}: {counts:?}");
            (claimed, runs) = (claimed + counts.equal_claimed, runs + counts.runs);
        }
    }
    assert!(claimed as f64 <= 0.05 * runs as f64, "{claimed} of {runs}");
    assert!(claimed > 0, "a method that never claims anything proves nothing");
}

/// The correction for all pairs: three engines have three pairs, and a difference between any two of them is a wrong claim.
#[test]
fn three_equal_engines_are_told_apart_in_at_most_5_percent() {
    let equal = ["a", "b", "c"].map(|name| MockEngine::new(name, 0.5));
    for (files, cases_per_file) in [(8, 4.0), (20, 3.0)] {
        for metric in [Metric::ExactMatch, Metric::IdentifierRecall] {
            let counts = count_claims(&equal, &suite(files, cases_per_file, 0.2), metric, 0..200);
            assert!(counts.equal_claimed <= 16, "{files} files, {metric}: {counts:?}");
        }
    }
}

/// 93 to 97 % with two standard errors of 400 runs, 2.2 points; the grid is in `src/statistics/coverage.rs`.
#[test]
fn intervals_contain_the_true_difference() {
    let engines = [MockEngine::new("a", 0.3), MockEngine::new("b", 0.4)];
    for (files, cases_per_file, correlation) in [(40, 1.0, 0.0), (8, 8.0, 0.1), (20, 5.0, 0.2)] {
        let suite = suite(files, cases_per_file, correlation);
        let coverage = coverage(&engines, &suite, Metric::ExactMatch, 0.1, 0..400);
        assert_eq!(coverage.without, 0);
        assert!((0.908..=0.992).contains(&coverage.share()), "{files} files: {coverage:?}");
    }
}

#[test]
fn the_same_rows_and_seed_give_the_same_verdict() {
    let of = |seed| verdict_of(&seven_engines(), &suite(60, 5.0, 0.05), Metric::EditSimilarity, seed);
    assert_eq!(of(3), of(3));
    assert_ne!(of(3), of(4));
}

/// The latencies differ by factors of three, and the qualities by 15 points or more: chance does not change the order.
#[test]
fn pareto_front_is_that_of_the_known_properties() {
    let engine = |name, accuracy, latency, cost| MockEngine {
        latency,
        cost: Some(cost),
        ..MockEngine::new(name, accuracy)
    };
    let engines = [
        engine("worse in all", 0.30, 3_000.0, 0.03),
        engine("best", 0.80, 900.0, 0.02),
        engine("fast", 0.45, 100.0, 0.01),
        engine("cheap", 0.45, 300.0, 0.001),
        engine("weak", 0.25, 300.0, 0.01),
    ];
    for seed in 0..10 {
        let verdict = verdict_of(&engines, &suite(400, 1.0, 0.0), Metric::ExactMatch, seed);
        assert!(verdict.front.latency && verdict.front.cost);
        let mut front: Vec<usize> =
            verdict.standings.iter().filter(|it| it.is_on_front).map(|it| it.engine).collect();
        front.sort_unstable();
        assert_eq!(front, [1, 2, 3], "seed {seed}");
    }
}

#[test]
fn deadline_decides_which_engine_wins() {
    let engines = [
        MockEngine { latency: 900.0, ..MockEngine::new("good and slow", 0.8) },
        MockEngine { latency: 100.0, ..MockEngine::new("weak and fast", 0.4) },
    ];
    for seed in 0..10 {
        for (deadline, winner) in [(None, 0), (Some(5_000.0), 0), (Some(300.0), 1)] {
            let question = VerdictSettings { deadline, ..VerdictSettings::new(seed) };
            let verdict = verdict_with(&engines, &suite(300, 1.0, 0.0), &question);
            assert_eq!(verdict.winner(), Some(winner), "seed {seed}, deadline {deadline:?}");
        }
    }
}

/// 93 % less four standard deviations of 300 runs.
#[test]
fn intervals_of_single_engines_contain_the_true_quality() {
    let engine = MockEngine::new("a", 0.4);
    for (files, cases_per_file, correlation) in [(60, 1.0, 0.0), (40, 4.0, 0.1)] {
        let suite = suite(files, cases_per_file, correlation);
        let coverage = engine_coverage(&engine, &suite, Metric::ExactMatch, 0.4, 0..300);
        assert!(coverage.share() >= 0.87, "{files} files: {coverage:?}");
    }
}
