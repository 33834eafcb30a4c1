//! The votes of a duel: which arm the developer chose of two answers that were offered together, by the position of the answers.

use cases::{DecisionKind, OutcomeKind, TrialMode};
use serde::Serialize;

use super::log::{LogView, Record};

/// The votes of a duel. Only opportunities count at which two different answers were visible.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DuelVotes {
    /// Votes of each arm.
    pub arms: Vec<ArmVotes>,
    /// Opportunities at which the developer chose neither.
    pub neither: usize,
}

/// How often an arm was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ArmVotes {
    /// The arm.
    pub arm: usize,
    /// Votes when its answer was offered first.
    pub first: PositionVotes,
    /// Votes when its answer was offered second.
    pub second: PositionVotes,
}

/// Votes at one position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PositionVotes {
    /// Opportunities.
    pub offered: usize,
    /// Those at which the answer was chosen.
    pub chosen: usize,
}

/// Returns the votes; `None` without any.
pub(super) fn votes(view: &LogView<'_>) -> Option<DuelVotes> {
    let mut arms: Vec<ArmVotes> =
        (0..view.arms.len()).map(|arm| ArmVotes { arm, ..ArmVotes::default() }).collect();
    let (mut neither, mut count) = (0, 0);
    for record in view.records.iter().filter(|record| is_vote(record)) {
        let Some(first) = first_arm(view, record) else { continue };
        count += 1;
        let mut is_chosen = false;
        for (&name, votes) in view.arms.iter().zip(&mut arms) {
            if record.answer(name).is_none() {
                continue;
            }
            let position = if name == first { &mut votes.first } else { &mut votes.second };
            position.offered += 1;
            if record.is_accepted(name) {
                position.chosen += 1;
                is_chosen = true;
            }
        }
        neither += usize::from(!is_chosen);
    }
    arms.retain(|votes| votes.first.offered + votes.second.offered > 0);
    (count > 0).then_some(DuelVotes { arms, neither })
}

/// Whether two different answers were visible, and the developer has decided.
fn is_vote(record: &Record) -> bool {
    let is_decided = !matches!(
        record.outcome,
        OutcomeKind::Shown | OutcomeKind::NotShown | OutcomeKind::Cancelled | OutcomeKind::Replaced
    );
    record.mode == TrialMode::Duel && record.offers_choice && record.was_shown && is_decided
}

/// Returns the arm whose answer was offered first.
fn first_arm(view: &LogView<'_>, record: &Record) -> Option<u32> {
    let &(_, value, _) = record.decisions.iter().find(|(kind, ..)| *kind == DecisionKind::Order)?;
    let name = view.log.value_name(value);
    view.arms.iter().copied().find(|arm| view.log.arm_name(*arm) == name)
}

#[cfg(test)]
mod tests {
    use cases::{
        ArmAnswer, ArmRole, Decision, EngineIdentity, OfferOutcome, Opportunity, OpportunityCursor, Status,
        Trigger,
    };

    use super::*;
    use crate::trial_scoreboard::{TrialLog, TrialSettings};

    fn row(
        number: usize,
        texts: [&str; 2],
        first: &str,
        kind: OutcomeKind,
        chosen: Option<&str>,
    ) -> Opportunity {
        let answer = |arm: &str, text: &str| {
            let engine = EngineIdentity {
                name: arm.to_owned(),
                kind: "mock".to_owned(),
                model: String::new(),
                fingerprint: String::new(),
            };
            let answer = ArmAnswer::empty(arm.to_owned(), engine, ArmRole::Shown, Status::Ok);
            ArmAnswer { text: text.to_owned(), ..answer }
        };
        let cursor = OpportunityCursor::at_start("python", "a.py");
        Opportunity {
            mode: TrialMode::Duel,
            decisions: vec![Decision {
                kind: DecisionKind::Order,
                value: first.to_owned(),
                probability: 0.5,
            }],
            answers: vec![answer("a", texts[0]), answer("b", texts[1])],
            outcome: OfferOutcome {
                kind,
                shown_at: Some(1.0),
                arm: chosen.map(str::to_owned),
                ..OfferOutcome::not_shown()
            },
            ..Opportunity::new(format!("{number:032x}"), Trigger::Automatic, cursor)
        }
    }

    #[test]
    fn votes_are_counted_by_position_and_neither_is_one() {
        let mut log = TrialLog::new();
        let rows = [
            (["x", "y"], "a", OutcomeKind::Accepted, Some("a")),
            (["x", "y"], "b", OutcomeKind::Accepted, Some("a")),
            (["x", "y"], "b", OutcomeKind::Accepted, Some("b")),
            (["x", "y"], "b", OutcomeKind::Rejected, None),
            // There was no choice, or none yet.
            (["x", "x"], "a", OutcomeKind::Accepted, Some("a")),
            (["x", ""], "a", OutcomeKind::Accepted, Some("a")),
            (["x", "y"], "a", OutcomeKind::Shown, None),
            (["x", "y"], "a", OutcomeKind::NotShown, None),
        ];
        for (number, (texts, first, kind, chosen)) in rows.into_iter().enumerate() {
            log.add(&row(number, texts, first, kind, chosen));
        }
        let board = log.scoreboard(&TrialSettings::default());
        let votes = board.duel.expect("there are votes");
        let of = |name: &str| {
            let arm = board.arms.iter().position(|arm| arm == name).expect("it answered");
            let votes = votes.arms.iter().find(|votes| votes.arm == arm).expect("it was offered");
            [(votes.first.chosen, votes.first.offered), (votes.second.chosen, votes.second.offered)]
        };
        assert_eq!((of("a"), of("b")), ([(1, 1), (1, 3)], [(1, 3), (0, 1)]));
        assert_eq!(votes.neither, 1);
    }
}
