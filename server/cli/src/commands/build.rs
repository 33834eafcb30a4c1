//! `ghostbench build`: benchmarks in the shape of public ones from a repository.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;
use benchmarks::codev_bench::{CodevBuilder, CodevFile};
use benchmarks::crosscodeeval::{CcevalBuilder, CcevalRow};
use benchmarks::repoqa::{RepoqaBuildConfig, build_dataset};
use benchmarks::yabloco::{
    BuiltYabloco, ClangdIndex, CompileCommands, YablocoBuildConfig, build_functions, yabloco_case,
};
use cases::{Case, CrossFileContext, OriginKind, Scenario};
use mining::{HoleCandidates, Judge, MiningOptions, Mix};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use syntax::{Language, SourceFile};

use crate::args::{BenchmarkName, BuildArgs};
use crate::exit::UsageError;
use crate::output::{self, count, print_message, shell_quoted};
use crate::progress::Progress;
use crate::steps::builtin_judge::BuiltinJudge;
use crate::steps::cases_with_tests::with_tests;
use crate::steps::clangd_index::clangd_index;
use crate::steps::describe_functions::FunctionDescriber;
use crate::steps::index::{IndexedWorkspace, index, index_for_mining};
use crate::steps::last_commits::last_commits;
use crate::steps::licence::licences;
use crate::steps::test_code::{TestCode, is_test_file};
use crate::steps::use_threads;

/// Default size of the mined benchmarks, in cases.
const CASES: u32 = 400;

/// Cases that are drawn at most to find enough of each kind.
const MAX_DRAWN: usize = 100_000;

/// Suite of cases with tests.
const SUITE: &str = "cases.jsonl";

/// Default number of functions for RepoQA in each language, as in the original.
const NEEDLES: u32 = 10;

/// Default number of functions for YABLoCo in each dependency category, as in the original.
const FUNCTIONS_PER_CATEGORY: u32 = 14;

/// Runs the command.
pub(crate) fn run(args: &BuildArgs) -> anyhow::Result<()> {
    use_threads(args.jobs)?;
    if args.out.is_file() {
        let out = output::path(&args.out);
        return Err(UsageError(format!("{out} is a file; name a folder with --out")).into());
    }
    if args.tests.with_tests && !matches!(args.format, BenchmarkName::CodevBench | BenchmarkName::Yabloco) {
        return Err(UsageError("--with-tests is for codev-bench and yabloco; leave it out".to_owned()).into());
    }
    if args.describe.engine.is_some() && args.format != BenchmarkName::Repoqa {
        return Err(UsageError("--describe-with is for repoqa; leave it out".to_owned()).into());
    }
    let built = match args.format {
        BenchmarkName::CodevBench => codev_bench(args),
        BenchmarkName::Crosscodeeval => crosscodeeval(args),
        BenchmarkName::Repoqa => repoqa(args),
        BenchmarkName::Yabloco => yabloco(args),
    }?;
    let datasheet = built.datasheet(args);
    write_file(&args.out.join("datasheet.json"), &format!("{datasheet:#}\n"))?;
    if args.json {
        return Ok(output::print(&format!("{datasheet:#}\n"))?);
    }
    Ok(output::print(&built.summary(args))?)
}

/// A written benchmark.
struct BuiltBenchmark {
    indexed: IndexedWorkspace,
    /// Rows of each file, with its path in the output folder.
    files: BTreeMap<String, usize>,
    /// Further counts.
    counts: Value,
    /// Left out items by reason.
    left_out: BTreeMap<String, usize>,
    rules: &'static str,
}

impl BuiltBenchmark {
    fn datasheet(&self, args: &BuildArgs) -> Value {
        let code = &self.indexed.code;
        let licences = licences(&args.path);
        json!({
            "benchmark": args.format.name(),
            "repository": code.name,
            "commit": code.state.commit,
            "dirty": code.state.dirty,
            "tree_hash": code.state.tree_hash,
            "licences": licences.iter().map(|it| json!({"file": it.file, "licence": it.name})).collect::<Vec<_>>(),
            "source_files": code.state.files,
            "source_lines": code.state.lines,
            "seed": args.seed,
            "rules": self.rules,
            "files": self.files,
            "counts": self.counts,
            "left_out": self.left_out,
            "version": env!("CARGO_PKG_VERSION"),
        })
    }

    fn summary(&self, args: &BuildArgs) -> String {
        let mut text = String::new();
        for (name, rows) in &self.files {
            let _ = writeln!(text, "{rows:>6}  {name}");
        }
        if !self.left_out.is_empty() {
            text.push_str("left out\n");
        }
        for (reason, number) in &self.left_out {
            let _ = writeln!(text, "{number:>6}  {reason}");
        }
        let out = shell_quoted(&args.out);
        let _ = writeln!(text, "in {out}; datasheet.json has the licence, the rules and all counts");
        text
    }
}

/// Mines cases of the scenarios, a number of each, without secrets.
struct Miner<'a> {
    args: &'a BuildArgs,
    indexed: IndexedWorkspace,
    candidates: Vec<HoleCandidates>,
    /// Cases that were drawn last, of all languages.
    all_drawn: usize,
    left_out: BTreeMap<String, usize>,
    test_code: TestCode,
}

impl<'a> Miner<'a> {
    fn open(args: &'a BuildArgs) -> anyhow::Result<Miner<'a>> {
        let (indexed, mut candidates) = index_for_mining(&args.path)?;
        for (file, candidates) in indexed.index.files().iter().zip(&mut candidates) {
            // Blocks of other languages must not be drawn in place of those that are wanted.
            let is_test = args.tests.with_tests && is_test_file(&file.path);
            if is_test || !is_wanted(args, file.language) {
                *candidates = HoleCandidates::of(&SourceFile { text: "".into(), ..file.clone() });
            }
        }
        Ok(Miner {
            args,
            indexed,
            candidates,
            all_drawn: 0,
            left_out: BTreeMap::new(),
            test_code: TestCode::default(),
        })
    }

    /// Mines a number of holes for each group of cases. The scenario and all its variants are mined alike, so that more cases are drawn
    /// until every group has enough, or there are no more.
    fn mine_groups<G: Ord>(
        &mut self,
        scenario: Scenario,
        quotas: &BTreeMap<G, usize>,
        group: impl Fn(&Case) -> Option<G>,
    ) -> anyhow::Result<Vec<Case>> {
        let mut drawn: usize = quotas.values().sum();
        loop {
            let before = self.left_out.clone();
            let mined = self.mine(scenario, drawn)?;
            let mut groups: BTreeMap<G, Vec<Case>> = BTreeMap::new();
            for case in mined {
                if let Some(group) = group(&case) {
                    groups.entry(group).or_default().push(case);
                }
            }
            let has_enough = |(group, quota): (&G, &usize)| groups.get(group).map_or(0, Vec::len) >= *quota;
            if quotas.iter().all(has_enough) || self.all_drawn < drawn || drawn > MAX_DRAWN {
                let quota = |group: &G| quotas.get(group).copied().unwrap_or(0);
                return Ok(groups
                    .into_iter()
                    .flat_map(|(group, cases)| spread(cases, quota(&group)))
                    .collect());
            }
            self.left_out = before;
            drawn *= 2;
        }
    }

    fn mine(&mut self, scenario: Scenario, cases: usize) -> anyhow::Result<Vec<Case>> {
        let judge = BuiltinJudge::new()?;
        let is_right = |case: &Case| judge.is_right(case);
        let judge = Judge { name: judge.name(), is_right: &is_right };
        let options = MiningOptions {
            cases,
            seed: self.args.seed,
            scenarios: vec![scenario],
            mix: Mix::Even,
            first_uses_only: true,
            origin: self.indexed.code.origin(OriginKind::Mined),
        };
        let mined = mining::mine(&self.indexed.mining_sources(&self.candidates), &options, Some(&judge));
        for (reason, number) in mined.left_out {
            *self.left_out.entry(reason.to_string()).or_default() += number;
        }
        let mut cases = mined.cases;
        self.all_drawn = cases.len();
        cases.retain(|case| Language::from_name(&case.language).is_some_and(|it| is_wanted(self.args, it)));
        if self.args.tests.with_tests {
            let before = cases.len();
            cases.retain(|case| !self.test_code.contains(self.indexed.index.file(&case.path), case));
            let tests = before - cases.len();
            if tests > 0 {
                *self.left_out.entry("tests themselves".to_owned()).or_default() += tests;
            }
        }
        let secrets: usize = cases.par_iter_mut().map(cases::redact_case).sum();
        if secrets > 0 {
            *self.left_out.entry("secrets that are masked".to_owned()).or_default() += secrets;
        }
        Ok(cases)
    }
}

/// Keeps `count` items at equal distances.
fn spread<T>(items: Vec<T>, count: usize) -> Vec<T> {
    let found = items.len();
    let is_kept = |index: usize| found <= count || (index * count) / found != ((index + 1) * count) / found;
    items.into_iter().enumerate().filter(|(index, _)| is_kept(*index)).map(|(_, item)| item).collect()
}

/// Returns the numbers of rows of the original's files for a scenario: an inner block is empty in a quarter of the cases, and half of the
/// incomplete suffixes end with the function.
fn codev_quotas(scenario: Scenario, size: usize) -> BTreeMap<CodevFile, usize> {
    match scenario {
        Scenario::FullBlock => BTreeMap::from([(CodevFile::FullBlock, size)]),
        Scenario::InnerBlock => {
            BTreeMap::from([(CodevFile::InnerBlock, size - size / 4), (CodevFile::InnerBlockEmpty, size / 4)])
        }
        Scenario::IncompleteSuffix => BTreeMap::from([
            (CodevFile::FunctionSuffixEmpty, size / 2),
            (CodevFile::FileSuffixEmpty, size - size / 2),
        ]),
        _ => BTreeMap::from([(CodevFile::Rag, size)]),
    }
}

fn is_wanted(args: &BuildArgs, language: Language) -> bool {
    args.languages.is_empty() || args.languages.contains(&language)
}

fn codev_bench(args: &BuildArgs) -> anyhow::Result<BuiltBenchmark> {
    let mut miner = Miner::open(args)?;
    let size = args.size.unwrap_or(CASES) as usize;
    let progress = Progress::new("mined", "scenarios");
    let scenarios = [Scenario::FullBlock, Scenario::InnerBlock, Scenario::IncompleteSuffix, Scenario::Rag];
    let mut cases: Vec<Case> = Vec::new();
    for (done, scenario) in scenarios.into_iter().enumerate() {
        cases.extend(miner.mine_groups(scenario, &codev_quotas(scenario, size), CodevFile::of_case)?);
        progress.set(done as u64 + 1, scenarios.len() as u64);
    }
    progress.finish(&count(cases.len(), "case"));
    let mut counts = serde_json::Map::new();
    let mut written = BTreeMap::new();
    if args.tests.with_tests {
        let judged = with_tests(args, cases, &mut miner.left_out)?;
        counts.insert("tests".to_owned(), judged.counts);
        cases = judged.cases;
        let suite: String = cases.iter().map(cases::to_line).collect();
        write_file(&args.out.join(SUITE), &suite)?;
        written.insert(SUITE.to_owned(), cases.len());
    }
    let files = masked(miner.indexed.index.files(), &|_| true);
    let mut builder = CodevBuilder::new(&files);
    let mut rows: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &cases {
        if let Some((file, row)) = builder.row(case) {
            *kinds.entry(row.block_type).or_default() += 1;
            rows.entry(CodevFile::mode(file)).or_default().push(row);
        }
    }
    drop(builder);
    for (mode, rows) in rows {
        let name = format!("{mode}/prompts.jsonl");
        write_rows(&args.out.join(&name), &rows)?;
        written.insert(name, rows.len());
    }
    require_rows(&written, "no block in these files can become a case")?;
    counts.insert("block_types".to_owned(), json!(kinds));
    let Miner { indexed, left_out, .. } = miner;
    Ok(BuiltBenchmark {
        indexed,
        files: written,
        counts: json!(counts),
        left_out,
        rules: "Holes are drawn evenly over the block types and do not overlap. A quarter of the inner blocks is empty, and half of the \
            incomplete suffixes end with the function, as far as there are enough. rag has the three functions most similar to the \
            enclosing one without the removed text. Unit tests, if they were asked for, \
            pass with the truth and fail with nothing, a placeholder and a changed truth in its place.",
    })
}

fn crosscodeeval(args: &BuildArgs) -> anyhow::Result<BuiltBenchmark> {
    let mut miner = Miner::open(args)?;
    let progress = Progress::spinner("mined");
    // Each hole is mined with three contexts; the builder makes all rows from the first.
    let size = args.size.unwrap_or(CASES) as usize;
    let quotas = CrossFileContext::ALL.iter().map(|&context| (context, size)).collect();
    let cases = miner.mine_groups(Scenario::CrossFile, &quotas, |case| case.task.cross_file_context())?;
    progress.finish(&count(cases.len(), "case"));
    let searcher = miner.indexed.index.index().searcher(&|_| false);
    let mut builder = CcevalBuilder::new(&searcher, &miner.indexed.code.name);
    let mut files: BTreeMap<String, Vec<CcevalRow>> = BTreeMap::new();
    let progress = Progress::new("retrieved", "cases");
    for (done, case) in cases.iter().enumerate() {
        if let Some(mut rows) = builder.rows(case) {
            mask_context(&mut rows.rg1);
            mask_context(&mut rows.oracle);
            let folder = rows.language.name();
            let mut add =
                |name: &str, row: CcevalRow| files.entry(format!("{folder}/{name}")).or_default().push(row);
            add("line_completion.jsonl", rows.plain);
            add("line_completion_rg1_bm25.jsonl", rows.rg1);
            add("line_completion_oracle_bm25.jsonl", rows.oracle);
        }
        progress.set(done as u64 + 1, cases.len() as u64);
    }
    progress.finish(&count(cases.len(), "case"));
    let mut written = BTreeMap::new();
    for (name, rows) in files {
        write_rows(&args.out.join(&name), &rows)?;
        written.insert(name, rows.len());
    }
    require_rows(&written, "these files have no usable position whose name only another file defines")?;
    let Miner { indexed, left_out, .. } = miner;
    Ok(BuiltBenchmark {
        indexed,
        files: written,
        counts: json!({}),
        left_out,
        rules: "The cursor is before a name that only other files define; the truth has 3 to 30 tokens, occurs in no other file, and \
            the built-in engine does not find it in the file alone. Context is retrieved by the original's BM25 over chunks of \
            ten lines.",
    })
}

/// Masks secrets in retrieved code; the case itself is masked already.
fn mask_context(row: &mut CcevalRow) {
    let Some(context) = &mut row.crossfile_context else { return };
    context.text = secrets::redact(&context.text).into_owned();
    for chunk in &mut context.list {
        chunk.retrieved_chunk = secrets::redact(&chunk.retrieved_chunk).into_owned();
    }
}

fn repoqa(args: &BuildArgs) -> anyhow::Result<BuiltBenchmark> {
    let indexed = index(&args.path)?;
    let progress = Progress::spinner("built");
    let files = masked(indexed.index.files(), &|language| is_wanted(args, language));
    let config = RepoqaBuildConfig {
        repository: &indexed.code.name,
        commit: indexed.code.state.commit.as_deref(),
        needles: args.size.unwrap_or(NEEDLES) as usize,
    };
    let mut describer = FunctionDescriber::open(&args.describe, &args.path)?;
    let built = match &mut describer {
        Some(describer) => {
            let mut ask = |prompt: &str| describer.ask(prompt);
            build_dataset(&files, indexed.index.projects(), config, Some(&mut ask))
        }
        None => build_dataset(&files, indexed.index.projects(), config, None),
    };
    progress.finish(&count(built.needles, "function"));
    let describer = describer.map(FunctionDescriber::finish).transpose()?;
    let mut bytes = Vec::new();
    built.dataset.write(&mut bytes).context("cannot write the data set")?;
    let written = BTreeMap::from([("repoqa.json".to_owned(), built.needles)]);
    require_rows(&written, "no function of these files has a usable description")?;
    write_bytes(&args.out.join("repoqa.json"), &bytes)?;
    let needles: BTreeMap<&str, usize> = built
        .dataset
        .repositories()
        .filter_map(Result::ok)
        .map(|(language, repository)| (language, repository.needles.len()))
        .collect();
    Ok(BuiltBenchmark {
        indexed,
        files: written,
        rules: match describer {
            None => {
                "Names are unique in the repository, code has at most 2000 bytes, and each of 64 equal parts of the code has at \
                 most one function. The description is the function's documentation, which is removed from the content."
            }
            Some(_) => {
                "Names are unique in the repository, code has at most 2000 bytes, and each of 64 equal parts of the code has at \
                 most one function. A model describes the function without names of its code; the content is unchanged."
            }
        },
        counts: match describer {
            None => json!({ "functions": needles }),
            Some(describer) => json!({ "functions": needles, "describer": describer }),
        },
        left_out: reasons(&built.left_out),
    })
}

fn yabloco(args: &BuildArgs) -> anyhow::Result<BuiltBenchmark> {
    let indexed = index(&args.path)?;
    let progress = Progress::spinner("built");
    let default = [Language::C, Language::Cpp];
    let languages: &[Language] = if args.languages.is_empty() { &default } else { &args.languages };
    let files = masked(indexed.index.files(), &|language| languages.contains(&language));
    let commands = compile_commands(args)?;
    let index_of_calls = clangd_index(args)?;
    let config = YablocoBuildConfig {
        repository: &indexed.code.name,
        functions: args.size.unwrap_or(FUNCTIONS_PER_CATEGORY) as usize,
        last_commits: &last_commits(&args.path, files.iter().map(|file| &*file.path)),
        compile_commands: commands.as_ref(),
        clangd_index: index_of_calls.as_ref(),
    };
    let mut built = build_functions(&files, config);
    progress.finish(&count(built.table.rows.len(), "function"));
    let mut written = BTreeMap::new();
    let mut left_out = reasons(&built.left_out);
    let mut tests = None;
    if args.tests.with_tests {
        let judged = with_tests(args, yabloco_cases(&built, &mut left_out), &mut left_out)?;
        let keys = judged.cases.iter().filter_map(|case| case.origin.benchmark_id.as_deref()).collect();
        built.keep_only(&keys);
        write_file(&args.out.join(SUITE), &judged.cases.iter().map(cases::to_line).collect::<String>())?;
        written.insert(SUITE.to_owned(), judged.cases.len());
        tests = Some(judged.counts);
    }
    let number = built.table.rows.len();
    for name in ["bench.csv", "bench.json", "oracle.json"] {
        written.insert(name.to_owned(), number);
    }
    require_rows(&written, "no documented function fits; name other languages with --language")?;
    let mut csv = Vec::new();
    built.table.write(&mut csv).context("cannot write the table")?;
    write_bytes(&args.out.join("bench.csv"), &csv)?;
    let mut json = Vec::new();
    built.functions.write(&mut json).context("cannot write the document")?;
    write_bytes(&args.out.join("bench.json"), &json)?;
    write_file(&args.out.join("oracle.json"), &serde_json::to_string(&built.mera)?)?;
    Ok(BuiltBenchmark {
        indexed,
        files: written,
        counts: json!({
            "categories": built.categories,
            "compiled_files": commands.as_ref().map(CompileCommands::len),
            "indexed_references": index_of_calls.as_ref().map(ClangdIndex::len),
            "indexed_calls": index_of_calls.as_ref().map(|_| built.indexed_calls),
            "tests": tests,
        }),
        left_out,
        rules: "Functions have a documentation of at least 4 words without code, a body of 2 to 15 lines, at most 7 calls, and no \
            `test` in path or name; near duplicates (BLEU-2 of 0.2) are left out. Calls are resolved by the index of clangd, if \
            there is one and knows them, otherwise by name, nearest file first; the compilation database, if there is one, tells \
            which files and headers count. Functions of the file that was \
            committed last come first. Unit tests, if they were asked for, pass with the function and fail without its body and with a \
            changed one; otherwise the coverage by tests is not known.",
    })
}

/// Returns the cases of built functions.
fn yabloco_cases(built: &BuiltYabloco, left_out: &mut BTreeMap<String, usize>) -> Vec<Case> {
    let cases = built.table.rows.iter().map(|row| yabloco_case(&built.table, row, &built.functions));
    let (cases, failed): (Vec<_>, Vec<_>) = cases.partition(Result::is_ok);
    for reason in failed.into_iter().filter_map(Result::err) {
        *left_out.entry(reason).or_default() += 1;
    }
    cases.into_iter().filter_map(Result::ok).collect()
}

/// Reads the named compilation database, or the one at a usual place.
fn compile_commands(args: &BuildArgs) -> anyhow::Result<Option<CompileCommands>> {
    const FILE: &str = "compile_commands.json";
    let usual = [args.path.join(FILE), args.path.join("build").join(FILE)];
    let candidates = args.compile_commands.as_ref().map_or(&usual[..], std::slice::from_ref);
    let found = candidates.iter().find(|path| path.is_file());
    let path = match (found, &args.compile_commands) {
        (Some(path), _) => path,
        (None, Some(named)) => {
            return Err(UsageError(format!("{} is not a file", output::path(named))).into());
        }
        (None, None) => return Ok(None),
    };
    let root = args.path.canonicalize().with_context(|| output::path(&args.path))?;
    let read = File::open(path)
        .map_err(|error| error.to_string())
        .and_then(|file| CompileCommands::read(file, &workspace::path_text(&root)));
    let commands = match read {
        Ok(commands) => commands,
        Err(reason) => {
            let path = output::path(path);
            let message =
                format!("{path} is no compilation database: {reason}; create it again, or delete it");
            return Err(UsageError(message).into());
        }
    };
    if commands.is_empty() {
        print_message(&format!(
            "{} compiles no file of {}; it is ignored",
            output::path(path),
            output::path(&root)
        ));
        return Ok(None);
    }
    Ok(Some(commands))
}

fn reasons(left_out: &benchmarks::LeftOutCounts) -> BTreeMap<String, usize> {
    left_out.0.iter().map(|(reason, number)| ((*reason).to_owned(), *number)).collect()
}

/// Returns the files of the wanted languages with their secrets masked; masks keep all positions.
fn masked(files: &[SourceFile], is_wanted: &(dyn Fn(Language) -> bool + Sync)) -> Vec<SourceFile> {
    files
        .par_iter()
        .filter(|file| is_wanted(file.language))
        .map(|file| SourceFile { text: secrets::redact(&file.text).into_owned().into(), ..file.clone() })
        .collect()
}

fn require_rows(written: &BTreeMap<String, usize>, problem: &str) -> Result<(), UsageError> {
    if written.values().all(|rows| *rows == 0) { Err(UsageError(problem.to_owned())) } else { Ok(()) }
}

fn write_rows(path: &Path, rows: &[impl Serialize]) -> anyhow::Result<()> {
    let mut text = String::new();
    for row in rows {
        text.push_str(&serde_json::to_string(row)?);
        text.push('\n');
    }
    write_file(path, &text)
}

fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    write_bytes(path, text.as_bytes())
}

fn write_bytes(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let folder: PathBuf = path.parent().map(Path::to_owned).unwrap_or_default();
    private_files::create_folder(&folder)
        .and_then(|()| private_files::write(path, bytes))
        .with_context(|| format!("cannot write {}; choose another place with --out", output::path(path)))
}
