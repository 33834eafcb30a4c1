//! Gates on made-up runs.

use cases::{Metric, Status};
use scoring::ComparedRuns;
use scoring::gate::{
    Condition, GateCheck, GateScope, MAX_CHANGES, changes, check_conditions, check_non_inferiority,
};
use scoring::verdict::VerdictSettings;

use crate::mock_runs::{MockEngine, MockRun, MockSuite, mock_run};

const SUITE: MockSuite =
    MockSuite { files: 40, cases_per_file: 5.0, is_even: true, file: 0.1, engine_in_file: 0.1, case: 0.3 };

fn runs() -> MockRun {
    mock_run(&[MockEngine::new("good", 0.8), MockEngine::new("weak one", 0.3)], &SUITE, 5)
}

fn scope<'a>(runs: &'a ComparedRuns<'a>) -> GateScope<'a> {
    let names = runs.contestants().iter().map(|engine| engine.engine.name.clone()).collect();
    GateScope { runs, section: runs.sections()[0].0, names, engines: vec![0, 1] }
}

/// Returns for each engine whether it passes.
fn passed(run: &MockRun, condition: &str, deadline: Option<f64>) -> Vec<bool> {
    let runs = ComparedRuns::new(&[run.rows()]);
    let condition: Condition = condition.parse().expect("a condition");
    let checks = check_conditions(&scope(&runs), &[condition], deadline).expect("known engines");
    checks.iter().map(|check| check.has_passed).collect()
}

#[test]
fn conditions_fail_the_engines_for_which_they_hold() {
    let run = runs();
    assert_eq!(passed(&run, "exact_match < 50%", None), [true, false]);
    assert_eq!(passed(&run, "exact_match >= 50%", None), [false, true]);
    assert_eq!(passed(&run, "not exact_match >= 50%", None), [true, false]);
    assert_eq!(passed(&run, "failed > 0 or cases < 200", None), [true, true]);
    assert_eq!(passed(&run, "exact_match < 50% and p50 < 10s", None), [true, false]);
    assert_eq!(passed(&run, "exact_match < 50%", Some(0.001)), [false, false], "every answer is late");
}

#[test]
fn conditions_on_named_engines_are_checked_once() {
    let run = runs();
    assert_eq!(passed(&run, "exact_match[engine=\"weak one\"] < 50%", None), [false]);
    assert_eq!(passed(&run, "exact_match[engine=good] < 50%", None), [true]);
    assert_eq!(passed(&run, "exact_match[engine=good] < 50% or exact_match < 50%", None), [true, false]);
    let runs = ComparedRuns::new(&[run.rows()]);
    let other: Condition = "exact_match[engine=other] < 1".parse().expect("a condition");
    let error = check_conditions(&scope(&runs), &[other], None).expect_err("no such engine").to_string();
    assert!(error.contains("names the engine `other`; the engines are good, weak one"), "{error}");
}

#[test]
fn conditions_without_cases_fail_unless_the_rest_decides() {
    let run = runs();
    assert_eq!(passed(&run, "exact_match[scenario=rag] < 1%", None), [false, false]);
    assert_eq!(passed(&run, "not exact_match[scenario=rag] < 1%", None), [false, false]);
    assert_eq!(passed(&run, "exact_match[scenario=rag] < 1% and cases < 5", None), [true, true]);
    assert_eq!(passed(&run, "cost > 5", None), [false, false], "no cost is known");
}

fn non_inferior(run: &MockRun, margin: f64) -> Vec<GateCheck> {
    let runs = ComparedRuns::new(&[run.rows()]);
    let settings = VerdictSettings { margin: Some(margin), ..VerdictSettings::new(1) };
    check_non_inferiority(&scope(&runs), "rule", &[(0, 1), (1, 0)], &settings).expect("exact match")
}

#[test]
fn only_a_proof_passes_the_gate_of_non_inferiority() {
    let checks = non_inferior(&runs(), 0.02);
    assert_eq!(checks.iter().map(|check| check.has_passed).collect::<Vec<_>>(), [true, false]);
    let mut few = runs();
    few.cases.truncate(5);
    few.predictions.retain(|row| few.cases.iter().any(|case| case.id == row.case));
    let checks = non_inferior(&few, 0.5);
    assert!(checks.iter().all(|check| !check.has_passed), "too few cases prove nothing: {checks:?}");
}

#[test]
fn changes_are_listed_from_the_worst_on_and_bounded() {
    let run = runs();
    let compared = ComparedRuns::new(&[run.rows()]);
    let listed = changes(&scope(&compared), &[(1, 0)], &VerdictSettings::new(1));
    let [changes] = listed.as_slice() else { panic!("{listed:?}") };
    assert!(changes.worse > MAX_CHANGES && changes.better < changes.worse, "{changes:?}");
    assert_eq!(changes.cases.len(), MAX_CHANGES + changes.better.min(MAX_CHANGES));
    let (worse, better) = changes.cases.split_at(MAX_CHANGES);
    assert!(worse.iter().all(|case| (case.before, case.after) == (1.0, 0.0)));
    assert!(better.iter().all(|case| (case.before, case.after) == (0.0, 1.0)));
}

#[test]
fn failures_without_a_row_of_scores_are_wrong_answers() {
    let mut run = runs();
    for row in run.predictions.iter_mut().filter(|row| row.engine.name == "good") {
        row.status = Status::Error;
    }
    run.scores.retain(|score| score.engine != "good");
    assert_eq!(passed(&run, "exact_match > 0", None), [true, false]);
    assert_eq!(passed(&run, "cases < 200", None), [true, true]);
    let metric = Metric::ExactMatch;
    let compared = ComparedRuns::new(&[run.rows()]);
    let values = compared.case_values(compared.sections()[0].0, metric, None);
    assert!(values.values().all(|of_case| of_case[0] == Some(0.0)));
}
