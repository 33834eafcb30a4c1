//! Renders a comparison of runs as one HTML file: the shared cases, for each origin the verdict with its plots, failed requests, and the
//! browser of all cases that reports have, too.

use scoring::compared_runs::{ComparedRuns, SectionKey};
use scoring::metric_table::MIN_CASES;
use scoring::run_comparison::{ComparedSection, NamedRun};
use scoring::verdict::right_over_time;
use scoring::{RunComparison, RunRows, Verdict};
use serde::Serialize;

use super::embedded_cases::{self, EmbeddedCases};
use super::engine_views::{EngineView, engine_views};
use super::failure_views::{FailureView, failure_views};
use super::page::{Head, render};
use super::ranking::{Ranking, ranking};
use super::tradeoffs::{Tradeoffs, tradeoffs};
use super::{SCRIPT, cases_link};
use crate::comparison::{named_engines, overlap, own_identities, section_heading};
use crate::{failures, format};

#[derive(Serialize)]
struct ComparisonPage {
    engines: Vec<EngineView>,
    sections: Vec<SectionView>,
    /// How much of each run the others have, too.
    overlaps: Vec<String>,
    failures: Vec<FailureView>,
    failure_titles: [&'static str; 5],
    min_cases: usize,
    version: &'static str,
    data: EmbeddedCases,
}

#[derive(Serialize)]
struct SectionView {
    title: String,
    /// Both are absent if there are too few cases.
    ranking: Option<Ranking>,
    tradeoffs: Option<Tradeoffs>,
}

/// Renders the page of a comparison of these runs; `compared` are their rows in the same order.
pub fn comparison_html(
    comparison: &RunComparison,
    runs: &[NamedRun<'_>],
    compared: &ComparedRuns<'_>,
) -> String {
    let with_copies = |engine: usize| compared.contestants().get(engine).and_then(|it| it.with_copies);
    let names: Vec<&str> = comparison.runs.iter().map(|run| run.name.as_str()).collect();
    let head = Head {
        kind: "comparison",
        title: format::on_one_line(&names.join(" / ")),
        facts: vec![
            ("runs", names.len().to_string()),
            ("shared cases", comparison.shared_cases.to_string()),
            ("engines", comparison.engines.len().to_string()),
        ],
        script: Some(SCRIPT),
    };
    let engines = engine_views(&named_engines(comparison), with_copies);
    let rows: Vec<RunRows<'_>> = runs.iter().map(|run| run.rows).collect();
    let verdicts: Vec<(SectionKey, &Verdict)> =
        comparison.sections.iter().map(|section| (key(section), &section.verdict)).collect();
    let data = embedded_cases::pack(&rows, compared, &verdicts, &engines);
    let section = |section| section_view(comparison, compared, section);
    let page = ComparisonPage {
        sections: comparison.sections.iter().map(section).collect(),
        overlaps: comparison.runs.iter().map(|run| format::on_one_line(&overlap(run))).collect(),
        failures: failure_views(&comparison.failures, &own_identities(comparison)),
        failure_titles: failures::HEADINGS,
        min_cases: MIN_CASES,
        version: env!("CARGO_PKG_VERSION"),
        engines,
        data,
    };
    render("comparison.html", &head, &page)
}

fn key(section: &ComparedSection) -> SectionKey {
    SectionKey { origin: section.origin, exposure: section.exposure }
}

fn section_view(
    comparison: &RunComparison,
    runs: &ComparedRuns<'_>,
    section: &ComparedSection,
) -> SectionView {
    let verdict = &section.verdict;
    let name = |engine: usize| comparison.engines.get(engine).map_or_else(String::new, |it| it.name.clone());
    // Fewer cases order nothing.
    let is_ranked = section.cases >= MIN_CASES;
    let plots = || tradeoffs(verdict, &right_over_time(runs, key(section), verdict));
    SectionView {
        title: section_heading(section),
        ranking: is_ranked.then(|| ranking(verdict, &cases_link(key(section)), name)).flatten(),
        tradeoffs: is_ranked.then(plots).flatten(),
    }
}
