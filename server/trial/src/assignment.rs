//! Random decisions of a trial, by salted hashes: the same unit always gets the same result, in every server and after a restart.

use cases::{Decision, DecisionKind, TrialDefinition};

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
    use cases::{AssignmentUnit, Metric, SchemaVersion, TrialArm, TrialMode};

    use super::*;

    fn definition(weights: &[f64], holdout: f64) -> TrialDefinition {
        let arm = |(index, weight): (usize, &f64)| TrialArm {
            name: format!("arm{index}"),
            weight: *weight,
            requests_per_day: 1,
            budget_per_day: None,
        };
        TrialDefinition {
            schema: SchemaVersion::CURRENT,
            name: "t".to_owned(),
            mode: TrialMode::Assign,
            arms: weights.iter().enumerate().map(arm).collect(),
            holdout,
            unit: AssignmentUnit::File,
            salt: "salt".to_owned(),
            primary: Metric::ExactMatch,
            margin: 0.01,
            started_at: String::new(),
            stopped_at: None,
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
    fn nothing_is_drawn_without_a_holdout_or_without_weights() {
        assert_eq!(holdout(&definition(&[1.0], 0.0), &["a"]), None);
        assert_eq!(holdout(&definition(&[1.0], f64::NAN), &["a"]), None);
        assert_eq!(assigned_arm(&definition(&[], 0.0), &["a"]), None);
        assert_eq!(assigned_arm(&definition(&[f64::NAN, -1.0, 0.0], 0.0), &["a"]), None);
    }
}
