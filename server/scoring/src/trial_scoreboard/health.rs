//! Signs that a trial cannot be trusted.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cases::{ArmRole, DecisionKind, LossReason};
use serde::Serialize;

use super::log::{LogView, Record, TruthState};
use crate::statistics::normal;

/// Largest p-value that is a sign of a defect; as usual for sample-ratio mismatches, because every look is a test.
const SUSPICIOUS: f64 = 0.001;
/// Fewest units for a check of shares.
const MIN_UNITS: usize = 10;

/// Health of a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialHealth {
    /// Random decisions: observed and expected numbers by result.
    pub shares: Vec<ShareCheck>,
    /// Truths of the opportunities at which each arm was offered.
    pub truths: Vec<ArmTruths>,
    /// Lost truths by reason.
    pub lost: Vec<(LossReason, usize)>,
    /// Opportunities that count in no comparison with truths.
    pub left_out: LeftOutRows,
    /// Arms whose engine or settings changed during the trial.
    pub engine_changes: Vec<EngineChange>,
    /// Arms whose answers to the same canary questions changed, although their settings are the same.
    pub drifts: Vec<EngineChange>,
    /// Opportunities whose suggestion was seen although no holdout could have hidden it. With any, nothing is claimed from truths: set a
    /// holdout.
    pub uncovered: usize,
}

impl TrialHealth {
    /// Whether any check failed.
    pub fn has_problems(&self) -> bool {
        self.uncovered > 0
            || self.shares.iter().any(|check| check.is_suspicious)
            || self.truths.iter().any(|check| check.is_suspicious)
            || !self.engine_changes.is_empty()
            || !self.drifts.is_empty()
    }
}

/// Observed and expected number of a random result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShareCheck {
    /// The decision.
    pub kind: DecisionKind,
    /// The result: an arm's name, or `hidden` or `shown`.
    pub value: String,
    /// Units with this result.
    pub observed: usize,
    /// Expected number.
    pub expected: f64,
    /// Units that were drawn. For an assignment, these are the coarsest of developers, days, sessions and files with one result each.
    pub units: usize,
    /// Chance of a number at least as far from the expected one; absent for fewer than ten units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Whether `p` is at most 0.001: assignment or recording is broken (sample-ratio mismatch).
    pub is_suspicious: bool,
}

/// Truths of the opportunities at which an arm was offered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ArmTruths {
    /// The arm.
    pub arm: usize,
    /// Opportunities at which it was offered, holdouts included.
    pub opportunities: usize,
    /// Those at which its answer was shown.
    pub shown: usize,
    /// Those whose truth was lost.
    pub lost: usize,
    /// Those without a truth so far.
    pub pending: usize,
    /// Whether the share of lost truths differs from that of the other arms with p at most 0.001.
    pub is_suspicious: bool,
}

/// Opportunities that count in no comparison with truths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOutRows {
    /// A program wrote parts of the text.
    pub other_author: usize,
    /// The row has no texts, or its language is unknown.
    pub unreadable: usize,
    /// The developer pointed at the place.
    pub pointed_at: usize,
    /// There was no random holdout, while other opportunities had one.
    pub without_holdout: usize,
}

/// A change of an arm's engine or settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EngineChange {
    /// The arm.
    pub arm: usize,
    /// Day of the first answer after the change, as in 2026-01-31.
    pub day: String,
}

/// Returns the health of the trial.
pub(super) fn health(view: &LogView<'_>) -> TrialHealth {
    let mut lost: BTreeMap<LossReason, usize> = BTreeMap::new();
    for record in &view.records {
        if let TruthState::Lost(reason) = record.truth {
            *lost.entry(reason).or_default() += 1;
        }
    }
    TrialHealth {
        shares: DecisionKind::ALL.iter().flat_map(|&kind| shares(view, kind)).collect(),
        truths: truths(view),
        lost: lost.into_iter().collect(),
        left_out: left_out(view),
        engine_changes: engine_changes(view),
        drifts: drifts(view),
        uncovered: view.uncovered,
    }
}

/// Returns the two-sided p-value of a standard normal number.
fn p_of(errors: f64) -> f64 {
    (2.0 * normal::tail(errors.abs())).min(1.0)
}

/// Decisions of one kind, one per unit.
fn shares(view: &LogView<'_>, kind: DecisionKind) -> Vec<ShareCheck> {
    let drawn: Vec<(&Record, u32, f64)> = view
        .records
        .iter()
        .filter_map(|&record| {
            let &(_, value, probability) = record.decisions.iter().find(|(of, ..)| *of == kind)?;
            (probability > 0.0 && probability <= 1.0).then_some((record, value, probability))
        })
        .collect();
    let units = if kind == DecisionKind::Assignment { units(view, &drawn) } else { drawn };
    // By result: number of units, expected number, variance. A unit names the probability of its own result only, so that of another
    // result is the mean of the units with it.
    let mut probabilities: BTreeMap<u32, (usize, f64)> = BTreeMap::new();
    for (_, value, probability) in &units {
        let (count, sum) = probabilities.entry(*value).or_default();
        *count += 1;
        *sum += probability;
    }
    let check = |(value, (observed, sum)): (&u32, &(usize, f64))| {
        let share = sum / *observed as f64;
        let expected = share * units.len() as f64;
        let error = (expected * (1.0 - share)).sqrt();
        let p =
            (units.len() >= MIN_UNITS && error > 0.0).then(|| p_of((*observed as f64 - expected) / error));
        ShareCheck {
            kind,
            value: view.log.value_name(*value).to_owned(),
            observed: *observed,
            expected,
            units: units.len(),
            p,
            is_suspicious: p.is_some_and(|p| p <= SUSPICIOUS),
        }
    };
    probabilities.iter().map(check).collect()
}

/// Returns one decision of each unit: of the coarsest kind of unit in which the result never changes, else all decisions.
fn units<'a>(view: &LogView<'_>, drawn: &[(&'a Record, u32, f64)]) -> Vec<(&'a Record, u32, f64)> {
    let day = |record: &Record| record.opened_at.chars().take(10).collect::<String>();
    let keys: [&dyn Fn(&Record) -> String; 4] = [
        &|record| record.developer.to_string(),
        &|record| format!("{} {}", record.developer, day(record)),
        &|record| view.log.session_name(record.session).to_owned(),
        &|record| record.file.to_string(),
    ];
    for key in keys {
        let mut first: HashMap<String, (&Record, u32, f64)> = HashMap::new();
        let is_constant = drawn.iter().all(|&(record, value, probability)| {
            first.entry(key(record)).or_insert((record, value, probability)).1 == value
        });
        if is_constant {
            let mut units: Vec<(&Record, u32, f64)> = first.into_values().collect();
            units.sort_by(|left, right| left.0.opened_at.cmp(&right.0.opened_at));
            return units;
        }
    }
    drawn.to_vec()
}

fn truths(view: &LogView<'_>) -> Vec<ArmTruths> {
    let of_arm = |(arm, &name): (usize, &u32)| {
        let is_offered = |record: &&&Record| record.offered().is_some_and(|answer| answer.arm == name);
        let offered: Vec<&&Record> = view.records.iter().filter(is_offered).collect();
        let count = |holds: fn(&Record) -> bool| offered.iter().filter(|record| holds(record)).count();
        ArmTruths {
            arm,
            opportunities: offered.len(),
            shown: count(|record| {
                record.was_shown && record.offered().is_some_and(|answer| answer.role == ArmRole::Shown)
            }),
            lost: count(|record| matches!(record.truth, TruthState::Lost(_))),
            pending: count(|record| record.truth == TruthState::Pending),
            is_suspicious: false,
        }
    };
    let mut truths: Vec<ArmTruths> = view.arms.iter().enumerate().map(of_arm).collect();
    truths.retain(|arm| arm.opportunities > 0);
    let (all, lost) =
        truths.iter().fold((0, 0), |(all, lost), arm| (all + arm.opportunities, lost + arm.lost));
    for arm in &mut truths {
        arm.is_suspicious =
            differs((arm.lost, arm.opportunities), (lost - arm.lost, all - arm.opportunities));
    }
    truths
}

/// Whether two shares differ (the z-test with the pooled share).
fn differs((hits, all): (usize, usize), (other_hits, others): (usize, usize)) -> bool {
    if all < MIN_UNITS || others < MIN_UNITS {
        return false;
    }
    let share = |hits: usize, all: usize| hits as f64 / all as f64;
    let pooled = share(hits + other_hits, all + others);
    let error = (pooled * (1.0 - pooled) * (1.0 / all as f64 + 1.0 / others as f64)).sqrt();
    error > 0.0 && p_of((share(hits, all) - share(other_hits, others)) / error) <= SUSPICIOUS
}

fn left_out(view: &LogView<'_>) -> LeftOutRows {
    let count = |holds: fn(&Record) -> bool| view.records.iter().filter(|record| holds(record)).count();
    let with_holdout = count(|record| record.holdout.is_some());
    LeftOutRows {
        other_author: count(|record| record.truth == TruthState::OtherAuthor),
        unreadable: count(|record| record.truth == TruthState::Unreadable),
        pointed_at: count(|record| !record.is_representative()),
        without_holdout: if with_holdout > 0 { view.records.len() - with_holdout } else { 0 },
    }
}

fn drifts(view: &LogView<'_>) -> Vec<EngineChange> {
    let change = |(name, day): &(String, String)| {
        let arm = view.arms.iter().position(|arm| view.log.arm_name(*arm) == name)?;
        Some(EngineChange { arm, day: day.clone() })
    };
    view.log.drifts.iter().filter_map(change).collect()
}

fn engine_changes(view: &LogView<'_>) -> Vec<EngineChange> {
    let mut changes = Vec::new();
    for (arm, &name) in view.arms.iter().enumerate() {
        let mut last = None;
        let mut days = BTreeSet::new();
        for (record, answer) in view.records.iter().filter_map(|record| Some((record, record.answer(name)?)))
        {
            if last.replace(answer.fingerprint).is_some_and(|last| last != answer.fingerprint) {
                days.insert(record.opened_at.chars().take(10).collect::<String>());
            }
        }
        changes.extend(days.into_iter().map(|day| EngineChange { arm, day }));
    }
    changes
}
