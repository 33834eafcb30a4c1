//! Distributions of the answers of a section: counts by bin.

use std::collections::HashSet;

use cases::{Metric, Prediction};

use super::observations::left_out;
use super::rows::{ScoreIndex, engine_index};
use super::{ReportSection, RunRows, RunSummary, outcome};

/// Bins of five percentage points.
pub const SIMILARITY_BINS: usize = 20;
/// Bins of latency per factor of ten: each bin is a quarter wider than the previous one.
pub const BINS_PER_DECADE: usize = 10;
/// Faster answers are in the first bin of latency: readers notice no difference below it.
pub const SHORTEST_MS: f64 = 1.0;

/// The answers of one engine, counted by bin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Index into [`RunSummary::engines`].
    pub engine: usize,
    /// Answers per bin.
    pub counts: Vec<usize>,
    /// Sum of the counts.
    pub answers: usize,
}

impl Distribution {
    /// Counts positions on an axis of `bins` bins; the last bin includes its end.
    fn new(engine: usize, positions: impl Iterator<Item = f64>, bins: usize) -> Distribution {
        let mut counts = vec![0; bins];
        for position in positions {
            let bin = (position.max(0.0) as usize).min(bins.saturating_sub(1));
            if let Some(count) = counts.get_mut(bin) {
                *count += 1;
            }
        }
        let answers = counts.iter().sum();
        Distribution { engine, counts, answers }
    }
}

/// Returns the bin of a latency as a position on the axis, with its fraction.
pub fn bin_of_ms(ms: f64) -> f64 {
    ms.max(SHORTEST_MS).log10() * BINS_PER_DECADE as f64
}

/// Returns the latency at the beginning of a bin, milliseconds.
pub fn bin_start_ms(bin: usize) -> f64 {
    10_f64.powf(bin as f64 / BINS_PER_DECADE as f64)
}

/// Answers to a section's cases in totals, by the engine's index in the summary.
pub struct SectionAnswers<'a> {
    engines: Vec<usize>,
    answers: Vec<Vec<&'a Prediction>>,
    scores: ScoreIndex<'a>,
}

impl<'a> SectionAnswers<'a> {
    /// Finds the answers of a section.
    pub fn of_section(
        rows: &RunRows<'a>,
        summary: &RunSummary,
        section: &ReportSection,
    ) -> SectionAnswers<'a> {
        let wanted = (section.origin, section.exposure);
        let left_out = left_out(rows.cases);
        let cases = rows.cases.iter().filter(|case| {
            (case.origin.kind, case.origin.exposure) == wanted && !left_out.contains_key(case.id.as_str())
        });
        let ids: HashSet<&str> = cases.map(|case| case.id.as_str()).collect();
        let mut answers = vec![Vec::new(); summary.engines.len()];
        for prediction in rows.predictions.iter().filter(|row| ids.contains(row.case.as_str())) {
            let engine = engine_index(&summary.engines, prediction);
            if let Some(of_engine) = engine.and_then(|engine| answers.get_mut(engine)) {
                of_engine.push(prediction);
            }
        }
        let engines = section.overall.lines.iter().map(|line| line.engine).collect();
        SectionAnswers { engines, answers, scores: ScoreIndex::new(rows) }
    }

    /// Counts the answers by similarity to the truth, in [`SIMILARITY_BINS`] bins, for each engine of the section.
    pub fn similarities(&self) -> Vec<Distribution> {
        self.engines
            .iter()
            .map(|&engine| {
                let scores = self.of(engine).filter_map(|answer| self.scores.get(answer));
                let shares = scores.filter_map(|score| outcome::share(score, Metric::EditSimilarity));
                Distribution::new(engine, shares.map(|share| share * SIMILARITY_BINS as f64), SIMILARITY_BINS)
            })
            .collect()
    }

    /// Counts the answers in time by latency on a logarithmic axis from 1 ms to the end of the decade of the longest, for each
    /// engine of the section.
    pub fn latencies(&self) -> Vec<Distribution> {
        let times = |engine| self.of(engine).filter_map(outcome::latency).filter(|time| time.is_finite());
        let longest = self.engines.iter().flat_map(|&engine| times(engine)).fold(SHORTEST_MS, f64::max);
        let decades = longest.log10().ceil().max(1.0) as usize;
        self.engines
            .iter()
            .map(|&engine| Distribution::new(engine, times(engine).map(bin_of_ms), decades * BINS_PER_DECADE))
            .collect()
    }

    fn of(&self, engine: usize) -> impl Iterator<Item = &'a Prediction> {
        self.answers.get(engine).into_iter().flatten().copied()
    }
}
