//! `ghostbench index` as a whole: reading, indexing, the tokens of the built-in engine, and the caches of both.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::Result;
use xtask::process;

use crate::measure::background_load;

/// Repetitions; the median counts.
const RUNS: usize = 3;

/// Times of the command without a cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandTimes {
    /// Time until it ends.
    pub(super) seconds: f64,
    /// Processor time.
    pub(super) core_seconds: f64,
}

/// Indexes a folder.
pub(super) fn measure(ghostbench: &Path, folder: &Path) -> Result<CommandTimes> {
    let mut runs = (0..RUNS).map(|_| run(ghostbench, folder)).collect::<Result<Vec<_>>>()?;
    runs.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    Ok(runs[RUNS / 2])
}

fn run(ghostbench: &Path, folder: &Path) -> Result<CommandTimes> {
    let home = folder.with_extension("home");
    if home.is_dir() {
        fs::remove_dir_all(&home)?;
    }
    let mut index = Command::new(ghostbench);
    index.args(["index", "--json"]).arg(folder).env("XDG_CACHE_HOME", &home);
    let (start, used) = (Instant::now(), background_load::core_seconds()?);
    process::output(&mut index)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(CommandTimes { seconds, core_seconds: background_load::core_seconds()? - used })
}
