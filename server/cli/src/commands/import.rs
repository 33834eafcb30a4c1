//! `ghostbench import`: suites from the files of public benchmarks.

mod engine_tokens;
mod function_import;
mod further_import;

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use benchmarks::codev_bench::{CodevFile, CodevItem, CodevShard};
use benchmarks::crosscodeeval::CcevalItem;
use benchmarks::further_sources::{HumanEvalItem, RepoBenchItem, RepoEvalItem, SafimItem};
use benchmarks::repoqa::RepoqaDataset;
use benchmarks::{BenchmarkItem, BrokenRow, ROW_TAG};
use cases::{Case, CrossFileContext};
use private_files::PartialFile;
use rayon::prelude::*;
use serde_json::json;
use syntax::Language;

use crate::args::{ImportArgs, ImportFormat};
use crate::exit::UsageError;
use crate::output::{self, count, print_message, shell_quoted};
use crate::steps::benchmark_files::BenchmarkFiles;
use crate::steps::export_rows::dataset_path;

/// Runs the command.
pub(crate) fn run(args: &ImportArgs) -> anyhow::Result<()> {
    if args.out.is_dir() {
        let out = output::path(&args.out);
        return Err(UsageError(format!("{out} is a folder; name a file with --out")).into());
    }
    let mut files = BenchmarkFiles::find(&args.files)?;
    let mut suite = SuiteWriter::create(&args.out, args.keep_secrets)?;
    let inputs = files.paths.clone();
    let imported = match args.format {
        ImportFormat::Repoqa => function_import::repoqa(&mut files, args, &mut suite).map(Some),
        ImportFormat::Yabloco => function_import::yabloco(&mut files, &mut suite).map(|()| None),
        _ => {
            inputs.iter().try_for_each(|path| import_file(&mut files, path, args, &mut suite)).map(|()| None)
        }
    };
    let broken = files.finish();
    let dataset = imported?;
    let SuiteWriter { file, ids, scenarios, left_out, secrets, repeated, .. } = suite;
    if ids.is_empty() {
        return Err(UsageError("the files have no usable row; see the messages above".to_owned()).into());
    }
    let partial = file.into_inner().map_err(|error| error.into_error()).context("cannot write the suite")?;
    let more_rows: usize = repeated.values().map(Vec::len).sum();
    let partial = match more_rows {
        0 => partial,
        _ => add_repeated_rows(partial, repeated, &args.out).context("cannot write the suite")?,
    };
    partial.persist(&args.out).with_context(|| cannot_write(&args.out))?;
    let dataset = dataset.map(|dataset| write_dataset(&dataset, &args.out, &inputs)).transpose()?;
    if secrets > 0 {
        print_message(&format!("masked {}; --keep-secrets keeps them", count(secrets, "secret")));
    }
    if args.json {
        let report = json!({
            "suite": args.out.display().to_string(),
            "dataset": dataset.map(|path| path.display().to_string()),
            "cases": ids.len(),
            "scenarios": scenarios,
            "secrets": secrets,
            "left_out": left_out,
            "repeated": more_rows,
            "broken": broken.json(),
        });
        return Ok(output::print(&format!("{report:#}\n"))?);
    }
    let rows: String = scenarios.iter().map(|(name, cases)| format!("{cases:>6}  {name}\n")).collect();
    let set_apart = match broken.count {
        0 => String::new(),
        broken => format!("{broken:>6}  broken, set apart\n"),
    };
    let more_rows = match more_rows {
        0 => String::new(),
        rows => format!("{rows:>6}  with the texts of another row, kept with its case\n"),
    };
    let left_out: String =
        left_out.iter().map(|(reason, items)| format!("{items:>6}  left out: {reason}\n")).collect();
    let out = shell_quoted(&args.out);
    Ok(output::print(&format!(
        "{rows}{more_rows}{left_out}{set_apart}in {out}\nNext: ghostbench replay {out}\n"
    ))?)
}

/// Writes the data set of RepoQA beside its suite, for the export, and returns its path. A file that was imported is left as it is.
fn write_dataset(dataset: &RepoqaDataset, suite: &Path, inputs: &[PathBuf]) -> anyhow::Result<PathBuf> {
    let path = dataset_path(suite);
    let is_same = |input: &PathBuf| {
        input.canonicalize().is_ok_and(|input| path.canonicalize().is_ok_and(|path| path == input))
    };
    if inputs.iter().any(is_same) {
        return Ok(path);
    }
    let partial = PartialFile::create(&path).with_context(|| cannot_write(&path))?;
    let mut out = BufWriter::new(partial.file());
    dataset.write(&mut out).and_then(|()| out.flush()).with_context(|| cannot_write(&path))?;
    drop(out);
    partial.persist(&path).with_context(|| cannot_write(&path))?;
    Ok(path)
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}; choose another place with --out", output::path(path))
}

fn import_file(
    files: &mut BenchmarkFiles,
    path: &Path,
    args: &ImportArgs,
    suite: &mut SuiteWriter,
) -> anyhow::Result<()> {
    let name = path.to_string_lossy();
    match args.format {
        ImportFormat::CodevBench => {
            let shard = CodevShard::from_path(&name).ok_or_else(|| {
                UsageError(format!(
                    "{}: neither a folder nor the file has the name of a mode, such as {}",
                    output::path(path),
                    CodevFile::FullBlock.mode()
                ))
            })?;
            suite.import(files, path, |item: &CodevItem| {
                item.case(shard.file).ok_or_else(|| "the block has no valid place".to_owned())
            })
        }
        ImportFormat::Crosscodeeval => {
            suite.import(files, path, |item: &CcevalItem| cceval_case(item, path, args.language))
        }
        ImportFormat::Safim => suite.import(files, path, |item: &SafimItem| no_place(item.case())),
        ImportFormat::HumanevalInfilling => {
            suite.import(files, path, |item: &HumanEvalItem| no_place(item.case()))
        }
        ImportFormat::Repoeval => suite.import(files, path, |item: &RepoEvalItem| no_place(item.case())),
        ImportFormat::CopilotArena => further_import::copilot_arena(files, path, args, suite),
        ImportFormat::Cursortab => further_import::cursortab(files, path, suite),
        ImportFormat::Zed => further_import::zed(files, path, suite),
        ImportFormat::Repoqa | ImportFormat::Yabloco => Ok(()),
        ImportFormat::Repobench => suite.import(files, path, |item: &RepoBenchItem| no_place(item.case())),
    }
}

fn no_place(case: Option<Case>) -> Result<Case, String> {
    case.ok_or_else(|| "the row has no place for a completion".to_owned())
}

/// Returns the case of a row; its context is that of the file, by the file's name.
fn cceval_case(item: &CcevalItem, path: &Path, language: Option<Language>) -> Result<Case, String> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let has_context = item.crossfile_context.as_ref().is_some_and(|context| !context.list.is_empty());
    let context = if name.contains("oracle") {
        CrossFileContext::Oracle
    } else if name.contains("rg1") || has_context {
        CrossFileContext::Retrieval
    } else {
        CrossFileContext::InFile
    };
    let language = language.or_else(|| item.language());
    let language = language.ok_or_else(|| "the language is unknown; name it with --language".to_owned())?;
    item.case(language, context).ok_or_else(|| "the row names no file".to_owned())
}

/// Writes the cases of a suite as they are read.
struct SuiteWriter {
    file: BufWriter<PartialSuite>,
    ids: HashSet<String>,
    scenarios: BTreeMap<String, usize>,
    /// Valid items that are no cases, by reason.
    left_out: BTreeMap<&'static str, usize>,
    /// Further rows with the texts of a case, by its id: their places among the rows of the scenario, and their tags.
    repeated: BTreeMap<String, Vec<(usize, String)>>,
    /// Rows of each scenario so far.
    rows: BTreeMap<String, usize>,
    secrets: usize,
    keeps_secrets: bool,
}

/// The file of the suite until it is complete.
struct PartialSuite(PartialFile);

impl Write for PartialSuite {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.file().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.file().flush()
    }
}

impl PartialSuite {
    fn persist(self, path: &Path) -> std::io::Result<()> {
        self.0.persist(path)
    }
}

impl SuiteWriter {
    fn create(path: &Path, keeps_secrets: bool) -> anyhow::Result<SuiteWriter> {
        let file = PartialFile::create(path).with_context(|| cannot_write(path))?;
        Ok(SuiteWriter {
            file: BufWriter::new(PartialSuite(file)),
            ids: HashSet::new(),
            scenarios: BTreeMap::new(),
            left_out: BTreeMap::new(),
            repeated: BTreeMap::new(),
            rows: BTreeMap::new(),
            secrets: 0,
            keeps_secrets,
        })
    }

    /// Writes the cases of a file's rows; rows without a case are set apart. A row that gives a known case is kept with it.
    fn import<T: BenchmarkItem + Send + Sync>(
        &mut self,
        files: &mut BenchmarkFiles,
        path: &Path,
        case: impl Fn(&T) -> Result<Case, String> + Sync,
    ) -> anyhow::Result<()> {
        let keeps_secrets = self.keeps_secrets;
        files.for_each_batch::<T>(path, |rows| {
            let cases: Vec<Result<(Case, usize), String>> =
                rows.par_iter().map(|row| tagged(&row.text, case(&row.item)?, keeps_secrets)).collect();
            let mut broken = Vec::new();
            for (row, case) in rows.iter().zip(cases) {
                match case {
                    Ok((case, secrets)) => self.write_or_repeat(case, secrets)?,
                    Err(reason) => broken.push(BrokenRow { line: row.line, reason }),
                }
            }
            Ok(broken)
        })
    }

    /// Writes the case of a row that is not a line of JSON; returns the problem if it has none.
    fn import_row(&mut self, row: &str, case: Result<Case, String>) -> anyhow::Result<Option<String>> {
        match case.and_then(|case| tagged(row, case, self.keeps_secrets)) {
            Ok((case, secrets)) => self.write(&case, secrets),
            Err(reason) => Ok(Some(reason)),
        }
    }

    /// Writes a case; returns the problem if the suite has it already.
    fn write(&mut self, case: &Case, secrets: usize) -> anyhow::Result<Option<String>> {
        if !self.ids.insert(case.id.clone()) {
            return Ok(Some("another row gives the same case".to_owned()));
        }
        self.secrets += secrets;
        let scenario = scenario_name(case);
        *self.rows.entry(scenario.clone()).or_default() += 1;
        *self.scenarios.entry(scenario).or_default() += 1;
        self.file.write_all(cases::to_line(case).as_bytes()).context("cannot write the suite")?;
        Ok(None)
    }

    /// Writes a case, or keeps its row for the equal case that the suite has.
    fn write_or_repeat(&mut self, mut case: Case, secrets: usize) -> anyhow::Result<()> {
        if self.ids.contains(&case.id) {
            let place = self.rows.entry(scenario_name(&case)).or_default();
            let row = (*place, case.tags.remove(ROW_TAG).unwrap_or_default());
            *place += 1;
            self.repeated.entry(case.id).or_default().push(row);
            return Ok(());
        }
        self.write(&case, secrets).map(drop)
    }
}

fn scenario_name(case: &Case) -> String {
    let variant = case.task.variant().map(|variant| format!(" {variant}")).unwrap_or_default();
    format!("{}{variant}", case.scenario())
}

/// Copies a suite, and adds further rows to their cases.
fn add_repeated_rows(
    suite: PartialSuite,
    mut repeated: BTreeMap<String, Vec<(usize, String)>>,
    path: &Path,
) -> anyhow::Result<PartialSuite> {
    let mut out = BufWriter::new(PartialSuite(PartialFile::create(path)?));
    for line in BufReader::new(File::open(suite.0.path())?).lines() {
        let mut case: Case = cases::parse_document(&line?)?;
        for (place, tag) in repeated.remove(&case.id).unwrap_or_default() {
            benchmarks::add_repeated_row(&mut case, place, tag);
        }
        out.write_all(cases::to_line(&case).as_bytes())?;
    }
    Ok(out.into_inner().map_err(|error| error.into_error())?)
}

/// Adds the row to its case, and masks secrets; returns their number, too.
fn tagged(row: &str, mut case: Case, keeps_secrets: bool) -> Result<(Case, usize), String> {
    let tag = benchmarks::row_tag(row, &case).ok_or_else(|| "not a JSON object".to_owned())?;
    let secrets = if keeps_secrets { 0 } else { cases::redact_case(&mut case) };
    let tag = if keeps_secrets { tag } else { secrets::redact(&tag).into_owned() };
    case.tags.insert(ROW_TAG.to_owned(), tag);
    Ok((case, secrets))
}
