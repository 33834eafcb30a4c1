//! Late answers and failures: exact match and exact match in time, and an engine that never answers.

use cases::{EngineConfig, EngineIdentity, Metric, MetricValue, Prediction, Score, Status};
use report::terminal::{Style, table};
use serde_json::Value;

use crate::fixture::{Fixture, fixture};

/// Every second right answer of the second engine is late, and a third engine fails on every case.
fn late_and_broken() -> Fixture {
    let mut fixture = fixture(60);
    let mut is_late = false;
    for (score, prediction) in fixture.scores.iter_mut().zip(&mut fixture.predictions) {
        let Some(&exact) = score.metrics.get(&Metric::ExactMatch) else { continue };
        let is_right = exact == MetricValue::Value(1.0);
        is_late ^= is_right;
        prediction.late = is_right && is_late && prediction.engine.name == "qwen";
        let in_time = if prediction.late { MetricValue::Value(0.0) } else { exact };
        score.metrics.insert(Metric::ExactInTime, in_time);
    }
    let engine = EngineIdentity {
        name: "broken".to_owned(),
        kind: "command".to_owned(),
        model: String::new(),
        fingerprint: "b".to_owned(),
    };
    let rows: Vec<(Prediction, Score)> = fixture
        .predictions
        .iter()
        .zip(&fixture.scores)
        .filter(|(prediction, _)| prediction.engine.name == "qwen")
        .enumerate()
        .map(|(number, (prediction, score))| {
            let status = [Status::Error, Status::Timeout, Status::Cancelled][number % 3];
            let metrics = score.metrics.keys().map(|&metric| (metric, MetricValue::Value(0.0))).collect();
            let score =
                Score { engine: "broken".to_owned(), fingerprint: "b".to_owned(), metrics, ..score.clone() };
            (Prediction::empty(prediction.case.clone(), engine.clone(), status), score)
        })
        .collect();
    for (prediction, score) in rows {
        fixture.predictions.push(prediction);
        fixture.scores.push(score);
    }
    let settings = Default::default();
    fixture.run.engines.push(EngineConfig { engine, price: None, cutoff: None, settings });
    fixture
}

#[test]
fn every_format_shows_exact_match_in_time() {
    let fixture = late_and_broken();
    let summary = fixture.report().summary();
    let qwen = &summary.sections[0].overall.lines[1];
    let [exact, in_time] =
        [Metric::ExactMatch, Metric::ExactInTime].map(|metric| qwen.metrics[&metric].value.expect("a value"));
    assert!(in_time < exact && qwen.metrics[&Metric::Late].num > 0.0, "{qwen:?}");
    let shown = [exact, in_time].map(|share| format!("{:.1}", share * 100.0));

    let text = table(&summary, &[], Style { color: false, width: 200, unicode: true }, &[]);
    let (_, overall) = text.split_once("\noverall\n").expect("totals");
    let rows: Vec<&str> = overall.lines().take(4).collect();
    assert!(rows[0].contains("in time") && shown.iter().all(|share| rows[2].contains(share)), "{overall}");

    let markdown = report::markdown(&summary);
    assert!(markdown.contains("| exact match | exact in time | token-exact |"), "{markdown}");
    let row = markdown.lines().find(|line| line.starts_with("| all | qwen |")).expect("a row");
    assert!(shown.iter().all(|share| row.contains(share)), "{row}");

    let page = fixture.html_of(&summary);
    let board = page.split("<tbody class=\"differences\">").next().expect("a scoreboard");
    assert!(board.contains("exact in time</abbr>") && board.contains("late</abbr>"));
    assert!(shown.iter().all(|share| board.contains(&format!("<b>{share}</b>"))), "{shown:?}");
    let late = format!("<td class=\"num\">{}</td>", qwen.metrics[&Metric::Late].num);
    assert!(board.contains(&late), "{late}");

    let json: Value = serde_json::from_str(&report::json(&summary)).expect("json");
    assert_eq!(json["sections"][0]["overall"]["lines"][1]["metrics"]["exact_in_time"]["value"], in_time);
}

#[test]
fn scoreboard_rows_have_equal_column_counts() {
    for fixture in [late_and_broken(), fixture(60)] {
        let page = fixture.html();
        let (_, board) = page.split_once("aria-label=\"Scoreboard, mined cases\"").expect("a scoreboard");
        let (board, _) = board.split_once("</table>").expect("an end");
        let width = |row: &str| {
            let cells = row.matches("<td").count() + row.matches("<th ").count();
            let spans = row
                .split("colspan=\"")
                .skip(1)
                .map(|rest| rest.split('"').next().and_then(|n| n.parse().ok()));
            spans.fold(cells, |sum, span: Option<usize>| sum + span.expect("a number") - 1)
        };
        let widths: Vec<usize> = board.split("<tr").skip(1).map(width).collect();
        assert!(widths.len() >= 3 && widths.iter().all(|cells| *cells == widths[0]), "{widths:?}");
    }
}

#[test]
fn engine_that_always_fails_scores_zero() {
    let fixture = late_and_broken();
    let summary = fixture.report().summary();
    let broken = &summary.sections[0].overall.lines[2];
    assert_eq!(summary.engines[broken.engine].name, "broken");
    assert_eq!(broken.metrics[&Metric::Failed].value, Some(1.0));
    for metric in [
        Metric::ExactMatch,
        Metric::ExactInTime,
        Metric::TokenExact,
        Metric::EditSimilarity,
        Metric::Restraint,
    ] {
        assert_eq!(
            broken.metrics[&metric].value.or(Some(broken.metrics[&metric].num)),
            Some(0.0),
            "{metric}"
        );
    }
    assert_eq!(broken.latency.map(|latency| latency.count), Some(20), "timeouts alone have a time");
    let markdown = report::markdown(&summary);
    let row = markdown.lines().find(|line| line.starts_with("| all | broken |")).expect("a row");
    assert!(row.ends_with("| 0+0+60 | timeout/timeout |"), "{row}");
}
