//! Markdown and JSON.

use cases::{CaseCopies, SchemaVersion, WorkspaceState};
use expect_test::expect;
use scoring::RunSummary;
use scoring::run_summary::{RunNote, completeness_notes};

use crate::fixture::{Fixture, fixture};

#[test]
fn renders_a_small_run_as_markdown() {
    let mut fixture = fixture(3);
    fixture.cases.truncate(3);
    fixture.run.name = "a|b <script>".to_owned();
    let markdown = report::markdown(&fixture.report().summary());
    expect![[r#"
        # a\|b \<script\>

        ## mined cases

        **verdict: exact match: builtin = qwen**

        \>: each engine before it is proven to be better than each one after it (5 % chance of error). =: not proven.

        | rank | engine | exact | in 300 ms | in 1 s | ms | failed |
        |---|---|--:|--:|--:|--:|--:|
        | 1= | builtin* | 0/3 | 0/3 | 0/3 | 4.0/17 | 0/3 |
        | 1= | qwen* | 1/3 | 0/3 | 1/3 | 101/670 | 0/3 |

        On all cases of each engine: they share too few. In 300 ms, in 1 s: exact match of the answers that were complete by then. \*: no other engine is at least as good in quality and median latency, and better in one of them.

        | on the same cases | n | difference | p | better | worse | equal | verdict |
        |---|--:|--:|--:|--:|--:|--:|---|
        | builtin - qwen | 3 | – | – | 0 | 1 | 2 | too few cases |

        In totals: 3 cases: full\_block 1, incomplete\_suffix 2.

        |  | engine | n | exact match | token-exact | edit similarity | restraint | silent+gated+failed | median/p95 ms |
        |---|---|--:|--:|--:|--:|--:|--:|--:|
        | all | builtin | 3 | 0/3 | 0/3 | 0.9/3 | – | 2+0+0 | 4.0/17 |
        | all | qwen | 3 | 1/3 | 1/3 | 1/3 | – | 1+1+0 | 101/670 |

        In totals: 3 cases: full\_block 1, incomplete\_suffix 2.

        | language | engine | n | exact match | token-exact | edit similarity | restraint | silent+gated+failed | median/p95 ms |
        |---|---|--:|--:|--:|--:|--:|--:|--:|
        | python | builtin | 1 | 0/1 | 0/1 | 0.9/1 | – | 0+0+0 | 17/17 |
        | python | qwen | 1 | 0/1 | 0/1 | 0/1 | – | 0+1+0 | – |
        | rust | builtin | 1 | 0/1 | 0/1 | 0/1 | – | 1+0+0 | 4.0/4.0 |
        | rust | qwen | 1 | 0/1 | 0/1 | 0/1 | – | 1+0+0 | 101/101 |
        | typescript | builtin | 1 | 0/1 | 0/1 | 0/1 | – | 1+0+0 | 4.0/4.0 |
        | typescript | qwen | 1 | 1/1 | 1/1 | 1/1 | – | 0+0+0 | 670/670 |

        <details><summary>By scenario and block kind. All 3 cases.</summary>

        | scenario, block kind | engine | n | exact match | token-exact | edit similarity | restraint | silent+gated+failed | median/p95 ms |
        |---|---|--:|--:|--:|--:|--:|--:|--:|
        | full\_block | builtin | 1 | 0/1 | 0/1 | 0.9/1 | – | 0+0+0 | 17/17 |
        | full\_block | qwen | 1 | 0/1 | 0/1 | 0/1 | – | 0+1+0 | – |
        | full\_block, function | builtin | 1 | 0/1 | 0/1 | 0.9/1 | – | 0+0+0 | 17/17 |
        | full\_block, function | qwen | 1 | 0/1 | 0/1 | 0/1 | – | 0+1+0 | – |
        | incomplete\_suffix | builtin | 2 | 0/2 | 0/2 | 0/2 | – | 2+0+0 | 4.0/4.0 |
        | incomplete\_suffix | qwen | 2 | 1/2 | 1/2 | 1/2 | – | 1+0+0 | 101/670 |
        | incomplete\_suffix, function | builtin | 1 | 0/1 | 0/1 | 0/1 | – | 1+0+0 | 4.0/4.0 |
        | incomplete\_suffix, function | qwen | 1 | 1/1 | 1/1 | 1/1 | – | 0+0+0 | 670/670 |
        | incomplete\_suffix, for | builtin | 1 | 0/1 | 0/1 | 0/1 | – | 1+0+0 | 4.0/4.0 |
        | incomplete\_suffix, for | qwen | 1 | 0/1 | 0/1 | 0/1 | – | 1+0+0 | 101/101 |

        </details>

        Percent, in brackets the 95 % interval over whole files (Wilson's or Hall's, exact if few of them are informative; Student's or Tango's for differences). Cells under 10 cases show counts only.

        - Cases recorded since then, not in these numbers: 3.
        - 4 answers belong to no case of the suite and are left out
    "#]].assert_eq(&markdown);
}

#[test]
fn markdown_table_rows_have_equal_column_counts() {
    let markdown = report::markdown(&fixture(60).report().summary());
    let mut columns = 0;
    for line in markdown.lines() {
        let bars = line.matches('|').count() - line.matches("\\|").count();
        if columns != 0 && bars != 0 {
            assert_eq!(bars, columns, "{line}");
        }
        columns = bars;
    }
}

#[test]
fn json_keeps_counts_beside_ratios() {
    let summary = fixture(60).report().summary();
    let json: serde_json::Value = serde_json::from_str(&report::json(&summary)).expect("json");
    assert_eq!(json["schema"], SchemaVersion::CURRENT.to_string());
    assert_eq!(json["engines"][1]["name"], "qwen");
    let section = &json["sections"][0];
    assert_eq!(section["origin"], "mined");
    let line = &section["overall"]["lines"][0];
    assert_eq!((&line["cases"], &line["files"]), (&60.into(), &15.into()));
    let cell = &line["metrics"]["edit_similarity"];
    let [num, den, value] = ["num", "den", "value"].map(|name| cell[name].as_f64().expect(name));
    assert_eq!(num / den, value);
    assert!(cell["interval"]["low"].as_f64() < Some(value));
    let few = &section["scenarios"][1]["lines"][0]["metrics"]["exact_match"];
    assert!(few["cases"].as_u64() < Some(10) && few.get("value").is_none(), "{few}");
}

#[test]
fn a_percentile_on_a_timeout_is_null() {
    let mut fixture = fixture(20);
    for prediction in &mut fixture.predictions {
        prediction.status = cases::Status::Timeout;
    }
    let json: serde_json::Value =
        serde_json::from_str(&report::json(&fixture.report().summary())).expect("json");
    let latency = &json["sections"][0]["overall"]["lines"][0]["latency"];
    assert_eq!((&latency["timeouts"], &latency["p50"]), (&20.into(), &serde_json::Value::Null));
}

#[test]
fn notes_report_unknown_cases_and_missing_scores() {
    let mut fixture = fixture(20);
    fixture.scores.truncate(30);
    fixture.cases.truncate(19);
    let notes = report::note_texts(&fixture.report().summary());
    expect![[r#"
        Cases recorded since then, not in these numbers: 3.
        6 answers belong to no case of the suite and are left out
        8 answers have no scores; only their status and time are counted"#]]
    .assert_eq(&notes.join("\n"));
}

#[test]
fn run_with_no_copies_variant_can_be_finished() {
    let mut fixture = fixture(10);
    let hides = ("hide_near_duplicates".to_owned(), "true".to_owned());
    let last = fixture.run.engines.last_mut().expect("the fixture has engines");
    last.settings.extend([hides]);
    let (name, case) = (last.engine.name.clone(), fixture.cases[0].id.clone());
    fixture.predictions.retain(|row| row.engine.name != name || row.case == case);
    fixture.run.copies = vec![CaseCopies { case, files: vec!["copy.py".to_owned()] }];
    let is_unfinished = |fixture: &Fixture| {
        let notes = completeness_notes(&fixture.run, &fixture.cases, &fixture.predictions);
        notes.iter().any(|note| matches!(note, RunNote::Unfinished { .. }))
    };
    assert!(!is_unfinished(&fixture));
    fixture.predictions.retain(|row| row.engine.name != name);
    assert!(is_unfinished(&fixture));
}

#[test]
fn notes_report_missing_requests_and_workspace_mismatch() {
    let mut fixture = fixture(10);
    let notes = |fixture: &Fixture| {
        let notes = completeness_notes(&fixture.run, &fixture.cases, &fixture.predictions);
        report::note_texts(&RunSummary { notes, ..fixture.report().summary() })
    };
    let tree_hash = fixture.cases[0].origin.tree_hash.clone();
    let state = WorkspaceState { commit: None, dirty: None, tree_hash, files: 1, lines: 1 };
    fixture.run.workspace = Some(state.clone());
    assert_eq!(notes(&fixture), [""; 0]);
    fixture.predictions.truncate(23);
    fixture.run.workspace = None;
    expect![[r#"
        The run is unfinished: 23 of 24 requests.
        Replayed without a workspace: engines had only the code in the cases."#]]
    .assert_eq(&notes(&fixture).join("\n"));
    fixture.run.workspace = Some(WorkspaceState { tree_hash: "newer".to_owned(), ..state });
    expect![[r#"
        The run is unfinished: 23 of 24 requests.
        The workspace has other code than the cases were cut from, or they do not say which (other tree hash): engines may have seen newer code."#]]
    .assert_eq(&notes(&fixture).join("\n"));
}

#[test]
fn summary_does_not_depend_on_row_order() {
    let mut fixture = fixture(30);
    let summary = fixture.report().summary();
    fixture.predictions.reverse();
    fixture.scores.reverse();
    fixture.cases.reverse();
    assert_eq!(report::json(&summary), report::json(&fixture.report().summary()));
}
