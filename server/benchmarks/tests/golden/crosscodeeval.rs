//! CrossCodeEval.

use benchmarks::crosscodeeval::{CcevalItem, CcevalPrediction, score_predictions};
use serde_json::{Value, json};
use syntax::Language;
use test_fixture::golden_rows;

use super::{Differences, RULES, SIMILARITIES, import, text};

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
        let variant = SIMILARITIES.into_iter().find(|(_, name)| *name == row["es_variant"]);
        let (similarity, _) = variant.expect("a known variant");
        let (items, predictions) = (import::<CcevalItem>(&items), import::<CcevalPrediction>(&predictions));
        let scores = score_predictions(language, &items, &predictions, similarity, RULES);
        assert_eq!((scores.missing, scores.unknown), (vec![], vec![]));
        let (ours, expected) = (scores.aggregate, &row["expected"]);
        differences.compare(row, "em", ours.em, &expected["em"]);
        differences.compare(row, "es", ours.es, &expected["es"]);
        differences.compare(row, "id_em", ours.id_em, &expected["id_em"]);
        differences.compare(row, "id_f1", ours.id_f1, &expected["id_f1"]);
        differences.compare(row, "total", ours.total, &expected["total"]);
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
