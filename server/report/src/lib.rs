//! Renders runs: a table for the terminal, Markdown, JSON and a self-contained HTML page.
//!
//! Pure: values in, text out. [`RunReport::summary`] passes the rows to `scoring` once; every renderer shows that [`RunSummary`].
//! This crate computes no number: every displayed number is a row of `cases` or a cell of `scoring`. Positions in drawings and
//! the bins of a histogram are layout. Code in cases is displayed, never run.
#![deny(clippy::disallowed_methods)]

mod format;
mod html;
mod markdown;
mod notes;
mod run_rows;
mod run_summary;
mod stopping;
pub mod terminal;

pub use html::html;
pub use markdown::markdown;
pub use notes::notes;
pub use run_summary::{
    CaseGroup, CellView, ContextEffect, EngineCost, EngineDifference, EngineLine, ExcludedCases,
    IntervalView, LatencyView, ReportSection, RunSummary, SelectedCases, Selection,
};

use cases::{Case, Prediction, Run, Score};

/// The rows of one run.
#[derive(Clone, Copy, Debug)]
pub struct RunReport<'a> {
    /// The run: its engines, settings and machine.
    pub run: &'a Run,
    /// The suite.
    pub cases: &'a [Case],
    /// The answers, of any of the cases; a run may be unfinished.
    pub predictions: &'a [Prediction],
    /// The metrics of the answers.
    pub scores: &'a [Score],
    /// Remarks for the reader, as from [`notes()`].
    pub notes: &'a [String],
}

impl RunReport<'_> {
    /// Groups and counts the rows; the run's seed drives the resampling of intervals.
    pub fn summary(&self) -> RunSummary {
        run_summary::summarize(self)
    }
}

/// Returns the summary as JSON, in the schema of [`RunSummary`], indented and ending in a line end.
pub fn json(summary: &RunSummary) -> String {
    let mut text = serde_json::to_string_pretty(summary).expect("a summary has string keys");
    text.push('\n');
    text
}
