//! Renders a comparison of runs as one HTML file without scripts: the shared cases, and for each origin the verdict with its plots.

use scoring::RunComparison;
use scoring::compared_runs::{ComparedRuns, SectionKey};
use scoring::metric_table::MIN_CASES;
use scoring::run_comparison::{ComparedSection, NamedRun};
use scoring::verdict::right_over_time;
use serde::Serialize;

use super::engine_views::{EngineView, engine_views};
use super::page::{Head, render};
use super::ranking::{Ranking, ranking};
use super::tradeoffs::{Tradeoffs, tradeoffs};
use crate::comparison::{named_engines, overlap, section_heading};
use crate::format;

#[derive(Serialize)]
struct ComparisonPage {
    engines: Vec<EngineView>,
    sections: Vec<SectionView>,
    /// How much of each run the others have, too.
    overlaps: Vec<String>,
    min_cases: usize,
}

#[derive(Serialize)]
struct SectionView {
    title: String,
    /// Both are absent if there are too few cases.
    ranking: Option<Ranking>,
    tradeoffs: Option<Tradeoffs>,
}

/// Renders the page of a comparison of these runs.
pub fn comparison_html(comparison: &RunComparison, runs: &[NamedRun<'_>]) -> String {
    let rows: Vec<_> = runs.iter().map(|run| run.rows).collect();
    let compared = ComparedRuns::new(&rows);
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
        script: None,
    };
    let page = ComparisonPage {
        engines: engine_views(&named_engines(comparison), with_copies),
        sections: comparison.sections.iter().map(|section| section_view(&compared, section)).collect(),
        overlaps: comparison.runs.iter().map(|run| format::on_one_line(&overlap(run))).collect(),
        min_cases: MIN_CASES,
    };
    render("comparison.html", &head, &page)
}

fn section_view(runs: &ComparedRuns<'_>, section: &ComparedSection) -> SectionView {
    let verdict = &section.verdict;
    let key = SectionKey { origin: section.origin, exposure: section.exposure };
    // Fewer cases order nothing.
    let is_ranked = section.cases >= MIN_CASES;
    let plots = || tradeoffs(verdict, &right_over_time(runs, key, verdict));
    SectionView {
        title: section_heading(section),
        ranking: is_ranked.then(|| ranking(verdict, None)).flatten(),
        tradeoffs: is_ranked.then(plots).flatten(),
    }
}
