//! Writes the cases of a suite or a run as rows of a completion benchmark, and the answers of a run as its predictions.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::Context;
use benchmarks::repoqa::{RepoqaDataset, repoqa_file, repoqa_row};
use benchmarks::yabloco::{YablocoFiles, YablocoRow, YablocoTable};
use benchmarks::{
    ExportedRow, JsonText, OrderedMap, export_cceval_rows, export_codev_rows, function_answer, imported_rows,
    in_imported_order,
};
use cases::{Case, Prediction};
use serde_json::{Value, json};

use crate::args::{ExportArgs, ExportFormat};
use crate::exit::UsageError;
use crate::output::{self, count, print_message, shell_quoted};

/// Milliseconds of a second.
const MS_PER_S: f64 = 1000.0;

/// Maximum length of an engine's name in a file name.
const MAX_NAME: usize = 60;

/// Rows by the path of their file in the output folder, each with its place in the imported file if it is not the case's own.
type RowFiles = BTreeMap<String, Vec<(OrderedMap<JsonText>, Option<usize>)>>;

/// A file of rows.
struct TextFile {
    text: String,
    rows: usize,
}

impl TextFile {
    fn of_rows(rows: &[OrderedMap<JsonText>]) -> anyhow::Result<TextFile> {
        let mut text = String::new();
        for row in rows {
            text.push_str(&serde_json::to_string(row)?);
            text.push('\n');
        }
        Ok(TextFile { text, rows: rows.len() })
    }
}

/// Files by their path in the output folder.
type TextFiles = BTreeMap<String, TextFile>;

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
    if args.dataset.is_some() && args.format != ExportFormat::Repoqa {
        return Err(UsageError("--dataset is for repoqa; leave it out".to_owned()).into());
    }
    let (files, exported) = match args.format {
        ExportFormat::Repoqa => {
            let (mut files, exported) = repoqa_files(&cases, &predictions);
            files.extend(dataset_file(args, &cases)?);
            (files, exported)
        }
        ExportFormat::Yabloco => yabloco_files(&cases, &predictions)?,
        _ => completion_files(args.format, &cases, &predictions)?,
    };
    if exported == 0 {
        let path = output::path(&args.run);
        return Err(UsageError(format!("{path} has no case of a scenario that the format has")).into());
    }
    let skipped = cases.len() - exported;
    if skipped > 0 {
        print_message(&format!("skipped {} of other scenarios", count(skipped, "case")));
    }
    for (name, file) in &files {
        write_file(&args.out.join(name), &file.text)?;
    }
    if args.json {
        let file = |(name, file): (&String, &TextFile)| json!({ "path": args.out.join(name).display().to_string(), "rows": file.rows });
        let files: Vec<Value> = files.iter().map(file).collect();
        return Ok(output::print(&format!("{:#}\n", json!({ "files": files, "skipped": skipped })))?);
    }
    let lines: String = files.iter().map(|(name, file)| format!("{:>6}  {name}\n", file.rows)).collect();
    Ok(output::print(&format!("{lines}in {}\n", shell_quoted(&args.out)))?)
}

/// Returns the path of the data set that belongs to an imported suite of RepoQA.
pub(crate) fn dataset_path(suite: &Path) -> PathBuf {
    suite.with_extension("repoqa.json")
}

/// Returns the data set with its name in the output folder: the named one, or the one beside the suite if it is there.
fn dataset_file(args: &ExportArgs, cases: &[Case]) -> anyhow::Result<Option<(String, TextFile)>> {
    let beside = dataset_path(&args.run);
    let path = match &args.dataset {
        Some(path) => path,
        None if beside.is_file() => &beside,
        None => return Ok(None),
    };
    let name = output::path(path);
    let file = File::open(path).map_err(|error| UsageError(format!("cannot read {name}: {error}")))?;
    let text = benchmarks::decompress(BufReader::new(file)).with_context(|| name.clone())?;
    let dataset = RepoqaDataset::read(text).with_context(|| name.clone())?;
    let mut asked: Vec<(&str, &str, &str)> = Vec::new();
    for case in cases {
        let Some((question, repository)) = case.find_function().zip(case.origin.repository.as_deref()) else {
            continue;
        };
        asked.push((&case.language, repository, &question.name));
    }
    asked.sort_unstable();
    asked.dedup();
    let unknown = asked.iter().filter(|(language, repo, name)| !dataset.has_function(language, repo, name));
    match unknown.count() {
        0 => {}
        unknown if unknown == asked.len() => {
            let message = format!("{name} has no function of the suite; name its data set with --dataset");
            return Err(UsageError(message).into());
        }
        unknown => print_message(&format!("{name} lacks {} of the suite", count(unknown, "function"))),
    }
    let rows = dataset.repositories().filter_map(Result::ok).map(|(_, it)| it.needles.len()).sum();
    Ok(Some(("repoqa.json".to_owned(), TextFile { text: text_of(|out| dataset.write(out))?, rows })))
}

/// Returns the files of a completion benchmark, and the number of exported cases.
fn completion_files(
    format: ExportFormat,
    cases: &[Case],
    predictions: &[Prediction],
) -> anyhow::Result<(TextFiles, usize)> {
    let rows: Vec<(&Case, Vec<ExportedRow>)> =
        cases.iter().enumerate().map(|(number, case)| (case, case_rows(format, case, number))).collect();
    let rows: Vec<(&Case, Vec<ExportedRow>)> =
        rows.into_iter().filter(|(_, rows)| !rows.is_empty()).collect();
    let files = match format {
        ExportFormat::CodevBench => codev_files(&rows, predictions),
        ExportFormat::Crosscodeeval => cceval_files(&rows, predictions),
        _ => further_files(&rows, predictions),
    };
    let text = |(name, rows)| Ok((name, TextFile::of_rows(&in_imported_order(rows))?));
    let texts: anyhow::Result<TextFiles> = files.into_iter().map(text).collect();
    Ok((texts?, rows.len()))
}

/// Returns the rows of a case.
fn case_rows(format: ExportFormat, case: &Case, number: usize) -> Vec<ExportedRow> {
    match format {
        ExportFormat::InspectEval | ExportFormat::Repoqa | ExportFormat::Yabloco => Vec::new(),
        ExportFormat::CodevBench => export_codev_rows(case),
        ExportFormat::Crosscodeeval => export_cceval_rows(case, number),
        ExportFormat::Safim => imported_rows(case, "safim", "safim"),
        ExportFormat::HumanevalInfilling => imported_rows(case, "humaneval-infilling", "humaneval-infilling"),
        ExportFormat::Repoeval => imported_rows(case, "repoeval", "repoeval"),
        ExportFormat::Repobench => imported_rows(case, "repobench", "repobench"),
    }
}

/// Returns the prompts of a suite, or of a run each engine's rows with its responses. A failure, and a missing answer, is no response.
fn codev_files(rows: &[(&Case, Vec<ExportedRow>)], predictions: &[Prediction]) -> RowFiles {
    let mut files = RowFiles::new();
    let engines = answers_by_engine(predictions);
    for (case, row) in rows.iter().flat_map(|(case, rows)| rows.iter().map(move |row| (case, row))) {
        if engines.is_empty() {
            let name = format!("{}/prompts.jsonl", row.file);
            files.entry(name).or_default().push((row.row.clone(), row.place));
        }
        for (engine, answers) in &engines {
            let answer = answers.get(case.id.as_str()).filter(|answer| !answer.has_failed());
            let answer = answer.map(|answer| (&*answer.raw, &*answer.text, answer.ms.total / MS_PER_S));
            let answered = row.clone().with_response(answer).map(|answered| (answered, row.place));
            files.entry(format!("{engine}/{}/results.jsonl", row.file)).or_default().extend(answered);
        }
    }
    files
}

/// Returns the rows by context, and each engine's predictions for them. A failure is no prediction.
fn cceval_files(rows: &[(&Case, Vec<ExportedRow>)], predictions: &[Prediction]) -> RowFiles {
    files_and_answers(rows, predictions, "prediction.jsonl", ExportedRow::prediction)
}

/// Returns the imported rows, and each engine's completions in the form that the programs of SAFIM and HumanEval-infilling read.
fn further_files(rows: &[(&Case, Vec<ExportedRow>)], predictions: &[Prediction]) -> RowFiles {
    files_and_answers(rows, predictions, "completions.jsonl", ExportedRow::completion)
}

/// Returns the rows, and files of each engine's answers, whose names end with `ending`.
fn files_and_answers(
    rows: &[(&Case, Vec<ExportedRow>)],
    predictions: &[Prediction],
    ending: &str,
    answered: fn(&ExportedRow, &str) -> Option<OrderedMap<JsonText>>,
) -> RowFiles {
    let mut files = RowFiles::new();
    let engines = answers_by_engine(predictions);
    for (case, row) in rows.iter().flat_map(|(case, rows)| rows.iter().map(move |row| (case, row))) {
        files.entry(format!("{}.jsonl", row.file)).or_default().push((row.row.clone(), row.place));
        for (engine, answers) in &engines {
            let answer = answers.get(case.id.as_str()).filter(|answer| !answer.has_failed());
            if let Some(answer) = answer.and_then(|answer| answered(row, &answer.text)) {
                let name = format!("{engine}/{}.{ending}", row.file);
                files.entry(name).or_default().push((answer, row.place));
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

/// Returns RepoQA's rows: of a suite without answers, of a run an output file per engine. A function that is asked for more than once
/// with the same size of context is in further files, because an output file has one row per function.
fn repoqa_files(cases: &[Case], predictions: &[Prediction]) -> (TextFiles, usize) {
    let mut files = TextFiles::new();
    let mut exported = 0;
    let engines = all_answers_by_engine(predictions);
    let mut uses: HashMap<(String, &str), usize> = HashMap::new();
    for case in cases {
        let Some((file, id)) = repoqa_file(case).zip(case.origin.benchmark_id.as_deref()) else { continue };
        exported += 1;
        let number = uses.entry((file.clone(), id)).or_default();
        *number += 1;
        let file = if *number == 1 { file } else { format!("{file}-{number}") };
        let mut add = |name: String, answers: Option<&[&str]>| {
            let row = repoqa_row(case, answers).and_then(|row| serde_json::to_string(&row).ok());
            if let Some(row) = row {
                let file = files.entry(name).or_insert_with(|| TextFile { text: String::new(), rows: 0 });
                file.text.push_str(&row);
                file.text.push('\n');
                file.rows += 1;
            }
        };
        if engines.is_empty() {
            add(format!("tasks-{file}.jsonl"), None);
        }
        for (engine, answers) in &engines {
            let Some(answers) = answers.get(case.id.as_str()) else { continue };
            let texts: Vec<_> = answers.iter().map(|answer| function_answer(case, answer)).collect();
            let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
            add(format!("{engine}/outputs-{file}.jsonl"), Some(&texts));
        }
    }
    (files, exported)
}

/// Returns YABLoCo's table with its document, or MERA's rows, and a table of generations per engine.
fn yabloco_files(cases: &[Case], predictions: &[Prediction]) -> anyhow::Result<(TextFiles, usize)> {
    let mut benchmark = YablocoFiles::default();
    let cases: Vec<&Case> = cases.iter().filter(|case| case.write_function().is_some()).collect();
    let exported = cases.iter().filter(|case| benchmark.add(case)).count();
    let mut files = TextFiles::new();
    let YablocoFiles { table, functions, mera } = benchmark;
    if !table.rows.is_empty() {
        let rows = table.rows.len();
        files.insert("bench.csv".to_owned(), TextFile { text: text_of(|out| table.write(out))?, rows });
        files.insert("bench.json".to_owned(), TextFile { text: text_of(|out| functions.write(out))?, rows });
    }
    if !mera.is_empty() {
        let text = serde_json::to_string(&mera)?;
        files.insert("mera.json".to_owned(), TextFile { text, rows: mera.len() });
    }
    for (engine, answers) in all_answers_by_engine(predictions) {
        let repetitions = answers.values().map(Vec::len).max().unwrap_or_default();
        let columns = std::iter::once("Unnamed: 0".to_owned()).chain((0..repetitions).map(|n| n.to_string()));
        let mut generations = YablocoTable { columns: columns.collect(), ..YablocoTable::default() };
        for case in &cases {
            let Some(key) = &case.origin.benchmark_id else { continue };
            let Some(answers) = answers.get(case.id.as_str()) else { continue };
            let texts = answers.iter().map(|answer| function_answer(case, answer).into_owned());
            let mut values: Vec<String> = std::iter::once(key.clone()).chain(texts).collect();
            values.resize(repetitions + 1, String::new());
            generations.rows.push(YablocoRow { line: 0, key: key.clone(), values });
        }
        let rows = generations.rows.len();
        let text = text_of(|out| generations.write(out))?;
        files.insert(format!("{engine}/generations.csv"), TextFile { text, rows });
    }
    Ok((files, exported))
}

fn text_of(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    write(&mut bytes)?;
    Ok(String::from_utf8(bytes)?)
}

/// Returns each engine's answers to each case in the order of their repetitions, by a name for a folder.
fn all_answers_by_engine(predictions: &[Prediction]) -> BTreeMap<String, HashMap<&str, Vec<&Prediction>>> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut engines: BTreeMap<String, HashMap<&str, BTreeMap<u32, &Prediction>>> = BTreeMap::new();
    for prediction in predictions {
        let next = numbers.len() + 1;
        let number = *numbers.entry(&prediction.engine.name).or_insert(next);
        let answers = engines.entry(folder_name(number, &prediction.engine.name)).or_default();
        answers.entry(&prediction.case).or_default().insert(prediction.repetition, prediction);
    }
    engines.into_iter().map(|(engine, answers)| (engine, in_order(answers))).collect()
}

fn in_order<'a>(
    answers: HashMap<&'a str, BTreeMap<u32, &'a Prediction>>,
) -> HashMap<&'a str, Vec<&'a Prediction>> {
    answers.into_iter().map(|(case, answers)| (case, answers.into_values().collect())).collect()
}

fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(path);
    private_files::create_folder(folder)
        .and_then(|()| private_files::write(path, text.as_bytes()))
        .with_context(|| format!("cannot write {}; choose another place with --out", output::path(path)))
}
