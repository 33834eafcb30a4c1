//! Claims and intervals on made-up engines.

use cases::Metric;

use crate::mock_runs::MockEngine;
use crate::simulation::{count_claims, coverage, seven_engines, suite, verdict_of};

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
