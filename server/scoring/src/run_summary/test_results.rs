//! Unit tests beside the other metrics: the chance that one of several answers passes, and which metric predicts passing.

use std::collections::{BTreeMap, HashMap};

use cases::{Metric, MetricValue, Score};
use serde::Serialize;

use crate::pass_at_k::pass_at_k;

/// Metrics that are compared with the tests.
const METRICS: [Metric; 6] = [
    Metric::ExactMatch,
    Metric::TokenExact,
    Metric::FirstLineExact,
    Metric::EditSimilarity,
    Metric::IdentifierF1,
    Metric::CorrectPrefix,
];

/// Results of unit tests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestSummary {
    /// A row for each engine with judged answers.
    pub engines: Vec<EngineTests>,
    /// Metrics that predict passing, the best one first; left out without both passing and failing answers.
    pub agreement: Vec<TestAgreement>,
}

/// Judged answers of an engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EngineTests {
    /// Its name.
    pub engine: String,
    /// Cases with a judged answer.
    pub cases: usize,
    /// Judged answers.
    pub answers: usize,
    /// Answers that pass.
    pub passed: usize,
    /// Mean over the cases of the unbiased chance that one of `k` answers passes, by `k`: 1, and the number of repetitions.
    pub pass_at: BTreeMap<usize, f64>,
}

/// Agreement of a metric with unit tests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TestAgreement {
    /// The metric.
    pub metric: Metric,
    /// Chance that an answer that passes has a higher value than one that fails, with half for equal values: the area under the ROC curve.
    /// 0.5 predicts nothing.
    pub area: f64,
    /// Answers that pass, and that fail.
    pub passed: usize,
    /// Answers that fail.
    pub failed: usize,
}

/// Returns the results in the scores of a run; `None` if no answer was judged.
pub(super) fn test_summary(scores: &[Score]) -> Option<TestSummary> {
    let judged: Vec<(&Score, bool)> =
        scores.iter().filter_map(|score| Some((score, has_passed(score)?))).collect();
    if judged.is_empty() {
        return None;
    }
    let mut engines: BTreeMap<&str, HashMap<&str, (usize, usize)>> = BTreeMap::new();
    for &(score, has_passed) in &judged {
        let case = engines.entry(&score.engine).or_default().entry(&score.case).or_default();
        case.0 += 1;
        case.1 += usize::from(has_passed);
    }
    let mut agreement: Vec<TestAgreement> =
        METRICS.into_iter().filter_map(|metric| area(metric, &judged)).collect();
    agreement.sort_by(|a, b| b.area.total_cmp(&a.area));
    Some(TestSummary {
        engines: engines.into_iter().map(|(name, cases)| engine_tests(name, &cases)).collect(),
        agreement,
    })
}

fn has_passed(score: &Score) -> Option<bool> {
    score.metrics.get(&Metric::TestsPassed).and_then(|value| value.share()).map(|share| share > 0.0)
}

fn engine_tests(name: &str, cases: &HashMap<&str, (usize, usize)>) -> EngineTests {
    let repetitions = cases.values().map(|case| case.0).min().unwrap_or(1);
    let mean = |k: usize| {
        // In order, so that the sum is the same each time.
        let mut chances: Vec<f64> =
            cases.values().map(|&(answers, passed)| pass_at_k(answers, passed, k)).collect();
        chances.sort_by(f64::total_cmp);
        chances.iter().sum::<f64>() / cases.len() as f64
    };
    EngineTests {
        engine: name.to_owned(),
        cases: cases.len(),
        answers: cases.values().map(|case| case.0).sum(),
        passed: cases.values().map(|case| case.1).sum(),
        pass_at: [1, repetitions].into_iter().map(|k| (k, mean(k))).collect(),
    }
}

/// Returns the area under the ROC curve, from the rank sum of the passing answers (Mann and Whitney 1947).
fn area(metric: Metric, judged: &[(&Score, bool)]) -> Option<TestAgreement> {
    let value = |score: &Score| score.metrics.get(&metric).copied().and_then(MetricValue::share);
    let mut values: Vec<(f64, bool)> =
        judged.iter().filter_map(|&(score, has_passed)| Some((value(score)?, has_passed))).collect();
    let passed = values.iter().filter(|(_, has_passed)| *has_passed).count();
    let failed = values.len() - passed;
    if passed == 0 || failed == 0 {
        return None;
    }
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut below = 0;
    let mut wins = 0.0;
    for equal in values.chunk_by(|a, b| a.0 == b.0) {
        let equal_failed = equal.iter().filter(|(_, has_passed)| !has_passed).count();
        let equal_passed = equal.len() - equal_failed;
        wins += equal_passed as f64 * (below as f64 + equal_failed as f64 / 2.0);
        below += equal_failed;
    }
    Some(TestAgreement { metric, area: wins / (passed as f64 * failed as f64), passed, failed })
}

#[cfg(test)]
mod tests {
    use cases::{Metrics, SchemaVersion};

    use super::*;

    fn score(case: &str, repetition: u32, has_passed: Option<bool>, exact: f64) -> Score {
        let tests = has_passed
            .map(|has_passed| (Metric::TestsPassed, MetricValue::Value(f64::from(u8::from(has_passed)))));
        let metrics: Metrics =
            tests.into_iter().chain([(Metric::ExactMatch, MetricValue::Value(exact))]).collect();
        Score {
            schema: SchemaVersion::CURRENT,
            case: case.to_owned(),
            engine: "e".to_owned(),
            fingerprint: String::new(),
            repetition,
            scorer: None,
            metrics,
        }
    }

    #[test]
    fn chances_are_means_over_cases() {
        let scores = [
            score("a", 0, Some(true), 1.0),
            score("a", 1, Some(false), 0.0),
            score("b", 0, Some(false), 0.0),
            score("b", 1, Some(false), 0.0),
            score("c", 0, None, 1.0),
        ];
        let summary = test_summary(&scores).expect("judged answers");
        let engine = &summary.engines[0];
        assert_eq!((engine.cases, engine.answers, engine.passed), (2, 4, 1));
        assert_eq!(engine.pass_at, BTreeMap::from([(1, 0.25), (2, 0.5)]));
    }

    #[test]
    fn area_is_one_for_a_perfect_predictor_and_half_for_none() {
        let area = |values: &[(bool, f64)]| {
            let scores: Vec<Score> = values
                .iter()
                .zip(0..)
                .map(|(&(passed, exact), place)| score("a", place, Some(passed), exact))
                .collect();
            test_summary(&scores).expect("judged answers").agreement.first().map(|agreement| agreement.area)
        };
        assert_eq!(area(&[(true, 1.0), (false, 0.0), (false, 0.5)]), Some(1.0));
        assert_eq!(area(&[(true, 0.0), (false, 1.0)]), Some(0.0));
        assert_eq!(area(&[(true, 0.5), (false, 0.5)]), Some(0.5));
        assert_eq!(area(&[(true, 0.5)]), None);
    }

    #[test]
    fn runs_without_judged_answers_have_no_results() {
        assert_eq!(test_summary(&[score("a", 0, None, 1.0)]), None);
    }
}
