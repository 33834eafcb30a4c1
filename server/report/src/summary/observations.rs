//! Rows of a run as `scoring`'s observations.

use std::collections::HashMap;

use cases::{Case, EngineName, Prediction, Score, Status};
use scoring::{MetricValue, Metrics, Observation};

use super::{FAILED, GATED, SILENT};
use crate::RunReport;
use crate::rows::{self, Scores};

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

/// One observation per answer.
pub(super) fn observe(report: &RunReport<'_>, engines: &[EngineName]) -> Observed {
    let cases: HashMap<&str, &Case> = report.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let scores = Scores::of(report);
    let weighted =
        report.cases.iter().filter(|case| case.origin.probability.is_some_and(|share| share < 1.0));
    let mut observed =
        Observed { observations: Vec::new(), strangers: 0, unscored: 0, weighted: weighted.count() };
    for prediction in report.predictions {
        let engine = rows::position(engines, prediction);
        let Some((case, engine)) = cases.get(prediction.case.as_str()).zip(engine) else {
            observed.strangers += 1;
            continue;
        };
        let score = scores.get(prediction);
        observed.unscored += usize::from(score.is_none());
        observed.observations.push(observation(case, prediction, score, engine));
    }
    observed
}

fn observation(case: &Case, prediction: &Prediction, score: Option<&Score>, engine: usize) -> Observation {
    let labels = [
        (ORIGIN, case.origin.kind.to_string()),
        (EXPOSURE, case.origin.exposure.to_string()),
        (ENGINE, engine.to_string()),
        (SCENARIO, rows::situation(case)),
        (BLOCK_KIND, case.block_kind.map(|kind| kind.to_string()).unwrap_or_default()),
        (LANGUAGE, case.language.clone()),
    ];
    let repository = case.origin.repository.as_deref().unwrap_or_default();
    Observation {
        case: case.id.clone(),
        cluster: format!("{repository}\n{}", case.path),
        labels: labels.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        metrics: metrics(prediction.status, score),
        latency: rows::latency(prediction),
    }
}

fn metrics(status: Status, score: Option<&Score>) -> Metrics {
    let shares = [
        (SILENT, status == Status::Silent),
        (GATED, status == Status::Gated),
        (FAILED, matches!(status, Status::Timeout | Status::Cancelled | Status::Error)),
    ];
    let shares =
        shares.into_iter().map(|(name, holds)| (name.to_owned(), MetricValue::Value(f64::from(holds))));
    let scored = score.map(|score| &score.metrics).into_iter().flatten();
    scored.map(|(name, &metric)| (name.clone(), rows::value(metric))).chain(shares).collect()
}
