//! CrossCodeEval.

use benchmarks::ImportedRow;
use benchmarks::crosscodeeval::{CcevalItem, CcevalPrediction, PredictionScorer};
use serde_json::{Value, json};
use syntax::Language;
use test_fixture::golden_rows;

use super::{Differences, RULES, import, text};

#[test]
fn golden_cceval_real_inputs_are_imported() {
    let Some(rows) = golden_rows("cceval_real_inputs.jsonl") else { return };
    for (item, row) in import::<CcevalItem>(&rows).into_iter().zip(&rows) {
        assert_eq!(item.prompt, text(row, "prompt"));
        assert_eq!(item.metadata.task_id, text(&row["metadata"], "task_id"));
    }
}

/// Scores files with the rows of each language. Python's truncation depends on the version of its grammar; `scoring` compares it
/// row by row.
#[test]
fn golden_cceval_prediction_files() {
    let (Some(rows), Some(aggregates)) =
        (golden_rows("cceval_metrics.jsonl"), golden_rows("cceval_aggregate.jsonl"))
    else {
        return;
    };
    let mut differences = Differences::default();
    for row in aggregates.iter().filter(|row| row["lang"] != "python") {
        let language = Language::from_name(text(row, "lang")).expect("a supported language");
        let of_language: Vec<&Value> = rows.iter().filter(|metric| metric["lang"] == row["lang"]).collect();
        let (items, predictions): (Vec<Value>, Vec<Value>) =
            of_language.into_iter().map(|row| (item(row), prediction(row))).unzip();
        let (items, predictions) = (import::<CcevalItem>(&items), import::<CcevalPrediction>(&predictions));
        let items = items.into_iter().map(|item| ImportedRow { line: 1, item, text: String::new() });
        let mut scorer = PredictionScorer::new(predictions, Some(language), RULES);
        assert_eq!(scorer.add(items.collect()), []);
        let sheet = scorer.finish();
        assert_eq!((sheet.missing.count, sheet.unknown.count), (0, 0));
        let ours = |name: &str| {
            let column = sheet.tables[0].columns.iter().position(|column| column == name);
            sheet.tables[0].rows[0].1[column.expect("a column")]
        };
        let similarity = if row["es_variant"] == "levenshtein" { "es_levenshtein" } else { "es" };
        let expected = &row["expected"];
        differences.compare(row, "es", ours(similarity), &expected["es"]);
        for name in ["em", "id_em", "id_precision", "id_recall", "id_f1", "total"] {
            differences.compare(row, name, ours(name), &expected[name]);
        }
    }
    differences.assert_none();
}

fn item(row: &Value) -> Value {
    json!({
        "prompt": row["prompt"],
        "groundtruth": row["groundtruth"],
        "right_context": "",
        "metadata": {"task_id": row["id"], "repository": "r", "file": "a/b"},
        "crossfile_context": {"text": "", "list": [{"retrieved_chunk": "x", "filename": "y", "score": 0.5}]},
    })
}

fn prediction(row: &Value) -> Value {
    json!({"task_id": row["id"], "pred": row["prediction_raw"]})
}
