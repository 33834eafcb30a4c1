//! The rows of a run matched with each other, and what a single row means.

use std::collections::HashMap;

use cases::{
    Case, EngineIdentity, Prediction, Recorded, Run, Scenario, Score, Status, StoredMetric, Variant,
};
use scoring::MetricValue;

use crate::RunReport;

/// The scores of a run by the prediction they belong to.
pub(crate) struct ScoreIndex<'a>(HashMap<(&'a str, &'a str, u32), &'a Score>);

impl<'a> ScoreIndex<'a> {
    pub(crate) fn new(report: &RunReport<'a>) -> ScoreIndex<'a> {
        ScoreIndex(report.scores.iter().map(|score| (score.key(), score)).collect())
    }

    pub(crate) fn get(&self, prediction: &Prediction) -> Option<&'a Score> {
        self.0.get(&prediction.key()).copied()
    }
}

/// The run's engines, and any other that an answer names.
pub(crate) fn engines(report: &RunReport<'_>) -> Vec<EngineIdentity> {
    let mut engines: Vec<EngineIdentity> =
        report.run.engines.iter().map(|config| config.engine.clone()).collect();
    for prediction in report.predictions {
        if engine_index(&engines, prediction).is_none() {
            engines.push(prediction.engine.clone());
        }
    }
    engines
}

/// The place of the prediction's engine in the list.
pub(crate) fn engine_index(engines: &[EngineIdentity], prediction: &Prediction) -> Option<usize> {
    engines.iter().position(|engine| engine.name == prediction.engine.name)
}

/// The scenario. Cases whose right answer is nothing are kept apart, because other metrics apply to them, those of them behind a `return`
/// or its kin once more, because nothing else can follow there, and so are the variants of
/// `cross_file`, and in each of them the names that were found by themselves.
pub(crate) fn scenario_key(case: &Case) -> String {
    match (case.scenario, case.variant) {
        (scenario, Some(Variant::Empty)) if case.follows_jump() => {
            format!("{scenario}/{}/after_jump", Variant::Empty)
        }
        (scenario, Some(Variant::Empty)) => format!("{scenario}/{}", Variant::Empty),
        (scenario @ Scenario::CrossFile, Some(variant)) if case.is_resolved() => {
            format!("{scenario}/{variant}")
        }
        (scenario @ Scenario::CrossFile, Some(variant)) => format!("{scenario}/{variant}/unresolved"),
        (scenario, _) => scenario.to_string(),
    }
}

/// Whether the case was cut from another tree than the workspace that engines could read in the run.
pub(crate) fn is_from_other_tree(run: &Run, case: &Case) -> bool {
    run.workspace.as_ref().is_some_and(|workspace| workspace.tree_hash != case.origin.tree_hash)
}

/// The metric's value of a score, where it applies.
pub(crate) fn share(score: &Score, metric: &str) -> Option<f64> {
    value(*score.metrics.get(metric)?).counts().ratio()
}

/// The metric as `scoring` takes it.
pub(crate) fn value(metric: StoredMetric) -> MetricValue {
    match metric {
        StoredMetric::Value(value) => MetricValue::Value(value),
        StoredMetric::Ratio { num, den } => MetricValue::Ratio { num, den },
    }
}

/// Milliseconds that a user waited for an answer, without end when the deadline passed before the engine had finished. A gate that kept the engine from
/// being asked costs no time worth comparing; a cancelled or broken request has no end to measure, and an answer whose time is not
/// recorded no beginning.
pub(crate) fn latency(prediction: &Prediction) -> Option<f64> {
    if prediction.recorded == Some(Recorded::Untimed) {
        return None;
    }
    match prediction.status {
        // What there was of it came when nobody waited any more.
        _ if prediction.late => Some(f64::INFINITY),
        Status::Ok | Status::Silent => Some(prediction.ms.total),
        Status::Gated => (!prediction.raw.is_empty()).then_some(prediction.ms.total),
        Status::Timeout => Some(f64::INFINITY),
        Status::Cancelled | Status::Error => None,
    }
}
