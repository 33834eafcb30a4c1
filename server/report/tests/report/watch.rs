//! The history of a watched suite in all formats.

use cases::{
    ChangeKind, Metric, SchemaVersion, Status, WatchedChange, WatchedEngine, WatchedFailure, WatchedNight,
    WatchedShift,
};
use expect_test::expect;
use report::terminal::Style;

const STYLE: Style = Style { color: false, width: 100, unicode: true };

fn night(number: usize, value: Option<f64>, change: Option<WatchedChange>) -> WatchedNight {
    let engine = WatchedEngine {
        name: "hosted|1".to_owned(),
        fingerprint: "f".to_owned(),
        answers: 100,
        failed: if value.is_none() { 100 } else { 0 },
        failures: Vec::new(),
        value,
        since: change.as_ref().map_or(0, |change| change.first),
        change,
    };
    WatchedNight {
        schema: SchemaVersion::CURRENT,
        run: (number + 1).to_string(),
        time: format!("2026-03-0{}T03:00:00Z", number + 1),
        suite: "s".to_owned(),
        metric: Metric::ExactMatch,
        tree_hash: None,
        engines: vec![engine],
    }
}

fn nights() -> Vec<WatchedNight> {
    let shift = |before, after, p| Some(WatchedShift { before, after, p });
    let change = WatchedChange {
        kind: ChangeKind::Answers,
        first: 2,
        score: shift(0.4123, 0.35, 2.0e-7),
        text: shift(0.02, 0.6, 1.0e-30),
    };
    let nights = [(Some(0.41), None), (None, None), (Some(0.36), None), (Some(0.35), Some(change))];
    nights.into_iter().enumerate().map(|(number, (value, change))| night(number, value, change)).collect()
}

#[test]
fn table_names_the_day_of_a_change() {
    expect![[r#"
        4 nights, by exact_match
          engine    last night  nights  answers  failed  score  unchanged since
          hosted|1  2026-03-04       4      100       0   35.0       2026-03-03

        changes
          2026-03-03 hosted|1: its answers changed: score 41.2 to 35.0 % (p at most 2.0e-7), unusual answers 2.0 to 60.0 % (p at most 1.0e-30), reported on 2026-03-04

        Interrupted nights, left out: nights/5.

        A constant engine causes at most 0.05 false alarms in 365 nights. Unusual answers: those whose text
        is not the most frequent one of their case.
    "#]].assert_eq(&report::watch::table(&nights(), &["nights/5".to_owned()], STYLE));
}

#[test]
fn markdown_escapes_names() {
    expect![[r#"
        | engine | last night | nights | answers | failed | score | unchanged since |
        |---|---|--:|--:|--:|--:|---|
        | hosted\|1 | 2026-03-04 | 4 | 100 | 0 | 35.0 | 2026-03-03 |

        - 2026-03-03 hosted\|1: its answers changed: score 41.2 to 35.0 % (p at most 2.0e-7), unusual answers 2.0 to 60.0 % (p at most 1.0e-30), reported on 2026-03-04

        A constant engine causes at most 0.05 false alarms in 365 nights. Unusual answers: those whose text is not the most frequent one of their case.
    "#]].assert_eq(&report::watch::markdown(&nights(), &[]));
}

#[test]
fn empty_history_and_backward_clock_are_reported() {
    assert!(report::watch::table(&[], &[], STYLE).starts_with("No nights yet."));
    let mut backwards = nights();
    backwards[1].time = "2025-01-01T00:00:00Z".to_owned();
    assert!(report::watch::table(&backwards, &[], STYLE).contains("The clock went backwards"));
    let json: serde_json::Value =
        serde_json::from_str(&report::watch::json(&backwards, &[])).expect("it is JSON");
    assert_eq!(json["nights"][3]["engines"][0]["change"]["first"], 2);
}

#[test]
fn page_shows_curves_gaps_and_changes() {
    let page = report::watch_html(&nights(), &["night 5".to_owned()]);
    // Without a score in the second night and with a change before the third one, one part of the curve is left.
    assert_eq!(page.matches(r#"<path class="curve""#).count(), 1, "{page}");
    assert_eq!(page.matches(r#"<path class="change answers""#).count(), 1);
    for text in ["2026-03-03 hosted|1: its answers changed", "100 requests failed", "night 5"] {
        assert!(page.contains(text), "{text} is missing");
    }
}

#[test]
fn failures_of_the_last_night_are_listed_by_reason() {
    let mut failing = nights();
    let engine = &mut failing[3].engines[0];
    engine.failed = 7;
    let reason = Some("engine `hosted|1`: quota <b>exceeded</b>".to_owned());
    engine.failures = vec![
        WatchedFailure { status: Status::Error, reason, count: 5 },
        WatchedFailure { status: Status::Timeout, reason: None, count: 2 },
    ];
    let table = report::watch::table(&failing, &[], STYLE);
    let listed = "failed requests on 2026-03-04\n  hosted|1: 5 of 100 answers: quota <b>exceeded</b>\n  hosted|1: 2 of 100 answers: the \
                  deadline passed before the first text\n";
    assert!(table.contains(listed), "{table}");
    let markdown = report::watch::markdown(&failing, &[]);
    assert!(markdown.contains("- hosted\\|1: 5 of 100 answers: quota \\<b\\>exceeded"), "{markdown}");
    let page = report::watch_html(&failing, &[]);
    assert!(
        page.contains("<li>hosted|1: 5 of 100 answers: quota &lt;b&gt;exceeded&lt;&#x2f;b&gt;</li>"),
        "{page}"
    );
    assert_eq!(report::watch_csv_tables(&failing)[1].text.lines().count(), 3);
}

#[test]
fn page_escapes_hostile_names_and_survives_hostile_rows() {
    let mut hostile = nights();
    for night in &mut hostile {
        night.engines[0].name = "</style><script>alert(1)</script>".to_owned();
        night.time = "<b>".to_owned();
    }
    hostile[3].engines[0].change.as_mut().expect("the last night has one").first = usize::MAX;
    hostile[0].engines[0].value = Some(f64::NAN);
    let page = report::watch_html(&hostile, &["<i>".to_owned()]);
    assert!(!page.contains("<script>") && !page.contains("<b>") && !page.contains("<i>"), "{page}");
    assert!(report::watch_html(&[], &[]).contains("0 nights"));
}
