//! Layout of histograms of the answers: positions of bars, ticks and quantiles. `plots.html` draws them.

use std::collections::HashSet;

use cases::{Case, Prediction};
use scoring::metric::EDIT_SIMILARITY;
use serde::Serialize;

use crate::RunReport;
use crate::format::{self, Alphabet};
use crate::run_rows::{self, ScoreIndex};
use crate::run_summary::{EngineLine, LatencyView, ReportSection, RunSummary, left_out};

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

/// Bins of five percentage points.
const SIMILARITY_BINS: usize = 20;
/// Each bin is a quarter wider than the previous one.
const BINS_PER_DECADE: f64 = 10.0;
/// Faster answers are in the first bin: readers notice no difference below it.
const SHORTEST_MS: f64 = 1.0;

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
struct Series {
    engine: usize,
    counts: Vec<usize>,
    about: String,
    quantiles: Vec<(f64, String)>,
}

/// Plots the similarity of the answers to the truth.
pub(super) fn similarity(report: &RunReport<'_>, summary: &RunSummary, section: &ReportSection) -> Plot {
    let axis =
        Axis { bins: SIMILARITY_BINS, name: |bin| (bin * 100 / SIMILARITY_BINS).to_string(), unit: "%" };
    let scores = ScoreIndex::new(report);
    let answers = SectionAnswers::of_section(section, report, summary);
    let series = section.overall.lines.iter().map(|line| {
        let scores = answers.of(line.engine).filter_map(|answer| scores.get(answer));
        let shares = scores.filter_map(|score| run_rows::share(score, EDIT_SIMILARITY));
        let counts = histogram(shares.map(|share| share * axis.bins as f64), axis.bins);
        Series { engine: line.engine, about: answer_count(&counts, line), counts, quantiles: Vec::new() }
    });
    let ticks = (0..=5).map(|tick| tick * SIMILARITY_BINS / 5);
    plot(&axis, summary, series.collect(), ticks)
}

/// Plots the latency of the answers on a logarithmic axis.
pub(super) fn latency(report: &RunReport<'_>, summary: &RunSummary, section: &ReportSection) -> Plot {
    let answers = SectionAnswers::of_section(section, report, summary);
    let times = |engine| answers.of(engine).filter_map(run_rows::latency).filter(|time| time.is_finite());
    let longest =
        section.overall.lines.iter().flat_map(|line| times(line.engine)).fold(SHORTEST_MS, f64::max);
    let decades = longest.log10().ceil().max(1.0) as usize;
    let axis = Axis { bins: decades * BINS_PER_DECADE as usize, name: bin_start_ms, unit: "ms" };
    let series = section.overall.lines.iter().map(|line| {
        let counts = histogram(times(line.engine).map(bin_of_ms), axis.bins);
        let quantiles = line.latency.iter().flat_map(latency_quantiles).collect();
        Series { engine: line.engine, about: with_timeouts(&counts, line), counts, quantiles }
    });
    let series = series.collect();
    plot(&axis, summary, series, (0..=decades).map(|decade| decade * BINS_PER_DECADE as usize))
}

/// Answers to the section's cases in totals, by the engine's index in the summary.
struct SectionAnswers<'a>(Vec<Vec<&'a Prediction>>);

impl<'a> SectionAnswers<'a> {
    fn of_section(
        section: &ReportSection,
        report: &RunReport<'a>,
        summary: &RunSummary,
    ) -> SectionAnswers<'a> {
        let wanted = (section.origin, section.exposure);
        let left_out = left_out(report.cases);
        let is_counted = |case: &&Case| {
            (case.origin.kind, case.origin.exposure) == wanted && !left_out.contains_key(&case.id)
        };
        let cases = report.cases.iter().filter(is_counted);
        let ids: HashSet<&str> = cases.map(|case| case.id.as_str()).collect();
        let mut answers = vec![Vec::new(); summary.engines.len()];
        for prediction in
            report.predictions.iter().filter(|prediction| ids.contains(prediction.case.as_str()))
        {
            let engine = run_rows::engine_index(&summary.engines, prediction);
            if let Some(of_engine) = engine.and_then(|engine| answers.get_mut(engine)) {
                of_engine.push(prediction);
            }
        }
        SectionAnswers(answers)
    }

    fn of(&self, engine: usize) -> impl Iterator<Item = &'a Prediction> {
        self.0.get(engine).into_iter().flatten().copied()
    }
}

/// Returns the positions of the summary's percentiles. A percentile that is a timeout has none.
fn latency_quantiles(latency: &LatencyView) -> impl Iterator<Item = (f64, String)> + use<> {
    let named = [(latency.p50, "median"), (latency.p95, "p95")].into_iter().filter(|(ms, _)| ms.is_finite());
    named.map(|(ms, name)| (bin_of_ms(ms), format!("{name} {}", format::milliseconds(ms))))
}

fn with_timeouts(counts: &[usize], line: &EngineLine) -> String {
    match line.latency.map_or(0, |latency| latency.timeouts) {
        0 => answer_count(counts, line),
        timeouts => {
            let answers = format::cases(counts.iter().sum(), line.is_from_other_tree(), Alphabet::Unicode);
            format!("{answers} + {timeouts} timed out")
        }
    }
}

/// Position on the axis in bins.
fn bin_of_ms(ms: f64) -> f64 {
    ms.max(SHORTEST_MS).log10() * BINS_PER_DECADE
}

fn bin_start_ms(bin: usize) -> String {
    format::milliseconds(10_f64.powf(bin as f64 / BINS_PER_DECADE))
}

/// Counts the positions in each bin; the last bin includes its end.
fn histogram(positions: impl Iterator<Item = f64>, bins: usize) -> Vec<usize> {
    let mut counts = vec![0; bins];
    for position in positions {
        let bin = (position.max(0.0) as usize).min(bins.saturating_sub(1));
        if let Some(count) = counts.get_mut(bin) {
            *count += 1;
        }
    }
    counts
}

fn answer_count(counts: &[usize], line: &EngineLine) -> String {
    let answers: usize = counts.iter().sum();
    let plural = if answers == 1 { "" } else { "s" };
    format!("{} answer{plural}", format::cases(answers, line.is_from_other_tree(), Alphabet::Unicode))
}

fn plot(axis: &Axis, summary: &RunSummary, series: Vec<Series>, ticks: impl Iterator<Item = usize>) -> Plot {
    let step = (WIDTH - LEFT - RIGHT) / axis.bins as f64;
    let highest = series.iter().flat_map(|series| &series.counts).copied().max().unwrap_or(0).max(1);
    let baseline = TOP + ROW_HEIGHT * series.len() as f64;
    let rows = series.into_iter().enumerate().map(|(index, series)| {
        let base = TOP + ROW_HEIGHT * (index + 1) as f64;
        let name = summary.engines.get(series.engine).map_or("", |engine| engine.name.as_str());
        PlotRow {
            engine: series.engine,
            name: format::clipped(&format::escape_invisible(name), NAME_WIDTH, Alphabet::Unicode),
            about: series.about,
            base,
            bars: bars(axis, &series.counts, base, step, highest),
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
