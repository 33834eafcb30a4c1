//! Development tasks: `cargo xtask test`, `cargo xtask tidy`, `cargo xtask docs`, `cargo xtask fit`, `cargo xtask bench`.
//!
//! What a contributor and the continuous integration run lives here, written in Rust so that it behaves the same
//! everywhere. Nothing here is shipped, and no other crate may depend on it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task reports on the terminal")]

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

mod bench;
mod components;
mod docs;
mod extension;
mod fit;
mod process;
mod test;
mod tidy;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Development tasks of Ghostbench")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what the tests need, then run all of them: tidy, unit, golden, end-to-end and documentation tests
    Test {
        /// Arguments for `cargo nextest run`
        #[arg(last = true)]
        nextest_args: Vec<String>,
    },
    /// Check what the compiler does not: house rules, the crate table, licences, dependencies, tree-sitter queries
    Tidy,
    /// Write the documents that are made from tables in the code
    Docs,
    /// Fit weights on pinned repositories that no figure is reported of, and write them into their crates
    Fit {
        /// What to fit; everything when nothing is named
        fitted: Vec<fit::Fitted>,
    },
    /// Measure on pinned repositories and write the tables of docs/benchmarks.md
    Bench {
        /// The parts to measure; all of them when none is named
        parts: Vec<bench::Part>,
    },
}

fn main() -> Result<ExitCode> {
    std::env::set_current_dir(process::repository_root())?;
    match Args::parse().task {
        Task::Test { nextest_args } => test::run(&nextest_args)?,
        Task::Tidy => return tidy::run(),
        Task::Docs => docs::run()?,
        Task::Fit { fitted } => fit::run(&fitted)?,
        Task::Bench { parts } => bench::run(&parts)?,
    }
    Ok(ExitCode::SUCCESS)
}
