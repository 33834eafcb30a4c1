//! The scoreboard of a trial in all formats.

use cases::{Exposure, Opportunity, Provenance, ProvenanceSpan, parse_line};
use expect_test::expect;
use report::terminal::Style;
use scoring::{TrialLog, TrialScoreboard, TrialSettings};

const STYLE: Style = Style { color: false, width: 100, unicode: false };

/// Returns an opportunity with the answers of two arms.
fn row(number: usize, answers: [&str; 2], truth: &str) -> Opportunity {
    let answer = |arm: &str, role: &str, text: &str| {
        serde_json::json!({
            "arm": arm, "role": role, "status": "ok", "raw": text, "text": text, "finish": "stop", "asked": 0.0,
            "engine": {"name": arm, "kind": "scripted", "model": "m", "fingerprint": "f"},
            "ms": {"gather": 1.0, "total": 100.0 + number as f64}, "confidence": 0.5,
        })
    };
    let row = serde_json::json!({
        "schema": "1.6", "id": format!("{number:032x}"), "trial": "t", "mode": "shadow", "developer": "d", "session": "s",
        "opened_at": format!("2026-01-02T03:{:02}:{:02}.000Z", number / 60, number % 60),
        "trigger": "automatic", "privacy": "full",
        "cursor": {"language": "rust", "path": format!("src/{}.rs", number % 31), "offset": 4, "line": 7, "character": 4,
                   "prefix": "fn f() {\n    ", "suffix": "\n}"},
        "rhythm": {"until_next_key": 300.0}, "requests": 1,
        "decisions": [{"kind": "holdout", "value": "hidden", "probability": 1.0}],
        "answers": [answer("first", "held", answers[0]), answer("second", "shadow", answers[1])],
        "outcome": {"kind": "not_shown"}, "exposure": "none",
        "task": {"task": "complete", "scenario": "full_block", "variant": "mid_statement"}, "block_kind": "statement",
        "truths": [{"stage": "settled", "at": 9.0, "text": truth, "region": truth}],
    });
    parse_line(&row.to_string(), 1).expect("a row")
}

fn board(rows: &[Opportunity]) -> TrialScoreboard {
    let mut log = TrialLog::new();
    rows.iter().for_each(|row| log.add(row));
    log.scoreboard(&TrialSettings::default())
}

/// The second arm is right in two of three.
fn rows(count: usize) -> Vec<Opportunity> {
    (0..count)
        .map(|number| {
            let second = if number % 3 == 0 { "g(2)" } else { "f(1)" };
            row(number, [if number % 5 == 0 { "f(1)" } else { "h" }, second], "f(1)")
        })
        .collect()
}

#[test]
fn the_verdict_comes_first_and_says_what_is_proven() {
    let proven = board(&rows(300));
    let sentences = report::trial::verdict_sentences(&proven);
    expect![[r#"
        [
            "second is better.",
            "second is better than first: +46.7 [+34.8, +58.5] points exact match, 300 opportunities in 31 files.",
        ]
    "#]]
    .assert_debug_eq(&sentences.iter().map(|it| if it.starts_with("Rec") { "Recommendation" } else { it }).collect::<Vec<_>>());
    let text = report::trial::table(&proven, STYLE);
    assert!(
        text.starts_with("Trial: 300 opportunities in 31 files, by exact match\n  second is better.\n"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn few_opportunities_prove_nothing() {
    for (count, words) in
        [(0, "No answers yet."), (6, "only 6 opportunities"), (14, "Not yet known whether second is better")]
    {
        let board = board(&rows(count));
        let text = report::trial::markdown(&board);
        assert!(text.contains(words), "{text}");
        assert_eq!(board.winner, None);
    }
}

#[test]
fn json_has_all_numbers_and_the_sentences() {
    let board = board(&rows(60));
    let json: serde_json::Value = serde_json::from_str(&report::trial::json(&board)).expect("JSON");
    assert_eq!(json["arms"], serde_json::json!(["first", "second"]));
    assert_eq!(json["pairs"][0]["sequence"]["method"], "normal_mixture");
    assert_eq!(json["settings"]["metric"], "exact_match");
    assert_eq!(json["sections"][0]["scenarios"][0]["arms"][1]["metrics"]["exact_match"]["num"], 40.0);
    assert!(json["sentences"][0].is_string());
}

#[test]
fn the_page_runs_nothing_and_escapes_everything() {
    let mut rows = rows(60);
    let hostile = "</dd><script>alert(1)</script>\u{202e}\"'";
    rows[59] = row(59, [hostile, hostile], hostile);
    rows[59].cursor.path = hostile.to_owned();
    rows[59].cursor.language = hostile.to_owned();
    rows[59].answers[1].arm = hostile.to_owned();
    rows[59].opened_at = format!("9{hostile}");
    let page = report::trial::html(&board(&rows), &rows);
    assert!(!page.contains("<script") && !page.contains('\u{202e}'), "escaped");
    assert!(page.contains("&lt;script&gt;") && page.contains("[U+202E]"));
    let policy = "default-src 'none'; style-src 'nonce-";
    assert!(page.contains(policy) && !page.contains("style=\"") && !page.contains(" onclick"));
    assert!(!page.contains("src=") && !page.contains("href="), "loads nothing");
}

#[test]
fn the_page_shows_each_answer_against_the_truth_with_its_provenance() {
    let mut rows = rows(20);
    rows[19].truths[0].provenance = vec![
        ProvenanceSpan { range: 0..2, provenance: Provenance::Typed, arm: None },
        ProvenanceSpan { range: 2..4, provenance: Provenance::Pasted, arm: None },
    ];
    // Ranges of a damaged row.
    rows[18].truths[0].provenance =
        vec![ProvenanceSpan { range: 3..900, provenance: Provenance::Accepted, arm: None }];
    rows[17].exposure = Exposure::Shown;
    let page = report::trial::html(&board(&rows), &rows);
    assert!(page.contains("<span class=\"from-typed\" title=\"typed\">f(</span><span class=\"from-pasted\" title=\"pasted\">1)</span>"));
    assert!(page.contains("title=\"provenance unknown\">f(1)</span>"));
    assert!(page.contains("<del>g</del>") || page.contains("<ins>g</ins>"), "a wrong answer is marked");
    assert_eq!(page.matches("<details class=\"opportunity\">").count(), 20);
    let many: Vec<Opportunity> = (0..260).map(|number| row(number, ["f(1)", "h"], "f(1)")).collect();
    let page = report::trial::html(&board(&many), &many);
    assert_eq!(page.matches("<details class=\"opportunity\">").count(), 200);
    assert!(page.contains("60 earlier ones are left out"));
}

#[test]
fn every_field_of_the_scoreboard_is_documented() {
    let document = include_str!("../../../../docs/formats.md");
    let (_, rest) = document.split_once("\n### Scoreboard\n").expect("the heading is there");
    let table = rest.split("\n### ").next().expect("a table");
    let json: serde_json::Value =
        serde_json::from_str(&report::trial::json(&board(&rows(300)))).expect("JSON");
    for key in json.as_object().expect("an object").keys() {
        assert!(table.contains(&format!("`{key}`")), "{key} is not in the table of docs/formats.md");
    }
    for key in json["pairs"][0].as_object().expect("a pair").keys() {
        assert!(
            table.contains(&format!("`{key}`")),
            "{key} of a pair is not in the table of docs/formats.md"
        );
    }
}
