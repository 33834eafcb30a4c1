//! A run that mixes cases selected by a judge with others, and cases of another tree: every table describes its cases.

use report::terminal::{Style, table};
use serde_json::Value;

use crate::fixture::{Fixture, cross_file, fixture};

/// Wide enough for captions on one line.
const WIDE: Style = Style { color: false, width: 10_000, unicode: true };

/// Returns 40 mined cases, and 20 holes of `cross_file` that a judge selected, each with three kinds of context.
fn mixed() -> Fixture {
    let mut fixture = fixture(40);
    let judged = cross_file(20);
    fixture.cases.extend(judged.cases);
    fixture.predictions.extend(judged.predictions);
    fixture.scores.extend(judged.scores);
    fixture
}

/// Returns the part of a rendered report about mined cases.
fn mined(text: &str) -> &str {
    text.split("live cases").next().unwrap_or_default()
}

#[test]
fn totals_exclude_cases_selected_by_a_judge() {
    let summary = mixed().report().summary();
    let section = &summary.sections[0];
    assert!(section.overall.lines.iter().all(|line| line.cases == 40), "{:?}", section.overall);
    assert!(section.differences.iter().all(|difference| difference.cases <= 40));
    assert!(section.languages.iter().map(|group| group.lines[0].cases).sum::<usize>() == 40);
    let json: Value = serde_json::from_str(&report::json(&summary)).expect("json");
    let selection = &json["sections"][0]["selection"];
    assert_eq!(selection["cases"], 40);
    assert!(selection["scenarios"].as_array().expect("a list").iter().all(|part| part["judged"] == 0));
    assert_eq!(
        (&selection["left_out"][0]["scenario"], &selection["left_out"][0]["cases"]),
        (&"cross_file".into(), &60.into())
    );
}

#[test]
fn totals_over_judged_cases_only_mention_the_judge() {
    let summary = cross_file(20).report().summary();
    assert_eq!(summary.sections[0].selection.scenarios[0].judged, 20);
    assert!(
        table(&summary, &[], WIDE, &[])
            .contains("In totals: 20 cases: cross_file 20 (20 selected by a judge).")
    );
}

#[test]
fn every_table_and_plot_states_its_cases() {
    let fixture = mixed();
    let summary = fixture.report().summary();
    let text = table(&summary, &[], WIDE, &[]);
    let left_out = "In no total: cross_file 60 (no random sample, so no rank";
    // By language and overall.
    assert_eq!(mined(&text).matches(left_out).count(), 2, "{text}");
    assert_eq!(mined(&text).matches("All 100 cases, 60 of which are in no total.").count(), 1, "{text}");
    assert!(mined(&text).contains(" from 15 files that all of them answered."), "{text}");

    let markdown = report::markdown(&summary);
    for header in ["|  | engine |", "| language | engine |"] {
        let (before, _) = mined(&markdown).split_once(header).expect(header);
        let caption = before.trim_end().lines().last().unwrap_or_default();
        assert!(caption.contains("In no total: cross\\_file 60"), "{header} below {caption}");
    }

    let page = fixture.html_of(&summary);
    let page = mined(&page);
    let captions = page.split("<figcaption>").skip(1);
    let captions: Vec<&str> =
        captions.map(|rest| rest.split_once("</figcaption>").expect("an end").0).collect();
    let (compared, distributions) = captions.split_at(2);
    let shared =
        format!("on {} cases from 15 files that all engines answered", summary.sections[0].verdict.cases);
    assert!(compared.iter().all(|caption| caption.contains(&shared)), "{compared:?}");
    assert_eq!(distributions.len(), 2);
    for caption in distributions {
        assert!(caption.contains("In totals: 40 cases") && caption.contains("cross_file 60"), "{caption}");
    }
    // Scoreboard, difference, by language, and two plots.
    assert_eq!(page.matches(left_out).count(), 5);
    let (_, plot) = page.split_once("<figcaption>Edit similarity").expect("a plot");
    let answers = plot.split(" answers<").next().and_then(|text| text.rsplit('>').next()).expect("a count");
    assert!(answers.parse::<usize>().is_ok_and(|answers| answers <= 40), "{answers}");
}

#[test]
fn numbers_with_cases_of_another_tree_are_marked() {
    let mut fixture = mixed();
    for case in fixture.cases.iter_mut().take(10) {
        case.origin.tree_hash = "another".to_owned();
    }
    let summary = fixture.report().summary();
    let json: Value = serde_json::from_str(&report::json(&summary)).expect("json");
    let section = &json["sections"][0];
    assert_eq!(section["other_tree"], 10);
    assert_eq!(section["overall"]["lines"][0]["metrics"]["other_tree"]["num"], 10.0);
    let differences = section["differences"].as_array().expect("a list");
    assert!(
        !differences.is_empty()
            && differences.iter().all(|row| row["other_tree"].as_u64().is_some_and(|n| n > 0))
    );
    assert!(section["contexts"].as_array().expect("a list").iter().all(|row| row["other_tree"] == 0));

    let meaning = "†: 10 of 100 cases were cut from another tree than the workspace that engines could read.";
    let text = table(&summary, &[], WIDE, &[]);
    // By scenario, by language, overall, and the effect of context.
    assert_eq!(mined(&text).matches(meaning).count(), 4, "{text}");
    assert!(mined(&text).contains("†; undecided") || mined(&text).contains("†; better"), "{text}");
    let (_, overall) = text.split_once("\noverall\n").expect("a table");
    assert!(overall.lines().skip(1).take(2).all(|line| line.contains(" 40† ")), "{overall}");
    let ascii = table(&summary, &[], Style { unicode: false, ..WIDE }, &[]);
    assert!(ascii.is_ascii() && ascii.contains(" 40! ") && ascii.contains("!: 10 of 100 cases"), "{ascii}");
    let markdown = report::markdown(&summary);
    assert_eq!(mined(&markdown).matches(meaning).count(), 4, "{markdown}");
    assert!(markdown.contains("| all | builtin | 40† |"), "{markdown}");
    let page = fixture.html_of(&summary);
    // Scoreboard, difference, by language, context, the matrix, and two plots.
    assert_eq!(mined(&page).matches(meaning).count(), 7);
    assert!(
        page.contains("<td class=\"num\">40†</td>") && page.contains("† answers<") && page.contains("† + ")
    );
    // Scores of cases from the workspace itself have no mark.
    let own = report::markdown(&mixed().report().summary());
    assert!(!own.contains('†'));
}

#[test]
fn judge_is_not_matched_by_kind_and_model() {
    let mut fixture = cross_file(20);
    // Two servers whose models have the same placeholder as name.
    for config in &mut fixture.run.engines {
        config.engine.kind = "openai".to_owned();
        config.engine.model = "default".to_owned();
    }
    let summary = fixture.report().summary();
    let in_file = summary.sections[0]
        .scenarios
        .iter()
        .find(|group| group.scenario.is_some_and(|scenario| scenario.to_string() == "cross_file/in_file"));
    let marks: Vec<bool> =
        in_file.expect("a group").lines.iter().map(|line| line.is_selected_against).collect();
    assert_eq!(marks, [true, false]);
}

#[test]
fn no_copies_variant_is_recognized_by_engine_name() {
    let mut fixture = fixture(40);
    for (config, hides) in fixture.run.engines.iter_mut().zip(["false", "true"]) {
        config.engine.kind = "openai".to_owned();
        config.engine.model = "default".to_owned();
        config.settings.insert("hide_near_duplicates".to_owned(), hides.to_owned());
    }
    let text = table(&fixture.report().summary(), &[], WIDE, &[]);
    let (details, _) = text.split_once("\noverall\n").expect("totals");
    assert!(details.contains("qwen"), "an engine of its own, in the tables by scenario too: {details}");
    assert!(!text.contains("answered those cases without"), "{text}");
}
