//! Renders the summary as Markdown, for pull requests and issues.

mod verdict;

use cases::{EngineIdentity, Metric};

use crate::failures::{self, FailureRow};
use crate::format::{self, Alphabet};
use crate::notes::note_texts;
use crate::stopping::{self, COUNTS, StoppingRow};
use scoring::run_summary::{CaseGroup, ContextEffect, EngineLine, ReportSection};
use scoring::{MetricCell, PairedDifference, RunSummary, Verdict};

const UNICODE: Alphabet = Alphabet::Unicode;

/// Renders tables per origin: the verdict, engines overall, then by language, then by scenario and block kind in a collapsed section.
pub fn markdown(summary: &RunSummary) -> String {
    let mut parts = vec![format!("# {}", escaped(&summary.run.name))];
    if summary.sections.is_empty() {
        parts.push("No answers yet.".to_owned());
    }
    for section in &summary.sections {
        parts.push(format!("## {}", format::section_title(section)));
        parts.extend(section_tables(summary, section));
    }
    parts.extend(format::costs_caption(summary, UNICODE).map(|caption| escaped(&caption)));
    parts.extend((!summary.costs.is_empty()).then(|| costs(summary)));
    let failures = failures::rows(&summary.failures, &summary.engines, UNICODE);
    parts.extend(failure_table(&failures, &summary.engines));
    if !summary.sections.is_empty() {
        parts.push(legend());
    }
    let notes: Vec<String> = note_texts(summary).iter().map(|note| format!("- {}", escaped(note))).collect();
    parts.extend((!notes.is_empty()).then(|| notes.join("\n")));
    parts.join("\n\n") + "\n"
}

fn section_tables(summary: &RunSummary, section: &ReportSection) -> Vec<String> {
    let metrics = section.headline_metrics();
    let totals = escaped(&format::totals_caption(section, UNICODE));
    let overall = table(summary, &metrics, "", [("all", &section.overall)].into_iter());
    let mut tables = verdict::parts(&section.verdict, &summary.engines);
    tables.extend([totals.clone(), overall]);
    let stops = stopping::rows(section);
    if !stops.is_empty() {
        let caption = escaped(&format!("{} {}", format::totals_caption(section, UNICODE), stopping::CAPTION));
        tables.extend([caption, stopping_table(summary, &stops)]);
    }
    if !section.contexts.is_empty() {
        tables.extend([escaped(&format::contexts_caption(section, UNICODE)), contexts(summary, section)]);
    }
    for slice in &section.cutoffs {
        let caption = format!("{}. {}", format::cutoff_title(summary, slice), format::CUTOFF_CAPTION);
        let rows = [("until", &slice.until), ("after", &slice.after)];
        tables.extend([escaped(&caption), table(summary, &metrics, "written", rows.into_iter())]);
    }
    if section.languages.len() > 1 {
        let rows =
            section.languages.iter().map(|group| (group.language.as_deref().unwrap_or_default(), group));
        tables.extend([totals, table(summary, &metrics, "language", rows)]);
    }
    let labels: Vec<String> = section.scenarios.iter().map(label).collect();
    let rows = labels.iter().map(String::as_str).zip(&section.scenarios);
    let scenarios = table(summary, &metrics, "scenario, block kind", rows);
    let caption = format::scenarios_caption(section, UNICODE);
    tables.push(format!(
        "<details><summary>By scenario and block kind. {caption}</summary>\n\n{scenarios}\n\n</details>"
    ));
    tables
}

/// Renders a verdict on engines of several runs.
pub(crate) fn verdict_parts(engines: &[EngineIdentity], verdict: &Verdict) -> Vec<String> {
    verdict::parts(verdict, engines)
}

fn label(group: &CaseGroup) -> String {
    let parts = [group.scenario.map(|it| it.to_string()), group.block_kind.map(|it| it.to_string())];
    let is_marked = group.lines.iter().any(|line| line.is_selected_against);
    let mark = if is_marked { format::SELECTED_AGAINST } else { "" };
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ") + mark
}

fn table<'a>(
    summary: &RunSummary,
    metrics: &[Metric],
    label: &str,
    rows: impl Iterator<Item = (&'a str, &'a CaseGroup)>,
) -> String {
    let titles: Vec<&str> = metrics.iter().map(|metric| metric.spec().label).collect();
    let mut lines = vec![
        format!("| {label} | engine | n | {} | silent+gated+failed | median/p95 ms |", titles.join(" | ")),
        format!("|---|---|--:|{}--:|--:|", "--:|".repeat(metrics.len())),
    ];
    for (name, group) in rows {
        lines.extend(group.lines.iter().map(|line| row(summary, metrics, name, line)));
    }
    lines.join("\n")
}

fn row(summary: &RunSummary, metrics: &[Metric], name: &str, line: &EngineLine) -> String {
    let engine = engine(summary, line.engine);
    let shares: Vec<String> = metrics.iter().map(|metric| share(line.metrics.get(metric))).collect();
    let latency = format::latency(line.latency, "–");
    let name = escaped(name);
    format!(
        "| {name} | {engine} | {} | {} | {} | {latency} |",
        format::cases(line.cases, line.is_from_other_tree(), UNICODE),
        shares.join(" | "),
        format::unanswered_counts(line)
    )
}

fn stopping_table(summary: &RunSummary, rows: &[StoppingRow<'_>]) -> String {
    let mut lines = vec![
        format!("| engine | {} | stopping |", COUNTS.join(" | ")),
        format!("|---|---|{}", "--:|".repeat(COUNTS.len())),
    ];
    lines.extend(rows.iter().map(|row| {
        let engine = engine(summary, row.engine);
        format!("| {engine} | {} | {} |", row.counts.join(" | "), share(row.stopping))
    }));
    lines.join("\n")
}

fn share(cell: Option<&MetricCell>) -> String {
    let Some(cell) = cell else { return "–".to_owned() };
    let Some(value) = cell.value else { return format::counts(cell) };
    let interval = cell.interval.map(|interval| format!(" ({})", format::interval(interval, UNICODE)));
    format::percent(value) + &interval.unwrap_or_default()
}

/// Returns the difference with its interval.
fn difference_cell(difference: &PairedDifference) -> String {
    let interval = difference.interval.map(|interval| format!(" ({})", format::signed_interval(interval)));
    difference.value.map_or_else(|| "–".to_owned(), format::signed_percent) + &interval.unwrap_or_default()
}

fn costs(summary: &RunSummary) -> String {
    let mut lines =
        vec![format!("| engine | {} |", format::COST.join(" | ")), "|---|--:|--:|--:|--:|--:|".to_owned()];
    lines.extend(summary.costs.iter().map(|cost| {
        format!("| {} | {} |", engine(summary, cost.engine), format::cost(cost, UNICODE).join(" | "))
    }));
    lines.join("\n")
}

/// Renders failed requests by reason; `None` without any.
pub(crate) fn failure_table(rows: &[FailureRow], engines: &[EngineIdentity]) -> Option<String> {
    let name = |index: usize| engines.get(index).map_or_else(String::new, |engine| escaped(&engine.name));
    let mut lines =
        vec![format!("| {} |", failures::HEADINGS.join(" | ")), "|---|--:|--:|---|---|".to_owned()];
    lines.extend(rows.iter().map(|row| {
        let (reason, examples) = (escaped(&row.reason), escaped(&row.examples));
        format!("| {} | {} | {} | {reason} | {examples} |", name(row.engine), row.count, row.requests)
    }));
    (!rows.is_empty()).then(|| lines.join("\n"))
}

fn contexts(summary: &RunSummary, section: &ReportSection) -> String {
    let mut lines = vec![
        "| cross_file, on the same holes | engine | metric | n | difference | better | worse |".to_owned(),
        "|---|---|---|--:|--:|--:|--:|".to_owned(),
    ];
    lines.extend(section.contexts.iter().map(|effect| context_row(summary, effect)));
    lines.join("\n")
}

fn context_row(summary: &RunSummary, effect: &ContextEffect) -> String {
    let PairedDifference { better, worse, other_tree, .. } = effect.difference;
    let holes = format::cases(effect.holes, other_tree > 0, UNICODE);
    let value = difference_cell(&effect.difference);
    let (title, engine) = (escaped(&format::effect_title(effect)), engine(summary, effect.engine));
    let metric = format::metric_name(effect.metric);
    format!("| {title} | {engine} | {metric} | {holes} | {value} | {better} | {worse} |")
}

fn engine(summary: &RunSummary, index: usize) -> String {
    summary.engines.get(index).map_or_else(String::new, |engine| escaped(&engine.name))
}

fn legend() -> String {
    format!(
        "Percent, in brackets the 95 % interval over whole files (Wilson's or Hall's, exact if few of them are informative; Student's or Tango's for differences). \
         Cells under {} cases show counts only.",
        scoring::metric_table::MIN_CASES
    )
}

/// Escapes markup and characters that end a cell.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in format::escape_invisible(text).chars() {
        if matches!(character, '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#') {
            escaped.push('\\');
        }
        escaped.push(if character == '\n' { ' ' } else { character });
    }
    escaped
}
