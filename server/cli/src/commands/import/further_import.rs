//! Imports of sources whose files are no JSON Lines: Copilot Arena's table, cursortab's archives and Zed's examples.

use std::path::Path;

use benchmarks::BrokenRow;
use benchmarks::further_sources::{
    UnusableItem, copilot_arena_rows, cursortab_cases, read_source_file, zed_case, zed_example,
};
use cases::{Case, ZedExample};
use serde::Serialize;

use super::SuiteWriter;
use crate::args::ImportArgs;
use crate::steps::benchmark_files::BenchmarkFiles;

/// Imports the rows of a table of Copilot Arena.
pub(super) fn copilot_arena(
    files: &mut BenchmarkFiles,
    path: &Path,
    args: &ImportArgs,
    suite: &mut SuiteWriter,
) -> anyhow::Result<()> {
    let rows = copilot_arena_rows(files.open(path)?);
    match rows {
        Err(broken) => files.broken.add(path, [broken]),
        Ok(rows) => {
            for row in rows {
                let broken = match row {
                    Ok(row) => add(suite, &row, row.case(args.language), row.line)?,
                    Err(broken) => Some(broken),
                };
                files.broken.add(path, broken);
            }
        }
    }
    Ok(())
}

/// Imports a scenario of cursortab; other files of its folders, such as recorded answers, are passed over.
pub(super) fn cursortab(
    files: &mut BenchmarkFiles,
    path: &Path,
    suite: &mut SuiteWriter,
) -> anyhow::Result<()> {
    if path.extension().is_some_and(|ending| ending == "ndjson") {
        return Ok(());
    }
    let text = read_source_file(files.open(path)?);
    let cases = text
        .map_err(|reason| UnusableItem::Broken(1, reason))
        .and_then(|text| cursortab_cases(&text, &stem(path)));
    match cases {
        Err(reason) => files.broken.add(path, unusable(suite, reason)),
        Ok(cases) => {
            for item in cases {
                let broken = add(suite, &item, item.case(), 1)?;
                files.broken.add(path, broken);
            }
        }
    }
    Ok(())
}

/// Imports an example of Zed from its Markdown, or those of a file of JSON Lines.
pub(super) fn zed(files: &mut BenchmarkFiles, path: &Path, suite: &mut SuiteWriter) -> anyhow::Result<()> {
    if files.is_json(path)? {
        return files.for_each_batch::<ZedExample>(path, |rows| {
            let mut broken = Vec::new();
            for row in rows {
                let case = zed_case(&row.item).map_err(|reason| match reason {
                    UnusableItem::Broken(_, reason) => UnusableItem::Broken(row.line, reason),
                    left_out => left_out,
                });
                broken.extend(add_row(suite, &row.text, case, row.line)?);
            }
            Ok(broken)
        });
    }
    let text = read_source_file(files.open(path)?);
    let example = text
        .map_err(|reason| UnusableItem::Broken(1, reason))
        .and_then(|text| zed_example(&text, &stem(path)));
    let broken = match example {
        Ok(example) => add(suite, &example, zed_case(&example), 1)?,
        Err(reason) => unusable(suite, reason),
    };
    files.broken.add(path, broken);
    Ok(())
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Adds the case of an item; returns its problem if it is broken.
fn add(
    suite: &mut SuiteWriter,
    item: &impl Serialize,
    case: Result<Case, UnusableItem>,
    line: usize,
) -> anyhow::Result<Option<BrokenRow>> {
    add_row(suite, &serde_json::to_string(item)?, case, line)
}

fn add_row(
    suite: &mut SuiteWriter,
    row: &str,
    case: Result<Case, UnusableItem>,
    line: usize,
) -> anyhow::Result<Option<BrokenRow>> {
    match case {
        Ok(case) => {
            let problem = suite.import_row(row, Ok(case))?;
            Ok(problem.map(|reason| BrokenRow { line, reason }))
        }
        Err(reason) => Ok(unusable(suite, reason)),
    }
}

/// Counts an item that is left out; returns the problem of a broken one.
fn unusable(suite: &mut SuiteWriter, reason: UnusableItem) -> Option<BrokenRow> {
    match reason {
        UnusableItem::Broken(line, reason) => Some(BrokenRow { line, reason }),
        UnusableItem::LeftOut(reason) => {
            *suite.left_out.entry(reason).or_default() += 1;
            None
        }
    }
}
