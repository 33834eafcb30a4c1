//! Renders runs, trials, comparisons and the results of gates: tables for the terminal, Markdown, JSON, JUnit, CSV, self-contained HTML
//! pages, and logs for the viewer of inspect_ai.
//!
//! Pure: a [`RunSummary`] in, text out. This crate computes no number: every displayed number is a row of `cases` or a cell of
//! `scoring`. Positions in drawings are layout. Code in cases is displayed, never run.
#![deny(clippy::disallowed_methods)]

mod benchmark_tables;
pub mod collection;
mod comparison;
mod csv_tables;
mod failures;
pub mod format;
mod gates;
mod html;
mod inspect_log;
mod markdown;
mod notes;
mod stopping;
pub mod terminal;
pub mod trial;
mod verdict_text;
pub mod watch;

pub use benchmark_tables::{benchmark_markdown, score_table_text};
pub use comparison::{comparison_markdown, comparison_table};
pub use csv_tables::{CsvTable, comparison_csv_tables, csv_tables, watch_csv_tables};
pub use failures::failure_text;
pub use gates::{check_text, gates_junit, gates_markdown, gates_table};
pub use html::{comparison_html, html, watch_html};
pub use inspect_log::{InspectLog, inspect_logs};
pub use markdown::markdown;
pub use notes::note_texts;

use cases::{EngineIdentity, Run, SchemaVersion};
use scoring::RunSummary;
use scoring::run_summary::{EngineCost, EngineFailures, ReportSection, TestSummary};
use serde::Serialize;

/// The summary in `--json`: its remarks are texts.
#[derive(Serialize)]
struct SummaryJson<'a> {
    schema: SchemaVersion,
    run: &'a Run,
    engines: &'a [EngineIdentity],
    sections: &'a [ReportSection],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    costs: &'a [EngineCost],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    failures: &'a [EngineFailures],
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<&'a TestSummary>,
    notes: Vec<String>,
}

/// Returns the summary as JSON, indented and ending in a line end.
pub fn json(summary: &RunSummary) -> String {
    let RunSummary { schema, run, engines, sections, costs, failures, tests, .. } = summary;
    let notes = note_texts(summary);
    let rows = SummaryJson {
        schema: *schema,
        run,
        engines,
        sections,
        costs,
        failures,
        tests: tests.as_ref(),
        notes,
    };
    let mut text = serde_json::to_string_pretty(&rows).expect("a summary has string keys");
    text.push('\n');
    text
}
