//! One renderer for runs: a table for the terminal, Markdown, JSON and a self-contained HTML page.
//!
//! Values in, text out. [`RunReport::run_summary`] hands the rows to `scoring` once; every renderer shows that [`RunSummary`].
//! No number is computed here: what a reader sees is a row of `cases` or a cell of `scoring`. Choosing pixels and the
//! bins of a histogram is layout. Code in cases is shown, never run.
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
    /// What was asked of whom.
    pub run: &'a Run,
    /// The suite.
    pub cases: &'a [Case],
    /// The answers, of any of the cases; a run may be unfinished.
    pub predictions: &'a [Prediction],
    /// The metrics of the answers.
    pub scores: &'a [Score],
    /// What a reader must know besides, as from [`notes`].
    pub notes: &'a [String],
}

impl RunReport<'_> {
    /// Groups and counts the rows; the intervals are resampled with the run's seed.
    pub fn summary(&self) -> RunSummary {
        run_summary::summarize(self)
    }
}

/// The summary as JSON, in the schema of [`RunSummary`], indented and ending in a line end.
pub fn json(summary: &RunSummary) -> String {
    let mut text = serde_json::to_string_pretty(summary).expect("a summary has string keys");
    text.push('\n');
    text
}
