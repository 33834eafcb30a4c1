//! The language server as an editor meets it: `ghostbench lsp` over standard input and output, in milliseconds.
//!
//! The client is that of the end-to-end tests, whose own work is part of every time: it writes, is woken by the answer and reads
//! it. Whatever it has to prepare is prepared before the clock starts.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;

mod builtin;
mod burst;
mod editor;
mod figures;
mod flight;
mod memory;
mod neighbours;
mod source;
mod threads;
mod typing;

use self::editor::Editor;
use self::figures::{Limit, Row, Times};
use self::neighbours::Neighbours;
use self::source::Source;
use super::repositories::Repo;
use crate::process;

/// How often the server is started.
const STARTS: usize = 30;

/// What the server promises from its start to the answer to `initialize`.
const START: &[Limit] = &[Limit { percentile: 99, ms: 10.0 }];

/// What is measured, and where.
struct Bench<'a> {
    /// The server's program.
    ghostbench: PathBuf,
    /// What is typed into.
    source: Source,
    /// The workspaces.
    repos: &'a [Repo],
}

/// Measures the server and returns the Markdown of the section.
pub(crate) fn measure(repos: &[Repo]) -> Result<String> {
    process::run(process::cargo().args(["build", "--quiet", "--release", "--package", "cli"]))?;
    // Both programs are built into one folder.
    let ghostbench = std::env::current_exe()?.with_file_name("ghostbench");
    let bench = Bench { ghostbench, source: Source::new(repos)?, repos };
    let neighbours = Neighbours::watch()?;
    let mut rows = vec![bench.start()?];
    rows.extend(typing::measure(&bench)?);
    rows.extend(burst::measure(&bench)?);
    rows.extend(flight::measure(&bench)?);
    rows.extend(builtin::measure(&bench)?);
    rows.extend(memory::measure(&bench)?);
    let share = neighbours.share()?;
    Ok(format!("{}\n\n{}", conditions(share), figures::table(&rows)))
}

/// What stands above the table.
fn conditions(neighbours: f64) -> String {
    format!(
        "Release build, over stdio, milliseconds; times end when the client has read the answer. The typed file is {}. The scripted \
         engine answers at once, or in `slow.py` after 2 s; the built-in one works in the {} pinned repositories. Other programs took \
         {neighbours:.0} % of the processor time meanwhile.",
        Source::NAME,
        super::repositories::REPOSITORIES.len(),
    )
}

impl Bench<'_> {
    /// The workspace of one repository.
    fn repo(&self, name: &str) -> Result<&Repo> {
        source::find(self.repos, name)
    }

    fn start(&self) -> Result<Row> {
        let folder = &self.repo(source::REPOSITORY)?.root;
        let mut times = Vec::new();
        for _ in 0..STARTS {
            let start = Instant::now();
            let _editor =
                Editor::start(&self.ghostbench, &[], Editor::setup().folder(&folder.canonicalize()?));
            times.push(start.elapsed());
        }
        let what = format!("start of the process to the answer to `initialize`, {STARTS} starts");
        Ok(Row::times(what, &Times::new(times), START))
    }
}

/// How long something takes.
fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = work();
    (start.elapsed(), done)
}
