//! Net value of an arm's suggestions, and the confidence below which silence would have been better.

use cases::ArmRole;
use serde::Serialize;

use super::log::{AnswerRecord, LogView, Record, observed_value, value_by_truth};

/// Net value per opportunity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NetValue {
    /// Number of opportunities.
    pub opportunities: usize,
    /// Mean value of an opportunity, weighted.
    pub value: f64,
    /// The threshold that would have maximised it; absent if fewer than half of the suggestions have a confidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<BestThreshold>,
}

/// A confidence threshold. It is chosen on the opportunities that it is measured on: expect less of it on others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BestThreshold {
    /// Suggestions with a lower confidence are withheld.
    pub confidence: f64,
    /// Mean value of an opportunity with the threshold.
    pub value: f64,
    /// Suggestions that remain.
    pub remaining: usize,
    /// Suggestions with a confidence.
    pub suggestions: usize,
}

/// A suggestion or a silence, with its weighted value.
struct WeightedValue {
    value: f64,
    weight: f64,
    is_suggestion: bool,
    confidence: Option<f64>,
}

/// Returns the value of what the developer did with the arm's answers.
pub(super) fn observed(view: &LogView<'_>, arm: u32) -> Option<NetValue> {
    let valued = |record: &&Record| {
        let answer = record.answer(arm).filter(|answer| answer.role == ArmRole::Shown)?;
        let value = observed_value(record, answer, view.settings)?;
        Some(of(answer, value, 1.0, record.outcome != cases::OutcomeKind::NotShown))
    };
    net_value(view.records.iter().filter_map(valued).collect(), view.settings.weights.silent)
}

/// Returns the value of the arm's answers at the headline's opportunities.
pub(super) fn by_truth(view: &LogView<'_>, arm: u32) -> Option<NetValue> {
    let valued = |record: &&Record| {
        let weight = view.headline_weight(record)?;
        let answer = record.answer(arm)?;
        let value = value_by_truth(record, answer, view.settings)?;
        Some(of(answer, value, weight, !answer.is_blank && answer.status == cases::Status::Ok))
    };
    net_value(view.records.iter().filter_map(valued).collect(), view.settings.weights.silent)
}

fn of(answer: &AnswerRecord, value: f64, weight: f64, is_suggestion: bool) -> WeightedValue {
    WeightedValue { value, weight, is_suggestion, confidence: answer.confidence }
}

fn net_value(all: Vec<WeightedValue>, silent: f64) -> Option<NetValue> {
    let weights: f64 = all.iter().map(|it| it.weight).sum();
    let total: f64 = all.iter().map(|it| it.value * it.weight).sum();
    (weights > 0.0).then(|| NetValue {
        opportunities: all.len(),
        value: total / weights,
        best: best_threshold(&all, total, silent, weights),
    })
}

/// Withholds suggestions in the order of their confidence, the lowest first; suggestions of equal confidence together.
fn best_threshold(all: &[WeightedValue], total: f64, silent: f64, weights: f64) -> Option<BestThreshold> {
    let suggestions = all.iter().filter(|it| it.is_suggestion).count();
    let mut known: Vec<(f64, &WeightedValue)> =
        all.iter().filter(|it| it.is_suggestion).filter_map(|it| Some((it.confidence?, it))).collect();
    if known.is_empty() || known.len() * 2 < suggestions {
        return None;
    }
    known.sort_by(|left, right| left.0.total_cmp(&right.0));
    let first = known[0].0;
    let mut best = BestThreshold {
        confidence: first,
        value: total / weights,
        remaining: known.len(),
        suggestions: known.len(),
    };
    let mut rest = total;
    for (withheld, (confidence, it)) in (1..).zip(&known) {
        rest += (silent - it.value) * it.weight;
        let next = known.get(withheld).map(|(next, _)| *next);
        if next == Some(*confidence) {
            continue;
        }
        if rest / weights > best.value {
            best = BestThreshold {
                confidence: next.unwrap_or(1.0),
                value: rest / weights,
                remaining: known.len() - withheld,
                ..best
            };
        }
    }
    Some(best)
}
