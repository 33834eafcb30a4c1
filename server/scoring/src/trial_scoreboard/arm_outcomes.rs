//! What became of the answers of each arm: shown, accepted, survived; and how long they took.

use cases::{ArmRole, OutcomeKind, Status, SurvivalAge, SurvivalKind};
use serde::Serialize;

use super::log::{AnswerRecord, LogView, Record};
use super::net_value::{self, NetValue};
use super::{TrialMetric, arm_numbers};
use crate::metric_table::MetricCell;
use crate::statistics::percentile::percentile;

/// Outcomes of one arm's answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmOutcomes {
    /// The arm.
    pub arm: usize,
    /// Number of its answers.
    pub requests: usize,
    /// Answers without text, as the engine decided.
    pub silent: usize,
    /// Answers that a gate withheld or prevented.
    pub gated: usize,
    /// Answers that failed, timeouts included.
    pub failed: usize,
    /// Requests that typing cancelled.
    pub cancelled: usize,
    /// What the developer did, over the opportunities at which the arm's answer was offered.
    pub offered: OutcomeCounts,
    /// Accepted characters that survived, per opportunity; absent if nothing was offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retained: Option<MetricCell>,
    /// Survival of accepted text by age.
    pub survival: Vec<SurvivalRow>,
    /// Times of the answers that were not cached; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<TrialLatency>,
    /// Total of the known costs.
    pub cost: f64,
    /// Net value of what the developer did; absent if nothing was offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_value: Option<NetValue>,
    /// Net value by unexposed truths, if right answers were accepted and others rejected; absent without truths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth_value: Option<NetValue>,
}

/// What the developer did with the answers of an arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct OutcomeCounts {
    /// Opportunities at which its answer would be shown if there is one.
    pub opportunities: usize,
    /// Those at which it was shown.
    pub shown: usize,
    /// Accepted as a whole.
    pub accepted: usize,
    /// Accepted in part.
    pub partly_accepted: usize,
    /// Typed by the developer.
    pub typed_through: usize,
    /// Dismissed.
    pub rejected: usize,
    /// The developer typed something else.
    pub ignored: usize,
    /// Another suggestion took its place.
    pub replaced: usize,
    /// Withdrawn before the developer could decide.
    pub cancelled: usize,
    /// Not decided yet.
    pub undecided: usize,
    /// Accepted, as a whole or in part, over those that the developer decided about: without replaced, cancelled and undecided ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<f64>,
    /// Its denominator.
    pub decided: usize,
}

/// Accepted text of one age.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SurvivalRow {
    /// The age.
    pub age: SurvivalAge,
    /// Unchanged texts.
    pub kept: usize,
    /// Texts that were changed in part.
    pub edited: usize,
    /// Unchanged texts in another place.
    pub moved: usize,
    /// Texts that are gone.
    pub deleted: usize,
    /// Accepted characters that are still there.
    pub retained_chars: u64,
    /// All accepted characters of these texts.
    pub accepted_chars: u64,
}

/// Latency percentiles in milliseconds; infinite if the percentile is a timeout, `null` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TrialLatency {
    /// Number of answers, timeouts included.
    pub count: usize,
    /// Number of timeouts.
    pub timeouts: usize,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// Returns the outcomes of all arms.
pub(super) fn outcomes(view: &LogView<'_>) -> Vec<ArmOutcomes> {
    view.arms.iter().enumerate().map(|(arm, &name)| of_arm(view, arm, name)).collect()
}

fn of_arm(view: &LogView<'_>, arm: usize, name: u32) -> ArmOutcomes {
    let answers: Vec<(&Record, &AnswerRecord)> =
        view.records.iter().filter_map(|&record| Some((record, record.answer(name)?))).collect();
    let statuses: Vec<Status> = answers.iter().map(|(_, answer)| answer.status).collect();
    let count = |counted: Status| statuses.iter().filter(|&&status| status == counted).count();
    let offered: Vec<(&Record, f64)> = answers
        .iter()
        .filter(|(_, answer)| answer.role == ArmRole::Shown)
        .map(|(record, _)| (*record, 1.0))
        .collect();
    ArmOutcomes {
        arm,
        requests: answers.len(),
        silent: count(Status::Silent),
        gated: count(Status::Gated),
        failed: answers.iter().filter(|(_, answer)| answer.has_failed()).count(),
        cancelled: count(Status::Cancelled),
        offered: counts(&offered, name),
        retained: arm_numbers::cell(view, name, TrialMetric::RetainedCharacters, &offered),
        survival: survival(&offered, name),
        latency: latency(answers.iter().filter_map(|(_, answer)| answer.latency).collect()),
        cost: answers.iter().filter_map(|(_, answer)| answer.cost).sum(),
        observed_value: net_value::observed(view, name),
        truth_value: net_value::by_truth(view, name),
    }
}

fn counts(offered: &[(&Record, f64)], arm: u32) -> OutcomeCounts {
    let mut counts = OutcomeCounts { opportunities: offered.len(), ..OutcomeCounts::default() };
    for (record, _) in offered {
        counts.shown += usize::from(record.was_shown || record.outcome != OutcomeKind::NotShown);
        let count = match record.outcome {
            OutcomeKind::NotShown => continue,
            OutcomeKind::Shown => &mut counts.undecided,
            OutcomeKind::Accepted if !record.is_accepted(arm) => &mut counts.ignored,
            OutcomeKind::Accepted if record.is_partly_accepted => &mut counts.partly_accepted,
            OutcomeKind::Accepted => &mut counts.accepted,
            OutcomeKind::TypedThrough => &mut counts.typed_through,
            OutcomeKind::Rejected => &mut counts.rejected,
            OutcomeKind::Ignored => &mut counts.ignored,
            OutcomeKind::Replaced => &mut counts.replaced,
            OutcomeKind::Cancelled => &mut counts.cancelled,
        };
        *count += 1;
    }
    let taken = counts.accepted + counts.partly_accepted;
    counts.decided = taken + counts.typed_through + counts.rejected + counts.ignored;
    counts.acceptance = (counts.decided > 0).then(|| taken as f64 / counts.decided as f64);
    counts
}

fn survival(offered: &[(&Record, f64)], arm: u32) -> Vec<SurvivalRow> {
    let row = |&age: &SurvivalAge| {
        let mut row = SurvivalRow {
            age,
            kept: 0,
            edited: 0,
            moved: 0,
            deleted: 0,
            retained_chars: 0,
            accepted_chars: 0,
        };
        let accepted = offered.iter().filter(|(record, _)| record.is_accepted(arm));
        let measured = accepted.filter_map(|(record, _)| {
            Some((record, record.survival.iter().find(|survival| survival.age == age)?))
        });
        for (record, survival) in measured {
            let count = match survival.kind {
                SurvivalKind::Kept => &mut row.kept,
                SurvivalKind::Edited => &mut row.edited,
                SurvivalKind::Moved => &mut row.moved,
                SurvivalKind::Deleted => &mut row.deleted,
            };
            *count += 1;
            row.retained_chars += u64::from(survival.retained_chars);
            row.accepted_chars += u64::from(record.accepted_chars);
        }
        (row.kept + row.edited + row.moved + row.deleted > 0).then_some(row)
    };
    SurvivalAge::ALL.iter().filter_map(row).collect()
}

fn latency(mut sorted: Vec<f64>) -> Option<TrialLatency> {
    sorted.sort_unstable_by(f64::total_cmp);
    Some(TrialLatency {
        count: sorted.len(),
        timeouts: sorted.iter().filter(|latency| latency.is_infinite()).count(),
        p50: percentile(&sorted, 0.5)?,
        p90: percentile(&sorted, 0.9)?,
        p99: percentile(&sorted, 0.99)?,
    })
}
