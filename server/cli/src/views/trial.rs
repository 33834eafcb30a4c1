//! Views of live trials: their state, and single opportunities.

use std::fmt::Write;
use std::path::Path;

use cases::{ContextItem, Opportunity, TrialDefinition, to_line};
use report::format::{count_of, opportunities};
use report::terminal::{Style, TextTable};
use serde_json::json;
use trial::proposal;
use trial::store::{DayCount, StoredOpportunity};

/// Days of the table; older ones are summed up.
const DAYS: usize = 14;

/// Lines of code that are shown around a cursor.
const LINES_AROUND: usize = 4;

/// Mark of the cursor.
const CURSOR: &str = "▏";

/// Lays out the state of trials.
pub(crate) fn status(
    definitions: &[TrialDefinition],
    days: &[DayCount],
    reviewed: u64,
    bytes: u64,
    store: &Path,
    style: Style,
) -> String {
    let mut text = String::new();
    match definitions.last() {
        Some(trial) => text.push_str(&definition(trial)),
        None => {
            text.push_str("no trial in this workspace; start one with: ghostbench trial start --arm ENGINE\n")
        }
    }
    let total: u64 = days.iter().map(|day| day.opportunities).sum();
    if total == 0 {
        text.push_str("nothing is recorded\n");
        return text;
    }
    let recent = &days[days.len().saturating_sub(DAYS)..];
    let rows = recent
        .iter()
        .map(|day| {
            let counts = [day.opportunities, day.truths, day.shown, day.accepted];
            [day.day.clone()].into_iter().chain(counts.map(|count| count.to_string())).collect()
        })
        .collect();
    let header = ["day", "opportunities", "with truth", "shown", "accepted"];
    text.push('\n');
    text.push_str(&TextTable { header: &header, words: 1, dispensable: &[], rows }.draw(style));
    let megabytes = bytes as f64 / f64::from(1 << 20);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "\n{}, {reviewed} reviewed, {megabytes:.1} MB in {}",
        opportunities(total),
        store.display()
    );
    text
}

fn definition(trial: &TrialDefinition) -> String {
    let state = match &trial.stopped_at {
        Some(stopped) => format!("from {} to {stopped}", trial.started_at),
        None => format!("running since {}", trial.started_at),
    };
    let mut text = format!("trial `{}` ({}), {state}\n", trial.name, trial.mode);
    for arm in &trial.arms {
        let limits = proposal::request_limits(arm).unwrap_or_else(|| "requests are not limited".to_owned());
        let budget =
            arm.budget_per_day.map_or_else(String::new, |budget| format!(", costs at most {budget} a day"));
        let _ = writeln!(text, "  {}: weight {}, {limits}{budget}", arm.name, arm.weight);
    }
    let (holdout, margin) = (trial.holdout * 100.0, trial.margin * 100.0);
    let points = if margin == 1.0 { "point" } else { "points" };
    let _ = writeln!(
        text,
        "  {} decides; equivalent below {margin} {points}; nothing is shown at {holdout} %",
        trial.primary
    );
    text
}

/// Lays out an opportunity: in short, or with everything that an export contains.
pub(crate) fn opportunity(row: &StoredOpportunity, is_full: bool) -> String {
    let opportunity = &row.opportunity;
    let mut text = heading(row);
    if is_full {
        let cursor = &opportunity.cursor;
        text.push_str(&block("document", &[&*cursor.prefix, CURSOR, &cursor.suffix].concat()));
        for item in opportunity.context.iter().chain(&opportunity.similar_functions) {
            text.push_str(&block(&context_name(item), &item.text));
        }
        let mut rest = opportunity.clone();
        rest.cursor.prefix.clear();
        rest.cursor.suffix.clear();
        rest.context.clear();
        rest.similar_functions.clear();
        text.push_str(&block("everything else", &to_line(&rest)));
    } else {
        text.push_str(&block("code", &around_cursor(opportunity)));
    }
    if let Some(truth) = opportunity.truth() {
        text.push_str(&block(&format!("truth ({})", truth.stage), &truth.text));
    }
    for answer in &opportunity.answers {
        let title = format!("{} ({}, {}, {:.0} ms)", answer.arm, answer.role, answer.status, answer.ms.total);
        text.push_str(&block(&title, &answer.text));
    }
    text.push('\n');
    text
}

fn context_name(item: &ContextItem) -> String {
    format!("{}:{} ({})", item.path, item.start_line + 1, item.strategy)
}

fn heading(row: &StoredOpportunity) -> String {
    let Opportunity { id, opened_at, cursor, trigger, privacy, secrets, outcome, exposure, .. } =
        &row.opportunity;
    let place = format!("{}:{}:{}", cursor.path, cursor.line + 1, cursor.character + 1);
    let reviewed = if row.is_reviewed { ", reviewed" } else { "" };
    let masked = if *secrets > 0 {
        format!(", {} masked", count_of(*secrets as usize, "secret"))
    } else {
        String::new()
    };
    format!(
        "{id}  {opened_at}  {}\n  {}, {trigger}, {}, exposure {exposure}, level {privacy}{masked}{reviewed}\n",
        visible(&place),
        cursor.language,
        outcome.kind
    )
}

/// Returns the last lines before the cursor and the first ones after it.
fn around_cursor(opportunity: &Opportunity) -> String {
    let before: Vec<&str> = opportunity.cursor.prefix.split_inclusive('\n').collect();
    let start = before.len().saturating_sub(LINES_AROUND);
    let after: String = opportunity.cursor.suffix.split_inclusive('\n').take(LINES_AROUND).collect();
    [&before[start..].concat(), CURSOR, &after].concat()
}

fn block(title: &str, code: &str) -> String {
    let lines: String = code.lines().map(|line| format!("    | {}\n", visible(line))).collect();
    format!("  {}\n{lines}", visible(title))
}

/// Replaces control characters, which a terminal would obey.
fn visible(text: &str) -> String {
    let show = |c: char| match c {
        '\t' => "    ".to_owned(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    text.chars().map(show).collect()
}

/// Returns an opportunity in short, as a line of JSON.
pub(crate) fn short_json(row: &StoredOpportunity) -> String {
    let opportunity = &row.opportunity;
    let answers = opportunity.answers.iter();
    let answers = answers.map(|answer| json!({ "arm": answer.arm, "role": answer.role, "status": answer.status, "text": answer.text }));
    let line = json!({
        "id": opportunity.id,
        "opened_at": opportunity.opened_at,
        "path": opportunity.cursor.path,
        "line": opportunity.cursor.line,
        "language": opportunity.cursor.language,
        "privacy": opportunity.privacy,
        "outcome": opportunity.outcome.kind,
        "truth": opportunity.truth().map(|truth| &truth.text),
        "answers": answers.collect::<Vec<_>>(),
        "is_reviewed": row.is_reviewed,
    });
    format!("{line}\n")
}
