//! `cargo xtask bench`: measures Ghostbench on pinned repositories and writes the tables of `docs/benchmarks.md`.
//!
//! Every part owns one section of that document. The repositories come from package registries, through their ordinary
//! clients, into `target/bench-repos`; nothing that comes with them is run. Numbers are taken from optimised builds only.

use anyhow::Result;
use clap::ValueEnum;

mod builtin;
mod document;
mod fetch;
mod lsp;
mod main_path;
mod neovim;
mod repositories;
mod scoring;

use crate::process;

/// One part of the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Only fetch the repositories
    Fetch,
    /// The main path: `ghostbench try` on about 50,000 lines
    Main,
    /// Quality and speed of the built-in engine
    Builtin,
    /// Scoring, against the public benchmark's own way
    Scoring,
    /// Ghost text in Neovim, beside a server that answers at once
    Neovim,
    /// The language server over stdio
    Lsp,
}

/// Measures the given parts, or all of them. An unoptimised build of this program hands over to an optimised one.
pub(crate) fn run(parts: &[Part]) -> Result<()> {
    let parts = if parts.is_empty() { Part::value_variants() } else { parts };
    if cfg!(debug_assertions) {
        return run_optimised(parts);
    }
    let repos = fetch::repositories()?;
    for part in parts {
        let section = match part {
            Part::Fetch => continue,
            Part::Main => main_path::measure(&repos)?,
            Part::Builtin => builtin::run(&repos)?,
            Part::Scoring => scoring::measure()?,
            Part::Neovim => neovim::measure(&repos)?,
            Part::Lsp => lsp::measure(&repos)?,
        };
        document::write_section(part.name(), &section)?;
    }
    Ok(())
}

fn run_optimised(parts: &[Part]) -> Result<()> {
    let mut cargo = process::cargo();
    cargo.args(["run", "--quiet", "--release", "--package", "xtask", "--", "bench"]);
    process::run(cargo.args(parts.iter().map(|part| part.name())))
}

impl Part {
    /// The word on the command line and in the document's markers.
    fn name(self) -> &'static str {
        match self {
            Part::Fetch => "fetch",
            Part::Main => "main",
            Part::Builtin => "builtin",
            Part::Scoring => "scoring",
            Part::Neovim => "neovim",
            Part::Lsp => "lsp",
        }
    }
}
