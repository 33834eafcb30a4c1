//! Codev-Bench.

use std::collections::BTreeMap;

use benchmarks::codev_bench::{
    CodevFile, CodevGroup, CodevItem, CodevResult, CodevTable, extract_code, has_right_indent, is_empty,
    is_on_one_line, line_length, unit_test_passes,
};
use scoring::similarity::Similarity;
use serde_json::Value;
use test_fixture::golden_rows;

use super::{Differences, RULES, SIMILARITIES, count, import, list, number, sha256, text};

#[test]
fn golden_codev_judges() {
    let Some(rows) = golden_rows("codev_judges.jsonl") else { return };
    let mut differences = Differences::default();
    for row in &rows {
        let (response, expected) = (text(row, "response"), &row["expected"]);
        let indent = has_right_indent(response, text(row, "block_first_line"), RULES);
        differences.compare(row, "indent", indent, &expected["right_indent"]);
        differences.compare(row, "one line", is_on_one_line(response), &expected["not_cross_line"]);
        differences.compare(row, "empty", is_empty(response, RULES), &expected["empty"]);
        differences.compare(row, "lines", line_length(response), &expected["line_length"]);
        for (similarity, name) in SIMILARITIES {
            let expected = &expected[format!("es_{name}")];
            if !expected.is_null() {
                let ours = similarity.percent(response, text(row, "middle"));
                differences.compare(row, name, ours, expected);
            }
        }
        if let Some(file) = row["predicted_file_sha256"].as_str() {
            let parts = ["prefix", "response", "suffix"].map(|key| text(row, key));
            differences.compare(row, "file", sha256(&parts.concat()), &file.into());
        }
    }
    differences.assert_none();
}

#[test]
fn golden_codev_rows_are_imported() {
    let Some(rows) = golden_rows("codev_judges.jsonl") else { return };
    let rows: Vec<Value> = rows.into_iter().filter(|row| row["scenario"] != "crafted").collect();
    for (item, row) in import::<CodevItem>(&rows).into_iter().zip(&rows) {
        assert!(CodevFile::from_mode(text(row, "mode")).is_some(), "{}", row["mode"]);
        assert_eq!(sha256(&item.filled_file()), text(row, "predicted_file_sha256"));
    }
}

#[test]
fn golden_codev_unittest() {
    let Some(rows) = golden_rows("codev_unittest.jsonl") else { return };
    let mut differences = Differences::default();
    for row in &rows {
        differences.compare(row, "pass", unit_test_passes(text(row, "log"), RULES), &row["expected_pass"]);
    }
    differences.assert_none();
}

#[test]
fn golden_codev_parse() {
    let Some(rows) = golden_rows("codev_parse.jsonl") else { return };
    let mut differences = Differences::default();
    for row in &rows {
        differences.compare(row, "code", extract_code(text(row, "raw"), RULES), &row["expected"]);
    }
    differences.assert_none();
}

#[test]
fn golden_codev_tables() {
    let (Some(results), Some(tables)) =
        (golden_rows("codev_results.jsonl"), golden_rows("codev_tables.jsonl"))
    else {
        return;
    };
    let mut differences = Differences::default();
    for row in &tables {
        for (similarity, name) in SIMILARITIES {
            let table = table(&results, row, similarity);
            compare_table(&mut differences, row, &table, &format!("edit_sim_{name}"));
        }
    }
    differences.assert_none();
}

/// Builds a table from the result files that it covers.
fn table(results: &[Value], row: &Value, similarity: Similarity) -> CodevTable {
    let mut files: BTreeMap<(usize, usize), Vec<CodevResult>> = BTreeMap::new();
    let modes = list(row, "sub_modes");
    for result in results {
        if let Some(mode) = modes.iter().position(|mode| *mode == result["mode"]) {
            files.entry((mode, count(result, "shard"))).or_default().push(judged(result, similarity));
        }
    }
    let caps = list(row, "cap_per_shard_file");
    let files: Vec<_> = files
        .iter()
        .map(|((mode, _), results)| (results.as_slice(), caps[*mode].as_u64().expect("a cap") as usize))
        .collect();
    CodevTable::new(&files)
}

fn judged(row: &Value, similarity: Similarity) -> CodevResult {
    let group = CodevGroup::from_block_type(text(row, "block_type")).expect("a known type");
    let is_passed = row["is_all_passed"].as_bool().expect("a verdict");
    let latency = row["latency"].as_f64().unwrap_or(0.0);
    CodevResult::new(group, is_passed, text(row, "response"), text(row, "middle"), latency, similarity)
}

fn compare_table(differences: &mut Differences, row: &Value, table: &CodevTable, similarity: &str) {
    let keys = ["pass_rate", similarity, "line_length", "latency"];
    let names = ["函数", "判断逻辑块", "循环逻辑块", "异常逻辑块", "普通语句", "Average"];
    for (name, column) in names.into_iter().zip(table.groups.iter().chain([&table.average])) {
        let values = [column.pass_rate, column.edit_similarity, column.line_length, column.latency];
        for (key, value) in keys.into_iter().zip(values) {
            let expected = number(&row[key], name);
            differences.compare(row, &format!("{key} of {name}"), value, &expected.into());
        }
    }
}
