//! How the cost of an index grows with the workspace: corpora of up to five million lines, and a larger folder if one is named.
//!
//! Each row is measured in new processes: one without a cache, and one with the cache that the first one left. If another release of the
//! larger folder is named too, a server absorbs its checkout.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use workspace::{ReadLimits, Totals};

use super::corpus::BenchCorpus;
use super::fresh_process::{self, OpenTimings, QueryTimings};
use super::server::PROBES;
use super::server::release_switch::{self, CheckoutFigures, ReleaseFigures};
use super::table::{self, megabytes};
use crate::measure;
use crate::measure::background_load::BackgroundLoad;
use crate::measure::figures::milliseconds;
use crate::measure::repositories::Repo;

/// Lines of the corpora.
const SIZES: [usize; 3] = [100_000, 1_000_000, 5_000_000];
/// Environment variable with a folder that is measured besides the corpora, and in which the long day is played.
pub(in crate::measure) const LARGE_FOLDER: &str = "GHOSTBENCH_BENCH_LARGE_FOLDER";
/// Environment variable with a folder that has another release of the code in the former one: a switch between both is measured.
const OTHER_RELEASE: &str = "GHOSTBENCH_BENCH_OTHER_RELEASE";
/// Environment variable with the largest number of lines of a corpus, to try the measurement.
const MAX_LINES: &str = "GHOSTBENCH_BENCH_LINES";

/// Results of one folder.
struct GrowthColumn {
    totals: Totals,
    cold: OpenTimings,
    warm: OpenTimings,
    queries: QueryTimings,
    cache_bytes: u64,
    /// If another release is named.
    release: Option<ReleaseFigures>,
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
        let folder = PathBuf::from(folder).canonicalize()?;
        let mut large = column(&folder)?;
        if let Some(other) = std::env::var_os(OTHER_RELEASE) {
            let other = PathBuf::from(other).canonicalize()?;
            large.release = Some(release_switch::measure(&measure::ghostbench()?, &folder, &other)?);
        }
        columns.push(large);
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
    Ok(GrowthColumn { totals, cold, warm, queries, cache_bytes, release: None })
}

/// The text above the table; `neighbours` is the share of processor time that other programs took, in percent.
fn conditions(neighbours: f64, has_release: bool) -> String {
    let mut text = format!(
        "Corpora from the pinned repositories, the larger ones with copies in which every name has a suffix, and the folder in \
         `{LARGE_FOLDER}` as the last column, if it is set: the Linux kernel. Each folder is opened once without a cache and once with \
         the cache, in new processes, with the files in the page cache and the default memory budget. Targets are for the kernel. Other programs \
         took {neighbours:.0} % of the processor time during the measurement.\n"
    );
    if has_release {
        text += &format!(
            "\nThe folder in `{OTHER_RELEASE}` is checked out in a copy of the last one, and then the first release again: files that are gone are \
             removed, then the others are removed and created again. The server has opened the workspace from its cache and is idle. Somebody types \
             5 keys a second next to an unsaved document, with a completion after each, for which it waits for no pause. Times begin with the first change of a file. Files are searchable \
             when completions find names in {PROBES} of them, the last one written included, which are asked for once a second, and counted when the status has the numbers of files \
             and lines.\n"
        );
    }
    text
}

/// Renders the section as Markdown.
fn section(columns: &[GrowthColumn], neighbours: f64) -> String {
    let row = |what: &str, target: &str, value: &dyn Fn(&GrowthColumn) -> String| {
        let values: Vec<String> = columns.iter().map(value).collect();
        format!("| {what} | {} | {target} |", values.join(" | "))
    };
    let pair = |times: (f64, f64)| format!("{} / {}", milliseconds(times.0), milliseconds(times.1));
    let has_release = columns.iter().any(|column| column.release.is_some());
    let mut lines = vec![
        conditions(neighbours, has_release),
        row("measure", "target", &|column| format!("{} k lines", (column.totals.lines + 500) / 1000)),
        format!("|---|{}---|", "---|".repeat(columns.len())),
        row("files; MB of source", "", &|column| {
            format!("{}; {}", column.totals.files, megabytes(column.totals.bytes as f64))
        }),
        row("indexing, the cache written meanwhile, s", "80", &|column| {
            format!("{:.1}", column.cold.seconds)
        }),
        row("processor time of that, s", "", &|column| format!("{:.1}", column.cold.core_seconds)),
        row("peak of that, MB", "2500", &|column| megabytes(column.cold.peak)),
        row("resident after indexing and a query, MB", "2000", &|column| megabytes(column.cold.memory)),
        row("cache, MB", "", &|column| megabytes(column.cache_bytes as f64)),
        row("opening from the cache up to the first answer, s", "3", &|column| {
            format!("{:.2}", column.warm.answered)
        }),
        row("opening from the cache up to a complete index, s", "", &|column| {
            format!("{:.2}", column.warm.complete)
        }),
        row("resident after that, MB", "2000", &|column| megabytes(column.warm.memory)),
        row("peak of that, MB", "2500", &|column| megabytes(column.warm.peak)),
        row("`hybrid`, p50 / p99 ms", "15 / 60", &|column| pair(column.queries.hybrid)),
        row("edit in 3,000 lines to searchable, p50 / p99 ms", "– / 50", &|column| {
            pair(column.queries.edits)
        }),
        row("resident after all queries and edits, MB", "2000", &|column| megabytes(column.queries.memory)),
    ];
    if has_release {
        lines.extend(release_rows(&row));
    }
    lines.join("\n")
}

/// Writes a row: name, target, and the cell of each column.
type RowWriter<'a> = dyn Fn(&str, &str, &dyn Fn(&GrowthColumn) -> String) -> String + 'a;

/// Selects the checkout of one notification source.
type CheckoutOf = fn(&ReleaseFigures) -> &CheckoutFigures;

/// The rows of the switch to another release, for the column that has one.
fn release_rows(row: &RowWriter<'_>) -> Vec<String> {
    let row = |what: &str, target: &str, value: &dyn Fn(&ReleaseFigures) -> String| {
        row(what, target, &|column| column.release.as_ref().map_or_else(String::new, value))
    };
    let mut lines = vec![row("another release: files changed; created; removed", "", &|release| {
        format!("{}; {}; {}", release.changed, release.created, release.removed)
    })];
    let tellers: [(&str, CheckoutOf); 2] = [
        ("its checkout, noticed by the server's own watcher", |release| &release.watcher_reported),
        ("the way back, reported by the client", |release| &release.client_reported),
    ];
    for (what, checkout) in tellers {
        let what = format!("{what}: s until written; searchable; counted, with new tokens");
        lines.push(row(&what, "–; 60; 60", &|release| {
            let CheckoutFigures { written, searchable, known, .. } = checkout(release);
            [written, searchable, known].map(|time| format!("{:.1}", time.as_secs_f64())).join("; ")
        }));
        lines.push(row("completions before, idle, p50 / p99 ms", "", &|release| {
            table::times(&checkout(release).keys.idle)
        }));
        lines.push(row(
            "completions meanwhile, p50 / p99 ms; times the idle p99",
            "– / –; 2",
            &|release| table::meanwhile(&checkout(release).keys),
        ));
        lines.push(row("server: resident afterwards; peak meanwhile, MB", "2000; 2500", &|release| {
            let CheckoutFigures { memory, peak, .. } = checkout(release);
            format!("{}; {}", megabytes(*memory), megabytes(*peak))
        }));
    }
    lines
}
