//! Stopping of answers, in every report.

use cases::{Metric, MetricValue};
use expect_test::expect;
use report::terminal::{Style, table};
use serde_json::Value;

use crate::fixture::{Fixture, fixture};

/// Returns a run over 24 cases. Each engine continues after the truth in every second, third or fourth one, and stops short in
/// every fifth; the shown texts hide it.
fn stopping() -> Fixture {
    let mut fixture = fixture(24);
    let engines = fixture.run.engines.len();
    for (number, score) in fixture.scores.iter_mut().enumerate() {
        let (case, engine) = (number / engines, number % engines);
        let is = |holds: bool| MetricValue::Value(f64::from(u8::from(holds)));
        let mut insert = |metric: Metric, holds| {
            score.metrics.insert(metric, is(holds));
        };
        let is_short = case.is_multiple_of(5);
        let goes_on = case.is_multiple_of(engine + 2);
        let is_cut = !goes_on && case.is_multiple_of(7);
        insert(Metric::RawStopsShort, is_short);
        insert(Metric::StopsShort, is_short);
        if !is_short {
            insert(Metric::RawStopping, !goes_on && !is_cut);
            insert(Metric::RawGoesOn, goes_on);
            insert(Metric::RawCut, is_cut);
            insert(Metric::Stopping, true);
            insert(Metric::GoesOn, false);
        }
    }
    fixture
}

#[test]
fn terminal_shows_stopping_counts_and_shares() {
    let style = Style { color: false, width: 110, unicode: true };
    let text = table(&stopping().report().summary(), &[], style, &[]);
    let (_, part) = text.split_once("\nstopping\n").expect("a table");
    let (part, _) = part.split_once("\n\n").expect("an end");
    expect![[r#"
          engine   text   right so far  short  whole  stops  goes on  cut  stopping    95 %
          builtin  raw              24      5     19      8        9    2      42.1   19–69
          builtin  shown            24      5     19     19        0    -     100.0  71–100
          qwen     raw              24      5     19     11        6    2      57.9   25–85
          qwen     shown            24      5     19     19        0    -     100.0  71–100
        In totals: 24 cases: full_block 9, inner_block 10, incomplete_suffix 5. Right so far: answers without a wrong
        token up to their own end or the truth's. Short: those of them that end before the truth. Whole: those that
        begin with the whole truth; they stop there, go on, or are cut there (reading ended before the engine did).
        Stopping: stops/whole. raw: the engine's own text; shown: the same after cleaning. White space and comments do
        not count, nor do failures, late answers, and cases with nothing to write."#]].assert_eq(part);
}

#[test]
fn markdown_and_html_show_the_stopping_table() {
    let fixture = stopping();
    let summary = fixture.report().summary();
    let markdown = report::markdown(&summary);
    let (_, part) = markdown.split_once("| engine | text |").expect("a table");
    let (part, _) = part.split_once("\n\n").expect("an end");
    expect![[r#"
         right so far | short | whole | stops | goes on | cut | stopping |
        |---|---|--:|--:|--:|--:|--:|--:|--:|
        | builtin | raw | 24 | 5 | 19 | 8 | 9 | 2 | 42.1 (19–69) |
        | builtin | shown | 24 | 5 | 19 | 19 | 0 | - | 100.0 (71–100) |
        | qwen | raw | 24 | 5 | 19 | 11 | 6 | 2 | 57.9 (25–85) |
        | qwen | shown | 24 | 5 | 19 | 19 | 0 | - | 100.0 (71–100) |"#]]
    .assert_eq(part);
    let page = fixture.html_of(&summary);
    let (_, part) = page.split_once("Stopping, mined cases").expect("a table");
    let (part, _) = part.split_once("</table>").expect("an end");
    assert!(part.contains("In totals: 24 cases") && part.contains("Right so far: answers"), "{part}");
    assert_eq!(part.matches("<td>raw</td>").count(), 2);
    assert_eq!(part.matches("<td>shown</td>").count(), 2);
    assert!(
        page.contains("> stopping</label>") && page.contains("> stopping, raw</label>"),
        "by scenario and block kind"
    );
}

#[test]
fn json_has_stopping_metrics_for_every_group() {
    let summary = stopping().report().summary();
    let json: Value = serde_json::from_str(&report::json(&summary)).expect("json");
    let section = &json["sections"][0];
    let cell = &section["overall"]["lines"][0]["metrics"]["raw_stopping"];
    assert_eq!((&cell["cases"], &cell["den"]), (&19.into(), &19.0.into()));
    for group in section["scenarios"].as_array().expect("a list") {
        assert!(group["lines"][0]["metrics"].get("stops_short").is_some(), "{group}");
    }
}

#[test]
fn runs_without_stopping_scores_have_no_table() {
    let summary = fixture(24).report().summary();
    let style = Style { color: false, width: 110, unicode: true };
    assert!(!table(&summary, &[], style, &[]).contains("\nstopping\n"));
    assert!(!report::markdown(&summary).contains("stopping"));
}
