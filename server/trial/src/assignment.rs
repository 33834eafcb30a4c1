//! Random decisions of a trial, by salted hashes: the same unit always gets the same result, in every server and after a restart.

use cases::{Decision, DecisionKind, EngineIdentity, Opportunity, TrialDefinition, TrialMode};

/// Decides whether nothing is shown at a place; `None` if the trial holds nothing out. `place` identifies the opportunity.
pub fn holdout(definition: &TrialDefinition, place: &[&str]) -> Option<Decision> {
    let share = definition.holdout;
    if share.is_nan() || share <= 0.0 {
        return None;
    }
    let is_hidden = fraction(definition, DecisionKind::Holdout, place) < share;
    let (value, probability) = if is_hidden { (HIDDEN, share) } else { ("shown", 1.0 - share) };
    Some(Decision { kind: DecisionKind::Holdout, value: value.to_owned(), probability })
}

/// Whether a decision is that nothing is shown.
pub fn is_hidden(decision: &Decision) -> bool {
    decision.kind == DecisionKind::Holdout && decision.value == HIDDEN
}

/// Chooses the arm of a unit, each by its weight; the value of the decision is the arm's name. `None` without arms of a positive
/// weight.
pub fn assigned_arm(definition: &TrialDefinition, unit: &[&str]) -> Option<Decision> {
    let arms = definition.arms.iter().filter(|arm| arm.weight.is_finite() && arm.weight > 0.0);
    let total: f64 = arms.clone().map(|arm| arm.weight).sum();
    let mut rest = fraction(definition, DecisionKind::Assignment, unit) * total;
    let mut chosen = None;
    for arm in arms {
        chosen = Some(arm);
        rest -= arm.weight;
        if rest < 0.0 {
            break;
        }
    }
    chosen.map(|arm| Decision {
        kind: DecisionKind::Assignment,
        value: arm.name.clone(),
        probability: arm.weight / total,
    })
}

/// Draws which of the two arms of a duel is offered first at a place; the value of the decision is its name. `None` without two arms.
pub fn first_of_duel(definition: &TrialDefinition, place: &[&str]) -> Option<Decision> {
    let [one, other] = definition.arms.get(..2)? else { return None };
    let first = if fraction(definition, DecisionKind::Order, place) < 0.5 { one } else { other };
    Some(Decision { kind: DecisionKind::Order, value: first.name.clone(), probability: 0.5 })
}

/// The names under which a trial shows its arms while it runs, so that the developer judges their answers without knowing the engines.
///
/// The one rule of blindness: in `duel` and `assign`, from the start to the stop of the trial, in the editor and on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlindNames {
    /// Name of the trial.
    pub trial: String,
    /// The names of its arms.
    pub arms: Vec<BlindArm>,
}

/// An arm with two names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlindArm {
    /// The real name.
    pub name: String,
    /// The name that is shown, such as `engine 1`.
    pub shown_as: String,
}

impl BlindNames {
    /// Returns the names that are in effect; `None` if the arms of the trial are not hidden, or not any more.
    pub fn in_effect(definition: &TrialDefinition) -> Option<BlindNames> {
        if definition.is_running() { BlindNames::of_mode(definition) } else { None }
    }

    /// Returns the names that are in effect while the trial runs; `None` if its mode hides nothing. Their order does not reveal the arms.
    pub fn of_mode(definition: &TrialDefinition) -> Option<BlindNames> {
        if !matches!(definition.mode, TrialMode::Duel | TrialMode::Assign) {
            return None;
        }
        let mut names: Vec<&str> = definition.arms.iter().map(|arm| arm.name.as_str()).collect();
        names.sort_by(|one, other| {
            let place = |name: &str| fraction(definition, DecisionKind::Order, &["name", name]);
            place(one).total_cmp(&place(other))
        });
        let arms = names.into_iter().enumerate().map(|(number, name)| BlindArm {
            name: name.to_owned(),
            shown_as: format!("engine {}", number + 1),
        });
        Some(BlindNames { trial: definition.name.clone(), arms: arms.collect() })
    }

    /// Returns the name under which an arm is shown: its own if the trial has no such arm.
    pub fn shown_as<'a>(&'a self, arm: &'a str) -> &'a str {
        self.arms.iter().find(|known| known.name == arm).map_or(arm, |known| &known.shown_as)
    }

    /// Replaces the names of the arms in a row of the trial, and removes everything else that identifies their engines. Rows of other
    /// trials keep theirs.
    pub fn hide(&self, row: &mut Opportunity) {
        if row.trial.as_deref() != Some(&self.trial) {
            return;
        }
        let rename = |name: &mut String| *name = self.shown_as(name).to_owned();
        for answer in &mut row.answers {
            rename(&mut answer.arm);
            answer.engine = EngineIdentity {
                name: answer.arm.clone(),
                kind: String::new(),
                model: String::new(),
                fingerprint: String::new(),
            };
            (answer.reason, answer.cost) = (None, None);
        }
        row.decisions.iter_mut().for_each(|decision| rename(&mut decision.value));
        row.outcome.arm.iter_mut().for_each(rename);
        let spans = row.truths.iter_mut().flat_map(|truth| &mut truth.provenance);
        spans.filter_map(|span| span.arm.as_mut()).for_each(rename);
    }
}

/// The value of a holdout at which nothing is shown.
const HIDDEN: &str = "hidden";

/// Returns a number from 0 to below 1 that depends on the trial, the kind of the decision and the unit.
fn fraction(definition: &TrialDefinition, kind: DecisionKind, unit: &[&str]) -> f64 {
    let mut hash = blake3::Hasher::new();
    for part in [definition.salt.as_str(), kind.name()].iter().chain(unit) {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let mut bits = [0; 8];
    hash.finalize_xof().fill(&mut bits);
    (u64::from_le_bytes(bits) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use cases::{
        ArmAnswer, ArmRole, AssignmentUnit, OpportunityCursor, Provenance, ProvenanceSpan, Status, TrialArm,
        Trigger, Truth, TruthStage,
    };

    use super::*;

    fn definition(weights: &[f64], holdout: f64) -> TrialDefinition {
        let arm = |(index, weight): (usize, &f64)| TrialArm {
            weight: *weight,
            ..TrialArm::new(format!("arm{index}"))
        };
        let arms = weights.iter().enumerate().map(arm).collect();
        TrialDefinition {
            holdout,
            unit: AssignmentUnit::File,
            salt: "salt".to_owned(),
            ..TrialDefinition::new("t".to_owned(), TrialMode::Assign, arms, String::new())
        }
    }

    #[test]
    fn shares_of_arms_follow_their_weights_and_are_stored_as_probabilities() {
        let definition = definition(&[1.0, 3.0], 0.0);
        let decisions: Vec<Decision> =
            (0..4_000).filter_map(|unit: u32| assigned_arm(&definition, &["d", &unit.to_string()])).collect();
        let first = decisions.iter().filter(|decision| decision.value == "arm0").count();
        assert!((900..1_100).contains(&first), "{first}");
        assert!(
            decisions.iter().all(|decision| {
                decision.probability == if decision.value == "arm0" { 0.25 } else { 0.75 }
            })
        );
    }

    #[test]
    fn a_unit_keeps_its_result_and_another_salt_draws_again() {
        let one = definition(&[1.0, 1.0], 0.5);
        let other = TrialDefinition { salt: "other".to_owned(), ..one.clone() };
        let draw = |definition: &TrialDefinition| -> Vec<_> {
            (0..64_u32).map(|unit| assigned_arm(definition, &[&unit.to_string()])).collect()
        };
        assert_eq!(draw(&one), draw(&one));
        assert_ne!(draw(&one), draw(&other));
        // Parts of a unit are not joined.
        assert_ne!(
            fraction(&one, DecisionKind::Holdout, &["a", "bc"]),
            fraction(&one, DecisionKind::Holdout, &["ab", "c"])
        );
    }

    #[test]
    fn the_holdout_has_its_share() {
        let definition = definition(&[1.0], 0.1);
        let decisions: Vec<Decision> =
            (0..4_000).filter_map(|place: u32| holdout(&definition, &[&place.to_string()])).collect();
        let hidden = decisions.iter().filter(|decision| is_hidden(decision)).count();
        assert!((330..470).contains(&hidden), "{hidden}");
        assert!(
            decisions
                .iter()
                .all(|decision| { decision.probability == if is_hidden(decision) { 0.1 } else { 0.9 } })
        );
    }

    #[test]
    fn each_arm_of_a_duel_is_first_half_of_the_time() {
        let definition = definition(&[1.0, 1.0], 0.0);
        let first =
            |place: u32| first_of_duel(&definition, &[&place.to_string()]).expect("there are two arms");
        let count = (0..4_000).filter(|place| first(*place).value == "arm0").count();
        assert!((1_850..2_150).contains(&count), "{count}");
    }

    /// A row of trial `t` in which the names of its arms are wherever they can be.
    fn row(arm: &str) -> Opportunity {
        let engine = EngineIdentity {
            name: arm.to_owned(),
            kind: format!("kind of {arm}"),
            model: format!("model of {arm}"),
            fingerprint: format!("fingerprint of {arm}"),
        };
        let answer = ArmAnswer {
            reason: Some(format!("{arm} is busy")),
            ..ArmAnswer::empty(arm.to_owned(), engine, ArmRole::Shown, Status::Gated)
        };
        let truth = Truth {
            stage: TruthStage::Settled,
            at: 1.0,
            text: "x".to_owned(),
            region: "x".to_owned(),
            deleted: String::new(),
            deleted_before: String::new(),
            provenance: vec![ProvenanceSpan {
                range: 0..1,
                provenance: Provenance::Accepted,
                arm: Some(arm.to_owned()),
            }],
            reversals: 0,
            distance: None,
        };
        let decision = Decision { kind: DecisionKind::Order, value: arm.to_owned(), probability: 0.5 };
        let mut row = Opportunity {
            trial: Some("t".to_owned()),
            answers: vec![answer],
            truths: vec![truth],
            decisions: vec![decision],
            ..Opportunity::new(
                "1".to_owned(),
                Trigger::Automatic,
                OpportunityCursor::at_start("python", "a.py"),
            )
        };
        row.outcome.arm = Some(arm.to_owned());
        row
    }

    #[test]
    fn arms_of_duel_and_assign_are_hidden_until_the_trial_stops() {
        let running = definition(&[1.0, 1.0], 0.0);
        for mode in TrialMode::ALL {
            let is_blind = matches!(mode, TrialMode::Duel | TrialMode::Assign);
            let trial = TrialDefinition { mode: *mode, ..running.clone() };
            assert_eq!(BlindNames::in_effect(&trial).is_some(), is_blind, "{mode}");
            let stopped = TrialDefinition { stopped_at: Some("2026-01-02T00:00:00Z".to_owned()), ..trial };
            assert_eq!(BlindNames::in_effect(&stopped), None);
            assert_eq!(BlindNames::of_mode(&stopped).is_some(), is_blind, "{mode}");
        }
        let names = BlindNames::in_effect(&running).expect("it is blind");
        let mut hidden = row("arm0");
        names.hide(&mut hidden);
        let text = format!("{hidden:?}");
        assert!(!text.contains("arm0") && text.contains(names.shown_as("arm0")), "{text}");
        let mut other = Opportunity { trial: Some("before".to_owned()), ..row("arm0") };
        let before = other.clone();
        names.hide(&mut other);
        assert_eq!(other, before, "rows of other trials keep their names");
    }

    #[test]
    fn nothing_is_drawn_without_a_holdout_or_without_weights() {
        assert_eq!(holdout(&definition(&[1.0], 0.0), &["a"]), None);
        assert_eq!(holdout(&definition(&[1.0], f64::NAN), &["a"]), None);
        assert_eq!(assigned_arm(&definition(&[], 0.0), &["a"]), None);
        assert_eq!(assigned_arm(&definition(&[f64::NAN, -1.0, 0.0], 0.0), &["a"]), None);
    }
}
