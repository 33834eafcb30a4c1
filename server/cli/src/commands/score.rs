//! `ghostbench score`: the numbers of public benchmarks.

mod cceval_sets;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use benchmarks::codev_bench::{CodevFile, CodevPrediction, CodevResultFiles, CodevShard};
use benchmarks::crosscodeeval::{CcevalItem, CcevalPrediction, PredictionScorer};
use benchmarks::repoqa::{self, RepoqaDataset, RepoqaOutput};
use benchmarks::yabloco::{
    MeraRow, TableError, YablocoDocument, YablocoFunction, YablocoFunctions, YablocoGenerations,
    YablocoTable, result_place,
};
use benchmarks::{BrokenRow, ScoreSheet, ScoringRules};

use self::cceval_sets::CcevalSet;
use crate::args::{BenchmarkName, ScoreArgs};
use crate::exit::UsageError;
use crate::output;
use crate::steps::benchmark_files::BenchmarkFiles;
use crate::views::score_sheet::{score_json, score_text};

/// Runs the command.
pub(crate) fn run(args: &ScoreArgs) -> anyhow::Result<()> {
    let rules = if args.faithful { ScoringRules::Faithful } else { ScoringRules::Paper };
    let mut files = BenchmarkFiles::find(&args.files)?;
    let sheet = match args.format {
        BenchmarkName::CodevBench => codev_bench(&mut files, rules),
        BenchmarkName::Crosscodeeval => crosscodeeval(&mut files, args, rules),
        BenchmarkName::Repoqa => repoqa(&mut files, rules),
        BenchmarkName::Yabloco => yabloco(&mut files, rules),
    };
    let broken = files.finish();
    let sheet = sheet?;
    if sheet.cases == 0 {
        let name = args.format.name();
        return Err(UsageError(format!("the files have no usable case of {name}")).into());
    }
    let text = if args.json {
        format!("{:#}\n", score_json(args.format.name(), rules, &sheet, &broken))
    } else {
        score_text(args.format.name(), rules, &sheet, broken.count, output::style())
    };
    Ok(output::print(&text)?)
}

fn codev_bench(files: &mut BenchmarkFiles, rules: ScoringRules) -> anyhow::Result<ScoreSheet> {
    let mut shards: BTreeMap<CodevShard, PathBuf> = BTreeMap::new();
    for path in &files.paths {
        let shard = CodevShard::from_path(&path.to_string_lossy()).ok_or_else(|| {
            let modes: Vec<&str> = CodevFile::ALL.map(CodevFile::mode).to_vec();
            UsageError(format!(
                "{}: neither a folder nor the file has the name of a mode; the modes are {}",
                output::path(path),
                modes.join(", ")
            ))
        })?;
        if let Some(other) = shards.insert(shard, path.clone()) {
            return Err(UsageError(format!(
                "{} and {} are the same part of a mode; name the files of one model",
                output::path(&other),
                output::path(path)
            ))
            .into());
        }
    }
    let mut results = CodevResultFiles::default();
    for (shard, path) in shards {
        files.for_each_batch::<CodevPrediction>(&path, |rows| {
            results.add(shard, &rows.into_iter().map(|row| row.item).collect::<Vec<_>>());
            Ok(Vec::new())
        })?;
    }
    Ok(results.finish(rules))
}

fn crosscodeeval(
    files: &mut BenchmarkFiles,
    args: &ScoreArgs,
    rules: ScoringRules,
) -> anyhow::Result<ScoreSheet> {
    let (mut items, mut predictions) = (Vec::new(), Vec::new());
    for path in files.paths.clone() {
        let is_prediction =
            !files.begins_with::<CcevalItem>(&path)? && files.begins_with::<CcevalPrediction>(&path)?;
        if is_prediction { predictions.push(path) } else { items.push(path) }
    }
    let Some(sets) = CcevalSet::paired(&items, &predictions) else {
        return cceval_set(files, &items, &predictions, args, rules);
    };
    let mut sheet = ScoreSheet::default();
    for set in sets {
        let mut of_set = cceval_set(files, &set.items, &[set.predictions], args, rules)?;
        of_set.name_rows(|language| format!("{}: {language}", set.name));
        sheet.merge(of_set);
    }
    Ok(sheet)
}

/// Scores the items of files with the predictions of others.
fn cceval_set(
    files: &mut BenchmarkFiles,
    items: &[PathBuf],
    predictions: &[PathBuf],
    args: &ScoreArgs,
    rules: ScoringRules,
) -> anyhow::Result<ScoreSheet> {
    let mut answers = Vec::new();
    for path in predictions {
        files.for_each_batch::<CcevalPrediction>(path, |rows| {
            answers.extend(rows.into_iter().map(|row| row.item));
            Ok(Vec::new())
        })?;
    }
    let mut scorer = PredictionScorer::new(answers, args.language, rules);
    for path in items {
        files.for_each_batch::<CcevalItem>(path, |rows| Ok(scorer.add(rows)))?;
    }
    Ok(scorer.finish())
}

fn repoqa(files: &mut BenchmarkFiles, rules: ScoringRules) -> anyhow::Result<ScoreSheet> {
    let mut outputs = Vec::new();
    let mut dataset: Option<(PathBuf, RepoqaDataset)> = None;
    for path in files.paths.clone() {
        if files.begins_with::<RepoqaOutput>(&path)? {
            files.for_each_batch::<RepoqaOutput>(&path, |rows| {
                outputs.extend(rows.into_iter().map(|row| row.item));
                Ok(Vec::new())
            })?;
            continue;
        }
        let read = RepoqaDataset::read(files.open(&path)?).with_context(|| output::path(&path))?;
        let broken = read.repositories().filter_map(Result::err).chain(read.broken_functions());
        let broken = broken.map(|repository| BrokenRow {
            line: repository.number,
            reason: format!("{}: {}", repository.language, repository.reason),
        });
        files.broken.add(&path, broken.collect::<Vec<_>>());
        if let Some((other, _)) = &dataset {
            return Err(two_of("data set", other, &path));
        }
        dataset = Some((path, read));
    }
    let Some((_, dataset)) = dataset else {
        return Err(UsageError("no file is a data set of RepoQA; name it, too".to_owned()).into());
    };
    Ok(repoqa::output_sheet(&dataset, &outputs, rules))
}

fn two_of(what: &str, first: &Path, second: &Path) -> anyhow::Error {
    let (first, second) = (output::path(first), output::path(second));
    UsageError(format!("{first} and {second} are each a {what}; name one")).into()
}

/// The files of YABLoCo by their kinds.
#[derive(Default)]
struct YablocoFiles {
    table: Option<(PathBuf, YablocoTable)>,
    functions: Option<(PathBuf, YablocoFunctions)>,
    /// MERA's functions in their places; those that cannot be used are none.
    mera: Option<(PathBuf, Vec<Option<YablocoFunction>>)>,
    generations: YablocoGenerations,
    model: Option<PathBuf>,
    /// Lists of answers in the order of MERA's rows.
    mera_generations: Option<(PathBuf, Vec<Vec<String>>)>,
}

fn yabloco(files: &mut BenchmarkFiles, rules: ScoringRules) -> anyhow::Result<ScoreSheet> {
    let mut found = YablocoFiles::default();
    for path in files.paths.clone() {
        match files.is_json(&path)? {
            true => add_document(files, path, &mut found)?,
            false => add_table(files, path, &mut found)?,
        }
    }
    if let Some((path, answers)) = found.mera_generations {
        let Some((_, functions)) = &found.mera else {
            let path = output::path(&path);
            return Err(UsageError(format!(
                "{path} lists answers in the order of MERA's rows; name them, too"
            ))
            .into());
        };
        for (function, answers) in functions.iter().zip(answers) {
            if let Some(function) = function {
                found.generations.add(&function.key, answers);
            }
        }
    }
    let functions = match (found.table, found.functions, found.mera) {
        (Some((path, table)), Some((_, document)), _) => {
            let (functions, without_code) = benchmarks::yabloco::yabloco_functions(&table, &document);
            let broken = without_code.into_iter().map(|key| BrokenRow {
                line: table.rows.iter().find(|row| row.key == key).map_or(0, |row| row.line),
                reason: format!("the document has no code for `{key}`"),
            });
            files.broken.add(&path, broken.collect::<Vec<_>>());
            functions
        }
        (_, _, Some((_, functions))) => functions.into_iter().flatten().collect(),
        _ => {
            let message = "name the table of functions (.csv) and its document (.json), or MERA's rows";
            return Err(UsageError(message.to_owned()).into());
        }
    };
    Ok(found.generations.sheet(&functions, rules))
}

fn add_table(files: &mut BenchmarkFiles, path: PathBuf, found: &mut YablocoFiles) -> anyhow::Result<()> {
    let table = YablocoTable::read(files.open(&path)?).with_context(|| output::path(&path))?;
    if table.columns.iter().any(|column| column == "0") {
        if let Some(other) = &found.model {
            return Err(two_of("model's table of generations", other, &path));
        }
        let broken = found.generations.add_table(table);
        files.broken.add(&path, broken);
        found.model = Some(path);
        return Ok(());
    }
    files.broken.add(&path, table.broken.iter().cloned());
    if let Some((other, _)) = &found.table {
        return Err(two_of("table of functions", other, &path));
    }
    found.table = Some((path, table));
    Ok(())
}

fn add_document(files: &mut BenchmarkFiles, path: PathBuf, found: &mut YablocoFiles) -> anyhow::Result<()> {
    let read = YablocoDocument::read(files.open(&path)?);
    let document = match read {
        Ok(document) => document,
        Err(TableError::Parse(error)) => {
            let reason = format!("column {}: {}", error.column, error.message);
            files.broken.add(&path, [BrokenRow { line: error.line, reason }]);
            return Ok(());
        }
        Err(error) => {
            files.broken.add(&path, [BrokenRow { line: 1, reason: error.to_string() }]);
            return Ok(());
        }
    };
    match document {
        YablocoDocument::Mera(rows) => {
            let broken = rows.iter().filter_map(|row| row.as_ref().err().cloned());
            files.broken.add(&path, broken.collect::<Vec<_>>());
            let scored = |row: &Result<MeraRow, BrokenRow>| row.as_ref().ok().map(MeraRow::scored);
            found.mera = Some((path, rows.iter().map(scored).collect()));
        }
        YablocoDocument::MeraAnswers(answers) => found.mera_generations = Some((path, answers)),
        YablocoDocument::Functions(functions) => {
            if let Some((other, _)) = &found.functions {
                return Err(two_of("document of functions", other, &path));
            }
            found.functions = Some((path, functions));
        }
        YablocoDocument::Result(result) => {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            match result_place(&name) {
                Some((key, number)) => found.generations.add_result(key, number, result),
                None => {
                    let reason = "the name of a result file is KEY-N.json or KEY-N-res.json".to_owned();
                    files.broken.add(&path, [BrokenRow { line: 1, reason }]);
                }
            }
        }
    }
    Ok(())
}
