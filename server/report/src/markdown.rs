//! The summary as Markdown, for pull requests and issues.

use scoring::metric::{EDIT_SIMILARITY, EXACT_MATCH, RESTRAINT, TOKEN_EXACT};

use crate::format::{self, Alphabet};
use crate::summary::{Cell, ContextEffect, Difference, EngineCost, Group, Line, Section, Summary};

/// Tables per origin: engines overall, then by language, then by scenario and block kind, folded away.
pub fn markdown(summary: &Summary) -> String {
    let mut parts = vec![format!("# {}", escaped(&summary.run.name))];
    if summary.sections.is_empty() {
        parts.push("No answers yet.".to_owned());
    }
    for section in &summary.sections {
        parts.push(format!("## {}", format::section_title(section)));
        parts.extend(section_tables(summary, section));
    }
    parts.extend((!summary.costs.is_empty()).then(|| costs(summary)));
    if !summary.sections.is_empty() {
        parts.push(legend());
    }
    let notes: Vec<String> = summary.notes.iter().map(|note| format!("- {}", escaped(note))).collect();
    parts.extend((!notes.is_empty()).then(|| notes.join("\n")));
    parts.join("\n\n") + "\n"
}

fn section_tables(summary: &Summary, section: &Section) -> Vec<String> {
    let totals = escaped(&format::totals_caption(section));
    let mut tables = vec![totals, table(summary, "", [("all", &section.overall)].into_iter())];
    tables.extend((!section.differences.is_empty()).then(|| differences(summary, section)));
    if !section.contexts.is_empty() {
        tables.extend([escaped(format::CONTEXTS_CAPTION), contexts(summary, section)]);
    }
    if section.languages.len() > 1 {
        let rows =
            section.languages.iter().map(|group| (group.language.as_deref().unwrap_or_default(), group));
        tables.push(table(summary, "language", rows));
    }
    let labels: Vec<String> = section.scenarios.iter().map(label).collect();
    let rows = labels.iter().map(String::as_str).zip(&section.scenarios);
    let scenarios = table(summary, "scenario, block kind", rows);
    let caption = format::scenarios_caption(section);
    tables.push(format!(
        "<details><summary>By scenario and block kind. {caption}</summary>\n\n{scenarios}\n\n</details>"
    ));
    tables
}

fn label(group: &Group) -> String {
    let parts = [group.scenario.as_deref(), group.block_kind.as_deref()];
    let is_marked = group.lines.iter().any(|line| line.is_selected_against);
    let mark = if is_marked { format::SELECTED_AGAINST } else { "" };
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ") + mark
}

fn table<'a>(summary: &Summary, label: &str, rows: impl Iterator<Item = (&'a str, &'a Group)>) -> String {
    let mut lines = vec![
        format!(
            "| {label} | engine | n | exact match | token-exact | edit similarity | restraint | silent+gated+failed | median/p95 ms |"
        ),
        "|---|---|--:|--:|--:|--:|--:|--:|--:|".to_owned(),
    ];
    for (name, group) in rows {
        lines.extend(group.lines.iter().map(|line| row(summary, name, line)));
    }
    lines.join("\n")
}

fn row(summary: &Summary, name: &str, line: &Line) -> String {
    let engine = engine(summary, line.engine);
    let shares =
        [EXACT_MATCH, TOKEN_EXACT, EDIT_SIMILARITY, RESTRAINT].map(|metric| share(line.metrics.get(metric)));
    let latency = format::latency(line.latency, "–");
    let name = escaped(name);
    format!(
        "| {name} | {engine} | {} | {} | {} | {latency} |",
        line.cases,
        shares.join(" | "),
        format::quiet(line)
    )
}

fn share(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else { return "–".to_owned() };
    let Some(value) = cell.value else { return format::counts(cell) };
    let interval =
        cell.interval.map(|interval| format!(" ({})", format::interval(interval, Alphabet::Unicode)));
    format::percent(value) + &interval.unwrap_or_default()
}

fn differences(summary: &Summary, section: &Section) -> String {
    let mut lines = vec![
        "| on the same cases | metric | n | difference | better | worse |".to_owned(),
        "|---|---|--:|--:|--:|--:|".to_owned(),
    ];
    lines.extend(section.differences.iter().map(|difference| difference_row(summary, difference)));
    lines.join("\n")
}

fn difference_row(summary: &Summary, difference: &Difference) -> String {
    let Difference { cases, better, worse, .. } = *difference;
    let (engine, baseline) = (engine(summary, difference.engine), engine(summary, difference.baseline));
    let interval = difference.interval.map(|interval| format!(" ({})", format::signed_interval(interval)));
    let value = difference.value.map_or_else(|| "–".to_owned(), format::signed_percent)
        + &interval.unwrap_or_default();
    let metric = difference.metric.replace('_', " ");
    format!("| {engine} - {baseline} | {metric} | {cases} | {value} | {better} | {worse} |")
}

fn costs(summary: &Summary) -> String {
    let mut lines =
        vec![format!("| engine | {} |", format::COST.join(" | ")), "|---|--:|--:|--:|--:|--:|".to_owned()];
    let row = |cost: &EngineCost| {
        format!("| {} | {} |", engine(summary, cost.engine), format::cost(cost).join(" | "))
    };
    lines.extend(summary.costs.iter().map(row));
    lines.join("\n")
}

fn contexts(summary: &Summary, section: &Section) -> String {
    let mut lines = vec![
        "| cross_file, on the same holes | engine | metric | n | difference | better | worse |".to_owned(),
        "|---|---|---|--:|--:|--:|--:|".to_owned(),
    ];
    lines.extend(section.contexts.iter().map(|effect| context_row(summary, effect)));
    lines.join("\n")
}

fn context_row(summary: &Summary, effect: &ContextEffect) -> String {
    let ContextEffect { holes, better, worse, .. } = *effect;
    let interval = effect.interval.map(|interval| format!(" ({})", format::signed_interval(interval)));
    let value =
        effect.value.map_or_else(|| "–".to_owned(), format::signed_percent) + &interval.unwrap_or_default();
    let (title, engine) = (escaped(&format::effect_title(effect)), engine(summary, effect.engine));
    let metric = effect.metric.replace('_', " ");
    format!("| {title} | {engine} | {metric} | {holes} | {value} | {better} | {worse} |")
}

fn engine(summary: &Summary, index: usize) -> String {
    summary.engines.get(index).map_or_else(String::new, |engine| escaped(&engine.name))
}

fn legend() -> String {
    format!(
        "Percent, in brackets the 95 % interval, resampled over whole files (exact or Student's where they are few). \
         Cells under {} cases show counts only.",
        scoring::summary::MIN_CASES
    )
}

/// Text that is neither markup nor the end of a cell.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in format::visible(text).chars() {
        if matches!(character, '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#') {
            escaped.push('\\');
        }
        escaped.push(if character == '\n' { ' ' } else { character });
    }
    escaped
}
