//! Which opportunities represent all of them, and with which weight.
//!
//! In a holdout nothing is shown, so its truth is unexposed whatever the arms answered. Other truths are unexposed only because there was
//! nothing to show, and those alone are the hard ones: counting them like the others would favour the arms that are never shown. An
//! opportunity with a suggestion to show was unexposed with the probability of a holdout, one without a suggestion always.

use cases::{ArmAnswer, ArmRole, DecisionKind, Opportunity};

/// Value of a holdout decision in which nothing is shown.
const HIDDEN: &str = "hidden";

/// Returns the probability that the opportunity would have been a holdout; `None` if this was not decided at random.
pub(super) fn holdout_probability(row: &Opportunity) -> Option<f64> {
    let decision = row.decisions.iter().find(|decision| decision.kind == DecisionKind::Holdout)?;
    let probability =
        if decision.value == HIDDEN { decision.probability } else { 1.0 - decision.probability };
    (probability > 0.0 && probability <= 1.0).then_some(probability)
}

/// Returns the weight of an unexposed opportunity; `holdout` is the probability of a holdout, if there was one.
pub(super) fn weight(row: &Opportunity, holdout: Option<f64>) -> f64 {
    match (holdout, row.shown_answer()) {
        (Some(probability), Some(answer)) if would_be_shown(row, answer) => 1.0 / probability,
        _ => 1.0,
    }
}

/// Whether only the holdout kept the answer from the developer.
fn would_be_shown(row: &Opportunity, answer: &ArmAnswer) -> bool {
    let is_ready = row.rhythm.until_next_key.is_none_or(|next| answer.asked + answer.ms.total < next);
    answer.role == ArmRole::Held && !answer.has_failed() && !is_blank(answer, row) && is_ready
}

/// Whether the arm suggested nothing. Rows without texts say it by the status.
pub(super) fn is_blank(answer: &ArmAnswer, row: &Opportunity) -> bool {
    if row.privacy == cases::PrivacyLevel::Metrics {
        return answer.status != cases::Status::Ok;
    }
    answer.text.trim().is_empty()
}
