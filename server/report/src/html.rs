//! Renders a run as one HTML file: scoreboard and plots without scripts, and a browser of all cases with scripts.
//!
//! Code from cases gets into the page in two forms, as escaped text and as compressed JSON in base64, which cannot end its element.

mod comparison_page;
mod embedded_cases;
mod engine_views;
mod failure_views;
mod matrix;
pub(crate) mod page;
pub(crate) mod plain_tables;
mod plots;
mod ranking;
mod scoreboard;
mod tradeoffs;
mod watch_page;

use benchmarks::BenchmarkTables;
use scoring::compared_runs::{ComparedRuns, SectionKey};
use scoring::metric_table::MIN_CASES;
use scoring::run_summary::distributions::SectionAnswers;
use scoring::run_summary::{CaseGroup, CutoffSlice, ReportSection};
use scoring::verdict::right_over_time;
use scoring::{RunRows, RunSummary, Verdict};
use serde::Serialize;

use crate::benchmark_tables::{BenchmarkView, benchmark_views};
use crate::failures;
use crate::format::{self, Alphabet};
use crate::notes::note_texts;
use crate::stopping::{self, COUNTS};
pub use comparison_page::comparison_html;
use embedded_cases::EmbeddedCases;
use engine_views::{EngineView, engine_views};
use failure_views::{FailureView, failure_views};
use page::{Head, render};
pub use watch_page::watch_html;

/// Script of the pages with cases. All parts share one scope, in this order.
const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("templates/text.js"),
    include_str!("templates/engines.js"),
    include_str!("templates/tables.js"),
    include_str!("templates/titles.js"),
    include_str!("templates/list.js"),
    include_str!("templates/origins.js"),
    include_str!("templates/detail.js"),
    include_str!("templates/data.js"),
    include_str!("templates/filters.js"),
    include_str!("templates/app.js"),
);

#[derive(Serialize)]
struct ReportPage {
    engines: Vec<EngineView>,
    sections: Vec<SectionView>,
    /// The originals' tables, if cases are imported from public benchmarks.
    benchmarks: Vec<BenchmarkView>,
    costs: Vec<CostView>,
    cost_titles: [&'static str; 5],
    costs_caption: Option<String>,
    failures: Vec<FailureView>,
    failure_titles: [&'static str; 5],
    notes: Vec<String>,
    min_cases: usize,
    tool: String,
    data: EmbeddedCases,
}

#[derive(Serialize)]
struct CostView {
    engine: usize,
    cells: [String; 5],
}

#[derive(Serialize)]
struct SectionView {
    title: String,
    size: String,
    /// Absent if there is nothing to compare, or there are too few cases.
    ranking: Option<ranking::Ranking>,
    tradeoffs: Option<tradeoffs::Tradeoffs>,
    /// Cases of the totals.
    totals: String,
    /// Cases of the matrix.
    scenarios: String,
    /// Cases of the effects of context.
    contexts_caption: String,
    /// Cases of the differences.
    differences_caption: String,
    /// Whether rows show the number of late answers.
    is_late: bool,
    /// Titles of the metrics of a row.
    metrics: Vec<&'static str>,
    stopping: Vec<scoreboard::StoppingView>,
    stopping_titles: [&'static str; 7],
    stopping_caption: &'static str,
    overall: Vec<scoreboard::BoardRow>,
    differences: Vec<scoreboard::DifferenceRow>,
    languages: Vec<scoreboard::NamedRows>,
    cutoffs: Vec<CutoffView>,
    cutoffs_caption: &'static str,
    contexts: Vec<scoreboard::ContextRow>,
    /// Absent if there are too few cases for meaningful shapes.
    details: Option<Details>,
}

/// Cases from commits on both sides of a training cut-off.
#[derive(Serialize)]
struct CutoffView {
    title: String,
    sides: [scoreboard::NamedRows; 2],
}

#[derive(Serialize)]
struct Details {
    similarity: plots::Plot,
    latency: plots::Plot,
    matrix: matrix::Matrix,
}

/// Renders the page of a run. `runs` are its rows alone, `summary` has its numbers, `benchmarks` the tables of the public benchmarks that
/// its cases come from.
pub fn html(
    report: &RunRows<'_>,
    runs: &ComparedRuns<'_>,
    summary: &RunSummary,
    benchmarks: &[BenchmarkTables],
) -> String {
    let engines = engine_views(&summary.engines, |engine| summary.with_copies(engine));
    let verdicts: Vec<(SectionKey, &Verdict)> =
        summary.sections.iter().map(|section| (key(section), &section.verdict)).collect();
    let data = embedded_cases::pack(&[*report], runs, &verdicts, &engines);
    let section = |section| section_view(report, runs, summary, section);
    let head = Head {
        kind: "report",
        title: format::on_one_line(&summary.run.name),
        facts: facts(report, summary),
        script: Some(SCRIPT),
    };
    let page = ReportPage {
        sections: summary.sections.iter().map(section).collect(),
        benchmarks: benchmark_views(benchmarks),
        costs: summary
            .costs
            .iter()
            .map(|cost| CostView { engine: cost.engine, cells: format::cost(cost, Alphabet::Unicode) })
            .collect(),
        cost_titles: format::COST,
        costs_caption: format::costs_caption(summary, Alphabet::Unicode),
        failures: failure_views(&summary.failures, &summary.engines),
        failure_titles: failures::HEADINGS,
        notes: note_texts(summary).iter().map(|note| format::escape_invisible(note)).collect(),
        min_cases: MIN_CASES,
        tool: format::escape_invisible(&summary.run.tool),
        engines,
        data,
    };
    render("report.html", &head, &page)
}

fn facts(report: &RunRows<'_>, summary: &RunSummary) -> Vec<(&'static str, String)> {
    let run = &summary.run;
    let mut facts = vec![
        ("cases", report.cases.len().to_string()),
        ("suite", format::clipped(&run.suite, 12, Alphabet::Unicode)),
        ("seed", run.seed.to_string()),
    ];
    if run.repeat > 1 {
        facts.push(("repetitions", run.repeat.to_string()));
    }
    if let Some(workspace) = &run.workspace {
        let commit = workspace.commit.as_deref().map(|commit| format::clipped(commit, 12, Alphabet::Unicode));
        let dirty = if workspace.dirty == Some(true) { " with local changes" } else { "" };
        facts.extend(commit.map(|commit| ("commit", commit + dirty)));
        facts.push(("tree", format::clipped(&workspace.tree_hash, 12, Alphabet::Unicode)));
        facts.push(("files", workspace.files.to_string()));
        facts.push(("lines", workspace.lines.to_string()));
    }
    let cores = usize::try_from(run.machine.cores).unwrap_or(usize::MAX);
    facts.push((
        "machine",
        format!("{}, {}, {}", run.machine.os, run.machine.cpu, format::count_of(cores, "core")),
    ));
    facts.into_iter().map(|(name, value)| (name, format::escape_invisible(&value))).collect()
}

/// Returns the link to the cases of a section.
fn cases_link(key: SectionKey) -> String {
    format!("#origin={}", format::origin(key.origin, key.exposure))
}

fn key(section: &ReportSection) -> SectionKey {
    SectionKey { origin: section.origin, exposure: section.exposure }
}

fn section_view(
    report: &RunRows<'_>,
    runs: &ComparedRuns<'_>,
    summary: &RunSummary,
    section: &ReportSection,
) -> SectionView {
    let order = ranking::order(section, |engine| summary.with_copies(engine));
    let (cases, _) = section.size();
    let details = || {
        let answers = SectionAnswers::of_section(report, summary, section);
        Details {
            similarity: plots::similarity(&answers.similarities(), section, &order),
            latency: plots::latency(&answers.latencies(), section, &order),
            matrix: matrix::matrix(section, &order),
        }
    };
    // Fewer cases order nothing.
    let is_ranked = cases >= MIN_CASES;
    let over_time = right_over_time(runs, key(section), &section.verdict);
    let engine_name =
        |engine: usize| summary.engines.get(engine).map_or_else(String::new, |it| it.name.clone());
    let columns = section.headline_metrics();
    let named = |name: &str, group: &CaseGroup| scoreboard::named_rows(name, group, &columns, &order);
    let cutoff = |slice: &CutoffSlice| CutoffView {
        title: format::escape_invisible(&format::cutoff_title(summary, slice)),
        sides: [named("until", &slice.until), named("after", &slice.after)],
    };
    SectionView {
        title: format::section_title(section),
        size: format::section_size(section),
        ranking: is_ranked
            .then(|| ranking::ranking(&section.verdict, &cases_link(key(section)), engine_name))
            .flatten(),
        tradeoffs: is_ranked.then(|| tradeoffs::tradeoffs(&section.verdict, &over_time)).flatten(),
        totals: format::totals_caption(section, Alphabet::Unicode),
        scenarios: format::scenarios_caption(section, Alphabet::Unicode),
        contexts_caption: format::contexts_caption(section, Alphabet::Unicode),
        differences_caption: format::differences_caption(section, Alphabet::Unicode),
        is_late: section.has_late_answers(),
        metrics: columns.iter().map(|metric| metric.spec().label).collect(),
        stopping: scoreboard::stopping(section),
        stopping_titles: COUNTS,
        stopping_caption: stopping::CAPTION,
        overall: scoreboard::rows(&section.overall, &columns, &order),
        differences: scoreboard::differences(&section.differences, &columns),
        contexts: scoreboard::contexts(&section.contexts),
        languages: section
            .languages
            .iter()
            .map(|group| named(group.language.as_deref().unwrap_or_default(), group))
            .collect(),
        cutoffs: section.cutoffs.iter().map(cutoff).collect(),
        cutoffs_caption: format::CUTOFF_CAPTION,
        details: is_ranked.then(details),
    }
}
