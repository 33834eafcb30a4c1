//! Writes the cases of a suite or a run as rows of a completion benchmark, and the answers of a run as its predictions.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::Context;
use benchmarks::{ExportedRow, JsonText, OrderedMap, export_cceval_row, export_codev_row};
use cases::{Case, Prediction};
use serde_json::{Value, json};

use crate::args::{ExportArgs, ExportFormat};
use crate::exit::UsageError;
use crate::output::{self, count, print_message, shell_quoted};

/// Milliseconds of a second.
const MS_PER_S: f64 = 1000.0;

/// Maximum length of an engine's name in a file name.
const MAX_NAME: usize = 60;

/// Rows by the path of their file in the output folder.
type RowFiles = BTreeMap<String, Vec<OrderedMap<JsonText>>>;

/// Runs `ghostbench export` for the formats of completion benchmarks.
pub(crate) fn export_rows(args: &ExportArgs) -> anyhow::Result<()> {
    if args.out.is_file() {
        let out = output::path(&args.out);
        return Err(UsageError(format!("{out} is a file; name a folder with --out")).into());
    }
    let (cases, predictions) = if args.run.is_dir() {
        let contents = replay::read_run(&args.run)?;
        (contents.cases.to_vec(), contents.predictions)
    } else {
        (replay::read_suite(&args.run)?, Vec::new())
    };
    let rows: Vec<(&Case, ExportedRow)> = cases
        .iter()
        .enumerate()
        .filter_map(|(number, case)| Some((case, row(args.format, case, number)?)))
        .collect();
    if rows.is_empty() {
        let path = output::path(&args.run);
        return Err(UsageError(format!("{path} has no case of a scenario that the format has")).into());
    }
    let skipped = cases.len() - rows.len();
    if skipped > 0 {
        print_message(&format!("skipped {} of other scenarios", count(skipped, "case")));
    }
    let files = match args.format {
        ExportFormat::CodevBench => codev_files(&rows, &predictions),
        _ => cceval_files(&rows, &predictions),
    };
    for (name, rows) in &files {
        write_rows(&args.out.join(name), rows)?;
    }
    if args.json {
        let file = |(name, rows): (&String, &Vec<_>)| json!({ "path": args.out.join(name).display().to_string(), "rows": rows.len() });
        let files: Vec<Value> = files.iter().map(file).collect();
        return Ok(output::print(&format!("{:#}\n", json!({ "files": files, "skipped": skipped })))?);
    }
    let lines: String = files.iter().map(|(name, rows)| format!("{:>6}  {name}\n", rows.len())).collect();
    Ok(output::print(&format!("{lines}in {}\n", shell_quoted(&args.out)))?)
}

fn row(format: ExportFormat, case: &Case, number: usize) -> Option<ExportedRow> {
    match format {
        ExportFormat::InspectEval => None,
        ExportFormat::CodevBench => export_codev_row(case),
        ExportFormat::Crosscodeeval => export_cceval_row(case, number),
    }
}

/// Returns the prompts of a suite, or of a run each engine's rows with its responses.
fn codev_files(rows: &[(&Case, ExportedRow)], predictions: &[Prediction]) -> RowFiles {
    let mut files = RowFiles::new();
    let engines = answers_by_engine(predictions);
    for (case, row) in rows {
        if engines.is_empty() {
            files.entry(format!("{}/prompts.jsonl", row.file)).or_default().push(row.row.clone());
        }
        for (engine, answers) in &engines {
            let Some(answer) = answers.get(case.id.as_str()) else { continue };
            let seconds = answer.ms.total / MS_PER_S;
            let answered = row.clone().with_response(&answer.raw, &answer.text, seconds);
            files.entry(format!("{engine}/{}/results.jsonl", row.file)).or_default().extend(answered);
        }
    }
    files
}

/// Returns the rows by context, and each engine's predictions for them.
fn cceval_files(rows: &[(&Case, ExportedRow)], predictions: &[Prediction]) -> RowFiles {
    let mut files = RowFiles::new();
    let engines = answers_by_engine(predictions);
    for (case, row) in rows {
        files.entry(format!("{}.jsonl", row.file)).or_default().push(row.row.clone());
        for (engine, answers) in &engines {
            let answer = answers.get(case.id.as_str());
            let prediction = answer.and_then(|answer| row.prediction(&answer.text));
            if let Some(prediction) = prediction {
                files.entry(format!("{engine}/{}.prediction.jsonl", row.file)).or_default().push(prediction);
            }
        }
    }
    files
}

/// Returns each engine's last answer to the first repetition of each case, by a name for a folder.
fn answers_by_engine(predictions: &[Prediction]) -> BTreeMap<String, HashMap<&str, &Prediction>> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut engines: BTreeMap<String, HashMap<&str, &Prediction>> = BTreeMap::new();
    let first = predictions.iter().map(|prediction| prediction.repetition).min().unwrap_or_default();
    for prediction in predictions.iter().filter(|prediction| prediction.repetition == first) {
        let next = numbers.len() + 1;
        let number = *numbers.entry(&prediction.engine.name).or_insert(next);
        let name = folder_name(number, &prediction.engine.name);
        engines.entry(name).or_default().insert(&prediction.case, prediction);
    }
    engines
}

/// Returns a folder name for an engine: numbered, since names may differ only in characters that it cannot have.
fn folder_name(number: usize, engine: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name: String = engine.chars().take(MAX_NAME).map(|c| if is_plain(c) { c } else { '-' }).collect();
    format!("{number:02}-{name}")
}

fn write_rows(path: &Path, rows: &[OrderedMap<JsonText>]) -> anyhow::Result<()> {
    let mut text = String::new();
    for row in rows {
        text.push_str(&serde_json::to_string(row)?);
        text.push('\n');
    }
    let folder = path.parent().unwrap_or(path);
    private_files::create_folder(folder)
        .and_then(|()| private_files::write(path, text.as_bytes()))
        .with_context(|| format!("cannot write {}; choose another place with --out", output::path(path)))
}
