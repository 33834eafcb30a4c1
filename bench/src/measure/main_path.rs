//! The main path: `ghostbench try` mines 200 cases from about 50,000 lines, replays them with the built-in engine, scores them
//! and reports, as a user's first call does. Then the same without any cache on more lines, and `ghostbench mine` on a large workspace
//! whose index is cached.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use xtask::process;

use super::indexing::corpus_folder;
use super::repositories::Repo;

/// The repositories that make up the workspace: four languages, together about 50,000 lines.
const WORKSPACE: &[&str] = &["flask", "immer", "javapoet", "gin"];

/// Number of runs of each command; the table shows the median.
const RUNS: usize = 5;

/// Lines of the workspace for `try` without a cache, and the limit in seconds.
const COLD_LINES: usize = 100_000;
const COLD_LIMIT: f64 = 2.5;
/// Lines of the workspace for `mine` with a cache, as far as there is code, and the limit in seconds.
const MINED_LINES: usize = 1_000_000;
const MINED_LIMIT: f64 = 2.5;
/// Environment variable with another number of lines for both, to try the measurement.
const LINES: &str = "GHOSTBENCH_BENCH_LINES";

/// One run of `try`.
struct Measurement {
    wall: Duration,
    /// Largest resident set, bytes.
    peak_memory: u64,
    /// Output of `--json`.
    summary: serde_json::Value,
}

/// Measures both commands and returns the Markdown of the section. `all` are the repositories of the larger workspaces.
pub(crate) fn measure(repos: &[Repo], all: &[Repo]) -> Result<String> {
    let ghostbench = super::ghostbench()?;
    let folder = Path::new("target/bench-repos/main-path");
    assemble_workspace(repos, folder)?;
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        let mut command = Command::new(&ghostbench);
        command.arg("try").arg(folder).args(["--cases", "200", "--json"]);
        runs.push(run_once(command)?);
    }
    runs.sort_by_key(|run| run.wall);
    let lines = |usual: usize| match std::env::var(LINES) {
        Ok(lines) => lines.parse().with_context(|| format!("{LINES} is no number")),
        Err(_) => Ok(usual),
    };
    let cold = cold_times(&ghostbench, &corpus_folder(all, lines(COLD_LINES)?)?)?;
    let mined = mining_times(&ghostbench, &corpus_folder(all, lines(MINED_LINES)?)?)?;
    Ok([
        table(&runs)?,
        cold.row("`try` with 200 cases, no cache", COLD_LIMIT),
        mined.row("`mine` of 300 cases, the index cached", MINED_LIMIT),
    ]
    .join("\n"))
}

/// Times of a command in a workspace.
struct CommandRuns {
    lines: u64,
    /// Sorted.
    times: Vec<Duration>,
}

impl CommandRuns {
    /// The row of the table, with a limit in seconds.
    fn row(&self, what: &str, limit: f64) -> String {
        let seconds: Vec<String> =
            self.times.iter().map(|time| format!("{:.2}", time.as_secs_f64())).collect();
        let median = self.times.get(self.times.len() / 2).map_or(f64::NAN, Duration::as_secs_f64);
        format!(
            "| {what}, {} lines, median of {} (limit {limit} s) | {median:.2} s ({}) |",
            self.lines,
            seconds.len(),
            seconds.join(", ")
        )
    }
}

/// Runs `try` with an empty cache folder each time.
fn cold_times(ghostbench: &Path, folder: &Path) -> Result<CommandRuns> {
    let mut runs = CommandRuns { lines: 0, times: Vec::new() };
    for _ in 0..RUNS {
        let home = empty_cache_home(folder)?;
        let mut command = Command::new(ghostbench);
        command.arg("try").arg(folder).args(["--cases", "200", "--json"]).env("XDG_CACHE_HOME", &home);
        let run = run_once(command)?;
        runs.lines = run.summary["indexing"]["lines"].as_u64().context("`ghostbench try` gives no lines")?;
        runs.times.push(run.wall);
    }
    runs.times.sort();
    Ok(runs)
}

/// Runs `mine` after a first run that fills the cache.
fn mining_times(ghostbench: &Path, folder: &Path) -> Result<CommandRuns> {
    let home = empty_cache_home(folder)?;
    let indexed = process::output(
        Command::new(ghostbench).args(["index", "--json"]).arg(folder).env("XDG_CACHE_HOME", &home),
    )?;
    let indexed: serde_json::Value = serde_json::from_str(&indexed)?;
    let lines = indexed["lines"].as_u64().context("`ghostbench index --json` gives no lines")?;
    let mut runs = CommandRuns { lines, times: Vec::new() };
    for run in 0..=RUNS {
        let start = Instant::now();
        let mut command = Command::new(ghostbench);
        command.arg("mine").arg(folder).args(["--cases", "300", "--out", "-"]);
        command.env("XDG_CACHE_HOME", &home).stdout(Stdio::null());
        ensure!(command.status()?.success(), "`ghostbench mine` failed");
        // The first run warms the page cache.
        runs.times.extend((run > 0).then(|| start.elapsed()));
    }
    runs.times.sort();
    Ok(runs)
}

/// Returns an empty folder for the caches of a workspace.
fn empty_cache_home(folder: &Path) -> Result<PathBuf> {
    let home = folder.with_extension("home");
    if home.is_dir() {
        fs::remove_dir_all(&home)?;
    }
    fs::create_dir_all(&home)?;
    Ok(home)
}

/// Copies the sources into one folder, since a workspace is one folder.
fn assemble_workspace(repos: &[Repo], folder: &Path) -> Result<()> {
    for name in WORKSPACE {
        let repo = repos.iter().find(|repo| repo.pinned.name == *name);
        let repo = repo.with_context(|| format!("no repository is called `{name}`"))?;
        let target = folder.join(name);
        if !target.is_dir() {
            copy_folder(&repo.root, &target)?;
        }
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Runs a command that prints JSON.
fn run_once(mut command: Command) -> Result<Measurement> {
    let start = Instant::now();
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("failed to start {}", command.get_program().display()))?;
    let mut stdout = child.stdout.take().context("the child's output is piped")?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let peak_memory = super::peak_memory::wait(&mut child)?;
    let wall = start.elapsed();
    ensure!(child.wait()?.success(), "`ghostbench try` failed");
    let text = reader.join().ok().context("the reader panicked")??;
    Ok(Measurement { wall, peak_memory, summary: serde_json::from_str(&text)? })
}

/// The table of the run with the median wall time.
fn table(sorted: &[Measurement]) -> Result<String> {
    let median = sorted.get(sorted.len() / 2).context("there are no runs")?;
    let number = |field: &str| {
        let value = median.summary["indexing"][field].as_f64();
        value.with_context(|| format!("`ghostbench try --json` gives no indexing.{field}"))
    };
    let (files, lines) = (number("files")?, number("lines")?);
    let (megabytes, seconds) = (number("bytes")? / 1e6, number("seconds")?);
    let walls = sorted.iter().map(|run| format!("{:.2}", run.wall.as_secs_f64()));
    Ok([
        format!("`ghostbench try` with 200 cases on {}: {files} files, {lines} lines.", WORKSPACE.join(", ")),
        String::new(),
        "| measure | value |".to_owned(),
        "|---|---|".to_owned(),
        format!("| wall time, median of {} | {:.2} s |", sorted.len(), median.wall.as_secs_f64()),
        format!("| wall times | {} s |", walls.collect::<Vec<_>>().join(", ")),
        format!("| peak memory | {:.0} MB |", median.peak_memory as f64 / 1e6),
        format!("| indexing | {megabytes:.1} MB in {seconds:.2} s: {:.1} MB/s |", megabytes / seconds),
    ]
    .join("\n"))
}
