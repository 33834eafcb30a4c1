//! The main path: `ghostbench try` mines 200 cases from about 50,000 lines, replays them with the built-in engine, scores them
//! and reports, as a user's first call does.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::repositories::Repo;

/// The repositories that make up the workspace: four languages, together about 50,000 lines.
const WORKSPACE: &[&str] = &["flask", "immer", "javapoet", "gin"];

/// Number of runs of `try`; the table shows the median.
const RUNS: usize = 5;

/// One run of `try`.
struct Measurement {
    wall: Duration,
    /// Largest resident set, bytes.
    peak_memory: u64,
    /// Output of `--json`.
    summary: serde_json::Value,
}

/// Measures `try` and returns the Markdown of its section.
pub(crate) fn measure(repos: &[Repo]) -> Result<String> {
    let ghostbench = super::ghostbench()?;
    let folder = Path::new("target/bench-repos/main-path");
    assemble_workspace(repos, folder)?;
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        runs.push(run_once(&ghostbench, folder)?);
    }
    runs.sort_by_key(|run| run.wall);
    table(&runs, mining_time(&ghostbench, folder)?)
}

/// Returns the median wall time of mining 300 cases from a workspace that was mined before.
fn mining_time(ghostbench: &Path, folder: &Path) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        let mut command = Command::new(ghostbench);
        command.arg("mine").arg(folder).args(["--cases", "300", "--out", "-"]);
        ensure!(command.stdout(Stdio::null()).status()?.success(), "`ghostbench mine` failed");
        times.push(start.elapsed());
    }
    times.sort();
    times.get(RUNS / 2).copied().context("there are no runs")
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

fn run_once(ghostbench: &Path, folder: &Path) -> Result<Measurement> {
    let start = Instant::now();
    let mut child = Command::new(ghostbench)
        .arg("try")
        .arg(folder)
        .args(["--cases", "200", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("failed to start {}", ghostbench.display()))?;
    let mut stdout = child.stdout.take().context("the child's output is piped")?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let peak_memory = watch_memory(&mut child)?;
    let wall = start.elapsed();
    ensure!(child.wait()?.success(), "`ghostbench try` failed");
    let text = reader.join().ok().context("the reader panicked")??;
    Ok(Measurement { wall, peak_memory, summary: serde_json::from_str(&text)? })
}

/// Waits for the child and returns its peak resident set in bytes, as of the last poll.
fn watch_memory(child: &mut Child) -> Result<u64> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = peak.max(high_water_mark(&status).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(peak)
}

fn high_water_mark(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The table of the run with the median wall time.
fn table(sorted: &[Measurement], mining: Duration) -> Result<String> {
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
        format!("| `mine` of 300 cases, mined before, median of {RUNS} | {:.2} s |", mining.as_secs_f64()),
        format!("| indexing | {megabytes:.1} MB in {seconds:.2} s: {:.1} MB/s |", megabytes / seconds),
    ]
    .join("\n"))
}
