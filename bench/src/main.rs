//! Measures Ghostbench and fits its weights, on pinned repositories: `cargo xtask bench` and `cargo xtask fit`.
//!
//! A separate package, so that the other development tasks do not compile the product.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task reports on the terminal")]

use anyhow::{Result, ensure};
use clap::{Parser, Subcommand};
use xtask::process;

mod fit;
mod measure;

#[derive(Parser)]
#[command(name = "bench", bin_name = "cargo xtask", about = "Measurements and fitted weights of Ghostbench")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure on pinned repositories and write the tables of docs/benchmarks.md
    Bench {
        /// Parts to measure (default: all)
        parts: Vec<measure::BenchPart>,
    },
    /// Fit weights on pinned repositories that no reported figure comes from, and write them into their crates
    Fit {
        /// Weights to fit (default: all)
        fitted: Vec<fit::FitTarget>,
    },
}

fn main() -> Result<()> {
    let command = Args::parse().command;
    ensure!(
        !cfg!(debug_assertions),
        "measure an optimised build: run `cargo xtask bench` or `cargo xtask fit`"
    );
    std::env::set_current_dir(process::repository_root())?;
    match command {
        Command::Bench { parts } => measure::run(&parts),
        Command::Fit { fitted } => fit::run(&fitted),
    }
}
