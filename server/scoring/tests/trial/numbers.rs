//! Single numbers of scoreboards, and rows that must not count.

use cases::{
    AcceptedPart, ArmRole, Decision, DecisionKind, Exposure, Metric, MetricValue, OutcomeKind, PrivacyLevel,
    Provenance, ProvenanceSpan, Status, Survival, SurvivalAge, SurvivalKind, TrialMode, Trigger,
};
use scoring::trial_scoreboard::{TrialClaim, TrialMetric};
use scoring::{TrialLog, TrialSettings};

use crate::simulated_trial::{SimulatedArm, SimulatedTrial, answer, opportunity, scoreboard};

fn arms() -> [SimulatedArm; 2] {
    [SimulatedArm::new("a", 0.3), SimulatedArm::new("b", 0.7)]
}

fn trial(opportunities: usize) -> SimulatedTrial {
    SimulatedTrial { files: 50, file_effect: 0.0, holdout: 1.0, opportunities }
}

#[test]
fn the_last_row_of_an_id_counts() {
    let mut log = TrialLog::new();
    let mut row = opportunity(1, 1, "one()".to_owned());
    row.answers = vec![answer("a", ArmRole::Shadow, "two()".to_owned())];
    log.add(&row);
    row.truths[0].text = "two()".to_owned();
    log.add(&row);
    assert_eq!(log.len(), 1);
    let board = log.scoreboard(&TrialSettings::default());
    let numbers = &board.headline().expect("a truth").scenarios[0].arms[0];
    assert_eq!(numbers.metrics[&TrialMetric::ExactMatch].num, 1.0);
    assert_eq!(numbers.metrics[&TrialMetric::ExactMatch].value, None, "one opportunity has no ratio");
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let rows: Vec<_> = trial(300).rows(&arms(), 5).collect();
    let backwards = scoreboard(rows.iter().rev().cloned());
    let forwards = scoreboard(rows);
    assert_eq!(forwards.pairs[0].over_time, backwards.pairs[0].over_time);
    assert_eq!(forwards.pairs[0].claim, TrialClaim::Better);
}

#[test]
fn logs_in_parts_count_as_one() {
    let mut rows: Vec<_> = trial(120).rows(&arms(), 5).collect();
    // Later parts use other arms, developers and texts first, and repeat a row.
    for row in &mut rows[60..] {
        row.answers.reverse();
        row.developer = "other".to_owned();
        row.outcome.arm = Some("b".to_owned());
        row.decisions.push(Decision {
            kind: DecisionKind::Assignment,
            value: "b".to_owned(),
            probability: 0.5,
        });
    }
    rows.push(rows[3].clone());
    let mut log = TrialLog::new();
    for part in rows.chunks(7) {
        let mut of_part = TrialLog::new();
        part.iter().for_each(|row| of_part.add(row));
        log.append(of_part);
    }
    assert_eq!(log.len(), 120);
    assert_eq!(log.scoreboard(&TrialSettings::default()), scoreboard(rows));
}

#[test]
fn exposed_truths_are_apart_and_prove_nothing_without_a_holdout() {
    let mut rows: Vec<_> = trial(600).rows(&arms(), 5).collect();
    for row in &mut rows {
        row.decisions.clear();
    }
    assert_eq!(scoreboard(rows.clone()).pairs[0].claim, TrialClaim::Better, "nothing was ever shown");
    rows[0].exposure = Exposure::Shown;
    let board = scoreboard(rows);
    assert_eq!(board.pairs[0].claim, TrialClaim::NotRepresentative);
    assert_eq!((board.winner, board.health.uncovered), (None, 1));
    let sizes: Vec<_> = board.sections.iter().map(|section| (section.exposure, section.truths)).collect();
    assert_eq!(sizes, [(Exposure::None, 599), (Exposure::Shown, 1)]);
}

#[test]
fn rows_without_texts_and_texts_of_programs_are_never_compared() {
    let mut numbers_only = opportunity(1, 1, String::new());
    numbers_only.privacy = PrivacyLevel::Metrics;
    let mut by_agent = opportunity(2, 1, "one()".to_owned());
    by_agent.truths[0].provenance =
        vec![ProvenanceSpan { range: 0..5, provenance: Provenance::External, arm: None }];
    let mut unknown = opportunity(3, 1, "one()".to_owned());
    unknown.cursor.language = "klingon".to_owned();
    let mut wanted = opportunity(4, 1, "one()".to_owned());
    wanted.trigger = Trigger::ShouldHaveSuggested;
    let rows = [numbers_only, by_agent, unknown, wanted].map(|mut row| {
        row.answers = vec![answer("a", ArmRole::Shadow, row.truths[0].text.clone())];
        row
    });
    let board = scoreboard(rows);
    assert!(board.sections.is_empty(), "{:?}", board.sections);
    let left_out = board.health.left_out;
    assert_eq!((left_out.other_author, left_out.unreadable, left_out.pointed_at), (1, 2, 1));
}

#[test]
fn rows_without_texts_count_by_their_metrics() {
    let mut row = opportunity(1, 1, String::new());
    row.privacy = PrivacyLevel::Metrics;
    row.answers = vec![answer("a", ArmRole::Shadow, String::new())];
    row.answers[0].status = Status::Ok;
    let values = [(Metric::ExactMatch, 1.0), (Metric::EditSimilarity, 1.0)];
    row.answers[0].metrics = values.map(|(metric, value)| (metric, MetricValue::Value(value))).into();
    let board = scoreboard([row]);
    let numbers = &board.headline().expect("a truth").scenarios[0].arms[0];
    assert_eq!((numbers.metrics[&TrialMetric::ExactMatch].num, numbers.answered), (1.0, 1));
    assert!(!numbers.metrics.contains_key(&TrialMetric::Restraint));
}

#[test]
fn failures_are_wrong_and_cancelled_requests_are_unknown_but_late() {
    let mut rows = Vec::new();
    for (number, status) in
        [Status::Ok, Status::Error, Status::Timeout, Status::Cancelled].into_iter().enumerate()
    {
        let mut row = opportunity(number, number, "one()".to_owned());
        row.answers = vec![answer("a", ArmRole::Shadow, "one()".to_owned())];
        row.answers[0].status = status;
        rows.push(row);
    }
    // An answer after the next key.
    let mut late = opportunity(9, 9, "one()".to_owned());
    late.answers = vec![answer("a", ArmRole::Shadow, "one()".to_owned())];
    late.answers[0].ms.total = 400.0;
    rows.push(late);
    let board = scoreboard(rows);
    let numbers = &board.headline().expect("truths").scenarios[0].arms[0];
    let counts = |metric: TrialMetric| (numbers.metrics[&metric].num, numbers.metrics[&metric].cases);
    assert_eq!(counts(TrialMetric::ExactMatch), (2.0, 4));
    assert_eq!(counts(TrialMetric::ExactInTime), (1.0, 5));
    assert_eq!((numbers.answered, numbers.failed, numbers.cancelled), (2, 2, 1));
    let latency = board.outcomes[0].latency.expect("latencies");
    assert_eq!((latency.count, latency.timeouts, latency.p99), (3, 1, f64::INFINITY));
}

#[test]
fn restraint_counts_empty_truths_only() {
    let mut rows = Vec::new();
    for (number, text) in ["", "one()"].into_iter().enumerate() {
        let mut row = opportunity(number, number, String::new());
        row.answers = vec![answer("a", ArmRole::Shadow, text.to_owned())];
        rows.push(row);
    }
    let board = scoreboard(rows);
    let numbers = &board.headline().expect("truths").scenarios[0].arms[0];
    assert_eq!(numbers.metrics[&TrialMetric::Restraint].num, 1.0);
    assert!(!numbers.metrics.contains_key(&TrialMetric::ExactMatch));
    assert_eq!(numbers.metrics[&TrialMetric::TruthValue].num, -0.25);
}

#[test]
fn outcomes_have_denominators_and_the_best_threshold_withholds_what_is_rejected() {
    let outcomes = [
        (OutcomeKind::Accepted, 0.9),
        (OutcomeKind::Accepted, 0.8),
        (OutcomeKind::Rejected, 0.3),
        (OutcomeKind::Ignored, 0.2),
        (OutcomeKind::Replaced, 0.5),
        (OutcomeKind::Shown, 0.5),
    ];
    let rows = outcomes.into_iter().enumerate().map(|(number, (kind, confidence))| {
        let mut row = opportunity(number, number, "one()".to_owned());
        row.answers = vec![answer("a", ArmRole::Shown, "one()".to_owned())];
        row.answers[0].confidence = Some(confidence);
        row.exposure = Exposure::Shown;
        row.outcome.kind = kind;
        row.outcome.shown_at = Some(100.0);
        if kind == OutcomeKind::Accepted {
            row.outcome.parts = vec![if number == 0 { AcceptedPart::Full } else { AcceptedPart::Word }];
            row.outcome.accepted_chars = 5;
            row.outcome.survival =
                vec![Survival { age: SurvivalAge::Seconds30, kind: SurvivalKind::Edited, retained_chars: 3 }];
        }
        row
    });
    let board = scoreboard(rows);
    let of_arm = &board.outcomes[0];
    let offered = of_arm.offered;
    assert_eq!((offered.accepted, offered.partly_accepted, offered.decided), (1, 1, 4));
    assert_eq!((offered.acceptance, offered.shown, offered.undecided), (Some(0.5), 6, 1));
    let retained = of_arm.retained.expect("decided opportunities");
    assert_eq!((retained.num, retained.cases), (6.0, 5));
    assert_eq!((of_arm.survival[0].retained_chars, of_arm.survival[0].accepted_chars), (6, 10));
    let value = of_arm.observed_value.expect("a value");
    assert!((value.value - 0.2).abs() < 1e-12, "{value:?}");
    let best = value.best.expect("confidences");
    assert_eq!((best.confidence, best.remaining), (0.5, 3));
    assert!((best.value - 0.3).abs() < 1e-12, "{best:?}");
}

#[test]
fn arms_that_take_turns_are_compared_by_their_means() {
    let rows = (0..800).map(|number: usize| {
        let mut row = opportunity(number, number % 80, "one()".to_owned());
        row.mode = TrialMode::Assign;
        let arm = if (number % 80).is_multiple_of(2) { "a" } else { "b" };
        let kind = if arm == "b" && !number.is_multiple_of(3) {
            OutcomeKind::Accepted
        } else {
            OutcomeKind::Rejected
        };
        row.answers = vec![answer(arm, ArmRole::Shown, "one()".to_owned())];
        row.exposure = Exposure::Shown;
        row.outcome.kind = kind;
        let decision = |kind, value: &str| Decision { kind, value: value.to_owned(), probability: 0.5 };
        row.decisions = vec![decision(DecisionKind::Assignment, arm)];
        row
    });
    let mut log = TrialLog::new();
    rows.for_each(|row| log.add(&row));
    let settings = TrialSettings { metric: TrialMetric::ObservedValue, ..TrialSettings::default() };
    let board = log.scoreboard(&settings);
    let pair = &board.pairs[0];
    assert!(!pair.is_paired);
    assert_eq!(pair.claim, if board.arms[0] == "a" { TrialClaim::Better } else { TrialClaim::Worse });
    assert!(
        board.health.shares.iter().all(|check| check.units == 80 && !check.is_suspicious),
        "{:?}",
        board.health
    );
}

#[test]
fn a_sample_ratio_mismatch_is_found() {
    let (surroundings, arms) = (trial(400), arms());
    let rows = surroundings.rows(&arms, 7).enumerate().map(|(number, mut row)| {
        let value = if number % 4 == 0 { "b" } else { "a" };
        row.decisions.push(Decision { kind: DecisionKind::Order, value: value.to_owned(), probability: 0.5 });
        row
    });
    let board = scoreboard(rows);
    let checks: Vec<_> =
        board.health.shares.iter().filter(|check| check.kind == DecisionKind::Order).collect();
    assert_eq!(checks.len(), 2);
    assert!(checks.iter().all(|check| check.is_suspicious && check.expected == 200.0), "{checks:?}");
    assert!(board.health.has_problems());
}

#[test]
fn hostile_numbers_and_names_are_no_panic() {
    let mut rows: Vec<_> = trial(60).rows(&arms(), 7).collect();
    for (number, row) in rows.iter_mut().enumerate() {
        row.opened_at = "é".repeat(40);
        row.answers[0].ms.total = [f64::NAN, f64::INFINITY, -1.0, f64::MAX][number % 4];
        row.answers[1].confidence = Some([f64::NAN, 2.0, -1.0, 0.5][number % 4]);
        row.decisions[0].probability = [f64::NAN, 0.0, 2.0, f64::MIN_POSITIVE][number % 4];
        row.answers.extend(
            (0..100).map(|arm| answer(&format!("arm {number} {arm}"), ArmRole::Shadow, "x".to_owned())),
        );
    }
    let board = scoreboard(rows);
    assert!(board.arms.len() <= 32);
    assert_eq!(scoreboard([]).pairs, []);
}

#[test]
fn a_recommendation_names_the_slices_in_which_the_other_arm_is_better() {
    // In Go, `a` is better by far; in Rust, `b`.
    let of_language = |language: &'static str, accuracies: [f64; 2], seed: u64| {
        let arms = [SimulatedArm::new("a", accuracies[0]), SimulatedArm::new("b", accuracies[1])];
        let surroundings = trial(600);
        let rows: Vec<_> = surroundings.rows(&arms, seed).collect();
        rows.into_iter().map(move |mut row| {
            row.cursor.language = language.to_owned();
            row.cursor.path = format!("{language}/{}", row.cursor.path);
            row.id = format!("{language}{}", row.id);
            row
        })
    };
    let board = scoreboard(of_language("go", [0.7, 0.3], 1).chain(of_language("rust", [0.3, 0.7], 2)));
    let (first, other) = if board.arms[0] == "a" { (0, 1) } else { (1, 0) };
    let found = board.recommendation.as_ref().expect("a recommendation");
    assert_eq!(found.elsewhere, 0);
    assert_eq!(found.exceptions.len(), 1);
    let (slice, arm) = found.exceptions[0];
    assert_eq!(board.slices[slice].language, if first == 0 { "rust" } else { "go" });
    assert_eq!(arm, if board.arms[0] == "a" { other } else { 1 });
    assert!(
        found.sequence.low > 0.0 && found.sequence.low <= found.gain && found.gain <= found.sequence.high
    );
}
