//! Renders comparisons of runs: for the terminal and as Markdown. The page is in `html`.

use cases::EngineIdentity;
use scoring::RunComparison;
use scoring::run_comparison::{ComparedSection, RunOverlap};

use crate::failures;
use crate::format::{self, Alphabet};
use crate::markdown;
use crate::terminal::{self, Style};

/// Renders the shared cases and the verdicts as tables.
pub fn comparison_table(comparison: &RunComparison, style: Style) -> String {
    let engines = named_engines(comparison);
    let mut parts =
        vec![format!("{} {} {}", style.title("comparison"), style.alphabet().dot(), shared(comparison))];
    let runs = comparison.runs.iter().map(|run| format!("  {}", format::on_one_line(&overlap(run))));
    parts.push(runs.collect::<Vec<_>>().join("\n"));
    for section in &comparison.sections {
        parts.push(style.title(&section_heading(section)));
        parts.extend(terminal::verdict_parts(&engines, &section.verdict, style));
    }
    if comparison.sections.is_empty() {
        parts.push("No answers yet.".to_owned());
    }
    let failures = failures::rows(&comparison.failures, &own_identities(comparison), style.alphabet());
    parts.extend(terminal::failure_list("Failed requests", failures, &engines, style));
    parts.join("\n\n") + "\n"
}

/// Renders the shared cases and the verdicts as Markdown.
pub fn comparison_markdown(comparison: &RunComparison) -> String {
    let engines = named_engines(comparison);
    let mut parts = vec!["# Comparison".to_owned(), shared(comparison)];
    let runs = comparison.runs.iter().map(|run| format!("- {}", markdown::escaped(&overlap(run))));
    parts.push(runs.collect::<Vec<_>>().join("\n"));
    for section in &comparison.sections {
        parts.push(format!("## {}", section_heading(section)));
        parts.extend(markdown::verdict_parts(&engines, &section.verdict));
    }
    if comparison.sections.is_empty() {
        parts.push("No answers yet.".to_owned());
    }
    let failures = failures::rows(&comparison.failures, &own_identities(comparison), Alphabet::Unicode);
    parts.extend(markdown::failure_table(&failures, &engines));
    parts.join("\n\n") + "\n"
}

/// Returns the engines under the names that they have in their runs.
pub(crate) fn own_identities(comparison: &RunComparison) -> Vec<EngineIdentity> {
    comparison.engines.iter().map(|engine| engine.engine.clone()).collect()
}

/// Returns the engines under the names that distinguish them.
pub(crate) fn named_engines(comparison: &RunComparison) -> Vec<EngineIdentity> {
    let named = comparison.engines.iter();
    named.map(|engine| EngineIdentity { name: engine.name.clone(), ..engine.engine.clone() }).collect()
}

fn shared(comparison: &RunComparison) -> String {
    format!("{} shared by all runs", format::count_of(comparison.shared_cases, "case"))
}

pub(crate) fn overlap(run: &RunOverlap) -> String {
    let cases = format::count_of(run.cases, "case");
    match run.only_here {
        0 => format!("{}: {cases}, all shared", run.name),
        only => format!("{}: {cases}, {only} only here", run.name),
    }
}

pub(crate) fn section_heading(section: &ComparedSection) -> String {
    format!(
        "{}, {}",
        format::origin_title(section.origin, section.exposure),
        format::count_of(section.cases, "case")
    )
}
