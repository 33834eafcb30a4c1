//! YABLoCo.

use benchmarks::yabloco::{
    GenerationPair, YablocoFunctions, accuracy, any_of_first_passes, edit_similarity, exact_match,
    function_text, pass_at_k_estimate, read_generation, single_edit_similarity, splice,
};
use scoring::pass_at_k::pass_at_k;
use scoring::similarity::Similarity;
use serde_json::Value;
use test_fixture::golden_rows;

use super::{Differences, RULES, SIMILARITIES, count, list, text, texts};

#[test]
fn golden_yabloco_parse_generation() {
    let Some(rows) = golden_rows("yabloco_parse_generation.jsonl") else { return };
    let mut differences = Differences::default();
    for row in &rows {
        differences.compare(row, "code", read_generation(row["raw_text"].as_str(), RULES), &row["expected"]);
    }
    differences.assert_none();
}

#[test]
fn golden_yabloco_extract_and_splice() {
    let (Some(extracts), Some(splices)) =
        (golden_rows("yabloco_extract.jsonl"), golden_rows("yabloco_splice.jsonl"))
    else {
        return;
    };
    let mut differences = Differences::default();
    for row in &extracts {
        let ours = function_text(text(row, "file"), count(row, "start_index"), count(row, "length"));
        differences.compare(row, "function", ours, &row["expected"]);
    }
    for row in &splices {
        let (file, code) = (text(row, "file"), text(row, "generated_code"));
        let ours = splice(file, count(row, "pos"), count(row, "code_length"), code);
        differences.compare(row, "file", ours, &row["expected"]);
    }
    differences.assert_none();
}

#[test]
fn golden_yabloco_metrics() {
    let Some(rows) = golden_rows("yabloco_metrics.jsonl") else { return };
    let mut differences = Differences::default();
    for row in &rows {
        let expected = &row["expected"];
        let pairs = pairs(row);
        differences.compare(row, "exact match", exact_match(&pairs), &expected["exact_match_score"]);
        for (similarity, name) in SIMILARITIES {
            let ours = edit_similarity(&pairs, similarity);
            differences.compare(row, name, ours, &expected[format!("edit_similarity_{name}")]);
        }
        if let &[pair] = pairs.as_slice()
            && row["predictions"].is_null()
        {
            let shown = single_edit_similarity(pair, Similarity::Indel);
            differences.compare(row, "viewer", shown, &expected["ui_edit_similarity_levenshtein"]);
            let ours = accuracy(&[(vec![pair.prediction], pair.truth)]);
            differences.compare(row, "accuracy", ours, &expected["accuracy_at_1"]);
        }
    }
    differences.assert_none();
}

fn pairs(row: &Value) -> Vec<GenerationPair<'_>> {
    if row["predictions"].is_null() {
        return vec![GenerationPair {
            prediction: text(row, "prediction"),
            truth: text(row, "ground_truth"),
        }];
    }
    let pairs = texts(row, "predictions").into_iter().zip(texts(row, "ground_truths"));
    pairs.map(|(prediction, truth)| GenerationPair { prediction, truth }).collect()
}

#[test]
fn golden_yabloco_passk() {
    let (Some(estimates), Some(lists)) =
        (golden_rows("yabloco_passk.jsonl"), golden_rows("yabloco_passlist.jsonl"))
    else {
        return;
    };
    let mut differences = Differences::default();
    for row in &estimates {
        let [n, c, k] = ["n", "c", "k"].map(|key| count(row, key));
        differences.compare(row, "estimate", pass_at_k_estimate(n, c, k), &row["yabloco"]);
        differences.compare(row, "usual estimate", pass_at_k(n, c, k), &row["repoqa_humaneval"]);
    }
    for row in &lists {
        let functions: Vec<Vec<bool>> = list(row, "results")
            .iter()
            .map(|answers| {
                let answers = answers.as_array().expect("a list").iter();
                answers.map(|answer| answer.as_u64() == Some(1)).collect()
            })
            .collect();
        for k in [1, 5, 10] {
            let name = format!("pass@{k}");
            let ours = any_of_first_passes(&functions, k);
            differences.compare(row, &name, ours, &row["expected"][&name]);
        }
    }
    differences.assert_none();
}

/// The code of each row is `code_lines` long, and the whole slice of the file unless branches were dropped.
#[test]
fn golden_yabloco_bench() {
    let Some(rows) = golden_rows("yabloco_bench.jsonl") else { return };
    let mut differences = Differences::default();
    for row in &rows {
        let code = text(row, "code");
        differences.compare(row, "lines", code.split_inclusive('\n').count(), &row["code_lines"]);
        let cut = function_text(code, 0, count(row, "code_length"));
        let is_whole = cut.split_inclusive('\n').count() == count(row, "code_length") + 1;
        differences.compare(row, "whole", is_whole, &row["code_is_full_slice"]);
        if is_whole {
            differences.compare(row, "code", cut, &row["code"]);
        }
    }
    differences.assert_none();
}

/// The public document's code of a called function is cut to its own lines, which lack the first.
#[test]
fn golden_yabloco_callees() {
    let Some(rows) = golden_rows("yabloco_bench.jsonl") else { return };
    let mut differences = Differences::default();
    let mut compared = 0;
    for row in &rows {
        let known = list(row, "calls").iter().filter(|call| call["code_without_first_line"].is_string());
        let known: Vec<&Value> = known.filter(|call| call["code_without_first_line"] != "").collect();
        // The golden rows have the hash of the whole text only; what follows the function does not count.
        let calls = known.iter().map(|call| {
            let mut call = (*call).clone();
            let lines = |place: &str| call.pointer(place).and_then(Value::as_u64);
            let length =
                lines("/end/line").zip(lines("/start/line")).map(|(end, start)| (end - start) as usize);
            let own = text(&call, "code_without_first_line").to_owned();
            // Texts whose branches were dropped are shorter.
            let is_whole = length == Some(own.lines().count());
            call["code"] = if is_whole { format!("{own}}}\nint next()\n{{\n").into() } else { own.into() };
            call
        });
        let document = serde_json::json!({"A": {"code": "", "calls": calls.collect::<Vec<_>>()}}).to_string();
        let functions = YablocoFunctions::read(document.as_bytes()).expect("a document");
        let ours: Vec<&str> = functions.callees("A").map(|(_, code)| code).collect();
        let expected: Vec<&str> = known.iter().map(|call| text(call, "code_without_first_line")).collect();
        compared += expected.len();
        differences.compare(row, "callees", ours, &serde_json::json!(expected));
    }
    assert!(compared > 150, "{compared}");
    differences.assert_none();
}
