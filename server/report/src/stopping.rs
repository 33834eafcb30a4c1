//! Rows of the tables of stopping, for all renderers. The cells come from `scoring`; this module computes nothing.

use cases::Metric;
use scoring::MetricCell;
use scoring::run_summary::{EngineLine, ReportSection};

use crate::format;

/// One kind of text of an engine's answers.
pub(crate) struct StoppingRow<'a> {
    /// Index into the summary's engines.
    pub(crate) engine: usize,
    /// In the order of [`COUNTS`].
    pub(crate) counts: [String; 7],
    /// Answers that stop with the truth, among those that begin with all of it.
    pub(crate) stopping: Option<&'a MetricCell>,
}

/// Titles of [`StoppingRow::counts`].
pub(crate) const COUNTS: [&str; 7] = ["text", "right so far", "short", "whole", "stops", "goes on", "cut"];

/// Meaning of the titles.
pub(crate) const CAPTION: &str = "Right so far: answers without a wrong token up to their own end or the truth's. Short: those of them that end \
    before the truth. Whole: those that begin with the whole truth; they stop there, go on, or are cut there (reading ended before the \
    engine did). Stopping: stops/whole. raw: the engine's own text; shown: the same after cleaning. White space and comments do not count, nor do \
    failures, late answers, and cases with nothing to write.";

/// The metrics of one kind of text: its name, stopping, continuing, cut, stopping short.
type Metrics = (&'static str, Metric, Metric, Option<Metric>, Metric);

const RAW: Metrics =
    ("raw", Metric::RawStopping, Metric::RawGoesOn, Some(Metric::RawCut), Metric::RawStopsShort);
const SHOWN: Metrics = ("shown", Metric::Stopping, Metric::GoesOn, None, Metric::StopsShort);

/// Returns two rows for each engine with an answer that is right so far.
pub(crate) fn rows(section: &ReportSection) -> Vec<StoppingRow<'_>> {
    let lines = section.overall.lines.iter();
    lines.flat_map(|line| [RAW, SHOWN].into_iter().filter_map(|metrics| row(line, metrics))).collect()
}

fn row(line: &EngineLine, (text, stopping, goes_on, cut, short): Metrics) -> Option<StoppingRow<'_>> {
    let cell = |metric: Metric| line.metrics.get(&metric);
    let short = cell(short)?;
    let number =
        |cell: Option<&MetricCell>| cell.map_or_else(|| "0".to_owned(), |cell| format::one_decimal(cell.num));
    let stopping = cell(stopping);
    let whole = stopping.map_or_else(|| "0".to_owned(), |cell| format::one_decimal(cell.den));
    let cut = cut.map_or_else(|| "-".to_owned(), |cut| number(cell(cut)));
    let counts = [
        text.to_owned(),
        format::one_decimal(short.den),
        format::one_decimal(short.num),
        whole,
        number(stopping),
        number(cell(goes_on)),
        cut,
    ];
    Some(StoppingRow { engine: line.engine, counts, stopping })
}
