//! What the strategies of retrieval find at cursors that need a name of another file.
//!
//! Cases come from repositories that no weight was fitted on. Every strategy is asked at the same cursors and gets the same budget,
//! and what it shows is judged as text: no engine takes part, except in the last table. Besides the tables, every answer goes into
//! `target/bench-retrieval.csv`.

use std::fs;

use anyhow::{Context, Result};

use super::repositories::Repo;

mod downstream;
mod mined;
mod observations;
mod rank_bm25;
mod rows;
mod strategies;
mod tables;

pub(crate) use mined::Mined;

/// Seed of the cases and of the resampling.
const SEED: u64 = 7;
/// What every strategy may show: what CrossCodeEval gives its context of a prompt.
const BUDGET_TOKENS: usize = 512;
/// Characters of a token, as the public figures and the feasibility study count them.
const CHARACTERS_PER_TOKEN: usize = 4;
/// Where every answer is written.
const ROWS_FILE: &str = "target/bench-retrieval.csv";

/// Asks every strategy about every case and returns the Markdown of the section.
pub(crate) fn measure(reported: &[Repo]) -> Result<String> {
    let mut sources = Vec::new();
    let mut rows = Vec::new();
    let mut answers = Vec::new();
    for repo in reported {
        let mined = Mined::new(repo).with_context(|| format!("failed to mine {}", repo.pinned.name))?;
        eprintln!("{}: {} first uses, {} later ones", mined.name(), mined.first.len(), mined.later.len());
        rows.extend(rows::ask(&mined));
        answers.extend(downstream::ask(&mined)?);
        sources.push(mined.summary());
    }
    fs::write(ROWS_FILE, rows::csv(&rows)).with_context(|| format!("failed to write {ROWS_FILE}"))?;
    let python = format!("### Against Python\n\n{}\n", rank_bm25::compare(reported)?);
    let tables =
        [tables::quality(&rows), downstream::table(&answers), python, tables::repositories(&sources)];
    Ok(tables.join("\n"))
}
