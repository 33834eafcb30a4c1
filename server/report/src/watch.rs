//! Renders the history of a watched suite: one line per engine, and the changes in the order of their reports. The page with the
//! curves is in `html`.

use cases::{ChangeKind, SchemaVersion, WatchedChange, WatchedEngine, WatchedNight, WatchedShift};
use scoring::change_points::ALARMS_PER_YEAR;
use serde::Serialize;

use crate::failures::{failure_text, reason_of_engine};
use crate::format::{self, Alphabet};
use crate::markdown::escaped;
use crate::terminal::{Style, TextTable, dim_note, with_title, wrapped};

/// The history in `--json`.
#[derive(Serialize)]
struct HistoryJson<'a> {
    schema: SchemaVersion,
    alarms_per_year: f64,
    nights: &'a [WatchedNight],
    unfinished: &'a [String],
}

/// Returns the history as JSON, indented and ending in a line end: everything that a plot over time needs.
pub fn json(nights: &[WatchedNight], unfinished: &[String]) -> String {
    let history =
        HistoryJson { schema: SchemaVersion::CURRENT, alarms_per_year: ALARMS_PER_YEAR, nights, unfinished };
    serde_json::to_string_pretty(&history).expect("a history has string keys") + "\n"
}

/// Columns of the table of engines.
const ENGINES: [&str; 7] =
    ["engine", "last night", "nights", "answers", "failed", "score", "unchanged since"];

/// Renders the history for the terminal. `unfinished` are the runs without a row.
pub fn table(nights: &[WatchedNight], unfinished: &[String], style: Style) -> String {
    let mut parts = Vec::new();
    if let Some(last) = nights.last() {
        let title = format!("{}, by {}", format::count_of(nights.len(), "night"), last.metric);
        let sheet = TextTable { header: &ENGINES, words: 2, dispensable: &[3, 2], rows: engine_rows(nights) };
        parts.push(with_title(&title, &sheet.draw(style), style));
    } else {
        parts.push("No nights yet.".to_owned());
    }
    let changes = change_texts(nights);
    if !changes.is_empty() {
        let lines: Vec<String> = changes.iter().map(|change| format!("  {change}")).collect();
        parts.push(with_title("changes", &lines.join("\n"), style));
    }
    if let Some((title, failures)) = failures_of_last_night(nights, style.alphabet()) {
        let width = style.width.saturating_sub(4);
        let lines: Vec<String> =
            failures.iter().map(|failure| format!("  {}", wrapped(failure, width, "    "))).collect();
        parts.push(with_title(&title, &lines.join("\n"), style));
    }
    parts.extend(notes(nights, unfinished).iter().map(|note| dim_note(note, style)));
    parts.join("\n\n") + "\n"
}

/// Renders the history as Markdown.
pub fn markdown(nights: &[WatchedNight], unfinished: &[String]) -> String {
    let mut parts = Vec::new();
    let mut lines = vec![format!("| {} |", ENGINES.join(" | ")), "|---|---|--:|--:|--:|--:|---|".to_owned()];
    let row = |cells: &Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("| {} |", cells.join(" | "))
    };
    lines.extend(engine_rows(nights).iter().map(row));
    parts.push(lines.join("\n"));
    let changes = change_texts(nights);
    let changes: Vec<String> = changes.iter().map(|change| format!("- {}", escaped(change))).collect();
    parts.extend((!changes.is_empty()).then(|| changes.join("\n")));
    if let Some((title, failures)) = failures_of_last_night(nights, Alphabet::Unicode) {
        let lines = failures.iter().map(|failure| format!("- {}", escaped(failure)));
        parts.push(format!("**{}**", escaped(&title)));
        parts.push(lines.collect::<Vec<_>>().join("\n"));
    }
    parts.extend(notes(nights, unfinished).iter().map(|note| escaped(note)));
    parts.join("\n\n") + "\n"
}

/// Returns the name of every engine that was ever watched, in the order of their first nights.
pub(crate) fn engine_names(nights: &[WatchedNight]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for engine in nights.iter().flat_map(|night| &night.engines) {
        if !names.contains(&&*engine.name) {
            names.push(&engine.name);
        }
    }
    names
}

fn engine_rows(nights: &[WatchedNight]) -> Vec<Vec<String>> {
    engine_names(nights).into_iter().filter_map(|name| engine_row(nights, name)).collect()
}

fn engine_row(nights: &[WatchedNight], name: &str) -> Option<Vec<String>> {
    let own = || {
        nights
            .iter()
            .filter_map(|night| Some((night, night.engines.iter().find(|engine| engine.name == name)?)))
    };
    let (night, engine) = own().next_back()?;
    let since = nights.get(engine.since).map_or(night.time.as_str(), |since| &since.time);
    Some(vec![
        format::escape_invisible(name),
        day(&night.time).to_owned(),
        own().count().to_string(),
        engine.answers.to_string(),
        engine.failed.to_string(),
        engine.value.map_or_else(String::new, format::percent),
        day(since).to_owned(),
    ])
}

/// Returns the day of an RFC 3339 time.
pub(crate) fn day(time: &str) -> &str {
    time.split('T').next().unwrap_or_default()
}

/// Returns one sentence per change, in the order of their reports.
pub(crate) fn change_texts(nights: &[WatchedNight]) -> Vec<String> {
    let of_night = |night: &WatchedNight| -> Vec<String> {
        let changes = night.engines.iter().filter_map(|engine| Some((&engine.name, engine.change.as_ref()?)));
        changes.map(|(name, change)| change_text(nights, night, name, change)).collect()
    };
    nights.iter().flat_map(of_night).collect()
}

fn change_text(nights: &[WatchedNight], night: &WatchedNight, name: &str, change: &WatchedChange) -> String {
    let first = nights.get(change.first).map_or(night.time.as_str(), |first| &first.time);
    let reported = match day(first) == day(&night.time) {
        true => String::new(),
        false => format!(", reported on {}", day(&night.time)),
    };
    let what = match change.kind {
        ChangeKind::Settings => "its settings or the version of Ghostbench changed".to_owned(),
        ChangeKind::Workspace => {
            "the workspace changed; its answers are not compared with earlier ones".to_owned()
        }
        ChangeKind::Answers => {
            let shift = |label: &str, shift: &Option<WatchedShift>| {
                shift.as_ref().map(|WatchedShift { before, after, p }| {
                    let [before, after] = [*before, *after].map(format::percent);
                    format!("{label} {before} to {after} % (p at most {p:.1e})")
                })
            };
            let shifts = [shift("score", &change.score), shift("unusual answers", &change.text)];
            format!("its answers changed: {}", shifts.into_iter().flatten().collect::<Vec<_>>().join(", "))
        }
    };
    format!("{} {}: {what}{reported}", day(first), format::escape_invisible(name))
}

/// Returns a title and a line for each reason of failed requests of the last night; `None` without any.
pub(crate) fn failures_of_last_night(
    nights: &[WatchedNight],
    alphabet: Alphabet,
) -> Option<(String, Vec<String>)> {
    let last = nights.last()?;
    let lines: Vec<String> = last.engines.iter().flat_map(|engine| failure_lines(engine, alphabet)).collect();
    let title = format!("failed requests on {}", format::escape_invisible(day(&last.time)));
    (!lines.is_empty()).then_some((title, lines))
}

fn failure_lines(engine: &WatchedEngine, alphabet: Alphabet) -> impl Iterator<Item = String> {
    engine.failures.iter().map(move |failure| {
        let text = failure_text(failure.status, failure.reason.as_deref());
        let (count, all) = (failure.count, format::count_of(engine.answers, "answer"));
        let text = reason_of_engine(&engine.name, text, alphabet);
        format::escape_invisible(&format!("{}: {count} of {all}: {text}", engine.name))
    })
}

pub(crate) fn notes(nights: &[WatchedNight], unfinished: &[String]) -> Vec<String> {
    let goes_back = nights.windows(2).any(|pair| pair[1].time < pair[0].time);
    let clock =
        "The clock went backwards between two nights: they are ordered by their runs, not by their times.";
    let left_out = format!("Interrupted nights, left out: {}.", unfinished.join(", "));
    let rate = format!(
        "A constant engine causes at most {ALARMS_PER_YEAR} false alarms in 365 nights. Unusual answers: those whose text is not the most \
         frequent one of their case."
    );
    let notes =
        [goes_back.then(|| clock.to_owned()), (!unfinished.is_empty()).then_some(left_out), Some(rate)];
    notes.into_iter().flatten().collect()
}
