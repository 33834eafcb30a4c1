//! Random decisions of a trial, by salted hashes: the same unit always gets the same result, in every server and after a restart.

use cases::{Decision, DecisionKind, EngineIdentity, Opportunity, TrialDefinition};

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

/// Returns the names under which a duel shows its arms while it runs, in an order that does not tell them: real name and shown name.
pub fn blind_names(definition: &TrialDefinition) -> Vec<(String, String)> {
    let mut names: Vec<&str> = definition.arms.iter().map(|arm| arm.name.as_str()).collect();
    names.sort_by(|one, other| {
        let place = |name: &str| fraction(definition, DecisionKind::Order, &["name", name]);
        place(one).total_cmp(&place(other))
    });
    let blind = |(number, name): (usize, &str)| (name.to_owned(), format!("engine {}", number + 1));
    names.into_iter().enumerate().map(blind).collect()
}

/// Replaces the names of a row's arms, and removes what else tells their engines; `names` are real names and those to show.
pub fn rename_arms(row: &mut Opportunity, names: &[(String, String)]) {
    let rename = |name: &mut String| {
        if let Some((_, shown)) = names.iter().find(|(known, _)| known == name) {
            name.clone_from(shown);
        }
    };
    for answer in &mut row.answers {
        rename(&mut answer.arm);
        answer.engine = EngineIdentity {
            name: answer.arm.clone(),
            kind: String::new(),
            model: String::new(),
            fingerprint: String::new(),
        };
        answer.reason = None;
    }
    row.decisions.iter_mut().for_each(|decision| rename(&mut decision.value));
    row.outcome.arm.iter_mut().for_each(rename);
    let spans = row.truths.iter_mut().flat_map(|truth| &mut truth.provenance);
    spans.filter_map(|span| span.arm.as_mut()).for_each(rename);
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
    use cases::{AssignmentUnit, TrialArm, TrialMode};

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
        let names = blind_names(&definition);
        assert!(names.iter().all(|(name, blind)| name.starts_with("arm") && blind.starts_with("engine ")));
    }

    #[test]
    fn nothing_is_drawn_without_a_holdout_or_without_weights() {
        assert_eq!(holdout(&definition(&[1.0], 0.0), &["a"]), None);
        assert_eq!(holdout(&definition(&[1.0], f64::NAN), &["a"]), None);
        assert_eq!(assigned_arm(&definition(&[], 0.0), &["a"]), None);
        assert_eq!(assigned_arm(&definition(&[f64::NAN, -1.0, 0.0], 0.0), &["a"]), None);
    }
}
