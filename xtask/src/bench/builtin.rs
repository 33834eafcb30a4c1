//! Quality and speed of the built-in engine on the pinned repositories.
//!
//! All methods answer the same cases in the same run, twice: with all other files in sight, and with the near-duplicates of
//! the case's file hidden. Besides the tables, every answer goes into `target/bench-builtin.csv`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use workspace::{Limits, Snapshot};

use super::repositories::Repo;

mod answers;
mod cases;
pub(super) mod scale;
mod tables;

/// Cases of each scenario and repository.
const CASES_PER_SCENARIO: usize = 120;
/// Seed of the cases and of the resampling.
const SEED: u64 = 7;
/// Where every answer is written.
const ROWS_FILE: &str = "target/bench-builtin.csv";

/// Measures the engine and returns the Markdown of its section.
pub(crate) fn run(repos: &[Repo]) -> Result<String> {
    let mut rows = Vec::new();
    let mut builds = Vec::new();
    for repo in repos {
        let snapshot = load(&repo.root).with_context(|| format!("failed to read {}", repo.pinned.name))?;
        let (answered, build) = answers::collect(repo, &snapshot);
        eprintln!("{}: {} answers", repo.pinned.name, answered.len());
        rows.extend(answered);
        builds.push(build);
    }
    fs::write(ROWS_FILE, tables::csv(&rows)).with_context(|| format!("failed to write {ROWS_FILE}"))?;
    Ok(tables::section(&rows, &builds))
}

fn load(root: &Path) -> Result<Snapshot> {
    Ok(workspace::load(root, &Limits::standard(), &|_| {})?)
}
