//! Compares `docs/formats.md` with the types of the summary: it must document every field, and no others.

use std::collections::{BTreeMap, BTreeSet};

use cases::{BlockKind, CrossFileContext, Exposure, Metric, OriginKind, Status};
use scoring::gate::{GateCheck, GateReport, MeasuredValue, PairChanges, ValueUnit};
use scoring::run_comparison::{ComparisonSettings, NamedRun, compared_runs};
use scoring::run_summary::{
    CaseGroup, ContextEffect, CutoffSlice, EngineCost, EngineDifference, EngineFailures, EngineLine,
    FailedCase, FailureReason, ReportSection, ScenarioGroup, Selection,
};
use scoring::verdict::{
    Claim, MarginVerdict, PairTest, PairVerdict, Quality, SampleSize, Standing, TestMethod,
};
use scoring::{
    Interval, IntervalMethod, Latency, MetricCell, PairedDifference, RunComparison, RunSummary, Verdict,
    VerdictSettings,
};
use serde::Serialize;

use crate::fixture::fixture;

const DOCUMENT: &str = include_str!("../../../../docs/formats.md");

/// Checks that the keys of `value` are the rows of the table below the heading. The values of these tests have all fields.
#[track_caller]
fn check(heading: &str, value: &impl Serialize) {
    let json = serde_json::to_value(value).expect("a summary has string keys");
    let fields: BTreeSet<&str> = json.as_object().expect("an object").keys().map(String::as_str).collect();
    let (_, rest) = DOCUMENT.split_once(&format!("\n### {heading}\n")).expect("the heading is there");
    let table = rest.split("\n##").next().unwrap_or_default();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let documented: BTreeSet<&str> = rows.flat_map(|(fields, _)| fields.split("`, `")).collect();
    assert_eq!(documented, fields, "fields below {heading} (left) and of the type (right)");
}

const INTERVAL: Interval =
    Interval { low: 0.1, high: 0.3, method: IntervalMethod::ClopperPearson { effective_cases: 1.0 } };
const LATENCY: Latency = Latency { count: 20, timeouts: 1, p50: 1.0, p95: 2.0, p99: 3.0 };

#[test]
fn summary_fields_are_documented() {
    let cost = EngineCost {
        engine: 0,
        answers: 3,
        estimated: 1,
        unknown: 1,
        amount: 0.5,
        per_thousand: Some(166.7),
        other_tree: 1,
    };
    let example = FailedCase { case: "c".to_owned(), path: Some("a.py".to_owned()), line: Some(1) };
    let reason = FailureReason {
        status: Status::Error,
        reason: Some("down".to_owned()),
        count: 1,
        examples: vec![example.clone()],
    };
    let failures = EngineFailures {
        engine: 0,
        requests: 20,
        failed: 1,
        repeated: 1,
        is_frequent: true,
        reasons: vec![reason.clone()],
        other: 0,
    };
    let summary =
        RunSummary { costs: vec![cost], failures: vec![failures.clone()], ..fixture(20).report().summary() };
    let json: serde_json::Value = serde_json::from_str(&report::json(&summary)).expect("json");
    check("Summary", &json);
    check("Engine cost", &cost);
    check("Engine failures", &failures);
    check("Failure reason", &reason);
    check("Failed case", &example);
}

#[test]
fn section_and_group_fields_are_documented() {
    let group = CaseGroup {
        scenario: Some(ScenarioGroup::Rag),
        block_kind: Some(BlockKind::If),
        language: Some("go".to_owned()),
        lines: Vec::new(),
    };
    let slice = CutoffSlice {
        cutoff: "2025-06".to_owned(),
        engines: vec![0],
        until: group.clone(),
        after: group.clone(),
    };
    let section = ReportSection {
        origin: OriginKind::Mined,
        exposure: Exposure::None,
        verdict: fixture(20).report().summary().sections.remove(0).verdict,
        overall: group.clone(),
        selection: Selection::default(),
        controls: 0,
        other_tree: 0,
        scenarios: Vec::new(),
        block_kinds: Vec::new(),
        languages: Vec::new(),
        differences: Vec::new(),
        contexts: Vec::new(),
        cutoffs: vec![slice.clone()],
    };
    check("Section", &section);
    check("Cutoff slice", &slice);
    check("Selection", &Selection::default());
    check("Group", &group);
    check(
        "Line",
        &EngineLine {
            engine: 0,
            cases: 20,
            files: 10,
            is_selected_against: false,
            metrics: BTreeMap::new(),
            latency: Some(LATENCY),
        },
    );
}

#[test]
fn comparison_fields_are_documented() {
    let fixture = fixture(60);
    let run = |name| NamedRun { name, rows: fixture.report() };
    let settings = ComparisonSettings { verdict: VerdictSettings::new(1), baseline: None };
    let runs = [run("a"), run("b")];
    let comparison = RunComparison::new(&runs, &compared_runs(&runs), &settings).expect("the same cases");
    check("Comparison", &comparison);
}

#[test]
fn gate_fields_are_documented() {
    let value = MeasuredValue {
        measure: "exact_match".to_owned(),
        unit: ValueUnit::Share,
        value: Some(0.2),
        cases: 20,
    };
    let pairs = fixture(20).report().summary().sections.remove(0).verdict.pairs;
    let check_of_engine = GateCheck {
        rule: String::new(),
        engine: Some(String::new()),
        has_passed: true,
        values: vec![value],
        pair: pairs.first().cloned(),
    };
    let changes = PairChanges {
        engine: String::new(),
        baseline: String::new(),
        worse: 0,
        better: 0,
        cases: Vec::new(),
    };
    check("Gates", &GateReport::default());
    check("Check", &check_of_engine);
    check("Changes", &changes);
}

#[test]
fn verdict_fields_are_documented() {
    let quality = Quality { deadline: Some(300.0), cases: 20, num: 4.0, den: 20.0, value: Some(0.2) };
    let standing = Standing {
        engine: 0,
        quality,
        exact_within: vec![quality],
        latency: Some(LATENCY),
        cost_per_thousand: Some(0.5),
        answers: 20,
        failed: 1,
        time_limit: Some(5_000.0),
        is_on_front: true,
    };
    let test = PairTest { method: TestMethod::McNemar, p: 0.1, mid_p: Some(0.1), corrected_p: 0.2, pairs: 2 };
    let size = SampleSize {
        detectable: 0.1,
        power: 0.5,
        needed: Some(90),
        resolution: Some(0.5),
        more_cases: Some(70),
    };
    let margin = MarginVerdict {
        margin: 0.01,
        is_not_inferior: true,
        p_not_inferior: 0.01,
        is_equivalent: false,
        p_equivalent: 0.2,
    };
    let pair = PairVerdict {
        engine: 0,
        baseline: 1,
        cases: 20,
        files: 10,
        ties: 14,
        difference: PairedDifference {
            better: 4,
            worse: 2,
            other_tree: 1,
            value: Some(0.1),
            interval: Some(INTERVAL),
        },
        claim: Claim::Undecided,
        test: Some(test),
        sample_size: Some(size),
        files_needed: 6,
        margin: Some(margin),
    };
    let verdict = Verdict {
        deadline: Some(300.0),
        baseline: Some(0),
        ..fixture(20).report().summary().sections.remove(0).verdict
    };
    check("Verdict", &verdict);
    check("Standing", &standing);
    check("Quality", &quality);
    check("Pair", &pair);
    check("Test", &test);
    check("Sample size", &size);
    check("Margin", &margin);
}

#[test]
fn number_fields_are_documented() {
    let (value, interval) = (Some(0.2), Some(INTERVAL));
    check("Cell", &MetricCell { cases: 20, clusters: 1, num: 4.0, den: 20.0, value, interval });
    let difference = PairedDifference { better: 4, worse: 2, other_tree: 1, value, interval };
    check(
        "Difference",
        &EngineDifference { metric: Metric::ExactMatch, baseline: 0, engine: 1, cases: 20, difference },
    );
    let (engine, variant, metric, holes) = (0, CrossFileContext::Retrieval, Metric::ExactMatch, 20);
    let (is_resolved, is_selected_against) = (true, false);
    check(
        "Context effect",
        &ContextEffect { engine, variant, is_resolved, is_selected_against, metric, holes, difference },
    );
    check("Interval", &INTERVAL);
    check("Latency", &LATENCY);
}

#[test]
fn csv_tables_and_columns_are_documented() {
    let fixture = fixture(20);
    let rows = fixture.report();
    let run = |name| NamedRun { name, rows };
    let (runs, settings) =
        ([run("a"), run("b")], ComparisonSettings { verdict: VerdictSettings::new(1), baseline: None });
    let compared = compared_runs(&runs);
    let comparison = RunComparison::new(&runs, &compared, &settings).expect("the same cases");
    let of_run = report::csv_tables(&rows.summary(), &compared_runs(&runs[..1]), &[]);
    let of_comparison = report::comparison_csv_tables(&comparison, &compared);
    for table in of_run.into_iter().chain(of_comparison).chain(report::watch_csv_tables(&[])) {
        let row = DOCUMENT.lines().find(|line| line.starts_with(&format!("| `{}` |", table.file)));
        let columns = row.and_then(|row| row.split(" | ").nth(2)).expect(table.file);
        let documented: Vec<&str> = columns.split('`').skip(1).step_by(2).collect();
        let header = table.text.lines().next().expect("a header");
        assert_eq!(documented.join(","), header, "{}", table.file);
    }
}
