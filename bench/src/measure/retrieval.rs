//! Quality of the retrieval strategies at cursors that need a name from another file.
//!
//! Cases come from repositories that no weight was fitted on. Every strategy gets the same cursors and the same budget, and its
//! output is evaluated as text: no engine is involved, except in the last table. Besides the tables, every answer is written to
//! `target/bench-retrieval.csv`.

use std::fs;

use anyhow::{Context, Result};

use super::repositories::Repo;

mod downstream;
mod mined_repository;
mod observations;
mod rank_bm25;
mod strategies;
mod strategy_results;
mod tables;

pub(crate) use mined_repository::MinedRepository;

/// Seed of the cases and of the resampling.
const SEED: u64 = 7;
/// Budget of every strategy: the size of CrossCodeEval's context of a prompt.
const BUDGET_TOKENS: usize = 512;
/// Characters of a token, as in the public figures and the feasibility study.
const CHARACTERS_PER_TOKEN: usize = 4;
/// File with all answers.
const ROWS_FILE: &str = "target/bench-retrieval.csv";

/// Runs every strategy on every case and returns the Markdown of the section.
pub(crate) fn measure(reported: &[Repo]) -> Result<String> {
    let mut sources = Vec::new();
    let mut rows = Vec::new();
    let mut answers = Vec::new();
    for repo in reported {
        let mined =
            MinedRepository::new(repo).with_context(|| format!("failed to mine {}", repo.pinned.name))?;
        eprintln!("{}: {} first uses, {} later ones", mined.name(), mined.first.len(), mined.later.len());
        rows.extend(strategy_results::ask(&mined));
        answers.extend(downstream::ask(&mined)?);
        sources.push(mined.summary());
    }
    fs::write(ROWS_FILE, strategy_results::csv(&rows))
        .with_context(|| format!("failed to write {ROWS_FILE}"))?;
    let python = format!("### Against Python\n\n{}\n", rank_bm25::compare(reported)?);
    let tables =
        [tables::quality(&rows), downstream::table(&answers), python, tables::repositories(&sources)];
    Ok(tables.join("\n"))
}
