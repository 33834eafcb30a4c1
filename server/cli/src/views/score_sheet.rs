//! Renders the numbers of a public benchmark.

use benchmarks::{BenchmarkTables, CountedIds, RuleDifference, ScoreSheet, ScoreTable, ScoringRules};
use report::terminal::{Style, dim_note, with_title};
use report::{format, score_table_text};
use serde_json::{Map, Value, json};

use crate::output::count;
use crate::steps::benchmark_files::BrokenRows;

/// Ids of a list that are printed.
const PRINTED_IDS: usize = 3;

/// Renders the tables, the counts and the differences between the two rules.
pub(crate) fn score_text(
    name: &str,
    rules: ScoringRules,
    sheet: &ScoreSheet,
    broken: usize,
    style: Style,
) -> String {
    let rules_name = match rules {
        ScoringRules::Paper => "by its description",
        ScoringRules::Faithful => "as its program computes",
    };
    let mut parts = vec![format!("{} {rules_name}", style.title(name))];
    parts.extend(sheet.tables.iter().map(|table| score_table_text(table, style)));
    parts.push(counts(sheet, broken));
    parts.extend(sheet.notes.iter().map(|note| dim_note(note, style)));
    let differences: Vec<String> =
        sheet.differences.iter().filter(|it| it.affected > 0).map(|it| difference(it, rules)).collect();
    if !differences.is_empty() {
        let title = match rules {
            ScoringRules::Paper => "the original's program differs",
            ScoringRules::Faithful => "the description differs",
        };
        parts.push(with_title(title, &differences.join("\n"), style));
    }
    parts.join("\n\n") + "\n"
}

fn counts(sheet: &ScoreSheet, broken: usize) -> String {
    let mut lines =
        vec![format!("  {}, {} with a prediction", count(sheet.cases, "case"), sheet.predictions)];
    let lists = [
        (&sheet.missing, "without a prediction"),
        (&sheet.unknown, "predicted, but not among the cases"),
        (&sheet.repeated, "predicted once more, not scored"),
    ];
    lines.extend(lists.iter().filter(|(ids, _)| ids.count > 0).map(|(ids, name)| id_list(ids, name)));
    if broken > 0 {
        lines.push(format!("  {} set apart", count(broken, "broken row")));
    }
    lines.join("\n")
}

fn id_list(ids: &CountedIds, name: &str) -> String {
    let shown: Vec<String> = ids.first.iter().take(PRINTED_IDS).map(|id| format::on_one_line(id)).collect();
    let more = if ids.count > shown.len() { ", ..." } else { "" };
    format!("  {} {name}: {}{more}", ids.count, shown.join(", "))
}

fn difference(difference: &RuleDifference, rules: ScoringRules) -> String {
    let other = match rules {
        ScoringRules::Paper => difference.faithful,
        ScoringRules::Faithful => difference.paper,
    };
    format!("  {}: {other} ({} affected)", difference.topic, difference.affected)
}

/// Returns all numbers, for `--json`.
pub(crate) fn score_json(name: &str, rules: ScoringRules, sheet: &ScoreSheet, broken: &BrokenRows) -> Value {
    let tables = tables_json(&sheet.tables);
    let ids = |ids: &CountedIds| json!({ "count": ids.count, "first": ids.first });
    json!({
        "format": name,
        "rules": rules.name(),
        "cases": sheet.cases,
        "predictions": sheet.predictions,
        "missing": ids(&sheet.missing),
        "unknown": ids(&sheet.unknown),
        "repeated": ids(&sheet.repeated),
        "broken": broken.json(),
        "tables": tables,
        "differences": sheet.differences.iter().map(difference_json).collect::<Vec<_>>(),
        "notes": sheet.notes,
    })
}

fn difference_json(difference: &RuleDifference) -> Value {
    let RuleDifference { topic, paper, faithful, affected } = difference;
    json!({ "topic": topic, "paper": paper, "faithful": faithful, "affected": affected })
}

/// Returns the rules of a run's tables, and where the original's program and its description differ.
pub(crate) fn rules_json(tables: &BenchmarkTables) -> Value {
    let difference = |(engine, difference): &(String, RuleDifference)| {
        let mut row = difference_json(difference);
        row["engine"] = json!(engine);
        row
    };
    json!({
        "rules": tables.rules.name(),
        "differences": tables.differences.iter().map(difference).collect::<Vec<_>>(),
        "notes": tables.notes,
    })
}

/// Returns tables by their name.
pub(crate) fn tables_json(tables: &[ScoreTable]) -> Value {
    Value::Object(tables.iter().map(|table| (table.name.clone(), table_json(table))).collect())
}

fn table_json(table: &ScoreTable) -> Value {
    let row = |(name, values): &(String, Vec<Option<f64>>)| {
        let values: Map<String, Value> =
            table.columns.iter().cloned().zip(values.iter().map(|value| json!(value))).collect();
        (name.clone(), Value::Object(values))
    };
    Value::Object(table.rows.iter().map(row).collect())
}
