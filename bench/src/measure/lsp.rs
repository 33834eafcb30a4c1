//! The language server as an editor uses it: `ghostbench lsp` over standard input and output, in milliseconds.
//!
//! The client is that of the end-to-end tests, whose own work is part of every time: it writes, is woken by the answer and
//! reads it. Its preparations are excluded.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use tests::Project;

mod builtin;
mod burst;
pub(super) mod editor;
mod in_flight;
pub(super) mod memory;
mod threads;
pub(super) mod typed_file;
mod typing;

use self::editor::Editor;
use self::typed_file::TypedFile;
use super::background_load::BackgroundLoad;
use super::figures::{self, FigureRow, SortedTimes, TimingTarget};
use super::repositories::Repo;

/// Number of server starts.
const STARTS: usize = 30;

/// Limit of the time from the start to the answer to `initialize`: the median, as in comparisons with peers.
const START: &[TimingTarget] = &[TimingTarget { percentile: 50, ms: 10.0 }];

/// Inputs of the measurements.
struct LspBench<'a> {
    /// The server's program.
    ghostbench: PathBuf,
    /// The edited file.
    source: TypedFile,
    /// The workspaces.
    repos: &'a [Repo],
}

/// Measures the server and returns the Markdown of the section.
pub(crate) fn measure(repos: &[Repo]) -> Result<String> {
    let ghostbench = super::ghostbench()?;
    let bench = LspBench { ghostbench, source: TypedFile::new(repos)?, repos };
    let neighbours = BackgroundLoad::watch()?;
    let mut rows = vec![bench.start()?];
    rows.extend(typing::measure(&bench)?);
    rows.extend(burst::measure(&bench)?);
    rows.extend(in_flight::measure(&bench)?);
    rows.extend(builtin::measure(&bench)?);
    rows.extend(memory::measure(&bench)?);
    let share = neighbours.share()?;
    Ok(format!("{}\n\n{}", conditions(share), figures::table(&rows)))
}

/// The text above the table.
fn conditions(neighbours: f64) -> String {
    format!(
        "Release build, milliseconds, over stdio up to the answer in the client; other programs took {neighbours:.0} % of the processor time \
         during the measurement. The typed file is {}. No request returns only the scope at a cursor, so applying a typed character and \
         reading its scope is measured in the bench with the server's own functions. Recording a case needs the tree of the whole document, \
         which is parsed from nothing while it has an error. The scripted engine answers at once, in one document after 2 s; the built-in one \
         uses all pinned repositories. For comparison, llm-ls 0.5.4 on a machine of this kind: start 5.1, burst 406, request behind a 2 s answer 1,901.",
        TypedFile::NAME,
    )
}

impl LspBench<'_> {
    /// Returns the workspace of one repository.
    fn repo(&self, name: &str) -> Result<&Repo> {
        typed_file::find(self.repos, name)
    }

    fn start(&self) -> Result<FigureRow> {
        let folder = self.repo(typed_file::REPOSITORY)?.root.canonicalize()?;
        let mut times = Vec::new();
        for _ in 0..STARTS {
            let (project, setup) = (Project::new(""), Editor::setup().folder(&folder));
            let (took, editor) = time(|| Editor::start(project, &self.ghostbench, &[], setup));
            times.push(took);
            drop(editor);
        }
        let what = format!("start of the process to the answer to `initialize`, {STARTS} starts");
        Ok(FigureRow::times(what, &SortedTimes::new(times), START))
    }
}

/// Measures the duration.
pub(super) fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = work();
    (start.elapsed(), done)
}
