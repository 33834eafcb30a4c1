//! Rows of a run as `scoring`'s observations.

use std::collections::{BTreeMap, HashMap};

use cases::{Case, EngineName, Metric, Prediction, Score, Status, Variant};
use scoring::{MetricValue, Metrics, Observation};

use super::{FAILED, GATED, SILENT};
use crate::RunReport;

/// The dimensions of the tables.
pub(super) const ORIGIN: &str = "origin";
pub(super) const EXPOSURE: &str = "exposure";
pub(super) const ENGINE: &str = "engine";
pub(super) const SCENARIO: &str = "scenario";
pub(super) const BLOCK_KIND: &str = "block_kind";
pub(super) const LANGUAGE: &str = "language";

/// Observations, and what could not become one as it should.
pub(super) struct Observed {
    pub(super) observations: Vec<Observation>,
    /// Answers to cases that the suite lacks.
    pub(super) strangers: usize,
    /// Answers without a row of scores.
    pub(super) unscored: usize,
    /// Cases that ask to be weighted by the probability of their exposure.
    pub(super) weighted: usize,
}

pub(super) fn observe(report: &RunReport<'_>, engines: &[EngineName]) -> Observed {
    let cases: HashMap<&str, &Case> = report.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let scores: HashMap<_, &Score> = report.scores.iter().map(|score| (key(score), score)).collect();
    let weighted =
        report.cases.iter().filter(|case| case.origin.probability.is_some_and(|share| share < 1.0));
    let mut observed =
        Observed { observations: Vec::new(), strangers: 0, unscored: 0, weighted: weighted.count() };
    for prediction in report.predictions {
        let Some(case) = cases.get(prediction.case.as_str()) else {
            observed.strangers += 1;
            continue;
        };
        let score = scores.get(&prediction.key()).copied();
        observed.unscored += usize::from(score.is_none());
        observed.observations.push(observation(case, prediction, score, engines));
    }
    observed
}

/// The key of the prediction that a score belongs to.
pub(crate) fn key(score: &Score) -> (&str, &str, u32) {
    (&score.case, &score.fingerprint, score.repetition)
}

fn observation(
    case: &Case,
    prediction: &Prediction,
    score: Option<&Score>,
    engines: &[EngineName],
) -> Observation {
    let engine = engines.iter().position(|engine| engine.fingerprint == prediction.engine.fingerprint);
    let engine = engine.expect("the list holds the engine of every prediction");
    let labels = [
        (ORIGIN, case.origin.kind.to_string()),
        (EXPOSURE, case.origin.exposure.to_string()),
        (ENGINE, engine.to_string()),
        (SCENARIO, situation(case)),
        (BLOCK_KIND, case.block_kind.map(|kind| kind.to_string()).unwrap_or_default()),
        (LANGUAGE, case.language.clone()),
    ];
    let repository = case.origin.repository.as_deref().unwrap_or_default();
    Observation {
        case: case.id.clone(),
        cluster: format!("{repository}\n{}", case.path),
        labels: labels.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        metrics: metrics(prediction.status, score),
        latency: latency(prediction),
    }
}

/// The scenario. Cases whose right answer is nothing are kept apart: other metrics apply to them.
pub(crate) fn situation(case: &Case) -> String {
    match case.variant {
        Some(Variant::Empty) => format!("{}/{}", case.scenario, Variant::Empty),
        _ => case.scenario.to_string(),
    }
}

fn metrics(status: Status, score: Option<&Score>) -> Metrics {
    let shares = [
        (SILENT, status == Status::Silent),
        (GATED, status == Status::Gated),
        (FAILED, matches!(status, Status::Timeout | Status::Cancelled | Status::Error)),
    ];
    let shares = shares
        .into_iter()
        .map(|(name, holds)| (name.to_owned(), MetricValue::Value(f64::from(u8::from(holds)))));
    let scored = score.map(|score| &score.metrics).into_iter().flatten();
    let scored = scored.map(|(name, &metric)| (name.clone(), value(metric)));
    scored.chain(shares).collect::<BTreeMap<_, _>>()
}

fn value(metric: Metric) -> MetricValue {
    match metric {
        Metric::Value(value) => MetricValue::Value(value),
        Metric::Ratio { num, den } => MetricValue::Ratio { num, den },
    }
}

/// The time a user waited for an answer, or for nothing when the deadline passed. A gate that kept the engine from being
/// asked costs no time worth comparing; a cancelled or broken request has no end to measure.
fn latency(prediction: &Prediction) -> Option<f64> {
    match prediction.status {
        Status::Ok | Status::Silent => Some(prediction.ms.total),
        Status::Gated => (!prediction.raw.is_empty()).then_some(prediction.ms.total),
        Status::Timeout => Some(f64::INFINITY),
        Status::Cancelled | Status::Error => None,
    }
}
