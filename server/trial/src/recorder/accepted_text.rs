//! The text that was accepted at one opportunity, and its survival: what became of it at each age, and at the next commit.
//!
//! Every age is measured on its own, whatever else ends before, so that what is kept is no selection. An age that cannot be measured
//! any more has a reason.

use cases::{LossReason, OfferOutcome, Provenance, Survival, SurvivalAge, Truth};

use super::offer::saturated;

/// Ages at which survival is measured, in ms.
const AGES: [(SurvivalAge, u64); 4] = [
    (SurvivalAge::Seconds30, 30_000),
    (SurvivalAge::Minutes2, 120_000),
    (SurvivalAge::Minutes5, 300_000),
    (SurvivalAge::Minutes10, 600_000),
];

/// The accepted text of an opportunity over time. All times are ages of the opportunity in ms.
#[derive(Clone, Debug, Default)]
pub(crate) struct AcceptedText {
    /// Age of the opportunity at the first acceptance.
    accepted_at: Option<u64>,
    /// By age of the text.
    measured: Vec<Survival>,
    /// Why the other ages are not measured.
    lost: Option<LossReason>,
}

impl AcceptedText {
    /// Continues the accepted text of an earlier session. It is lost if the text of its last truth does not tell which part of it was
    /// accepted.
    pub(crate) fn resumed(outcome: &OfferOutcome, truth: Option<&Truth>) -> AcceptedText {
        let mut resumed = AcceptedText {
            accepted_at: outcome.accepted_at.map(|at| at.clamp(0.0, 1e15) as u64),
            measured: outcome.survival.clone(),
            lost: outcome.survival_lost,
        };
        let is_known = truth.is_some_and(|truth| is_accepted_part_known(outcome, truth));
        if is_pending(outcome) && (!is_known || resumed.accepted_at.is_none()) {
            resumed.lost = Some(LossReason::Interrupted);
        }
        resumed
    }

    /// Text was accepted.
    pub(crate) fn note_acceptance(&mut self, age: u64) {
        self.accepted_at.get_or_insert(age);
    }

    /// Nothing was accepted after all.
    pub(crate) fn retract(&mut self) {
        self.accepted_at = None;
    }

    /// Returns whether ages are still to be measured.
    pub(crate) fn is_pending(&self) -> bool {
        self.accepted_at.is_some() && self.lost.is_none() && AGES.iter().any(|(age, _)| self.lacks(*age))
    }

    /// Returns the ages that have passed without a measurement.
    pub(crate) fn due(&self, age: u64) -> Vec<SurvivalAge> {
        let Some(accepted_at) = self.accepted_at.filter(|_| self.lost.is_none()) else { return Vec::new() };
        let has_passed = |(_, since): &&(SurvivalAge, u64)| age.saturating_sub(accepted_at) >= *since;
        let due = AGES.iter().filter(has_passed).map(|(age, _)| *age);
        due.filter(|age| self.lacks(*age)).collect()
    }

    /// Returns whether a commit is the next one after the acceptance.
    pub(crate) fn awaits_commit(&self) -> bool {
        self.accepted_at.is_some() && self.lost.is_none() && self.lacks(SurvivalAge::Commit)
    }

    /// Adds a measurement.
    pub(crate) fn add(&mut self, survival: Survival) {
        let place = self.measured.partition_point(|known| known.age < survival.age);
        self.measured.insert(place, survival);
    }

    /// The text is not followed any more.
    pub(crate) fn lose(&mut self, reason: LossReason) {
        if self.is_pending() {
            self.lost = Some(reason);
        }
    }

    /// Returns why the other ages are not measured.
    pub(crate) fn loss(&self) -> Option<LossReason> {
        self.lost
    }

    /// Writes what is known to an outcome.
    pub(crate) fn describe(&self, outcome: &mut OfferOutcome) {
        outcome.accepted_at = self.accepted_at.map(|at| at as f64);
        outcome.survival.clone_from(&self.measured);
        outcome.survival_lost = self.lost;
    }

    fn lacks(&self, age: SurvivalAge) -> bool {
        self.measured.iter().all(|known| known.age != age)
    }
}

/// Returns whether the survival of a row's accepted text is not complete, without a reason.
pub(crate) fn is_pending(outcome: &OfferOutcome) -> bool {
    let lacks = |age: SurvivalAge| outcome.survival.iter().all(|known| known.age != age);
    outcome.accepted_chars > 0 && outcome.survival_lost.is_none() && AGES.iter().any(|(age, _)| lacks(*age))
}

/// Whether the accepted parts of a truth are all that is left of the accepted text: nothing of it may be behind the unit to which the
/// truth was cut, and no other suggestion of the same arm in it.
fn is_accepted_part_known(outcome: &OfferOutcome, truth: &Truth) -> bool {
    let accepted = truth
        .provenance
        .iter()
        .filter(|span| span.provenance == Provenance::Accepted && span.arm == outcome.arm)
        .filter_map(|span| truth.text.get(span.range.clone()));
    let left = saturated(accepted.map(|text| text.replace('\r', "").chars().count()).sum());
    left == outcome.accepted_chars || left < outcome.accepted_chars && truth.text == truth.region
}
