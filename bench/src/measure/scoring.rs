//! Scoring compared to CrossCodeEval's own implementation in Python, on the same rows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use xtask::process;

use super::fetch;

/// Requirements of the original, without the optional library for edit similarity, as in its list of requirements.
const REQUIREMENTS: &[&str] =
    &["fuzzywuzzy==0.18.0", "nltk==3.8.1", "tree_sitter==0.21.3", "tree_sitter_languages==1.10.2"];

/// Number of rounds per case, of which the best counts. Our implementation takes a hundredth of the time, so other load on the
/// machine affects it more.
const ROUNDS: &str = "20";
const ORIGINAL_ROUNDS: &str = "3";

/// Folder of the Python packages, relative to the repository root.
const ENVIRONMENT: &str = "target/cceval-venv";

/// The original program, rewritten for this comparison.
const ORIGINAL: &str = "server/scoring/benches/cceval_python.py";

/// The text above the rows.
const TABLE_HEAD: &str = "\
Milliseconds per case on one core, each case's best of 20 rounds (3 in Python). \"Same\": whether all aggregates are equal. For Python, the
original has an older grammar than Ghostbench, which truncates some cases at other places; the golden tests name
them.

| language | cases | Ghostbench | original in Python | ratio | same |
|---|---|---|---|---|---|";

/// The text above the rows of real prompts.
const REAL_HEAD: &str = "\
The same on real rows: the benchmark's own prompts, which are whole files up to the cursor, with the raw answers of six models.

| language | cases | Ghostbench | original in Python | ratio | same |
|---|---|---|---|---|---|";

/// Template of the real answers that are used; the others answer the same cases.
const REAL_TEMPLATE: &str = "comment";

/// File of the combined real rows.
const REAL_ROWS: &str = "target/cceval-real-rows.jsonl";

/// The aggregates that must be equal in both implementations.
const AGGREGATES: &[&str] = &["em", "es", "id_em", "id_f1"];

/// Scores the same rows with both implementations and returns the Markdown of the section.
pub(crate) fn measure() -> Result<String> {
    let golden =
        fetch::golden_folder().context("GHOSTBENCH_GOLDEN does not name the folder of golden data")?;
    let synthetic = table(TABLE_HEAD, &golden.join("cceval_metrics.jsonl"))?;
    let real = table(REAL_HEAD, &real_rows(&golden)?)?;
    Ok(format!("{synthetic}\n\n{real}"))
}

/// The results of both implementations for the rows of a file, below `head`.
fn table(head: &str, rows: &Path) -> Result<String> {
    let original = run_original(rows)?;
    let ours = run_ours(rows)?;
    let mut lines = vec![head.to_owned()];
    for (language, original) in original.as_object().context("the original prints no object")? {
        lines.push(row(language, original, &ours[language])?);
    }
    Ok(lines.join("\n"))
}

/// Joins the benchmark's tasks with the models' answers.
fn real_rows(golden: &Path) -> Result<PathBuf> {
    let read = |name: &str| -> Result<Vec<Value>> {
        let text = fs::read_to_string(golden.join(name)).with_context(|| format!("cannot read {name}"))?;
        text.lines()
            .map(|line| serde_json::from_str(line).with_context(|| format!("a row of {name}")))
            .collect()
    };
    let tasks = read("cceval_real_inputs.jsonl")?;
    let answers = read("cceval_real_outputs.jsonl")?;
    let task_of = |answer: &Value| tasks.iter().find(|task| task["metadata"]["task_id"] == answer["task_id"]);
    let rows = answers.iter().filter(|answer| answer["template"] == REAL_TEMPLATE).filter_map(|answer| {
        let task = task_of(answer)?;
        let row = json!({
            "lang": answer["language"],
            "prompt": task["prompt"],
            "prediction_raw": answer["output"],
            "groundtruth": task["groundtruth"],
        });
        Some(format!("{row}\n"))
    });
    fs::write(REAL_ROWS, rows.collect::<String>()).context("cannot write the real rows")?;
    Ok(REAL_ROWS.into())
}

fn run_original(rows: &Path) -> Result<Value> {
    let python = PathBuf::from(ENVIRONMENT).join("bin/python");
    if !python.is_file() {
        process::run(Command::new("python3").args(["-m", "venv", ENVIRONMENT]))?;
        process::run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(REQUIREMENTS))?;
    }
    let output = process::output(Command::new(python).arg(ORIGINAL).arg(rows).arg(ORIGINAL_ROUNDS))?;
    serde_json::from_str(&output).context("the original prints no JSON")
}

fn run_ours(rows: &Path) -> Result<Value> {
    let mut cargo = process::cargo();
    cargo.args(["run", "--quiet", "--release", "--package", "scoring", "--example", "cceval", "--"]);
    let output = process::output(cargo.arg(rows).arg(ROUNDS))?;
    serde_json::from_str(&output).context("the example prints no JSON")
}

fn row(language: &str, original: &Value, ours: &Value) -> Result<String> {
    let number = |value: &Value, field: &str| {
        value[field].as_f64().with_context(|| format!("{language} lacks `{field}`"))
    };
    let cases = number(original, "cases")?;
    ensure!(cases == number(ours, "cases")?, "the two scored other rows in {language}");
    let (theirs_ms, ours_ms) = (number(original, "ms_per_case")?, number(ours, "ms_per_case")?);
    let mut is_same = true;
    for aggregate in AGGREGATES {
        is_same &= number(original, aggregate)? == number(ours, aggregate)?;
    }
    let (ratio, same) = (theirs_ms / ours_ms, if is_same { "yes" } else { "no" });
    Ok(format!("| {language} | {cases} | {ours_ms:.4} | {theirs_ms:.4} | {ratio:.0} | {same} |"))
}
