//! Layout of histograms of the answers, one per engine: positions of bars, ticks and quantiles. `plots.html` draws them.

use scoring::Latency;
use scoring::run_summary::distributions::{
    BINS_PER_DECADE, Distribution, SIMILARITY_BINS, bin_of_ms, bin_start_ms,
};
use scoring::run_summary::{EngineLine, ReportSection};
use serde::Serialize;

use crate::format::{self, Alphabet};

/// Drawing units, about one CSS pixel each.
const WIDTH: f64 = 260.0;
const LEFT: f64 = 6.0;
const RIGHT: f64 = 10.0;
/// Position of the axis; above it are the bars, and free space for the names of quantiles.
const BASE: f64 = 70.0;
const HEIGHT: f64 = 88.0;
const HIGHEST_BAR: f64 = 52.0;

/// One histogram per engine, all on the same axes.
#[derive(Serialize)]
pub(super) struct Plot {
    width: f64,
    height: f64,
    /// Position of the axis.
    base: f64,
    left: f64,
    right: f64,
    ticks: Vec<Tick>,
    panels: Vec<Panel>,
}

#[derive(Serialize)]
struct Panel {
    engine: usize,
    about: String,
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
pub(super) struct Tick {
    pub(super) x: String,
    pub(super) label: String,
}

#[derive(Serialize)]
struct Quantile {
    x: String,
    top: f64,
    label: String,
    /// Whether its name is left of the line.
    is_left: bool,
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
pub(super) fn similarity(distributions: &[Distribution], section: &ReportSection, order: &[usize]) -> Plot {
    let axis =
        Axis { bins: SIMILARITY_BINS, name: |bin| (bin * 100 / SIMILARITY_BINS).to_string(), unit: "%" };
    let series = in_order(distributions, section, order).map(|(distribution, line)| Series {
        distribution,
        about: answer_count(distribution, line),
        quantiles: Vec::new(),
    });
    let ticks = (0..=5).map(|tick| tick * SIMILARITY_BINS / 5);
    plot(&axis, series.collect(), ticks)
}

/// Plots the latency of the answers on a logarithmic axis.
pub(super) fn latency(distributions: &[Distribution], section: &ReportSection, order: &[usize]) -> Plot {
    let bins = distributions.first().map_or(BINS_PER_DECADE, |distribution| distribution.counts.len());
    let axis = Axis { bins, name: |bin| format::milliseconds(bin_start_ms(bin)), unit: "ms" };
    let series = in_order(distributions, section, order).map(|(distribution, line)| Series {
        distribution,
        about: with_timeouts(distribution, line),
        quantiles: line.latency.iter().flat_map(latency_quantiles).collect(),
    });
    plot(&axis, series.collect(), (0..=bins).step_by(BINS_PER_DECADE))
}

/// Returns the distributions with the lines of their engines.
fn in_order<'a>(
    distributions: &'a [Distribution],
    section: &'a ReportSection,
    order: &'a [usize],
) -> impl Iterator<Item = (&'a Distribution, &'a EngineLine)> {
    order.iter().filter_map(|engine| {
        let distribution = distributions.iter().find(|distribution| distribution.engine == *engine)?;
        Some((distribution, section.overall.lines.iter().find(|line| line.engine == *engine)?))
    })
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

fn plot(axis: &Axis, series: Vec<Series<'_>>, ticks: impl Iterator<Item = usize>) -> Plot {
    let step = (WIDTH - LEFT - RIGHT) / axis.bins as f64;
    let highest =
        series.iter().flat_map(|series| &series.distribution.counts).copied().max().unwrap_or(0).max(1);
    let panels = series.into_iter().map(|series| Panel {
        engine: series.distribution.engine,
        about: series.about,
        bars: bars(axis, &series.distribution.counts, step, highest),
        quantiles: quantiles(series.quantiles, step),
    });
    Plot {
        width: WIDTH,
        height: HEIGHT,
        base: BASE,
        left: LEFT,
        right: WIDTH - RIGHT,
        ticks: ticks.map(|bin| Tick { x: unit(LEFT + step * bin as f64), label: (axis.name)(bin) }).collect(),
        panels: panels.collect(),
    }
}

fn bars(axis: &Axis, counts: &[usize], step: f64, highest: usize) -> Vec<Bar> {
    let bar = |(bin, &count): (usize, &usize)| {
        let height = HIGHEST_BAR * count as f64 / highest as f64;
        let (from, to) = ((axis.name)(bin), (axis.name)(bin + 1));
        Bar {
            x: unit(LEFT + step * bin as f64 + 0.5),
            y: unit(BASE - height),
            width: unit(step - 1.0),
            height: unit(height),
            title: format!("{from}–{to} {}: {}", axis.unit, format::count_of(count, "answer")),
        }
    };
    counts.iter().enumerate().filter(|(_, count)| **count > 0).map(bar).collect()
}

/// Places the name of the first quantile of several left of its line, so that two near ones do not cover each other.
fn quantiles(positions: Vec<(f64, String)>, step: f64) -> Vec<Quantile> {
    let are_several = positions.len() > 1;
    let quantile = |(index, (bin, label)): (usize, (f64, String))| {
        let is_first_half = bin * step < (WIDTH - LEFT - RIGHT) / 2.0;
        Quantile {
            x: unit(LEFT + step * bin),
            top: BASE - HIGHEST_BAR - 4.0,
            label,
            is_left: if are_several && index == 0 {
                !is_first_half || bin * step > 60.0
            } else {
                !is_first_half
            },
        }
    };
    positions.into_iter().enumerate().map(quantile).collect()
}

pub(super) fn unit(length: f64) -> String {
    format!("{length:.1}")
}
