//! Compares scores with the original benchmarks, row by row.
//!
//! `GHOSTBENCH_GOLDEN` names the folder with their inputs and outputs; without it these tests print a note and check nothing.

use std::collections::{BTreeMap, HashMap};

use scoring::cceval::{self, AggregateScore, ComparedTexts};
use scoring::similarity::Similarity;
use serde_json::Value;
use syntax::Language;
use test_fixture::golden_rows as rows;

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("{}: no text `{key}`", row["id"]))
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{row}: no number `{key}`"))
}

/// Fails with the first differences and their number.
#[track_caller]
fn assert_no_differences(differences: &[String]) {
    let first = differences.iter().take(10).cloned().collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{} differences, such as\n{first}", differences.len());
}

fn language(row: &Value) -> Language {
    Language::from_name(text(row, "lang")).expect("a supported language")
}

fn compared(row: &Value) -> ComparedTexts<'_> {
    let (prediction, truth) = (text(row, "prediction_raw"), text(row, "groundtruth"));
    ComparedTexts::new(language(row), text(row, "prompt"), prediction, truth)
}

/// Returns the fields of a score that the original has, under the original's names.
fn fields(language: Language, texts: &ComparedTexts<'_>) -> Value {
    let score = texts.score();
    let matched = score.identifiers;
    serde_json::json!({
        "postprocessed": texts.truncated,
        "pred_truncated": texts.prediction,
        "target": texts.truth,
        "em": u8::from(score.exact_match),
        "es": score.similarity_difflib,
        "es_difflib": score.similarity_difflib,
        "es_levenshtein": score.similarity_indel,
        "id_em": u8::from(matched.exact),
        "id_tp": matched.true_positives,
        "id_fp": matched.false_positives,
        "id_fn": matched.false_negatives,
        "id_precision": matched.precision(),
        "id_recall": matched.recall(),
        "id_f1": matched.f1(),
        "pred_ids": cceval::identifiers(language, &texts.prediction),
        "target_ids": cceval::identifiers(language, &texts.truth),
    })
}

/// Whether the row declares that its truncation depends on the grammar's version, and lists this truncation.
fn is_other_grammars(row: &Value, texts: &ComparedTexts<'_>) -> bool {
    row["grammar_sensitive"] == true
        && row["postprocessed_other_grammars"]
            .as_object()
            .is_some_and(|others| others.values().any(|other| other == texts.truncated))
}

#[test]
fn golden_cceval_metrics() {
    let Some(rows) = rows("cceval_metrics.jsonl") else { return };
    let mut differences = Vec::new();
    let mut other_grammars = 0;
    for row in &rows {
        let texts = compared(row);
        if row["expected"]["postprocessed"] != texts.truncated && is_other_grammars(row, &texts) {
            other_grammars += 1;
            continue;
        }
        let ours = fields(language(row), &texts);
        let expected = row["expected"].as_object().expect("an object");
        for (name, value) in expected.iter().filter(|&(name, value)| !same(&ours[name], value)) {
            differences.push(format!("{}: {name} is {}, expected {value}", row["id"], ours[name]));
        }
    }
    eprintln!("{other_grammars} rows agree with another version of their grammar");
    assert_no_differences(&differences);
}

/// Whether two values are equal, ignoring whether a number is written as an integer.
fn same(ours: &Value, expected: &Value) -> bool {
    match (ours.as_f64(), expected.as_f64()) {
        (Some(ours), Some(expected)) => ours == expected,
        _ => ours == expected,
    }
}

#[test]
fn golden_fuzz_ratio() {
    let Some(rows) = rows("fuzz_ratio.jsonl") else { return };
    let variants = [(Similarity::Difflib, "ratio_difflib"), (Similarity::Indel, "ratio_levenshtein")];
    let mut differences = Vec::new();
    for row in &rows {
        for (similarity, key) in variants {
            let ours = similarity.percent(text(row, "s1"), text(row, "s2"));
            if ours != number(row, key) {
                differences.push(format!("{}: {key} is {ours}, expected {}", row["id"], row[key]));
            }
        }
    }
    assert_no_differences(&differences);
}

/// Returns the row's score. The aggregates hold for one version of the Python grammar: rows that another version truncates
/// differently are scored with their expected truncation.
fn score_as_expected(row: &Value) -> cceval::CcevalScore {
    let ours = compared(row);
    if !is_other_grammars(row, &ours) {
        return ours.score();
    }
    let truncated = text(&row["expected"], "postprocessed");
    cceval::score_truncated(Language::Python, truncated, text(row, "groundtruth"))
}

#[test]
fn golden_cceval_aggregate() {
    let (Some(metrics), Some(aggregates)) = (rows("cceval_metrics.jsonl"), rows("cceval_aggregate.jsonl"))
    else {
        return;
    };
    for row in &aggregates {
        let of_language = metrics.iter().filter(|metric| metric["lang"] == row["lang"]);
        let scores: Vec<_> = of_language.map(score_as_expected).collect();
        let similarity = match text(row, "es_variant") {
            "difflib" => Similarity::Difflib,
            "levenshtein" => Similarity::Indel,
            other => panic!("unknown variant {other}"),
        };
        let expected = &row["expected"];
        let expected = AggregateScore {
            em: number(expected, "em"),
            es: number(expected, "es"),
            id_em: number(expected, "id_em"),
            id_precision: number(expected, "id_precision"),
            id_recall: number(expected, "id_recall"),
            id_f1: number(expected, "id_f1"),
            total: number(expected, "total") as usize,
        };
        assert_eq!(cceval::aggregate(&scores, similarity), expected, "{}", row["id"]);
    }
}

/// Answers of real models as another project scored them: CrossCodeEval's comment removal and metrics, its own truncation. It had
/// python-Levenshtein installed for some runs and not for others, so each run (a model with a template in one language) must
/// agree throughout with one of the two similarities.
#[test]
fn golden_cceval_real_outputs() {
    let (Some(inputs), Some(outputs)) = (rows("cceval_real_inputs.jsonl"), rows("cceval_real_outputs.jsonl"))
    else {
        return;
    };
    let truths: HashMap<&str, &str> =
        inputs.iter().map(|row| (text(&row["metadata"], "task_id"), text(row, "groundtruth"))).collect();
    let mut differences: BTreeMap<_, [Vec<String>; 2]> = BTreeMap::new();
    for row in &outputs {
        let run = ["model", "template", "language"].map(|key| text(row, key));
        let of_run = differences.entry(run).or_default();
        let truth = truths[text(row, "task_id")];
        for (similarity, differences) in Similarity::ALL.into_iter().zip(of_run) {
            differences.extend(real_differences(row, truth, similarity));
        }
    }
    let best = differences.into_values().filter_map(|of_run| of_run.into_iter().min_by_key(Vec::len));
    assert_no_differences(&best.flatten().collect::<Vec<_>>());
}

fn real_differences(row: &Value, truth: &str, similarity: Similarity) -> Vec<String> {
    let language = Language::from_name(text(row, "language")).expect("a supported language");
    let results = row["results"].as_object().expect("an object").iter();
    let differences = results.filter_map(|(name, result)| {
        let score = cceval::score_truncated(language, text(result, "postprocessed"), truth);
        let ours = (Value::from(score.exact_match), score.similarity(similarity));
        let expected = (result["exact_match"].clone(), number(result, "edit_similarity"));
        (ours != expected)
            .then(|| format!("{} {name}: {ours:?}, expected {expected:?}", text(row, "task_id")))
    });
    differences.collect()
}
