//! Rows of the scoreboard.

use scoring::metric::{EDIT_SIMILARITY, EXACT_MATCH, RESTRAINT, TOKEN_EXACT};
use serde::Serialize;

use crate::format::{self, Alphabet};
use crate::summary::{Cell, FAILED, GATED, Group, Latency, Line, SILENT};

/// Metrics of a row, in the order of the table's header.
const SHARES: [&str; 4] = [EXACT_MATCH, TOKEN_EXACT, EDIT_SIMILARITY, RESTRAINT];

/// Width of the axis of a whisker, in the units of its drawing; `marks.html` leaves 5 on either side.
const AXIS_WIDTH: f64 = 108.0;
const AXIS_START: f64 = 5.0;

/// A group of cases with a name, such as a language.
#[derive(Serialize)]
pub(super) struct Part {
    name: String,
    rows: Vec<Row>,
}

/// One engine's numbers.
#[derive(Serialize)]
pub(super) struct Row {
    engine: usize,
    cases: usize,
    shares: Vec<Share>,
    silent: String,
    gated: String,
    failed: String,
    p50: String,
    p90: String,
    timeouts: usize,
}

/// A metric as number, interval and drawing.
#[derive(Serialize)]
pub(super) struct Share {
    /// Percent, counts where there are too few cases, or nothing where the metric does not apply.
    text: String,
    few: bool,
    interval: Option<String>,
    cases: usize,
    /// Where the value stands on the axis.
    x: Option<String>,
    low: Option<String>,
    high: Option<String>,
}

pub(super) fn rows(group: &Group) -> Vec<Row> {
    group.lines.iter().map(row).collect()
}

pub(super) fn part(group: &Group) -> Part {
    Part { name: format::visible(group.language.as_deref().unwrap_or_default()), rows: rows(group) }
}

fn row(line: &Line) -> Row {
    let percentile = |of: fn(&Latency) -> f64| {
        line.latency.as_ref().map_or_else(|| "–".to_owned(), |it| format::milliseconds(of(it)))
    };
    Row {
        engine: line.engine,
        cases: line.cases,
        shares: SHARES.iter().map(|name| share(line.metrics.get(*name))).collect(),
        silent: format::status_count(line, SILENT),
        gated: format::status_count(line, GATED),
        failed: format::status_count(line, FAILED),
        p50: percentile(|latency| latency.p50),
        p90: percentile(|latency| latency.p90),
        timeouts: line.latency.map_or(0, |latency| latency.timeouts),
    }
}

pub(super) fn share(cell: Option<&Cell>) -> Share {
    let Some(cell) = cell else {
        return Share {
            text: "–".to_owned(),
            few: true,
            interval: None,
            cases: 0,
            x: None,
            low: None,
            high: None,
        };
    };
    let interval = cell.interval;
    Share {
        text: cell.value.map_or_else(|| format::counts(cell), format::percent),
        few: cell.value.is_none(),
        interval: interval.map(|interval| format::interval(interval, Alphabet::Unicode)),
        cases: cell.cases,
        x: cell.value.map(on_axis),
        low: interval.map(|interval| on_axis(interval.low)),
        high: interval.map(|interval| on_axis(interval.high)),
    }
}

fn on_axis(share: f64) -> String {
    format!("{:.1}", AXIS_START + share.clamp(0.0, 1.0) * AXIS_WIDTH)
}
