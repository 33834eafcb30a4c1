//! Renders the summary as tables for the terminal.
//!
//! Tables fit the given width if their narrowest set of columns does: columns are dropped, names are cut, and numbers never wrap.
//! The caller knows the terminal and prints. Escape codes are written only on request.

mod columns;
mod contexts;
mod stopping;
mod text_table;
mod verdict;

use crate::benchmark_tables::benchmark_parts;
use crate::failures::{self, FailureRow};
use crate::format::{self, Alphabet};
use crate::notes::note_texts;
use benchmarks::BenchmarkTables;
use cases::EngineIdentity;
use columns::CellFormatter;
use scoring::run_summary::{
    CaseGroup, CutoffSlice, EngineLine, EngineTests, ReportSection, ScenarioGroup, TestAgreement,
};
use scoring::{RunSummary, Verdict};
use text_table::{NamedLines, TableLayout};

pub use text_table::TextTable;

/// Capabilities of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to write escape codes for colours.
    pub color: bool,
    /// Columns available.
    pub width: usize,
    /// Whether characters beyond ASCII can be displayed.
    pub unicode: bool,
}

impl Style {
    /// Returns the character set.
    pub fn alphabet(self) -> Alphabet {
        if self.unicode { Alphabet::Unicode } else { Alphabet::Ascii }
    }

    /// Returns `text` in a colour, an ECMA-48 code, if there are colours.
    pub fn colored(self, text: &str, code: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Returns a title.
    pub fn title(self, text: &str) -> String {
        self.colored(text, BOLD)
    }

    /// Returns secondary text.
    pub fn dim(self, text: &str) -> String {
        self.colored(text, DIM)
    }
}

/// Escape codes ("select graphic rendition") of ECMA-48.
const BOLD: &str = "1";
const DIM: &str = "2";

/// Renders the tables of a run, the meaning of their columns, those of its public benchmarks, remarks, and the suggested commands `next`,
/// one per line.
pub fn table(summary: &RunSummary, benchmarks: &[BenchmarkTables], style: Style, next: &[String]) -> String {
    let mut parts: Vec<String> =
        summary.sections.iter().map(|section| section_text(summary, section, style)).collect();
    parts.extend(costs(summary, style));
    parts.extend(test_results(summary, style));
    let failures = failures::rows(&summary.failures, &summary.engines, style.alphabet());
    parts.extend(failure_list("Failed requests", failures, &summary.engines, style));
    let are_late = summary.sections.iter().any(ReportSection::has_late_answers);
    parts.push(if parts.is_empty() { "No answers yet.".to_owned() } else { legend(are_late, style) });
    parts.extend(benchmark_parts(benchmarks, style));
    let notes = note_texts(summary);
    let notes = notes
        .iter()
        .map(|note| wrapped(&format::escape_invisible(note), style.width.saturating_sub(2), "  "));
    parts.extend(list("Notes", notes, style));
    // Commands stay on one line for copying.
    parts.extend(list("Next", next.iter().map(|line| format::escape_invisible(line)), style));
    parts.join("\n\n") + "\n"
}

/// Returns the results of unit tests: a line for each engine, and the metrics that predict them.
fn test_results(summary: &RunSummary, style: Style) -> Option<String> {
    let tests = summary.tests.as_ref()?;
    let engine = |engine: &EngineTests| {
        let chances =
            engine.pass_at.iter().map(|(k, chance)| format!("pass@{k} {}", format::percent(*chance)));
        let name = format::escape_invisible(&engine.engine);
        let chances = chances.collect::<Vec<_>>().join(", ");
        format!(
            "  {name}: {} of {} answers pass the tests of their case; {chances}",
            engine.passed, engine.answers
        )
    };
    let mut lines: Vec<String> = tests.engines.iter().map(engine).collect();
    if !tests.agreement.is_empty() {
        let metric =
            |agreement: &TestAgreement| format!("{} {:.2}", agreement.metric.spec().label, agreement.area);
        let metrics: Vec<String> = tests.agreement.iter().map(metric).collect();
        let text = format!(
            "Chance that an answer that passes has the higher value than one that fails (0.50 predicts nothing): {}.",
            metrics.join(", ")
        );
        lines.push(format!("  {}", wrapped(&text, style.width.saturating_sub(2), "  ")));
    }
    Some(with_title("unit tests", &lines.join("\n"), style))
}

fn section_text(summary: &RunSummary, section: &ReportSection, style: Style) -> String {
    let all = CellFormatter {
        are_late: section.has_late_answers(),
        are_judged: section.has_tests(),
        ..CellFormatter::new(&summary.engines, style.alphabet())
    };
    let detailed = |engine| !summary.is_without_copies(engine);
    let are_several = (0..summary.engines.len()).filter(|&engine| detailed(engine)).count() > 1;
    let numbers = CellFormatter {
        are_several,
        are_judged: section.has_tests(),
        ..CellFormatter::new(&summary.engines, style.alphabet())
    };
    let labels: Vec<Vec<String>> = section.scenarios.iter().map(labels).collect();
    let scenarios: Vec<(ScenarioGroup, NamedLines<'_>)> = section
        .scenarios
        .iter()
        .zip(&labels)
        .collect::<Vec<_>>()
        .chunk_by(|(left, _), (right, _)| table_title(left) == table_title(right))
        .filter_map(|groups| Some((groups[0].0.scenario?, filter_rows(scenario_rows(groups), detailed))))
        .collect();
    let languages = filter_rows(language_rows(section), detailed);
    let (empty, results): (Vec<_>, Vec<_>) = scenarios.iter().partition(|(scenario, _)| scenario.is_empty());
    let all_results = results.iter().map(|(_, rows)| rows).chain([&languages]);
    let result_layout = TableLayout::fitting(&numbers, columns::RESULTS, all_results, style.width);
    let empty_layout =
        TableLayout::fitting(&numbers, columns::RESTRAINT, empty.iter().map(|(_, rows)| rows), style.width);

    let mut parts = vec![heading(section, style)];
    parts.extend(verdict::parts(&all, &section.verdict, style));
    parts.push(dim_note(&format::scenarios_caption(section, style.alphabet()), style));
    for (scenario, rows) in &scenarios {
        let layout = if scenario.is_empty() { &empty_layout } else { &result_layout };
        parts.push(with_title(
            &format::table_title(*scenario),
            &layout.draw(&numbers, "kind", rows, style),
            style,
        ));
    }
    let totals = dim_note(&format::totals_caption(section, style.alphabet()), style);
    if section.languages.len() > 1 {
        let drawn = result_layout.draw(&numbers, "language", &languages, style);
        parts.push(with_title("by language", &format!("{drawn}\n{totals}"), style));
    }
    parts.push(totals);
    let overall = text_table::rows([("all", &section.overall)]);
    let overall_layout = TableLayout::fitting(&all, columns::OVERALL, [&overall], style.width);
    parts.push(with_title("overall", &overall_layout.draw(&all, "", &overall, style), style));
    parts.extend(stopping::table(&all, section, style));
    parts.extend(contexts::table(&all, section, detailed, style));
    parts.extend(section.cutoffs.iter().map(|slice| cutoff(summary, &all, slice, style)));
    parts.join("\n\n")
}

/// Renders a verdict on engines of several runs.
pub(crate) fn verdict_parts(engines: &[EngineIdentity], verdict: &Verdict, style: Style) -> Vec<String> {
    verdict::parts(&CellFormatter::new(engines, style.alphabet()), verdict, style)
}

/// Renders the cases on both sides of a cut-off.
fn cutoff(summary: &RunSummary, numbers: &CellFormatter, slice: &CutoffSlice, style: Style) -> String {
    let rows = text_table::rows([("until", &slice.until), ("after", &slice.after)]);
    let layout = TableLayout::fitting(numbers, columns::RESULTS, [&rows], style.width);
    let title = format::escape_invisible(&format::cutoff_title(summary, slice));
    let drawn = layout.draw(numbers, "written", &rows, style);
    with_title(&title, &format!("{drawn}\n{}", dim_note(format::CUTOFF_CAPTION, style)), style)
}

/// Renders the costs of the engines, if any has prices.
fn costs(summary: &RunSummary, style: Style) -> Option<String> {
    let numbers = CellFormatter::new(&summary.engines, style.alphabet());
    let header: Vec<&str> = std::iter::once("engine").chain(format::COST).collect();
    let rows: Vec<Vec<String>> = summary
        .costs
        .iter()
        .map(|cost| {
            [vec![numbers.engine(cost.engine)], format::cost(cost, style.alphabet()).to_vec()].concat()
        })
        .collect();
    let sheet = TextTable { header: &header, words: 1, dispensable: &[], rows };
    let caption = format::costs_caption(summary, style.alphabet());
    let caption = caption.map_or_else(String::new, |caption| format!("\n{}", dim_note(&caption, style)));
    (!summary.costs.is_empty()).then(|| with_title("cost", &(sheet.draw(style) + &caption), style))
}

/// Renders the failed requests of the engines by reason. Reasons are sentences, so this is no table.
pub(crate) fn failure_list(
    title: &str,
    rows: Vec<FailureRow>,
    engines: &[EngineIdentity],
    style: Style,
) -> Option<String> {
    let numbers = CellFormatter::new(engines, style.alphabet());
    let line = |row: FailureRow| {
        let first =
            if row.examples.is_empty() { String::new() } else { format!(" (first at {})", row.examples) };
        let text = format!(
            "{}: {} of {}: {}{first}",
            numbers.engine(row.engine),
            row.count,
            row.requests,
            row.reason
        );
        wrapped(&format::escape_invisible(&text), style.width.saturating_sub(2), "  ")
    };
    list(title, rows.into_iter().map(line), style)
}

/// Filters the rows of the engines in detailed tables. Engines without near-copies are left out: they show the effect of copies,
/// for which totals are sufficient.
fn filter_rows(rows: NamedLines<'_>, is_shown: impl Fn(usize) -> bool) -> NamedLines<'_> {
    rows.into_iter().filter(|(_, line)| is_shown(line.engine)).collect()
}

fn table_title(group: &CaseGroup) -> Option<String> {
    group.scenario.map(format::table_title)
}

/// Returns the names of a group's rows: only the first is named, and each that is no rank is marked.
fn labels(group: &CaseGroup) -> Vec<String> {
    let variant = group.scenario.and_then(format::row_title);
    let kind = group.block_kind.map(|kind| kind.to_string());
    let parts: Vec<String> = variant.into_iter().chain(kind).collect();
    let name = if parts.is_empty() { "all".to_owned() } else { parts.join(", ") };
    let names = std::iter::once(name).chain(std::iter::repeat(String::new()));
    let mark = |line: &EngineLine| if line.is_selected_against { format::SELECTED_AGAINST } else { "" };
    group.lines.iter().zip(names).map(|(line, name)| name + mark(line)).collect()
}

fn scenario_rows<'a>(groups: &[(&'a CaseGroup, &'a Vec<String>)]) -> NamedLines<'a> {
    // If there is only one kind, the total would repeat it.
    let groups = match groups {
        [(total, _), only] if total.lines == only.0.lines && total.scenario == only.0.scenario => {
            std::slice::from_ref(only)
        }
        groups => groups,
    };
    let rows = groups.iter().flat_map(|(group, labels)| labels.iter().map(String::as_str).zip(&group.lines));
    rows.collect()
}

fn language_rows(section: &ReportSection) -> NamedLines<'_> {
    text_table::rows(
        section.languages.iter().map(|group| (group.language.as_deref().unwrap_or_default(), group)),
    )
}

fn heading(section: &ReportSection, style: Style) -> String {
    let title = style.title(&format::section_title(section));
    format!("{title} {} {}", style.alphabet().dot(), format::section_size(section))
}

/// Formats a table below its title.
pub fn with_title(title: &str, body: &str, style: Style) -> String {
    format!("{}\n{body}", style.title(title))
}

fn legend(are_late: bool, style: Style) -> String {
    let text = format!(
        "Percent, then the 95 % interval over files, because cases of one file are alike: Wilson's or Hall's, exact if few files are \
         informative, Student's or Tango's for differences. Cells under {} cases show counts only (sum/cases). quiet: answers \
         silent+gated+failed. ms: median/95th percentile, a timeout counting as longest.{}",
        scoring::metric_table::MIN_CASES,
        if are_late { " in time: exact, without answers that were cut at the deadline." } else { "" }
    );
    dim_note(&text, style)
}

/// Formats an explanation below a table.
pub fn dim_note(text: &str, style: Style) -> String {
    style.dim(&wrapped(text, style.width, ""))
}

fn list(title: &str, lines: impl Iterator<Item = String>, style: Style) -> Option<String> {
    let items: String = lines.map(|line| format!("\n  {line}")).collect();
    (!items.is_empty()).then(|| style.title(title) + &items)
}

/// Breaks `text` between words so that lines fit `width` if the words do.
pub fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join(&format!("\n{indent}"))
}
