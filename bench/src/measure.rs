//! `cargo xtask bench`: measures Ghostbench on pinned repositories and writes the tables of `docs/benchmarks.md`.
//!
//! Every part owns one section of that document. The repositories come from package registries, through their ordinary clients,
//! into `target/bench-repos`; nothing in them is run. Only optimised builds are measured.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::ValueEnum;
use xtask::process;

mod background_load;
pub(crate) mod builtin;
mod collect;
mod document;
mod endurance;
mod engines;
mod fetch;
mod figures;
mod findings;
mod front_door;
mod indexing;
mod lsp;
mod main_path;
mod neovim;
mod peak_memory;
mod replay;
mod repositories;
mod retrieval;
mod scoring;
mod trial;
mod typing;
mod vscode;

pub(crate) use self::repositories::Repo;
use self::repositories::{FIT, REPORTED, REPOSITORIES};
pub(crate) use self::retrieval::MinedRepository;

/// One part of the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchPart {
    /// Only fetch the repositories
    Fetch,
    /// The main path: `ghostbench try` on about 50,000 lines
    Main,
    /// Quality and speed of the built-in engine
    Builtin,
    /// The built-in engine in a workspace of ten million tokens
    Scale,
    /// Scoring, compared to the public benchmark's own implementation
    Scoring,
    /// Retrieval: quality and speed of the strategies
    Retrieval,
    /// The index at 10 k, 100 k and 1 M lines: speed and memory
    Index,
    /// The index at 10 M lines: speed, processors and memory of building it; measured only if named
    IndexHuge,
    /// Engines behind HTTP: latency, cancelling, leaks
    Engines,
    /// Ghost text in Neovim, compared to a server that answers at once
    Neovim,
    /// Ghost text in VS Code, compared to a server that answers at once
    Vscode,
    /// The language server over stdio
    Lsp,
    /// A day of typing in one server: memory, threads, open files, answers; measured only if named
    Endurance,
    /// Secrets in real code, beside a plain pass
    Secrets,
    /// A run of usual size: asking a server, scoring, and the report
    Replay,
    /// The front door: the time that it adds to a request of a plugin
    FrontDoor,
    /// The server of a team's traces under load, while it is killed
    Collect,
    /// Live trials: recording, arms in shadow, the store and the scoreboard
    Trial,
    /// The built-in engine under a simulated typist: keys saved, wrong suggestions, flicker
    Typing,
}

/// Measures the given parts, or all of them.
pub(crate) fn run(parts: &[BenchPart]) -> Result<()> {
    let parts = if parts.is_empty() { BenchPart::usual() } else { parts.to_vec() };
    if indexing::is_child() {
        return indexing::open_in_child();
    }
    if builtin::scale::is_child() {
        return builtin::scale::measure_in_child();
    }
    let repos = fetch::repositories(REPOSITORIES)?;
    for part in parts {
        let section = match part {
            BenchPart::Fetch => {
                further_repositories()?;
                continue;
            }
            BenchPart::Main => main_path::measure(&repos, &[&repos[..], &further_repositories()?].concat())?,
            BenchPart::Builtin => builtin::run(&fetch::repositories(REPORTED)?)?,
            BenchPart::Scale => builtin::scale::measure(&[&repos[..], &further_repositories()?].concat())?,
            BenchPart::Scoring => scoring::measure()?,
            BenchPart::Retrieval => retrieval::measure(&fetch::repositories(REPORTED)?)?,
            BenchPart::Index => indexing::measure(&[&repos[..], &further_repositories()?].concat())?,
            BenchPart::IndexHuge => {
                indexing::growth::measure(&[&repos[..], &further_repositories()?].concat())?
            }
            BenchPart::Engines => engines::measure(&[&repos[..], &further_repositories()?].concat())?,
            BenchPart::Neovim => neovim::measure(&repos)?,
            BenchPart::Vscode if !vscode::is_prepared() => {
                vscode::prepare_and_measure()?;
                continue;
            }
            BenchPart::Vscode => vscode::measure(&repos)?,
            BenchPart::Lsp => lsp::measure(&repos)?,
            BenchPart::Endurance => {
                let (section, is_right) =
                    endurance::measure(&[&repos[..], &further_repositories()?].concat())?;
                document::write_section(part.name(), &section)?;
                ensure!(is_right, "not every request was answered once");
                continue;
            }
            BenchPart::Secrets => findings::measure()?,
            BenchPart::Replay => replay::measure()?,
            BenchPart::FrontDoor => front_door::measure()?,
            BenchPart::Collect => collect::measure()?,
            BenchPart::Trial => trial::measure()?,
            BenchPart::Typing => typing::measure(&[
                ("Repositories that the engine's weights were fitted on:", fit_repositories()?),
                ("Repositories that no weight was fitted on:", fetch::repositories(REPORTED)?),
            ])?,
        };
        document::write_section(part.name(), &section)?;
    }
    Ok(())
}

/// Returns the repositories that weights are fitted on.
pub(crate) fn fit_repositories() -> Result<Vec<Repo>> {
    Ok([fetch::repositories(REPOSITORIES)?, fetch::repositories(FIT)?].concat())
}

/// Returns the repositories that only some parts need.
fn further_repositories() -> Result<Vec<Repo>> {
    Ok([fetch::repositories(FIT)?, fetch::repositories(REPORTED)?].concat())
}

/// Builds the measured program from the current sources, and returns its path.
fn ghostbench() -> Result<PathBuf> {
    process::run(process::cargo().args(["build", "--quiet", "--release", "--workspace", "--bins"]))?;
    // Both programs are built into the same folder.
    Ok(std::env::current_exe()?.with_file_name("ghostbench"))
}

impl BenchPart {
    /// The parts measured if none is named.
    fn usual() -> Vec<BenchPart> {
        let parts = BenchPart::value_variants().iter().copied();
        parts.filter(|part| ![BenchPart::IndexHuge, BenchPart::Endurance].contains(part)).collect()
    }

    /// Name on the command line and in the document's markers.
    fn name(self) -> &'static str {
        match self {
            BenchPart::Fetch => "fetch",
            BenchPart::Main => "main",
            BenchPart::Builtin => "builtin",
            BenchPart::Scale => "scale",
            BenchPart::Scoring => "scoring",
            BenchPart::Retrieval => "retrieval",
            BenchPart::Index => "index",
            BenchPart::IndexHuge => "index-huge",
            BenchPart::Engines => "engines",
            BenchPart::Neovim => "neovim",
            BenchPart::Vscode => "vscode",
            BenchPart::Lsp => "lsp",
            BenchPart::Endurance => "endurance",
            BenchPart::Secrets => "secrets",
            BenchPart::Replay => "replay",
            BenchPart::FrontDoor => "front-door",
            BenchPart::Collect => "collect",
            BenchPart::Trial => "trial",
            BenchPart::Typing => "typing",
        }
    }
}
