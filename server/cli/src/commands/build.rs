//! `ghostbench build`: benchmarks in the shape of public ones from a repository.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use benchmarks::codev_bench::{CodevBuilder, CodevFile};
use benchmarks::crosscodeeval::{CcevalBuilder, CcevalRow};
use benchmarks::repoqa::{RepoqaBuildConfig, build_dataset};
use benchmarks::yabloco::{YablocoBuildConfig, build_functions};
use cases::{Case, OriginKind, Scenario};
use mining::{Judge, MiningOptions, Mix};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use syntax::{Language, SourceFile};

use crate::args::{BenchmarkName, BuildArgs};
use crate::exit::UsageError;
use crate::output::{self, count, shell_quoted};
use crate::progress::Progress;
use crate::steps::builtin_judge::BuiltinJudge;
use crate::steps::index::{IndexedWorkspace, index, index_for_mining};
use crate::steps::licence::licences;
use crate::steps::use_threads;

/// Default size of the mined benchmarks, in cases.
const CASES: u32 = 400;

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
    candidates: Vec<mining::HoleCandidates>,
    left_out: BTreeMap<String, usize>,
}

impl<'a> Miner<'a> {
    fn open(args: &'a BuildArgs) -> anyhow::Result<Miner<'a>> {
        let (indexed, candidates) = index_for_mining(&args.path)?;
        Ok(Miner { args, indexed, candidates, left_out: BTreeMap::new() })
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
        cases.retain(|case| self.is_wanted(Language::from_name(&case.language)));
        let secrets: usize = cases.par_iter_mut().map(cases::redact_case).sum();
        if secrets > 0 {
            *self.left_out.entry("secrets that are masked".to_owned()).or_default() += secrets;
        }
        Ok(cases)
    }

    fn is_wanted(&self, language: Option<Language>) -> bool {
        let wanted = &self.args.languages;
        language.is_some_and(|language| wanted.is_empty() || wanted.contains(&language))
    }
}

fn codev_bench(args: &BuildArgs) -> anyhow::Result<BuiltBenchmark> {
    let mut miner = Miner::open(args)?;
    let size = args.size.unwrap_or(CASES) as usize;
    let progress = Progress::new("mined", "scenarios");
    let scenarios = [Scenario::FullBlock, Scenario::InnerBlock, Scenario::IncompleteSuffix, Scenario::Rag];
    let mut cases = Vec::new();
    for (done, scenario) in scenarios.into_iter().enumerate() {
        cases.extend(miner.mine(scenario, size)?);
        progress.set(done as u64 + 1, scenarios.len() as u64);
    }
    progress.finish(&count(cases.len(), "case"));
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
    let mut written = BTreeMap::new();
    for (mode, rows) in rows {
        let name = format!("{mode}/prompts.jsonl");
        write_rows(&args.out.join(&name), &rows)?;
        written.insert(name, rows.len());
    }
    require_rows(&written, "no block in these files can become a case")?;
    let Miner { indexed, left_out, .. } = miner;
    Ok(BuiltBenchmark {
        indexed,
        files: written,
        counts: json!({ "block_types": kinds }),
        left_out,
        rules: "Holes are drawn evenly over the block types and do not overlap. rag has the three functions most similar to the \
            enclosing one without the removed text. There are no unit tests.",
    })
}

fn crosscodeeval(args: &BuildArgs) -> anyhow::Result<BuiltBenchmark> {
    let mut miner = Miner::open(args)?;
    let progress = Progress::spinner("mined");
    // Each hole is mined with three contexts.
    let cases = miner.mine(Scenario::CrossFile, args.size.unwrap_or(CASES) as usize * 3)?;
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
    let is_wanted = |language| args.languages.is_empty() || args.languages.contains(&language);
    let files = masked(indexed.index.files(), &is_wanted);
    let config = RepoqaBuildConfig {
        repository: &indexed.code.name,
        commit: indexed.code.state.commit.as_deref(),
        needles: args.size.unwrap_or(NEEDLES) as usize,
    };
    let built = build_dataset(&files, indexed.index.projects(), config);
    progress.finish(&count(built.needles, "function"));
    let mut bytes = Vec::new();
    built.dataset.write(&mut bytes).context("cannot write the data set")?;
    let written = BTreeMap::from([("repoqa.json".to_owned(), built.needles)]);
    require_rows(&written, "no function of these files has a documentation that describes it")?;
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
        counts: json!({ "functions": needles }),
        left_out: reasons(&built.left_out),
        rules: "Names are unique in the repository, code has at most 2000 bytes, and each of 64 equal parts of the code has at most \
            one function. The description is the function's documentation, which is removed from the content.",
    })
}

fn yabloco(args: &BuildArgs) -> anyhow::Result<BuiltBenchmark> {
    let indexed = index(&args.path)?;
    let progress = Progress::spinner("built");
    let default = [Language::C, Language::Cpp];
    let languages: &[Language] = if args.languages.is_empty() { &default } else { &args.languages };
    let files = masked(indexed.index.files(), &|language| languages.contains(&language));
    let config = YablocoBuildConfig {
        repository: &indexed.code.name,
        functions: args.size.unwrap_or(FUNCTIONS_PER_CATEGORY) as usize,
    };
    let built = build_functions(&files, config);
    let number = built.table.rows.len();
    progress.finish(&count(number, "function"));
    let mut written = BTreeMap::new();
    for name in ["bench.csv", "bench.json", "oracle.json"] {
        written.insert(name.to_owned(), number);
    }
    require_rows(&written, "no documented function of C or C++ fits; name other languages with --language")?;
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
        counts: json!({ "categories": built.categories }),
        left_out: reasons(&built.left_out),
        rules: "Functions have a documentation of at least 4 words without code, a body of 2 to 15 lines, at most 7 calls, and no \
            `test` in path or name; near duplicates (BLEU-2 of 0.2) are left out. Calls are resolved by name, nearest file first. \
            The coverage by tests and the dates of commits are not known.",
    })
}

fn reasons(left_out: &benchmarks::LeftOutCounts) -> BTreeMap<String, usize> {
    left_out.0.iter().map(|(reason, number)| ((*reason).to_owned(), *number)).collect()
}

/// Returns the files of the wanted languages with their secrets masked; masks keep all positions.
fn masked(files: &[SourceFile], is_wanted: &(dyn Fn(Language) -> bool + Sync)) -> Vec<SourceFile> {
    files
        .par_iter()
        .filter(|file| is_wanted(file.language))
        .map(|file| SourceFile { text: secrets::redact(&file.text).into(), ..file.clone() })
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
