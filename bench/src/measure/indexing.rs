//! Speed of building, updating and querying the index at 10 k, 100 k and 1 M lines, to show the growth; and, only if named, of
//! larger folders.
//!
//! Measurements that need a fresh process (indexing a folder, its memory, opening it from the cache) run in a child. The others
//! run here, on an index like the child's.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use completion::WorkspaceIndex;
use session::Indexer;
use workspace::ReadLimits;

mod branch_switch;
mod corpus;
mod edits;
mod fresh_process;
pub(crate) mod growth;
mod queries;
mod server;
mod table;
mod whole_command;

use self::corpus::BenchCorpus;
use self::table::CorpusColumn;
use super::background_load::BackgroundLoad;
use super::repositories::Repo;

pub(crate) use self::fresh_process::{is_child, open_in_child};

/// Lines of the corpora.
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

/// Measures every corpus and returns the Markdown of the section.
pub(crate) fn measure(repos: &[Repo]) -> Result<String> {
    let ghostbench = super::ghostbench()?;
    let neighbours = BackgroundLoad::watch()?;
    let mut columns = Vec::new();
    for lines in SIZES {
        let corpus = BenchCorpus::new(repos, lines)?;
        columns.push(column(&ghostbench, &corpus)?);
    }
    Ok(table::section(&columns, neighbours.share()?))
}

fn column(ghostbench: &Path, corpus: &BenchCorpus) -> Result<CorpusColumn> {
    let (cold, warm) = fresh_process::measure(&corpus.folder)?;
    let command = whole_command::measure(ghostbench, &corpus.folder)?;
    let mut indexer = open(&corpus.folder)?;
    let indexed = indexer.current().clone();
    let queries = queries::measure(&indexed);
    let edits = edits::measure(&indexed)?;
    let served = server::measure(ghostbench, indexer.files(), &indexed)?;
    let branch = branch_switch::measure(&mut indexer, &corpus.folder)?;
    let totals = indexer.files().totals();
    eprintln!("{} lines are measured", totals.lines);
    let building = table::BuildingTimes { totals, cold, warm, command };
    Ok(CorpusColumn { building, queries, edits, branch, served })
}

/// Indexes a corpus with about this number of lines.
pub(super) fn indexed(repos: &[Repo], lines: usize) -> Result<WorkspaceIndex> {
    Ok(open(&BenchCorpus::new(repos, lines)?.folder)?.current().clone())
}

/// Returns the folder of a corpus with about this number of lines.
pub(super) fn corpus_folder(repos: &[Repo], lines: usize) -> Result<PathBuf> {
    Ok(BenchCorpus::new(repos, lines)?.folder)
}

fn open(folder: &Path) -> Result<Indexer> {
    Ok(Indexer::open(folder, &ReadLimits::standard(), None, &|_| {})?.0)
}

/// Measures the duration.
fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = work();
    (start.elapsed(), done)
}
