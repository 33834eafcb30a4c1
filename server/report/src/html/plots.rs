//! Layout of histograms of the answers: positions of bars, ticks and quantiles. `plots.html` draws them.

use scoring::run_summary::distributions::{
    BINS_PER_DECADE, Distribution, SIMILARITY_BINS, bin_of_ms, bin_start_ms,
};
use scoring::run_summary::{EngineLine, ReportSection};
use scoring::{Latency, RunSummary};
use serde::Serialize;

use crate::format::{self, Alphabet};

/// Drawing units, about one CSS pixel each.
const WIDTH: f64 = 600.0;
const LEFT: f64 = 132.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 8.0;
const AXIS_HEIGHT: f64 = 34.0;
const ROW_HEIGHT: f64 = 74.0;
/// Free space of a row above its highest bar.
const ROW_GAP: f64 = 16.0;
const NAME_WIDTH: usize = 16;

#[derive(Serialize)]
pub(super) struct Plot {
    width: f64,
    height: f64,
    /// Position of the axis.
    baseline: f64,
    left: f64,
    right: f64,
    rows: Vec<PlotRow>,
    ticks: Vec<Tick>,
}

#[derive(Serialize)]
struct PlotRow {
    engine: usize,
    name: String,
    about: String,
    /// Position of the bars' base.
    base: f64,
    bars: Vec<Bar>,
    quantiles: Vec<Quantile>,
}

#[derive(Serialize)]
struct Bar {
    x: String,
    y: String,
    width: String,
    height: String,
    title: String,
}

#[derive(Serialize)]
struct Tick {
    x: String,
    label: String,
}

#[derive(Serialize)]
struct Quantile {
    x: String,
    top: f64,
    label: String,
}

/// A histogram's axis: number of bins, ends of each bin, and names of the ends.
struct Axis {
    bins: usize,
    /// Returns the names of a bin's two ends.
    name: fn(usize) -> String,
    unit: &'static str,
}

/// One engine's bars before layout.
struct Series<'a> {
    distribution: &'a Distribution,
    about: String,
    quantiles: Vec<(f64, String)>,
}

/// Plots the similarity of the answers to the truth.
pub(super) fn similarity(
    distributions: &[Distribution],
    summary: &RunSummary,
    section: &ReportSection,
) -> Plot {
    let axis =
        Axis { bins: SIMILARITY_BINS, name: |bin| (bin * 100 / SIMILARITY_BINS).to_string(), unit: "%" };
    let series = with_lines(distributions, section).map(|(distribution, line)| Series {
        distribution,
        about: answer_count(distribution, line),
        quantiles: Vec::new(),
    });
    let ticks = (0..=5).map(|tick| tick * SIMILARITY_BINS / 5);
    plot(&axis, summary, series.collect(), ticks)
}

/// Plots the latency of the answers on a logarithmic axis.
pub(super) fn latency(distributions: &[Distribution], summary: &RunSummary, section: &ReportSection) -> Plot {
    let bins = distributions.first().map_or(BINS_PER_DECADE, |distribution| distribution.counts.len());
    let axis = Axis { bins, name: |bin| format::milliseconds(bin_start_ms(bin)), unit: "ms" };
    let series = with_lines(distributions, section).map(|(distribution, line)| Series {
        distribution,
        about: with_timeouts(distribution, line),
        quantiles: line.latency.iter().flat_map(latency_quantiles).collect(),
    });
    plot(&axis, summary, series.collect(), (0..=bins).step_by(BINS_PER_DECADE))
}

/// Returns the distributions with the lines of their engines.
fn with_lines<'a>(
    distributions: &'a [Distribution],
    section: &'a ReportSection,
) -> impl Iterator<Item = (&'a Distribution, &'a EngineLine)> {
    distributions.iter().zip(&section.overall.lines)
}

/// Returns the positions of the summary's percentiles. A percentile that is a timeout has none.
fn latency_quantiles(latency: &Latency) -> impl Iterator<Item = (f64, String)> + use<> {
    let named = [(latency.p50, "median"), (latency.p95, "p95")].into_iter().filter(|(ms, _)| ms.is_finite());
    named.map(|(ms, name)| (bin_of_ms(ms), format!("{name} {}", format::milliseconds(ms))))
}

fn with_timeouts(distribution: &Distribution, line: &EngineLine) -> String {
    match line.latency.map_or(0, |latency| latency.timeouts) {
        0 => answer_count(distribution, line),
        timeouts => {
            let answers = format::cases(distribution.answers, line.is_from_other_tree(), Alphabet::Unicode);
            format!("{answers} + {timeouts} timed out")
        }
    }
}

fn answer_count(distribution: &Distribution, line: &EngineLine) -> String {
    let answers = distribution.answers;
    let plural = if answers == 1 { "" } else { "s" };
    format!("{} answer{plural}", format::cases(answers, line.is_from_other_tree(), Alphabet::Unicode))
}

fn plot(
    axis: &Axis,
    summary: &RunSummary,
    series: Vec<Series<'_>>,
    ticks: impl Iterator<Item = usize>,
) -> Plot {
    let step = (WIDTH - LEFT - RIGHT) / axis.bins as f64;
    let highest =
        series.iter().flat_map(|series| &series.distribution.counts).copied().max().unwrap_or(0).max(1);
    let baseline = TOP + ROW_HEIGHT * series.len() as f64;
    let rows = series.into_iter().enumerate().map(|(index, series)| {
        let base = TOP + ROW_HEIGHT * (index + 1) as f64;
        let name = summary.engines.get(series.distribution.engine).map_or("", |engine| engine.name.as_str());
        PlotRow {
            engine: series.distribution.engine,
            name: format::clipped(&format::escape_invisible(name), NAME_WIDTH, Alphabet::Unicode),
            about: series.about,
            base,
            bars: bars(axis, &series.distribution.counts, base, step, highest),
            quantiles: quantiles(series.quantiles, base, step),
        }
    });
    Plot {
        width: WIDTH,
        height: baseline + AXIS_HEIGHT,
        baseline,
        left: LEFT,
        right: WIDTH - RIGHT,
        rows: rows.collect(),
        ticks: ticks.map(|bin| Tick { x: unit(LEFT + step * bin as f64), label: (axis.name)(bin) }).collect(),
    }
}

fn bars(axis: &Axis, counts: &[usize], base: f64, step: f64, highest: usize) -> Vec<Bar> {
    let bar = |(bin, &count): (usize, &usize)| {
        let height = (ROW_HEIGHT - ROW_GAP) * count as f64 / highest as f64;
        let (from, to) = ((axis.name)(bin), (axis.name)(bin + 1));
        Bar {
            x: unit(LEFT + step * bin as f64 + 0.5),
            y: unit(base - height),
            width: unit(step - 1.0),
            height: unit(height),
            title: format!("{from}–{to} {}: {}", axis.unit, format::count_of(count, "answer")),
        }
    };
    counts.iter().enumerate().filter(|(_, count)| **count > 0).map(bar).collect()
}

fn quantiles(positions: Vec<(f64, String)>, base: f64, step: f64) -> Vec<Quantile> {
    let quantile = |(bin, label): (f64, String)| Quantile {
        x: unit(LEFT + step * bin),
        top: base - ROW_HEIGHT + ROW_GAP,
        label,
    };
    positions.into_iter().map(quantile).collect()
}

fn unit(length: f64) -> String {
    format!("{length:.1}")
}
