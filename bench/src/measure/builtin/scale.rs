//! The built-in engine in a workspace of ten million tokens: memory; times to build, update and open the corpus; and answers.
//!
//! The workspace has one language family, so that every request sees all of it: the family with most code in the pinned
//! repositories, with as many renamed copies as needed. Building and opening are measured in child processes, whose memory
//! contains nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use builtin::{BuiltinSettings, Corpus, CorpusLimit, OpenFile};
use cache::Cache;
use serde_json::{Value, json};
use session::LoadedCorpus;
use syntax::{LanguageFamily, SourceFile, TokenKind};
use workspace::{ReadLimits, Snapshot};
use xtask::process;

use super::cases::{StudyCase, StudyScenario, mine};
use crate::measure::document;
use crate::measure::figures::{FigureRow, SortedTimes, TimingTarget, milliseconds, table};
use crate::measure::repositories::Repo;

/// Tokens of the workspace.
const TOKENS: usize = 10_000_000;
/// Requests per scenario.
const CASES: usize = 200;
const SEED: u64 = 11;
/// Tokens of a changed file (the median of a repository).
const FILE_TOKENS: usize = 900;
/// Number of files that a branch switch changes.
const BRANCH_FILES: usize = 2000;
const RUNS: usize = 30;
/// Environment variable with the child's step.
const STEP: &str = "GHOSTBENCH_BENCH_SCALE";
const FOLDER: &str = "target/bench-repos/scale";
const CACHES: &str = "target/bench-repos/scale-caches";

/// Measures everything and returns the Markdown of its section.
pub(crate) fn measure(repos: &[Repo]) -> Result<String> {
    write_workspace(repos)?;
    if Path::new(CACHES).is_dir() {
        fs::remove_dir_all(CACHES)?;
    }
    let (cold, warm) = (child("cold")?, child("warm")?);
    let number = |figures: &Value, field: &str| {
        figures[field].as_f64().with_context(|| format!("the child tells no `{field}`"))
    };
    let mut rows = Vec::new();
    let mut row = |what: &str, figures: &Value, field: &str, unit: &str, target: f64| {
        let value = number(figures, field)?;
        let target_text = if target.is_finite() { format!("{target} {unit}") } else { String::new() };
        rows.push(FigureRow::value(
            what,
            format!("{} {unit}", milliseconds(value)),
            &target_text,
            value <= target,
        ));
        anyhow::Ok(())
    };
    row("arrays, resident", &cold, "array_bytes", "bytes a token", 13.0)?;
    row(
        "everything, resident: arrays, words and files",
        &cold,
        "resident_bytes",
        "bytes a token",
        f64::INFINITY,
    )?;
    row("peak while building", &cold, "peak_bytes", "bytes a token", 30.0)?;
    row("sorting, from tokens", &cold, "sorting_s", "s", 3.0)?;
    row("building, from texts", &cold, "building_s", "s", f64::INFINITY)?;
    row("updating a file of 900 tokens", &cold, "file_ms", "ms", 2.0)?;
    row("updating 2,000 files, as after a switch of branches", &cold, "branch_s", "s", f64::INFINITY)?;
    row("start from the cache to the first answer", &warm, "start_s", "s", 3.0)?;
    row("size of the cache", &cold, "cached_bytes", "bytes a token", f64::INFINITY)?;
    let times = |field: &str| -> Result<SortedTimes> {
        let all = cold[field].as_array().context("the child tells no times")?;
        Ok(SortedTimes::new(all.iter().filter_map(Value::as_f64).map(Duration::from_secs_f64).collect()))
    };
    let limit = |percentile, ms| TimingTarget { percentile, ms };
    let (statements, blocks) = (times("statements")?, times("blocks")?);
    rows.push(FigureRow::times("rest of a statement, ms", &statements, &[limit(50, 1.0), limit(95, 10.0)]));
    rows.push(FigureRow::times("blocks and bodies, ms", &blocks, &[limit(95, 25.0)]));
    Ok(format!(
        "{:.1} M tokens of {} in {} files, {} distinct words and literals per thousand tokens; {} + {} requests. \
         Lexing the open file takes 0.3 ms of each answer (median); most of the rest is the alignment of positions, once for each \
         method from the token where the methods differ.\n\n{}\n",
        number(&cold, "tokens")? / 1e6,
        cold["language"].as_str().unwrap_or_default(),
        number(&cold, "files")?,
        milliseconds(number(&cold, "words_per_thousand")?),
        statements.len(),
        blocks.len(),
        table(&rows)
    ))
}

/// Whether this process is a child that measures one step.
pub(crate) fn is_child() -> bool {
    std::env::var_os(STEP).is_some()
}

/// In the child: measures its step and prints the result.
pub(crate) fn measure_in_child() -> Result<()> {
    let workspace = workspace::load(Path::new(FOLDER), &ReadLimits::standard(), &|_| {})?;
    let cache = Cache::new(Path::new(CACHES), Cache::DEFAULT_LIMIT);
    let figures = match std::env::var(STEP)?.as_str() {
        "cold" => cold(&workspace, &cache)?,
        _ => warm(&workspace, &cache)?,
    };
    println!("{figures}");
    Ok(())
}

fn child(step: &str) -> Result<Value> {
    let mut child = Command::new(std::env::current_exe()?);
    let figures = process::output(child.arg("bench").env(STEP, step))?;
    serde_json::from_str(&figures).context("the child prints no JSON")
}

/// Writes the workspace if it is missing: whole repositories, then their copies.
fn write_workspace(repos: &[Repo]) -> Result<()> {
    let folder = Path::new(FOLDER);
    if folder.is_dir() {
        return Ok(());
    }
    let unfinished = folder.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    let files = files_of_largest_family(repos)?;
    let (mut left, mut copy) = (TOKENS, 0);
    'copies: loop {
        for file in &files {
            let text = if copy == 0 { file.text.to_string() } else { rename_identifiers(file, copy) };
            write_file(&unfinished.join(format!("copy-{copy}")).join(&*file.path), &text)?;
            left = left.saturating_sub(syntax::lex(file.language, &file.text).len());
            if left == 0 {
                break 'copies;
            }
        }
        copy += 1;
    }
    Ok(fs::rename(&unfinished, folder)?)
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file has a folder")?)?;
    Ok(fs::write(path, text)?)
}

fn files_of_largest_family(repos: &[Repo]) -> Result<Vec<SourceFile>> {
    let mut families: BTreeMap<usize, Vec<SourceFile>> = BTreeMap::new();
    for repo in repos {
        let snapshot: Snapshot = workspace::load(&repo.root, &ReadLimits::standard(), &|_| {})?;
        for file in snapshot.files().iter().filter(|file| repo.pinned.measures(file.language)) {
            let path: Arc<str> = format!("{}/{}", repo.pinned.name, file.path).into();
            let family = file.language.family() as usize;
            families.entry(family).or_default().push(SourceFile { path, ..file.clone() });
        }
    }
    let size = |files: &Vec<SourceFile>| -> usize { files.iter().map(|file| file.text.len()).sum() };
    families.into_values().max_by_key(size).context("there is no code")
}

/// Appends a suffix to every name of a file.
pub(crate) fn rename_identifiers(file: &SourceFile, copy: usize) -> String {
    let mut out = String::with_capacity(file.text.len() * 5 / 4);
    let mut last = 0;
    for token in syntax::lex(file.language, &file.text) {
        let text = &file.text[token.range.clone()];
        out.push_str(&file.text[last..token.range.end]);
        if token.kind == TokenKind::Word && !syntax::is_reserved(file.language, text) {
            out.push_str(&format!("_{copy}"));
        }
        last = token.range.end;
    }
    out + &file.text[last..]
}

/// Builds and updates the corpus, and measures requests.
fn cold(workspace: &Snapshot, cache: &Cache) -> Result<Value> {
    let files = workspace.files();
    let before = memory("VmRSS")?;
    reset_peak_memory()?;
    let start = Instant::now();
    let corpus = Corpus::build(files);
    let building_s = start.elapsed().as_secs_f64();
    let (resident, peak) = (memory("VmRSS")? - before, memory("VmHWM")? - before);
    let stats = corpus.stats();
    let per_token = |bytes: f64| bytes / stats.tokens as f64;
    let start = Instant::now();
    drop(corpus.rebuilt(files));
    let sorting_s = start.elapsed().as_secs_f64();
    let cached = session::save_corpus(cache, workspace.root(), &corpus)?;
    let (statements, blocks) = ask(&corpus, files);
    let (file_ms, branch_s) = (time_changed_file(&corpus, files)?, time_branch_switch(&corpus, files));
    Ok(json!({
        "language": files.first().map(|file| family_name(file.language.family())),
        "files": stats.files,
        "tokens": stats.tokens,
        "words_per_thousand": stats.words as f64 * 1e3 / stats.tokens as f64,
        "array_bytes": per_token(stats.bytes as f64),
        "resident_bytes": per_token(resident),
        "peak_bytes": per_token(peak),
        "building_s": building_s,
        "sorting_s": sorting_s,
        "cached_bytes": per_token(cached as f64),
        "file_ms": file_ms,
        "branch_s": branch_s,
        "statements": statements,
        "blocks": blocks,
    }))
}

fn family_name(family: LanguageFamily) -> String {
    format!("{family:?}")
}

/// Returns the median time in milliseconds to update the corpus with a changed file of usual size.
fn time_changed_file(corpus: &Corpus, files: &[SourceFile]) -> Result<f64> {
    let distance = |file: &&SourceFile| syntax::lex(file.language, &file.text).len().abs_diff(FILE_TOKENS);
    let file = files.iter().min_by_key(distance).context("there is no code")?;
    let times = (0..RUNS).map(|run| {
        let text = format!("{}\nchanged_{run}\n", file.text).into();
        let changed = [SourceFile { text, ..file.clone() }];
        let start = Instant::now();
        let _changed = corpus.with_changes(&changed, &[]);
        start.elapsed()
    });
    Ok(SortedTimes::new(times.collect()).percentile(50))
}

fn time_branch_switch(corpus: &Corpus, files: &[SourceFile]) -> f64 {
    let stride = (files.len() / BRANCH_FILES).max(1);
    let change =
        |file: &SourceFile| SourceFile { text: format!("{}\nchanged\n", file.text).into(), ..file.clone() };
    let changed: Vec<SourceFile> = files.iter().step_by(stride).take(BRANCH_FILES).map(change).collect();
    let start = Instant::now();
    let _changed = corpus.with_changes(&changed, &[]).compacted();
    start.elapsed().as_secs_f64()
}

/// Returns the seconds of each answer, including the view: remaining statements, and blocks.
fn ask(corpus: &Corpus, files: &[SourceFile]) -> (Vec<f64>, Vec<f64>) {
    let own: Vec<SourceFile> =
        files.iter().filter(|file| file.path.starts_with("copy-0/")).cloned().collect();
    let (mut statements, mut blocks) = (Vec::new(), Vec::new());
    for case in mine(&own, CASES, SEED) {
        let seconds = answer(corpus, &own[case.file], &case);
        match case.scenario {
            StudyScenario::StatementRest | StudyScenario::StatementRestMidName => statements.push(seconds),
            StudyScenario::CompleteBody => {}
            _ => blocks.push(seconds),
        }
    }
    (statements, blocks)
}

fn answer(corpus: &Corpus, file: &SourceFile, case: &StudyCase) -> f64 {
    let before = case.before(file);
    let open = OpenFile::new(&file.path, file.language, &before, &file.text[case.hole.end..]);
    let start = Instant::now();
    corpus.view(&open).complete(&BuiltinSettings::for_replay(), &mut || true);
    start.elapsed().as_secs_f64()
}

/// Opens the cached tokens, and measures one request.
fn warm(workspace: &Snapshot, cache: &Cache) -> Result<Value> {
    let files = workspace.files();
    let file = files.get(files.len() / 2).context("there is no code")?;
    let middle = file.text.floor_char_boundary(file.text.len() / 2);
    let case = StudyCase { scenario: StudyScenario::StatementRest, file: 0, hole: middle..middle };
    let start = Instant::now();
    let opened = LoadedCorpus::open(Some(cache), workspace.root(), files, CorpusLimit::default(), None);
    anyhow::ensure!(opened.is_cached, "the cache was of no use: {:?}", opened.miss);
    answer(&opened.corpus, file, &case);
    Ok(json!({ "start_s": start.elapsed().as_secs_f64() }))
}

/// Returns a memory value of this process in bytes.
fn memory(field: &str) -> Result<f64> {
    let memory =
        document::field("/proc/self/status", field).context("the kernel does not tell the memory")?;
    let kilobytes: f64 = memory.trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024.0)
}

/// Resets the peak memory to the current memory.
fn reset_peak_memory() -> Result<()> {
    const PEAK: &str = "5";
    fs::write(PathBuf::from("/proc/self/clear_refs"), PEAK).context("the kernel does not forget the peak")
}
