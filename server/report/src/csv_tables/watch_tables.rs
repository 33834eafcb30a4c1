//! The tables of a watched suite: a row for each engine of each night, and the failures by reason.

use cases::{WatchedEngine, WatchedNight, WatchedShift};

use super::CsvTable;
use super::cells::{Row, name_of, row, table};

/// Returns the tables of a history. Tables without rows have a header.
pub fn watch_csv_tables(nights: &[WatchedNight]) -> Vec<CsvTable> {
    vec![night_table(nights), failure_table(nights)]
}

fn night_table(nights: &[WatchedNight]) -> CsvTable {
    let header = [
        "run",
        "time",
        "metric",
        "engine",
        "fingerprint",
        "answers",
        "failed",
        "value",
        "since",
        "change",
        "change_first",
        "score_before",
        "score_after",
        "score_p",
        "text_before",
        "text_after",
        "text_p",
    ];
    let rows = nights.iter().flat_map(|night| {
        night.engines.iter().map(move |engine| {
            let mut row = row![night.run.as_str(), night.time.as_str(), name_of(&night.metric)];
            row.extend(row![engine.name.as_str(), engine.fingerprint.as_str(), engine.answers]);
            row.extend(row![engine.failed, engine.value, run_of(nights, engine.since)]);
            row.extend(change(nights, engine));
            row
        })
    });
    table("nights.csv", &header, rows)
}

/// Returns the run of a night of the history.
fn run_of(nights: &[WatchedNight], night: usize) -> Option<&str> {
    nights.get(night).map(|night| night.run.as_str())
}

fn change(nights: &[WatchedNight], engine: &WatchedEngine) -> Row {
    let change = engine.change.as_ref();
    let mut row = row![
        change.map(|change| name_of(&change.kind)),
        change.and_then(|change| run_of(nights, change.first))
    ];
    for shift in [change.and_then(|change| change.score.as_ref()), change.and_then(|it| it.text.as_ref())] {
        let of = |value: fn(&WatchedShift) -> f64| shift.map(value);
        row.extend(row![of(|shift| shift.before), of(|shift| shift.after), of(|shift| shift.p)]);
    }
    row
}

fn failure_table(nights: &[WatchedNight]) -> CsvTable {
    let rows = nights.iter().flat_map(|night| {
        night.engines.iter().flat_map(move |engine| {
            engine.failures.iter().map(move |failure| {
                let mut row = row![night.run.as_str(), night.time.as_str(), engine.name.as_str()];
                row.extend(row![failure.status.name(), failure.reason.as_deref(), failure.count]);
                row
            })
        })
    });
    table("night_failures.csv", &["run", "time", "engine", "status", "reason", "count"], rows)
}
