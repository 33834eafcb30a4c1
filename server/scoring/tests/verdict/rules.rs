//! Rules of verdicts: pairing across runs, failures, deadlines, copies, margins, bad questions.

use cases::{CaseCopies, Metric, MetricValue, NO_COPIES_SUFFIX, Recorded, Status};
use expect_test::expect;
use scoring::verdict::{Claim, TestMethod, VerdictError, VerdictSettings, verdict};
use scoring::{ComparedRuns, Verdict};
use serde_json::Value;

use crate::mock_runs::{MockEngine, MockRun, mock_run};
use crate::simulation::{seven_engines, suite};

const SETTINGS: VerdictSettings =
    VerdictSettings { metric: Metric::ExactMatch, deadline: None, margin: None, baseline: None, seed: 1 };

fn verdict_on(runs: &[&MockRun], settings: VerdictSettings) -> Verdict {
    let rows: Vec<_> = runs.iter().map(|run| run.rows()).collect();
    let runs = ComparedRuns::new(&rows);
    let (section, _) = runs.sections()[0];
    verdict(&runs, section, &settings).expect("a verdict")
}

fn two_engines(files: usize) -> MockRun {
    mock_run(&[MockEngine::new("low", 0.2), MockEngine::new("high", 0.7)], &suite(files, 4.0, 0.05), 5)
}

/// Returns the part of a run with one of its engines.
fn only(run: &MockRun, engine: &str) -> MockRun {
    let mut run = MockRun {
        run: run.run.clone(),
        cases: run.cases.clone(),
        predictions: run.predictions.clone(),
        scores: run.scores.clone(),
    };
    run.run.engines.retain(|config| config.engine.name == engine);
    run.predictions.retain(|row| row.engine.name == engine);
    run.scores.retain(|row| row.engine == engine);
    run
}

#[test]
fn engines_of_two_runs_are_compared_as_those_of_one() {
    let both = two_engines(30);
    let apart = verdict_on(&[&only(&both, "low"), &only(&both, "high")], SETTINGS);
    assert_eq!(apart, verdict_on(&[&both], SETTINGS));
    assert_eq!(apart.groups, [[1], [0]]);
}

#[test]
fn only_shared_cases_are_compared() {
    let mut high = only(&two_engines(30), "high");
    let low = only(&two_engines(30), "low");
    high.cases.truncate(50);
    let verdict = verdict_on(&[&low, &high], SETTINGS);
    assert_eq!((verdict.cases, verdict.pairs[0].cases), (50, 50));
    assert_eq!(verdict.standings.iter().map(|standing| standing.quality.cases).collect::<Vec<_>>(), [50, 50]);
    high.cases.truncate(9);
    let verdict = verdict_on(&[&low, &high], SETTINGS);
    assert_eq!((verdict.pairs[0].claim, verdict.pairs[0].test), (Claim::TooFewCases, None));
    assert!(!verdict.is_on_shared_cases);
}

#[test]
fn shared_cases_without_code_are_counted() {
    let mut run = two_engines(30);
    assert_eq!(verdict_on(&[&run], SETTINGS).without_code, 0);
    run.cases[..7].iter_mut().for_each(|case| case.truth.clear());
    run.predictions.retain(|row| row.case != run.cases[0].id || row.engine.name == "low");
    assert_eq!(verdict_on(&[&run], SETTINGS).without_code, 6, "one of them has one answer");
}

#[test]
fn the_order_of_rows_and_runs_does_not_matter() {
    let run = two_engines(40);
    let mut shuffled = only(&run, "low");
    shuffled.predictions.reverse();
    shuffled.scores.reverse();
    shuffled.cases.reverse();
    let high = only(&run, "high");
    let forth = verdict_on(&[&only(&run, "low"), &high], SETTINGS);
    assert_eq!(verdict_on(&[&shuffled, &high], SETTINGS), forth);
    let back = verdict_on(&[&high, &shuffled], SETTINGS);
    assert_eq!(back.pairs[0].test, forth.pairs[0].test);
    assert_eq!(back.pairs[0].difference, forth.pairs[0].difference);
}

#[test]
fn failures_count_in_every_metric() {
    let engines =
        [MockEngine::new("steady", 0.5), MockEngine { faults: 0.6, ..MockEngine::new("flaky", 0.9) }];
    let mut run = mock_run(&engines, &suite(60, 5.0, 0.0), 3);
    // A metric of complete answers: the flaky engine is perfect whenever it answers.
    for (score, prediction) in run.scores.iter_mut().zip(&run.predictions) {
        if !prediction.has_failed() {
            let share = if score.engine == "flaky" { 1.0 } else { 0.8 };
            score.metrics.insert(Metric::Stopping, MetricValue::Value(share));
        }
    }
    for metric in [Metric::ExactMatch, Metric::EditSimilarity, Metric::Stopping, Metric::Failed] {
        let verdict = verdict_on(&[&run], VerdictSettings { metric, ..SETTINGS });
        assert_eq!(verdict.groups, [[0], [1]], "{metric}: {:?}", verdict.pairs);
        assert_eq!(verdict.standings[1].quality.cases, run.cases.len());
    }
    let failed = run.predictions.iter().filter(|row| row.status == Status::Timeout).count();
    assert_eq!(verdict_on(&[&run], SETTINGS).standings[1].failed, failed);
}

#[test]
fn lower_values_of_a_metric_can_be_better() {
    let engines = [MockEngine { faults: 0.4, ..MockEngine::new("a", 0.5) }, MockEngine::new("b", 0.5)];
    let run = mock_run(&engines, &suite(40, 5.0, 0.0), 3);
    let verdict =
        verdict_on(&[&run], VerdictSettings { metric: Metric::Failed, margin: Some(0.05), ..SETTINGS });
    let pair = &verdict.pairs[0];
    assert_eq!((pair.engine, pair.claim, pair.difference.worse), (1, Claim::Better, 0));
    assert!(pair.difference.value < Some(-0.3) && pair.difference.better > 50, "{pair:?}");
    let margin = pair.margin.expect("a margin");
    assert!(margin.is_not_inferior && !margin.is_equivalent, "{margin:?}");
}

#[test]
fn late_answers_count_as_failures_before_the_deadline_only() {
    let engines = [
        MockEngine { latency: 2_000.0, ..MockEngine::new("slow", 0.9) },
        MockEngine { latency: 50.0, ..MockEngine::new("fast", 0.4) },
    ];
    let mut run = mock_run(&engines, &suite(60, 4.0, 0.0), 9);
    let at = |run: &MockRun, deadline| verdict_on(&[run], VerdictSettings { deadline, ..SETTINGS });
    assert_eq!(at(&run, None).groups, [[0], [1]]);
    assert_eq!(at(&run, Some(500.0)).groups, [[1], [0]]);
    let within: Vec<_> =
        at(&run, Some(500.0)).standings[0].exact_within.iter().map(|quality| quality.deadline).collect();
    assert_eq!(within, [Some(300.0), Some(500.0), Some(1_000.0), None]);
    assert!(at(&run, None).standings.iter().all(|standing| standing.is_on_front));
    // Without recorded times, nothing is known about the deadline.
    for prediction in run.predictions.iter_mut().filter(|row| row.engine.name == "slow") {
        prediction.recorded = Some(Recorded::Untimed);
    }
    assert_eq!(at(&run, Some(500.0)).groups, [[1]]);
    assert_eq!(at(&run, None).groups, [[0], [1]]);
}

#[test]
fn an_engine_without_copies_is_compared_with_itself_only() {
    let names = ["a", "a no-copies", "b"];
    let mut run = mock_run(
        &names.map(|name| MockEngine::new(name, if name == "a" { 0.8 } else { 0.5 })),
        &suite(40, 4.0, 0.0),
        2,
    );
    assert!(names[1].ends_with(NO_COPIES_SUFFIX));
    run.run.engines[1].settings.insert("hide_near_duplicates".into(), "true".into());
    run.run.copies =
        run.cases[..60].iter().map(|case| CaseCopies { case: case.id.clone(), files: Vec::new() }).collect();
    let verdict = verdict_on(&[&run], SETTINGS);
    let pairs: Vec<_> = verdict.pairs.iter().map(|pair| (pair.engine, pair.baseline)).collect();
    let copies: Vec<_> = verdict.copies.iter().map(|pair| (pair.engine, pair.baseline)).collect();
    assert_eq!((pairs, copies), (vec![(0, 2)], vec![(0, 1)]));
    assert_eq!(verdict.groups, [[0], [2]]);
    assert_eq!(verdict.copies[0].test.map(|test| test.pairs), Some(1));
}

#[test]
fn an_engine_that_selected_the_cases_has_no_rank() {
    let mut run = two_engines(30);
    for case in &mut run.cases {
        case.tags.insert("judge".into(), "low".into());
    }
    let verdict = verdict_on(&[&run], SETTINGS);
    assert_eq!((verdict.groups, verdict.unranked), (vec![vec![1]], vec![0]));
}

#[test]
fn a_baseline_limits_the_pairs_and_their_correction() {
    let run = mock_run(&seven_engines(), &suite(60, 5.0, 0.05), 4);
    let all = verdict_on(&[&run], SETTINGS);
    let some = verdict_on(&[&run], VerdictSettings { baseline: Some(2), margin: Some(0.02), ..SETTINGS });
    assert_eq!((all.pairs.len(), some.pairs.len()), (21, 6));
    assert!(some.pairs.iter().all(|pair| pair.baseline == 2 && pair.margin.is_some()));
    assert_eq!(all.neighbours().count(), 6);
}

#[test]
fn equivalence_needs_many_cases() {
    let engines = [MockEngine::new("a", 0.5), MockEngine::new("b", 0.5)];
    let margin = |files| {
        let run = mock_run(&engines, &suite(files, 5.0, 0.0), 6);
        verdict_on(&[&run], VerdictSettings { margin: Some(0.05), ..SETTINGS }).pairs[0].margin
    };
    assert!(margin(600).is_some_and(|it| it.is_equivalent && it.is_not_inferior), "{:?}", margin(600));
    assert!(margin(12).is_some_and(|it| !it.is_equivalent), "{:?}", margin(12));
}

#[test]
fn too_few_files_claim_nothing() {
    let engines = [MockEngine::new("a", 0.01), MockEngine::new("b", 0.99)];
    let run = mock_run(&engines, &suite(5, 40.0, 0.0), 1);
    let pair = verdict_on(&[&run], SETTINGS).pairs.remove(0);
    assert_eq!((pair.claim, pair.files, pair.files_needed), (Claim::TooFewFiles, 5, 6));
    let test = pair.test.expect("a test");
    assert_eq!((test.method, test.p), (TestMethod::SignFlip { resamples: None }, 1.0 / 16.0));
}

#[test]
fn bad_questions_are_refused() {
    let run = two_engines(10);
    let rows = [run.rows()];
    let runs = ComparedRuns::new(&rows);
    let (section, cases) = runs.sections()[0];
    assert_eq!(cases, run.cases.len());
    let of = |settings| verdict(&runs, section, &settings).map(|_| ());
    let metric = |metric| of(VerdictSettings { metric, ..SETTINGS });
    assert_eq!(metric(Metric::Silent), Err(VerdictError::NoDirection(Metric::Silent)));
    assert_eq!(metric(Metric::Copy), Err(VerdictError::NotOfEngines(Metric::Copy)));
    let missing = of(VerdictSettings { baseline: Some(2), ..SETTINGS });
    assert_eq!(missing, Err(VerdictError::NoBaseline(2)));
    assert_eq!(metric(Metric::Parses), Ok(()));
}

#[test]
fn runs_without_answers_have_no_verdict() {
    assert_eq!(ComparedRuns::new(&[]).sections(), []);
    let mut run = two_engines(10);
    run.predictions.clear();
    assert_eq!(ComparedRuns::new(&[run.rows()]).sections(), []);
    run.cases.clear();
    assert_eq!(ComparedRuns::new(&[run.rows()]).contestants().len(), 2);
}

/// Shows the fields of a pair as other programs read them; numbers are rounded, because their last digits differ by machine.
#[test]
fn a_pair_as_json() {
    let verdict = verdict_on(&[&two_engines(12)], VerdictSettings { margin: Some(0.01), ..SETTINGS });
    let json = serde_json::to_value(&verdict.pairs[0]).expect("JSON");
    let shown = serde_json::to_string_pretty(&rounded(json)).expect("JSON");
    expect![[r#"
        {
          "baseline": 0,
          "better": 42,
          "cases": 71,
          "claim": "better",
          "engine": 1,
          "files": 12,
          "files_needed": 6,
          "interval": {
            "high": 0.679581,
            "low": 0.362672,
            "method": "student_t"
          },
          "margin": {
            "is_equivalent": false,
            "is_not_inferior": true,
            "margin": 0.01,
            "p_equivalent": 0.999837,
            "p_not_inferior": 0.000134
          },
          "other_tree": 0,
          "sample_size": {
            "detectable": 0.21141,
            "more_cases": 0,
            "needed": 9,
            "power": 1.0,
            "resolution": 7.888889
          },
          "test": {
            "corrected_p": 0.001953,
            "method": "sign_flip_exact",
            "p": 0.001953,
            "pairs": 1
          },
          "ties": 24,
          "value": 0.521127,
          "worse": 5
        }"#]]
    .assert_eq(&shown);
}

fn rounded(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            Value::from((number.as_f64().unwrap_or_default() * 1e6).round() / 1e6)
        }
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, rounded(value))).collect(),
        other => other,
    }
}
