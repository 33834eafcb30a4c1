//! Quality and speed of the built-in engine on the pinned repositories.
//!
//! All methods answer the same cases in the same run, twice: with all other files visible, and with the near-duplicates of the
//! case's file hidden. Besides the tables, every answer is written to `target/bench-builtin.csv`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use syntax::{Language, TokenKind};
use workspace::{ReadLimits, Snapshot};

use super::repositories::Repo;

mod answers;
pub(crate) mod cases;
pub(super) mod scale;
mod tables;

/// Cases per scenario and repository.
const CASES_PER_SCENARIO: usize = 80;
/// Seed of the cases and of the resampling.
const SEED: u64 = 7;
/// File with all answers.
const ROWS_FILE: &str = "target/bench-builtin.csv";

/// Measures the engine and returns the Markdown of its section.
pub(crate) fn run(repos: &[Repo]) -> Result<String> {
    let mut answered = Vec::new();
    for repo in repos {
        let snapshot = load(&repo.root).with_context(|| format!("failed to read {}", repo.pinned.name))?;
        answered.push(answers::collect(repo, &snapshot));
        eprintln!("{}: answered", repo.pinned.name);
    }
    fs::write(ROWS_FILE, tables::csv(&answered)).with_context(|| format!("failed to write {ROWS_FILE}"))?;
    Ok(tables::section(&answered))
}

/// Reads a repository as a workspace.
pub(crate) fn load(root: &Path) -> Result<Snapshot> {
    Ok(workspace::load(root, &ReadLimits::standard(), &|_| {})?)
}

/// Returns the tokens of a text without line ends and comments.
pub(crate) fn significant(language: Language, text: &str) -> Vec<&str> {
    let tokens = syntax::lex(language, text).into_iter().filter(|token| token.kind != TokenKind::Newline);
    tokens.map(|token| &text[token.range]).collect()
}
