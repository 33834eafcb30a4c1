//! A server started without a cache, then again with the cache.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::server_fixture::{ChangeReporter, ServerFixture};
use crate::measure::lsp::memory::resident;

/// Number of starts with a cache; the median counts.
const RUNS: usize = 5;
/// Time between two completion requests while the folder is being read.
const POLL: Duration = Duration::from_millis(5);
/// Timeout for opening a folder.
const OPENING: Duration = Duration::from_secs(60);

/// Results.
pub(in crate::measure::indexing) struct RestartFigures {
    /// Resident set in bytes after indexing without a cache, with an open document and after a completion.
    pub(in crate::measure::indexing) cold_memory: f64,
    /// The same after opening from the cache.
    pub(in crate::measure::indexing) warm_memory: f64,
    /// Time from the start of the process to the first completion with context from another file, with a cache.
    pub(in crate::measure::indexing) answered: Duration,
}

pub(super) fn measure(desk: &ServerFixture) -> Result<RestartFigures> {
    let cold_memory = cold(desk)?;
    let mut warm = (0..RUNS).map(|_| warm(desk)).collect::<Result<Vec<_>>>()?;
    warm.sort_by_key(|&(answered, _)| answered);
    let (answered, warm_memory) = warm[RUNS / 2];
    Ok(RestartFigures { cold_memory, warm_memory, answered })
}

/// Memory of a server that has indexed the folder and written the cache.
fn cold(desk: &ServerFixture) -> Result<f64> {
    let editor = desk.start_and_wait(ChangeReporter::Client)?;
    desk.wait_for_cache()?;
    let question = desk.ask_for_anchor(&editor);
    ensure!(question.ask(&editor), "nothing is found in a folder that is indexed");
    resident(&editor)
}

/// Time to the first answer, and memory, of a server with a cache. The index is published as a whole, so a name from another
/// file shows that all of it is there.
fn warm(desk: &ServerFixture) -> Result<(Duration, f64)> {
    let start = Instant::now();
    let editor = desk.start(ChangeReporter::Client);
    let question = desk.ask_for_anchor(&editor);
    while !question.ask(&editor) {
        ensure!(start.elapsed() < OPENING, "nothing is found after {OPENING:?}");
        thread::sleep(POLL);
    }
    let answered = start.elapsed();
    editor.wait_for_folders()?;
    Ok((answered, resident(&editor)?))
}
