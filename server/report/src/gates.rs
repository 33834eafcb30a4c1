//! Renders the results of gates: for the terminal, pull requests, JUnit and JSON.
//!
//! Lists are bounded, and case texts are never shown: a pull request may be public.

use std::fmt::Write as _;

use scoring::gate::{CaseChange, GateCheck, GateReport, MeasuredValue, PairChanges, ValueUnit};
use scoring::verdict::PairVerdict;

use crate::format;
use crate::markdown::escaped;
use crate::terminal::{Style, wrapped};
use crate::verdict_text;

/// Most changes for the worse in the terminal.
const TERMINAL_CHANGES: usize = 10;
/// Longest path in lists, characters.
const PATH_WIDTH: usize = 100;

/// Renders the checks as a list, and the worst changes.
pub fn gates_table(report: &GateReport, style: Style) -> String {
    let width = style.width.saturating_sub(4);
    let check = |check: &GateCheck| {
        let result = if check.has_passed { "passed" } else { "FAILED" };
        let text = format!("{result}: {}", check_text(check));
        format!("  {}", wrapped(&format::on_one_line(&text), width, "    "))
    };
    let mut parts = Vec::new();
    if !report.checks.is_empty() {
        let lines: Vec<String> = report.checks.iter().map(check).collect();
        parts.push(format!("{}\n{}", style.title("gates"), lines.join("\n")));
    }
    for changes in &report.changes {
        let title = style.title(&format::on_one_line(&changes_title(changes)));
        let worst = changes.cases.iter().take(changes.worse.min(TERMINAL_CHANGES));
        let lines = worst.map(|case| format!("\n  {}", format::on_one_line(&change_text(case))));
        parts.push(title + &lines.collect::<String>());
    }
    parts.iter().map(|part| format!("{part}\n")).collect::<Vec<_>>().join("\n")
}

/// Renders the checks, failed ones first, and the changed cases, the worst first, for a pull request.
pub fn gates_markdown(report: &GateReport) -> String {
    let failed = report.failures().count();
    let mut parts = Vec::new();
    if !report.checks.is_empty() {
        let summary = match failed {
            0 => format!("## Gates: all {} passed", report.checks.len()),
            failed => format!("## Gates: {failed} of {} failed", report.checks.len()),
        };
        parts.push(summary);
        let (passed, failures): (Vec<_>, Vec<_>) = report.checks.iter().partition(|check| check.has_passed);
        parts.push(
            failures
                .iter()
                .chain(&passed)
                .map(|check| {
                    let result = if check.has_passed { "passed" } else { "**failed**" };
                    format!("- {result}: {}", escaped(&check_text(check)))
                })
                .collect::<Vec<_>>()
                .join("\n"),
        );
    }
    parts.extend(report.changes.iter().map(changes_markdown));
    parts.iter().map(|part| format!("{part}\n\n")).collect()
}

fn changes_markdown(changes: &PairChanges) -> String {
    let title = escaped(&changes_title(changes));
    if changes.cases.is_empty() {
        return title;
    }
    let row = |case: &CaseChange| {
        format!(
            "| {} | {} | {} | {} | {} |",
            escaped(&place(case)),
            escaped(case.scenario.name()),
            escaped(&case.language),
            format::percent(case.before),
            format::percent(case.after),
        )
    };
    let rows: Vec<String> = changes.cases.iter().map(row).collect();
    format!(
        "<details open><summary>{title}</summary>\n\n| case | scenario | language | before | after |\n|---|---|---|--:|--:|\n{}\n\n</details>",
        rows.join("\n")
    )
}

/// Returns the checks as JUnit's XML, a test case for each.
pub fn gates_junit(report: &GateReport, name: &str) -> String {
    let (checks, failed) = (report.checks.len(), report.failures().count());
    let name = xml(name);
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let counts = format!("tests=\"{checks}\" failures=\"{failed}\" errors=\"0\"");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "<testsuites {counts}>\n<testsuite name=\"{name}\" {counts}>");
    for check in &report.checks {
        let class = xml(check.engine.as_deref().unwrap_or("run"));
        let _ = write!(text, "<testcase classname=\"{class}\" name=\"{}\"", xml(&check.rule));
        let _ = match check.has_passed {
            true => writeln!(text, "/>"),
            false => writeln!(text, "><failure message=\"{}\"/></testcase>", xml(&check_text(check))),
        };
    }
    text + "</testsuite>\n</testsuites>\n"
}

/// Escapes text for an attribute. Control characters, which XML forbids even escaped, and invisible ones become visible codes.
fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in format::on_one_line(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Not characters in XML.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Describes a check with the numbers that decided: `qwen: exact_match<40%: exact_match is 35.0 % of 60 cases`.
pub fn check_text(check: &GateCheck) -> String {
    let engine = check.engine.as_ref().map_or_else(String::new, |engine| format!("{engine}: "));
    let values = check.values.iter().map(value_text).chain(check.pair.as_ref().map(pair_text));
    format!("{engine}{}: {}", check.rule, values.collect::<Vec<_>>().join(", "))
}

fn value_text(measured: &MeasuredValue) -> String {
    let MeasuredValue { measure, unit, value, cases } = measured;
    let Some(value) = value else { return format!("there is nothing to measure for {measure}") };
    let count = format::count_of(*cases, "case");
    match unit {
        ValueUnit::Share => format!("{measure} is {} % of {count}", format::percent(*value)),
        ValueUnit::Milliseconds if value.is_infinite() => format!("{measure} is a timeout"),
        ValueUnit::Milliseconds => format!("{measure} is {}", format::duration(*value)),
        ValueUnit::Cost => format!("{measure} is {} for 1,000 answers", format::amount(*value)),
        ValueUnit::Count => format!("{measure} is {}", format::one_decimal(*value)),
    }
}

fn pair_text(pair: &PairVerdict) -> String {
    let difference = match (pair.difference.value, pair.difference.interval) {
        (Some(value), Some(interval)) => {
            format!("{} points ({}), ", format::signed_percent(value), format::signed_interval(interval))
        }
        (Some(value), None) => format!("{} points, ", format::signed_percent(value)),
        (None, _) => String::new(),
    };
    let p = pair.margin.map(|margin| format!("p = {:.3} for non-inferiority, ", margin.p_not_inferior));
    let counts = format!(
        "{} better, {} worse of {}",
        pair.difference.better,
        pair.difference.worse,
        format::count_of(pair.cases, "case")
    );
    format!("{difference}{}{counts}; {}", p.unwrap_or_default(), verdict_text::conclusion(pair))
}

fn changes_title(changes: &PairChanges) -> String {
    let PairChanges { engine, baseline, worse, better, .. } = changes;
    let listed = if worse + better > changes.cases.len() { ", the largest changes" } else { "" };
    format!("{engine} - {baseline}: {worse} worse, {better} better{listed}")
}

fn change_text(case: &CaseChange) -> String {
    let (before, after) = (format::percent(case.before), format::percent(case.after));
    format!("{before} to {after} %: {}, {}", place(case), case.scenario)
}

/// Returns path and line, from 1 as in editors. Of a long path, the end is kept.
fn place(case: &CaseChange) -> String {
    let characters = case.path.chars().count();
    let path: String = case.path.chars().skip(characters.saturating_sub(PATH_WIDTH)).collect();
    format!("{path}:{}", u64::from(case.line) + 1)
}
