//! Claims about made-up arms.

use scoring::trial_scoreboard::TrialClaim;

use crate::simulated_trial::{SimulatedArm, SimulatedTrial, first_claim, scoreboard};

const TWICE: [SimulatedArm; 2] = [
    SimulatedArm { name: "a", accuracy: 0.4, silence: 0.0 },
    SimulatedArm { name: "b", accuracy: 0.4, silence: 0.0 },
];

/// 5 % of 60 are 3; 9 are more than three standard deviations above.
#[test]
fn an_arm_is_rarely_told_apart_from_itself_at_any_peek() {
    let trials = [
        SimulatedTrial { files: 200, file_effect: 0.0, holdout: 1.0, opportunities: 600 },
        SimulatedTrial { files: 8, file_effect: 0.2, holdout: 1.0, opportunities: 600 },
        SimulatedTrial { files: 40, file_effect: 0.2, holdout: 0.3, opportunities: 600 },
    ];
    for trial in trials {
        let claims = (0..60).filter(|&seed| first_claim(&trial, &TWICE, seed).is_some()).count();
        assert!(claims <= 9, "{claims} of 60: {trial:?}");
    }
}

/// The power line is read in the middle of the trial.
#[test]
fn a_difference_is_found_with_the_promised_number_of_opportunities() {
    let arms = [SimulatedArm::new("a", 0.4), SimulatedArm::new("b", 0.55)];
    let trial = SimulatedTrial { files: 100, file_effect: 0.1, holdout: 1.0, opportunities: 1_500 };
    let half = SimulatedTrial { opportunities: 400, ..trial };
    let mut promises: Vec<usize> = (0..40)
        .filter_map(|seed| scoreboard(half.rows(&arms, 1_000 + seed)).pairs[0].sample_size?.needed)
        .collect();
    promises.sort_unstable();
    let mut found: Vec<usize> =
        (0..60).map(|seed| first_claim(&trial, &arms, seed).unwrap_or(usize::MAX)).collect();
    found.sort_unstable();
    // N* is the number until which four of five trials find the difference.
    let (promised, found) = (promises[promises.len() / 2] as f64, found[found.len() * 4 / 5] as f64);
    assert!((0.7..=1.3).contains(&(found / promised)), "found by {found}, promised {promised}");
}

#[test]
fn a_clear_winner_is_named_and_a_clear_equality_too() {
    let trial = SimulatedTrial { files: 60, file_effect: 0.0, holdout: 1.0, opportunities: 800 };
    let board = scoreboard(trial.rows(&[SimulatedArm::new("a", 0.3), SimulatedArm::new("b", 0.6)], 1));
    assert_eq!(
        (board.winner.map(|arm| &*board.arms[arm]), board.pairs[0].claim),
        (Some("b"), TrialClaim::Better)
    );
    let same = SimulatedTrial { opportunities: 4_000, ..trial };
    let mut rows: Vec<_> = same.rows(&TWICE, 1).collect();
    for row in &mut rows {
        row.answers[1].text = row.answers[0].text.clone();
    }
    let board = scoreboard(rows);
    assert_eq!(board.winner, None);
    assert_eq!(board.pairs[0].better + board.pairs[0].worse, 0);
}

/// The shown arm is silent at hard questions, whose truths are therefore always unexposed. Counting them like the others would make the
/// other arm look worse at what it answers, and the shown one better restrained.
#[test]
fn weights_undo_the_selection_of_unexposed_truths() {
    let shown = SimulatedArm { silence: 0.5, ..SimulatedArm::new("shown", 0.5) };
    let shadow = SimulatedArm::new("shadow", 0.5);
    let trial = SimulatedTrial { files: 500, file_effect: 0.0, holdout: 0.1, opportunities: 20_000 };
    let board = scoreboard(trial.rows(&[shown, shadow], 3));
    let headline = board.headline().expect("unexposed truths");
    let of_arm = |arm: usize| {
        headline.scenarios[0].arms[arm].metrics[&scoring::trial_scoreboard::TrialMetric::ExactMatch]
    };
    let mean = of_arm(1).mean().expect("answers");
    assert!((mean - 0.5).abs() < 0.03, "the shadow arm is right in {mean}, not in half");
    let unweighted: f64 = of_arm(1).cases as f64;
    assert!(unweighted < 13_000.0, "half of the rest is a holdout in one of ten: {unweighted}");
}
