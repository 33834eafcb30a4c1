//! How the cost of an index grows with the workspace: corpora of up to five million lines, and a larger folder if one is named.
//!
//! Each row is measured in new processes: one without a cache, and one with the cache that the first one left.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use workspace::{ReadLimits, Totals};

use super::corpus::BenchCorpus;
use super::fresh_process::{self, OpenTimings, QueryTimings};
use crate::measure::background_load::BackgroundLoad;
use crate::measure::figures::milliseconds;
use crate::measure::repositories::Repo;

/// Lines of the corpora.
const SIZES: [usize; 3] = [100_000, 1_000_000, 5_000_000];
/// Environment variable with a folder that is measured besides the corpora, and in which the long day is played.
pub(in crate::measure) const LARGE_FOLDER: &str = "GHOSTBENCH_BENCH_LARGE_FOLDER";
/// Environment variable with the largest number of lines of a corpus, to try the measurement.
const MAX_LINES: &str = "GHOSTBENCH_BENCH_LINES";

/// Results of one folder.
struct GrowthColumn {
    totals: Totals,
    cold: OpenTimings,
    warm: OpenTimings,
    queries: QueryTimings,
    cache_bytes: u64,
}

/// Measures every folder and returns the Markdown of the section.
pub(crate) fn measure(repos: &[Repo]) -> Result<String> {
    let neighbours = BackgroundLoad::watch()?;
    let max_lines = match std::env::var(MAX_LINES) {
        Ok(lines) => lines.parse().with_context(|| format!("{MAX_LINES} is no number"))?,
        Err(_) => usize::MAX,
    };
    let mut columns = Vec::new();
    for lines in SIZES.into_iter().filter(|&lines| lines <= max_lines) {
        columns.push(column(&BenchCorpus::new(repos, lines)?.folder)?);
    }
    if let Some(folder) = std::env::var_os(LARGE_FOLDER) {
        columns.push(column(&PathBuf::from(folder).canonicalize()?)?);
    }
    Ok(section(&columns, neighbours.share()?))
}

fn column(folder: &Path) -> Result<GrowthColumn> {
    let totals = workspace::load(folder, &ReadLimits::standard(), &|_| {})?.totals();
    let caches = folder.with_extension("growth-cache");
    if caches.is_dir() {
        fs::remove_dir_all(&caches)?;
    }
    let cold = fresh_process::open_once(folder, &caches)?;
    let (warm, queries) = fresh_process::open_and_query(folder, &caches)?;
    let files = fs::read_dir(&caches)?;
    let cache_bytes = files.map(|file| Ok(file?.metadata()?.len())).sum::<Result<u64>>()?;
    fs::remove_dir_all(&caches)?;
    eprintln!("{} lines are measured", totals.lines);
    Ok(GrowthColumn { totals, cold, warm, queries, cache_bytes })
}

/// Renders the section as Markdown.
fn section(columns: &[GrowthColumn], neighbours: f64) -> String {
    let row = |what: &str, target: &str, value: &dyn Fn(&GrowthColumn) -> String| {
        let values: Vec<String> = columns.iter().map(value).collect();
        format!("| {what} | {} | {target} |", values.join(" | "))
    };
    let megabytes = |bytes: f64| format!("{:.0}", bytes / 1e6);
    let pair = |times: (f64, f64)| format!("{} / {}", milliseconds(times.0), milliseconds(times.1));
    [
        format!(
            "Corpora from the pinned repositories, the larger ones with copies in which every name has a suffix, and the folder in \
             `{LARGE_FOLDER}` as the last column, if it is set: the Linux kernel. Each folder is opened once without a cache and once with \
             the cache, in new processes, with the files in the page cache and the default memory budget. Targets are for the kernel. Other programs \
             took {neighbours:.0} % of the processor time during the measurement.\n"
        ),
        row("measure", "target", &|column| format!("{} k lines", (column.totals.lines + 500) / 1000)),
        format!("|---|{}---|", "---|".repeat(columns.len())),
        row("files; MB of source", "", &|column| {
            format!("{}; {}", column.totals.files, megabytes(column.totals.bytes as f64))
        }),
        row("indexing, the cache written meanwhile, s", "80", &|column| format!("{:.1}", column.cold.seconds)),
        row("processor time of that, s", "", &|column| format!("{:.1}", column.cold.core_seconds)),
        row("peak of that, MB", "2500", &|column| megabytes(column.cold.peak)),
        row("resident after indexing and a query, MB", "2000", &|column| megabytes(column.cold.memory)),
        row("cache, MB", "", &|column| megabytes(column.cache_bytes as f64)),
        row("opening from the cache up to the first answer, s", "3", &|column| {
            format!("{:.2}", column.warm.answered)
        }),
        row("resident after that, MB", "2000", &|column| megabytes(column.warm.memory)),
        row("peak of that, MB", "2500", &|column| megabytes(column.warm.peak)),
        row("`hybrid`, p50 / p99 ms", "15 / 60", &|column| pair(column.queries.hybrid)),
        row("edit in 3,000 lines to searchable, p50 / p99 ms", "– / 50", &|column| pair(column.queries.edits)),
        row("resident after all queries and edits, MB", "2000", &|column| megabytes(column.queries.memory)),
    ]
    .join("\n")
}
