//! Rows of the scoreboard.

use cases::Metric;
use serde::Serialize;

use crate::format::{self, Alphabet};
use crate::stopping::{self, StoppingRow};
use scoring::run_summary::{CaseGroup, ContextEffect, EngineDifference, EngineLine, ReportSection};
use scoring::{Latency, MetricCell, PairedDifference};

/// Metrics of cases with a non-empty truth.
const CONTEXT_SHARES: [Metric; 3] = [Metric::ExactMatch, Metric::TokenExact, Metric::EditSimilarity];

/// Width of a whisker's axis in drawing units; `marks.html` leaves 5 on either side.
const AXIS_WIDTH: f64 = 90.0;
const AXIS_START: f64 = 5.0;

/// A named group of cases, for example a language.
#[derive(Serialize)]
pub(super) struct NamedRows {
    name: String,
    rows: Vec<BoardRow>,
}

/// One engine's numbers.
#[derive(Serialize)]
pub(super) struct BoardRow {
    engine: usize,
    cases: String,
    shares: Vec<ShareCell>,
    silent: String,
    gated: String,
    failed: String,
    late: String,
    p50: String,
    p95: String,
    timeouts: usize,
}

/// One engine compared with another, below the rows of the engines and in their columns.
#[derive(Serialize)]
pub(super) struct DifferenceRow {
    engine: usize,
    baseline: usize,
    cases: String,
    shares: Vec<ShareCell>,
}

/// An engine with context compared with the same engine without, in the columns of the engines.
#[derive(Serialize)]
pub(super) struct ContextRow {
    title: String,
    engine: usize,
    holes: String,
    shares: Vec<ShareCell>,
}

/// Stopping of one kind of text of an engine's answers.
#[derive(Serialize)]
pub(super) struct StoppingView {
    engine: usize,
    counts: [String; 7],
    stopping: ShareCell,
}

/// A metric, or a difference of one, as number, interval and drawing.
#[derive(Default, Serialize)]
pub(super) struct ShareCell {
    /// Percent, counts if there are too few cases, or a dash if the metric does not apply.
    text: String,
    few: bool,
    interval: Option<String>,
    cases: usize,
    /// Details of a difference.
    remark: Option<String>,
    /// Position of the value on the axis.
    x: Option<String>,
    low: Option<String>,
    high: Option<String>,
    /// The value, to sort by.
    value: Option<f64>,
}

/// Returns the rows of a group in the order of the engines.
pub(super) fn rows(group: &CaseGroup, columns: &[Metric], order: &[usize]) -> Vec<BoardRow> {
    let line = |engine: &usize| group.lines.iter().find(|line| line.engine == *engine);
    order.iter().filter_map(line).map(|line| row(line, columns)).collect()
}

/// Returns the rows of a group under its name.
pub(super) fn named_rows(name: &str, group: &CaseGroup, columns: &[Metric], order: &[usize]) -> NamedRows {
    NamedRows { name: format::escape_invisible(name), rows: rows(group, columns, order) }
}

/// Returns the rows of the table of stopping.
pub(super) fn stopping(section: &ReportSection) -> Vec<StoppingView> {
    let view =
        |StoppingRow { engine, counts, stopping }| StoppingView { engine, counts, stopping: share(stopping) };
    stopping::rows(section).into_iter().map(view).collect()
}

fn row(line: &EngineLine, columns: &[Metric]) -> BoardRow {
    let percentile = |of: fn(&Latency) -> f64| {
        line.latency.as_ref().map_or_else(|| "–".to_owned(), |it| format::milliseconds(of(it)))
    };
    BoardRow {
        engine: line.engine,
        cases: format::cases(line.cases, line.is_from_other_tree(), Alphabet::Unicode),
        shares: columns.iter().map(|metric| share(line.metrics.get(metric))).collect(),
        silent: format::status_count(line, Metric::Silent),
        gated: format::status_count(line, Metric::Gated),
        failed: format::status_count(line, Metric::Failed),
        late: format::status_count(line, Metric::Late),
        p50: percentile(|latency| latency.p50),
        p95: percentile(|latency| latency.p95),
        timeouts: line.latency.map_or(0, |latency| latency.timeouts),
    }
}

/// Returns the differences by pair of engines.
pub(super) fn differences(differences: &[EngineDifference], columns: &[Metric]) -> Vec<DifferenceRow> {
    let pairs = differences.chunk_by(|left, right| left.engine == right.engine);
    pairs.filter_map(|pair| difference_row(pair, columns)).collect()
}

fn difference_row(pair: &[EngineDifference], columns: &[Metric]) -> Option<DifferenceRow> {
    let first = pair.first()?;
    let of = |metric: Metric| pair.iter().find(|difference| difference.metric == metric);
    let shares = columns
        .iter()
        .map(|&metric| of(metric).map_or_else(empty_share, |it| difference(it.cases, &it.difference)))
        .collect();
    let most = pair.iter().max_by_key(|difference| difference.cases).unwrap_or(first);
    let cases = format::cases(most.cases, most.difference.other_tree > 0, Alphabet::Unicode);
    Some(DifferenceRow { engine: first.engine, baseline: first.baseline, cases, shares })
}

/// Returns the effects of context by engine, names and variant.
pub(super) fn contexts(effects: &[ContextEffect]) -> Vec<ContextRow> {
    let key = |effect: &ContextEffect| (effect.engine, effect.is_resolved, effect.variant);
    effects.chunk_by(|left, right| key(left) == key(right)).filter_map(context_row).collect()
}

fn context_row(effects: &[ContextEffect]) -> Option<ContextRow> {
    let first = effects.first()?;
    let of = |metric: Metric| effects.iter().find(|effect| effect.metric == metric);
    let shares = CONTEXT_SHARES
        .into_iter()
        .map(|metric| {
            of(metric).map_or_else(empty_share, |effect| difference(effect.holes, &effect.difference))
        })
        .collect();
    let holes = format::cases(first.holes, first.difference.other_tree > 0, Alphabet::Unicode);
    Some(ContextRow { title: format::effect_title(first), engine: first.engine, holes, shares })
}

fn difference(cases: usize, difference: &PairedDifference) -> ShareCell {
    let PairedDifference { better, worse, .. } = *difference;
    let remark = format!("better in {better}, worse in {worse} of {}", format::count_of(cases, "case"));
    ShareCell {
        text: difference.value.map_or_else(|| format!("+{better} -{worse}"), format::signed_percent),
        few: difference.value.is_none(),
        interval: difference.interval.map(format::signed_interval),
        cases,
        remark: Some(remark),
        value: difference.value,
        x: difference.value.map(on_signed_axis),
        low: difference.interval.map(|interval| on_signed_axis(interval.low)),
        high: difference.interval.map(|interval| on_signed_axis(interval.high)),
    }
}

pub(super) fn share(cell: Option<&MetricCell>) -> ShareCell {
    cell.map_or_else(empty_share, |cell| ShareCell {
        text: cell.value.map_or_else(|| format::counts(cell), format::percent),
        few: cell.value.is_none(),
        interval: cell.interval.map(|interval| format::interval(interval, Alphabet::Unicode)),
        cases: cell.cases,
        remark: None,
        value: cell.value,
        x: cell.value.map(on_axis),
        low: cell.interval.map(|interval| on_axis(interval.low)),
        high: cell.interval.map(|interval| on_axis(interval.high)),
    })
}

fn empty_share() -> ShareCell {
    ShareCell { text: "–".to_owned(), few: true, ..ShareCell::default() }
}

fn on_axis(share: f64) -> String {
    format!("{:.1}", AXIS_START + share.clamp(0.0, 1.0) * AXIS_WIDTH)
}

/// Returns the position of a difference from -1 to 1 on the same axis, with 0 at its middle tick.
fn on_signed_axis(difference: f64) -> String {
    on_axis((difference + 1.0) / 2.0)
}
