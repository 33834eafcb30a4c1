//! Six real models' recorded answers to 67 cases of CrossCodeEval.
//!
//! `GHOSTBENCH_GOLDEN` names the folder with the answers; without it this test prints a note and checks nothing.

#![expect(clippy::print_stderr, reason = "says why nothing was checked, and shows the verdict")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use cases::{Case, Metric, MetricValue, Prediction, SchemaVersion, Score, Status};
use scoring::run_comparison::{ComparisonSettings, NamedRun, compared_runs};
use scoring::verdict::{Claim, TestMethod, VerdictSettings, verdict};
use scoring::{ComparedRuns, RunComparison, Verdict};
use serde_json::Value;

use crate::mock_runs::{MockEngine, MockRun, mock_case, run_of};

const MODELS: [&str; 6] = [
    "Qwen/Qwen2.5-Coder-14B",
    "Qwen/Qwen2.5-Coder-7B",
    "Qwen/Qwen2.5-Coder-3B",
    "ibm-granite/granite-3.3-8b-base",
    "ibm-granite/granite-3.3-8b-instruct",
    "ibm-granite/granite-3.3-2b-base",
];

fn rows(file: &str) -> Option<Vec<Value>> {
    let Some(folder) = std::env::var_os("GHOSTBENCH_GOLDEN") else {
        eprintln!("{file}: skipped, GHOSTBENCH_GOLDEN is not set");
        return None;
    };
    let text = std::fs::read_to_string(PathBuf::from(folder).join(file)).expect("a file of rows");
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect())
}

/// Returns the answers with the published scores, for one template of the prompt.
fn run(template: &str) -> Option<MockRun> {
    let (inputs, outputs) = (rows("cceval_real_inputs.jsonl")?, rows("cceval_real_outputs.jsonl")?);
    let mut run = MockRun {
        run: run_of(&MODELS.map(|name| MockEngine::new(name, 0.5))),
        cases: Vec::new(),
        predictions: Vec::new(),
        scores: Vec::new(),
    };
    let mut numbers = BTreeMap::new();
    for (number, row) in inputs.iter().enumerate() {
        let metadata = &row["metadata"];
        let mut case: Case = mock_case(number, 0);
        case.path = metadata["file"].as_str().expect("a file").to_owned();
        case.origin.repository = metadata["repository"].as_str().map(str::to_owned);
        numbers.insert(metadata["task_id"].as_str().expect("an id").to_owned(), case.id.clone());
        run.cases.push(case);
    }
    for row in outputs.iter().filter(|row| row["template"] == template) {
        let case = &numbers[row["task_id"].as_str().expect("an id")];
        let name = row["model"].as_str().expect("a model");
        let engine = run.run.engines.iter().find(|config| config.engine.name == name).expect("a known model");
        let result = &row["results"]["truncate_suffix"];
        let exact = f64::from(u8::from(result["exact_match"].as_bool().expect("a flag")));
        let similarity = result["edit_similarity"].as_f64().expect("a number") / 100.0;
        run.predictions.push(Prediction::empty(case.clone(), engine.engine.clone(), Status::Ok));
        run.scores.push(Score {
            schema: SchemaVersion::CURRENT,
            case: case.clone(),
            engine: name.to_owned(),
            fingerprint: String::new(),
            repetition: 0,
            scorer: None,
            metrics: [
                (Metric::ExactMatch, MetricValue::Value(exact)),
                (Metric::EditSimilarity, MetricValue::Value(similarity)),
            ]
            .into(),
        });
    }
    Some(run)
}

fn verdict_on(run: &MockRun, metric: Metric) -> Verdict {
    let runs = ComparedRuns::new(&[run.rows()]);
    let (section, _) = runs.sections()[0];
    verdict(&runs, section, &VerdictSettings { metric, ..VerdictSettings::new(1) }).expect("a verdict")
}

#[test]
fn few_cases_prove_large_differences_of_real_models_only() {
    let Some(run) = run("comment") else { return };
    let exact = verdict_on(&run, Metric::ExactMatch);
    for pair in &exact.pairs {
        eprintln!("{} - {}: {pair:?}", MODELS[pair.engine], MODELS[pair.baseline]);
    }
    assert_eq!((exact.cases, exact.files), (67, 67));
    let sizes = exact.pair(0, 2).expect("14B and 3B");
    assert_eq!((sizes.engine, sizes.claim), (0, Claim::Undecided));
    assert_eq!(sizes.test.map(|test| test.method), Some(TestMethod::McNemar));
    assert!(sizes.sample_size.and_then(|size| size.more_cases) > Some(100), "{sizes:?}");
    let families = exact.pair(0, 3).expect("14B and granite 8B");
    assert_eq!(families.claim, Claim::Better, "{families:?}");
    let similarity = verdict_on(&run, Metric::EditSimilarity);
    eprintln!("{:?}", similarity.groups);
    for pair in similarity.neighbours() {
        eprintln!("{} - {}: {pair:?}", MODELS[pair.engine], MODELS[pair.baseline]);
    }
    assert_eq!(similarity.standings[0].engine, 0);
}

#[test]
fn models_of_different_runs_are_compared_like_those_of_one_run() {
    let Some(run) = run("comment") else { return };
    let together = verdict_on(&run, Metric::ExactMatch);
    let apart: Vec<MockRun> = MODELS.iter().map(|model| of_model(&run, model)).collect();
    let runs: Vec<NamedRun<'_>> =
        MODELS.iter().zip(&apart).map(|(name, run)| NamedRun { name, rows: run.rows() }).collect();
    let settings = ComparisonSettings { verdict: VerdictSettings::new(1), baseline: None };
    let comparison = RunComparison::new(&runs, &compared_runs(&runs), &settings).expect("the same cases");
    assert_eq!(comparison.shared_cases, 67);
    assert_eq!(comparison.sections[0].verdict.pairs, together.pairs);
    assert_eq!(comparison.sections[0].verdict.groups, together.groups);
}

/// Returns the answers of one model as a run of its own.
fn of_model(run: &MockRun, model: &str) -> MockRun {
    let mut own = run.run.clone();
    own.engines.retain(|config| config.engine.name == model);
    let predictions = run.predictions.iter().filter(|row| row.engine.name == model).cloned().collect();
    let scores = run.scores.iter().filter(|row| row.engine == model).cloned().collect();
    MockRun { run: own, cases: run.cases.clone(), predictions, scores }
}
