//! A folder in a fresh process: indexed without a cache, then opened again from the cache.

use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::{Context, Result};
use cache::Cache;
use completion::WorkspaceIndex;
use index::{RetrievalQuery, Strategy, TokenBudget};
use serde_json::{Value, json};
use session::Indexer;
use workspace::{ReadLimits, ScanScope};
use xtask::process;

use super::{edits, queries};
use crate::measure::figures::SortedTimes;
use crate::measure::{background_load, document};

/// Repetitions of each measurement; the median counts.
const RUNS: usize = 3;
/// Environment variable with the child's folder.
const FOLDER: &str = "GHOSTBENCH_BENCH_FOLDER";
/// Environment variable with the child's cache folder.
const CACHE: &str = "GHOSTBENCH_BENCH_CACHE";

/// Output of a child.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenTimings {
    /// Time until everything is indexed.
    pub(super) seconds: f64,
    /// Processor time until then.
    pub(super) core_seconds: f64,
    /// Time until the first retrieval is answered, from the cached index if there is one as a whole.
    pub(super) answered: f64,
    /// Time until one is answered with the files that are on disk.
    pub(super) complete: f64,
    /// Resident set after that in bytes.
    pub(super) memory: f64,
    /// Its maximum until then.
    pub(super) peak: f64,
}

/// Times of an open folder in milliseconds: median and 99th percentile.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryTimings {
    pub(super) hybrid: (f64, f64),
    pub(super) edits: (f64, f64),
    /// Resident set afterwards in bytes.
    pub(super) memory: f64,
}

/// Environment variable of a child that also measures queries.
const QUERIES: &str = "GHOSTBENCH_BENCH_QUERIES";

/// Opens a folder once, with the cache that is there, and leaves a cache.
pub(super) fn open_once(folder: &Path, caches: &Path) -> Result<OpenTimings> {
    Ok(in_child(folder, caches, false)?.0)
}

/// Same, and measures queries and edits in the open folder.
pub(super) fn open_and_query(folder: &Path, caches: &Path) -> Result<(OpenTimings, QueryTimings)> {
    let (timings, queries) = in_child(folder, caches, true)?;
    Ok((timings, queries.context("the child reports no queries")?))
}

/// Opens a folder without a cache and with one.
pub(super) fn measure(folder: &Path) -> Result<(OpenTimings, OpenTimings)> {
    let caches = folder.with_extension("cache");
    let mut cold = Vec::new();
    let mut warm = Vec::new();
    for _ in 0..RUNS {
        if caches.is_dir() {
            fs::remove_dir_all(&caches)?;
        }
        cold.push(open_once(folder, &caches)?);
        warm.push(open_once(folder, &caches)?);
    }
    Ok((median_run(cold), median_run(warm)))
}

fn median_run(mut runs: Vec<OpenTimings>) -> OpenTimings {
    runs.sort_by(|one, other| one.answered.total_cmp(&other.answered));
    runs[RUNS / 2]
}

fn in_child(folder: &Path, caches: &Path, queries: bool) -> Result<(OpenTimings, Option<QueryTimings>)> {
    let mut child = Command::new(std::env::current_exe()?);
    child.arg("bench").env(FOLDER, folder).env(CACHE, caches);
    if queries {
        child.env(QUERIES, "1");
    }
    let report: Value =
        serde_json::from_str(&process::output(&mut child)?).context("the child prints no JSON")?;
    let number =
        |field: &str| report[field].as_f64().with_context(|| format!("the child reports no `{field}`"));
    let pair = |field: &str| {
        let number = |at: usize| report["queries"][field][at].as_f64();
        number(0).zip(number(1)).with_context(|| format!("the child reports no `{field}`"))
    };
    let queries = |report: &Value| -> Result<QueryTimings> {
        let memory = report["memory"].as_f64().context("the child reports no memory")?;
        Ok(QueryTimings { hybrid: pair("hybrid")?, edits: pair("edits")?, memory })
    };
    let timings = OpenTimings {
        seconds: number("seconds")?,
        core_seconds: number("core_seconds")?,
        answered: number("answered")?,
        complete: number("complete")?,
        memory: number("memory")?,
        peak: number("peak")?,
    };
    Ok((timings, report.get("queries").filter(|queries| queries.is_object()).map(queries).transpose()?))
}

/// Whether this process is such a child.
pub(crate) fn is_child() -> bool {
    std::env::var_os(FOLDER).is_some()
}

/// In the child: opens the folder, retrieves once, prints the result, and leaves a cache.
pub(crate) fn open_in_child() -> Result<()> {
    let folder =
        |name: &str| std::env::var_os(name).map(PathBuf::from).with_context(|| format!("{name} is not set"));
    let cache = Cache::new(&folder(CACHE)?, Cache::DEFAULT_LIMIT);
    let root = folder(FOLDER)?;
    let start = Instant::now();
    // As in the server, requests have threads of their own.
    let early: Mutex<Option<JoinHandle<Result<f64>>>> = Mutex::default();
    let on_cached = |index: WorkspaceIndex| {
        let answering = thread::spawn(move || ask(&index).map(|()| start.elapsed().as_secs_f64()));
        *early.lock().unwrap_or_else(PoisonError::into_inner) = Some(answering);
    };
    let (mut indexer, _) = Indexer::open_early(&root, &ReadLimits::standard(), Some(cache), &on_cached)?;
    let seconds = start.elapsed().as_secs_f64();
    let core_seconds = background_load::core_seconds()?;
    ask(indexer.current())?;
    let complete = start.elapsed().as_secs_f64();
    let early = early.into_inner().unwrap_or_else(PoisonError::into_inner);
    let early = early.map(|answering| answering.join().unwrap_or_else(|panic| resume_unwind(panic)));
    let answered = early.transpose()?.unwrap_or(complete);
    let mut report = json!({
        "seconds": seconds,
        "core_seconds": core_seconds,
        "answered": answered,
        "complete": complete,
        "memory": status_bytes("VmRSS")?,
        "peak": status_bytes("VmHWM")?,
    });
    if std::env::var_os(QUERIES).is_some() {
        report["queries"] = query(&mut indexer)?;
    }
    println!("{report}");
    indexer.save()?;
    Ok(())
}

/// Queries and edits, and the memory afterwards, when the index has been brought up to date: a server does that with each change, and then
/// releases what requests have read of an index on disk.
fn query(indexer: &mut Indexer) -> Result<Value> {
    let hybrid = queries::measure_strategy(indexer.current(), Strategy::Hybrid);
    let edits = edits::measure_one_language(indexer.current())?;
    indexer.refresh(&ScanScope::Paths(Vec::new()))?;
    let pair = |times: &SortedTimes| [times.percentile(50), times.percentile(99)];
    Ok(json!({ "hybrid": pair(&hybrid), "edits": pair(&edits), "memory": status_bytes("VmRSS")? }))
}

/// Returns a size of this process in bytes, as the kernel names it.
fn status_bytes(name: &str) -> Result<f64> {
    let size = document::field("/proc/self/status", name).context("the kernel does not tell the memory")?;
    let kilobytes: f64 = size.trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024.0)
}

/// Retrieves in the middle of the middle file.
fn ask(indexed: &WorkspaceIndex) -> Result<()> {
    let files = indexed.files();
    let file = files.get(files.len() / 2).context("the folder holds no code")?;
    let (prefix, suffix) = file.text.split_at(file.text.floor_char_boundary(file.text.len() / 2));
    let query = RetrievalQuery { path: &file.path, language: file.language, prefix, suffix, recent: &[] };
    indexed.index().hide(&[]).retrieve(
        Strategy::Hybrid,
        indexed.projects(),
        &query,
        TokenBudget { tokens: 512 },
    );
    Ok(())
}
