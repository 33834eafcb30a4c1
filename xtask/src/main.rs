//! Development tasks: `cargo xtask test`, `tidy`, `docs`, `package`, `installers`, `release`, `fuzz`, `fit` and `bench`.
//!
//! Everything that contributors and the continuous integration run, in Rust, so that it behaves the same on all platforms.
//! Nothing here is shipped. This package depends on no other package of the workspace, so that checking the sources does not
//! compile them; measurements, which need them, are the package `bench`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task reports on the terminal")]

use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};
use xtask::process;

mod docs;
mod fuzz;
mod package;
mod release;
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
    /// Check what the compiler does not: house rules, the crate table, licences, dependencies, prose
    Tidy,
    /// Write the documents that are generated from tables in the code
    Docs(docs::DocsArgs),
    /// Make the packages of this platform from one binary: archive, wheel, npm, extension of VS Code, deb
    Package(package::PackageArgs),
    /// Write install scripts, formula, editor entries and checksums for the archives of all platforms
    Installers(package::InstallersArgs),
    /// Set the version everywhere, and give the unreleased changes its number
    Release(release::ReleaseArgs),
    /// Look for inputs that break what reads them, with libFuzzer
    Fuzz(fuzz::FuzzArgs),
    /// Fit weights on pinned repositories that no reported figure comes from, and write them into their crates
    #[command(disable_help_flag = true)]
    Fit {
        /// Weights to fit (see `cargo xtask fit --help`)
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measure on pinned repositories and write the tables of docs/benchmarks.md
    #[command(disable_help_flag = true)]
    Bench {
        /// Parts to measure (see `cargo xtask bench --help`)
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> Result<ExitCode> {
    std::env::set_current_dir(process::repository_root())?;
    match Args::parse().task {
        Task::Test { nextest_args } => test::run(&nextest_args)?,
        Task::Tidy => return tidy::run(),
        Task::Docs(args) => docs::run(&args)?,
        Task::Package(args) => package::run(&args)?,
        Task::Installers(args) => package::run_installers(&args)?,
        Task::Release(args) => release::run(&args)?,
        Task::Fuzz(args) => fuzz::run(&args)?,
        Task::Fit { arguments } => run_bench("fit", &arguments)?,
        Task::Bench { arguments } => run_bench("bench", &arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a command of the package `bench` in an optimised build; any other would take hours. Measurements build the whole workspace
/// themselves: built alone, with other features, the program would be replaced while it runs.
fn run_bench(command: &str, arguments: &[String]) -> Result<()> {
    process::run(process::cargo().args(["build", "--quiet", "--release", "--workspace", "--bins"]))?;
    let program = format!("target/release/bench{}", std::env::consts::EXE_SUFFIX);
    process::run(Command::new(program).arg(command).args(arguments))
}
