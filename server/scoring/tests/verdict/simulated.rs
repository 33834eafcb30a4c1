//! Claims and intervals on made-up engines.

use cases::Metric;
use scoring::VerdictSettings;

use crate::mock_runs::MockEngine;
use crate::simulation::{
    count_claims, coverage, engine_coverage, seven_engines, suite, verdict_of, verdict_with,
};

#[test]
fn seven_engines_are_ordered_rightly_or_undecided() {
    let counts = count_claims(&seven_engines(), &suite(60, 5.0, 0.05), Metric::ExactMatch, 0..40);
    assert!(counts.wrong <= 2 && counts.wrong_winner == 0 && counts.equal_claimed <= 2, "{counts:?}");
    assert!(counts.winner >= 38, "300 cases prove a lead of 20 points: {counts:?}");
    assert!(counts.claimed_pairs >= 40 * 14, "{counts:?}");
}

/// 5 % of 200 are 10; 20 are more than three standard deviations above.
#[test]
fn equal_engines_are_rarely_told_apart() {
    let equal = ["a", "b", "c"].map(|name| MockEngine::new(name, 0.5));
    let suites = [
        (5, 4.0, Metric::ExactMatch),
        (8, 4.0, Metric::IdentifierRecall),
        (20, 3.0, Metric::ExactMatch),
        (20, 1.0, Metric::ExactMatch),
    ];
    for (files, cases_per_file, metric) in suites {
        let counts = count_claims(&equal, &suite(files, cases_per_file, 0.2), metric, 0..200);
        assert!(counts.equal_claimed <= 20, "{files} files, {metric}: {counts:?}");
    }
}

/// 93 to 97 % with four standard deviations of 400 runs.
#[test]
fn intervals_contain_the_true_difference() {
    let engines = [MockEngine::new("a", 0.3), MockEngine::new("b", 0.4)];
    for (files, cases_per_file, correlation) in [(40, 1.0, 0.0), (8, 8.0, 0.1), (20, 5.0, 0.2)] {
        let suite = suite(files, cases_per_file, correlation);
        let coverage = coverage(&engines, &suite, Metric::ExactMatch, 0.1, 0..400);
        assert_eq!(coverage.without, 0);
        assert!((0.906..=0.994).contains(&coverage.share()), "{files} files: {coverage:?}");
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
