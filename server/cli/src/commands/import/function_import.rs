//! Imports of the tasks without a cursor: RepoQA's data set, and YABLoCo's table with its document or MERA's rows.

use std::path::PathBuf;

use anyhow::Context;
use benchmarks::repoqa::{BrokenRepository, RepoqaCaseConfig, RepoqaDataset, repoqa_cases};
use benchmarks::yabloco::{
    TableError, YablocoDocument, YablocoFunctions, YablocoTable, mera_case, yabloco_case, yabloco_row_text,
};
use benchmarks::{BrokenRow, ScoringRules};
use syntax::Language;

use super::SuiteWriter;
use super::engine_tokens::EngineTokens;
use crate::args::ImportArgs;
use crate::exit::UsageError;
use crate::output;
use crate::steps::benchmark_files::BenchmarkFiles;

/// Imports data sets of RepoQA, a repository after the other; returns them as one, for the export.
pub(super) fn repoqa(
    files: &mut BenchmarkFiles,
    args: &ImportArgs,
    suite: &mut SuiteWriter,
) -> anyhow::Result<RepoqaDataset> {
    let mut all = RepoqaDataset::default();
    let contexts = &args.contexts;
    let config = RepoqaCaseConfig {
        sizes: contexts.sizes.iter().map(|&size| size as usize).collect(),
        comments: contexts.comments.iter().map(|&comments| comments.into()).collect(),
        all_depths: contexts.all_depths,
        tokenizer: contexts.tokenizer.clone().unwrap_or_else(|| "estimate".to_owned()),
        rules: if contexts.faithful { ScoringRules::Faithful } else { ScoringRules::Paper },
    };
    let counter = contexts.tokenizer.as_deref().map(EngineTokens::new).transpose()?;
    let count =
        |text: &str| counter.as_ref().map_or_else(|| engines::estimate_tokens(text), |it| it.count(text));
    for path in files.paths.clone() {
        let dataset = RepoqaDataset::read(files.open(&path)?).with_context(|| output::path(&path))?;
        let of_function =
            |problem: BrokenRepository| BrokenRow { line: problem.number, reason: problem.to_string() };
        let mut broken: Vec<BrokenRow> = dataset.broken_functions().map(of_function).collect();
        for (number, entry) in dataset.repositories().enumerate() {
            // The document is one value: rows are numbered by repository.
            let line = number + 1;
            let (name, repository) = match entry {
                Ok(entry) => entry,
                Err(problem) => {
                    broken.push(BrokenRow { line, reason: problem.to_string() });
                    continue;
                }
            };
            let Some(language) = Language::from_name(name) else {
                broken.push(BrokenRow { line, reason: format!("the language {name:?} is not supported") });
                continue;
            };
            for (needle, case) in repoqa_cases(language, repository, &config, &count) {
                // Small repositories fit whole into contexts of several sizes and depths.
                if case.as_ref().is_ok_and(|case| suite.ids.contains(&case.id)) {
                    *suite.left_out.entry("same context as another case").or_default() += 1;
                    continue;
                }
                let problem = suite.import_row(&serde_json::to_string(needle)?, case)?;
                broken.extend(problem.map(|reason| BrokenRow {
                    line,
                    reason: format!("{name}, {}: {reason}", repository.repo),
                }));
            }
        }
        files.broken.add(&path, broken);
        counter.as_ref().map_or(Ok(()), EngineTokens::check)?;
        all.extend(dataset);
    }
    if !args.keep_secrets {
        all.mask(&|text| secrets::redact(text).into_owned());
    }
    Ok(all)
}

/// Imports the table of YABLoCo with its document, and MERA's rows.
pub(super) fn yabloco(files: &mut BenchmarkFiles, suite: &mut SuiteWriter) -> anyhow::Result<()> {
    let mut table: Option<(PathBuf, YablocoTable)> = None;
    let mut functions: Option<(PathBuf, YablocoFunctions)> = None;
    for path in files.paths.clone() {
        if !files.is_json(&path)? {
            let read = YablocoTable::read(files.open(&path)?).with_context(|| output::path(&path))?;
            files.broken.add(&path, read.broken.iter().cloned());
            only(&mut table, "table of functions", path, read)?;
            continue;
        }
        let read = YablocoDocument::read(files.open(&path)?);
        match read {
            Ok(YablocoDocument::Functions(read)) => {
                only(&mut functions, "document of functions", path, read)?;
            }
            Ok(YablocoDocument::Mera(rows)) => {
                let mut broken = Vec::new();
                for row in rows {
                    match row {
                        Ok(row) => {
                            let problem = suite.import_row(&row.text, mera_case(&row))?;
                            broken.extend(problem.map(|reason| BrokenRow { line: row.line, reason }));
                        }
                        Err(row) => broken.push(row),
                    }
                }
                files.broken.add(&path, broken);
            }
            Ok(YablocoDocument::Result(_) | YablocoDocument::MeraAnswers(_)) => {
                let reason = "answers, not functions; `ghostbench score` reads them".to_owned();
                files.broken.add(&path, [BrokenRow { line: 1, reason }]);
            }
            Err(TableError::Parse(error)) => {
                let reason = format!("column {}: {}", error.column, error.message);
                files.broken.add(&path, [BrokenRow { line: error.line, reason }]);
            }
            Err(error) => files.broken.add(&path, [BrokenRow { line: 1, reason: error.to_string() }]),
        }
    }
    let (path, table, functions) = match (table, functions) {
        (Some((path, table)), Some((_, functions))) => (path, table, functions),
        (None, None) => return Ok(()),
        _ => {
            let message = "name both the table of functions (.csv) and its document (.json)";
            return Err(UsageError(message.to_owned()).into());
        }
    };
    let mut broken = Vec::new();
    for row in &table.rows {
        let text = yabloco_row_text(&table, row, &functions).unwrap_or_default();
        let problem = suite.import_row(&text, yabloco_case(&table, row, &functions))?;
        broken.extend(problem.map(|reason| BrokenRow { line: row.line, reason }));
    }
    files.broken.add(&path, broken);
    Ok(())
}

/// Keeps a file of which there must be one.
fn only<T>(kept: &mut Option<(PathBuf, T)>, what: &str, path: PathBuf, read: T) -> anyhow::Result<()> {
    if let Some((other, _)) = kept {
        let (first, second) = (output::path(other), output::path(&path));
        return Err(UsageError(format!("{first} and {second} are each a {what}; name one")).into());
    }
    *kept = Some((path, read));
    Ok(())
}
