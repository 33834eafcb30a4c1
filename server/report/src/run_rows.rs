//! Matches the rows of a run with each other, and interprets single rows.

use std::collections::HashMap;

use cases::{
    BodyCut, Case, CompletionTask, EngineIdentity, Prediction, Recorded, Run, Score, Status, StoredMetric,
    Task,
};
use scoring::MetricValue;

use crate::RunReport;

/// The scores of a run by their prediction.
pub(crate) struct ScoreIndex<'a>(HashMap<(&'a str, &'a str, u32), &'a Score>);

impl<'a> ScoreIndex<'a> {
    pub(crate) fn new(report: &RunReport<'a>) -> ScoreIndex<'a> {
        ScoreIndex(report.scores.iter().map(|score| (score.key(), score)).collect())
    }

    pub(crate) fn get(&self, prediction: &Prediction) -> Option<&'a Score> {
        self.0.get(&prediction.key()).copied()
    }
}

/// Returns the run's engines, and any other engines that answers name.
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

/// Returns the index of the prediction's engine in the list.
pub(crate) fn engine_index(engines: &[EngineIdentity], prediction: &Prediction) -> Option<usize> {
    engines.iter().position(|engine| engine.name == prediction.engine.name)
}

/// Returns the key of the case's rows: the scenario with suffixes. Cases with an empty truth are separate because other metrics
/// apply to them, and among them those after a `return` or a similar jump, because no other code can follow there. So are the
/// variants of `cross_file`, and in each variant the unresolved names.
pub(crate) fn scenario_key(case: &Case) -> String {
    let scenario = case.scenario();
    match case.task {
        Task::EMPTY if case.follows_jump() => format!("{scenario}/{}/after_jump", BodyCut::Empty),
        Task::EMPTY => format!("{scenario}/{}", BodyCut::Empty),
        Task::Complete(CompletionTask::CrossFile(context)) if case.is_resolved() => {
            format!("{scenario}/{context}")
        }
        Task::Complete(CompletionTask::CrossFile(context)) => format!("{scenario}/{context}/unresolved"),
        Task::Complete(_) => scenario.to_string(),
    }
}

/// Whether the case was cut from another tree than the workspace that engines could read in the run.
pub(crate) fn is_from_other_tree(run: &Run, case: &Case) -> bool {
    run.workspace.as_ref().is_some_and(|workspace| workspace.tree_hash != case.origin.tree_hash)
}

/// Returns the metric's value of a score, if the metric applies.
pub(crate) fn share(score: &Score, metric: &str) -> Option<f64> {
    value(*score.metrics.get(metric)?).counts().ratio()
}

/// Converts the metric into `scoring`'s type.
pub(crate) fn value(metric: StoredMetric) -> MetricValue {
    match metric {
        StoredMetric::Value(value) => MetricValue::Value(value),
        StoredMetric::Ratio { num, den } => MetricValue::Ratio { num, den },
    }
}

/// Returns the milliseconds that a user waited for an answer; infinite if the deadline passed before the engine finished. `None`
/// for requests that a gate prevented, whose time is not worth comparing, for cancelled and failed ones, which have no end to
/// measure, and for answers without a recorded time.
pub(crate) fn latency(prediction: &Prediction) -> Option<f64> {
    if prediction.recorded == Some(Recorded::Untimed) {
        return None;
    }
    match prediction.status {
        // Its text came after the deadline.
        _ if prediction.late => Some(f64::INFINITY),
        Status::Ok | Status::Silent => Some(prediction.ms.total),
        Status::Gated => (!prediction.raw.is_empty()).then_some(prediction.ms.total),
        Status::Timeout => Some(f64::INFINITY),
        Status::Cancelled | Status::Error => None,
    }
}
