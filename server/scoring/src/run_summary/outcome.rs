//! Interprets a single answer: its latency and whether it is right.

use cases::{Metric, MetricValue, Prediction, Recorded, Score, Status};

use crate::Counts;

/// Returns the milliseconds that a user waited for an answer; infinite if the deadline passed before the engine finished. `None`
/// for requests that a gate prevented, whose time is not worth comparing, for cancelled and failed ones, which have no end to
/// measure, and for answers without a recorded time.
pub fn latency(prediction: &Prediction) -> Option<f64> {
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

/// Whether the engine finished within this time, milliseconds, as its user saw it: failures and answers that were cut at the run's
/// own deadline did not, requests that a gate prevented took no time. `None` for answers without a recorded time.
pub(crate) fn finished_within(prediction: &Prediction, deadline: f64) -> Option<bool> {
    if prediction.has_failed() {
        return Some(false);
    }
    if prediction.recorded == Some(Recorded::Untimed) {
        return None;
    }
    Some(latency(prediction).is_none_or(|milliseconds| milliseconds <= deadline))
}

/// Outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestOutcome {
    is_silent: bool,
    is_gated: bool,
    has_failed: bool,
    is_late: bool,
    is_from_other_tree: bool,
}

impl RequestOutcome {
    pub(crate) fn new(prediction: &Prediction, is_from_other_tree: bool) -> RequestOutcome {
        RequestOutcome {
            is_silent: prediction.status == Status::Silent,
            is_gated: prediction.status == Status::Gated,
            has_failed: prediction.has_failed(),
            is_late: prediction.late,
            is_from_other_tree,
        }
    }

    /// Returns its metrics, each with whether it holds.
    pub(crate) fn flags(self) -> [(Metric, bool); 5] {
        [
            (Metric::Silent, self.is_silent),
            (Metric::Gated, self.is_gated),
            (Metric::Failed, self.has_failed),
            (Metric::Late, self.is_late),
            (Metric::OtherTree, self.is_from_other_tree),
        ]
    }

    /// Returns 1 if the metric is one of its own and holds, 0 if it does not hold.
    pub(crate) fn value(self, metric: Metric) -> Option<MetricValue> {
        let (_, holds) = self.flags().into_iter().find(|(own, _)| *own == metric)?;
        Some(MetricValue::Value(f64::from(u8::from(holds))))
    }
}

/// Result of an answer in one word: the status, with `ok` split by whether the answer is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerClass {
    /// The answer equals the truth, or is empty as the truth is.
    Exact,
    /// Any other text.
    Wrong,
    /// There is text, and no row of scores.
    Unscored,
    /// The outcome of a request without text.
    Status(Status),
}

impl AnswerClass {
    /// Returns its word.
    pub fn name(self) -> &'static str {
        match self {
            AnswerClass::Exact => "exact",
            AnswerClass::Wrong => "wrong",
            AnswerClass::Unscored => "unscored",
            AnswerClass::Status(status) => status.name(),
        }
    }
}

/// Classifies an answer.
pub fn answer_class(prediction: &Prediction, score: Option<&Score>) -> AnswerClass {
    let is_right = |score| {
        [Metric::ExactMatch, Metric::Restraint].into_iter().any(|metric| share(score, metric) == Some(1.0))
    };
    match (prediction.status, score) {
        (Status::Ok | Status::Silent | Status::Gated, Some(score)) if is_right(score) => AnswerClass::Exact,
        (Status::Ok, Some(_)) => AnswerClass::Wrong,
        (Status::Ok, None) => AnswerClass::Unscored,
        (status, _) => AnswerClass::Status(status),
    }
}

/// Returns the metric's value of a score, if the metric applies.
pub(super) fn share(score: &Score, metric: Metric) -> Option<f64> {
    Counts::from(*score.metrics.get(&metric)?).ratio()
}
