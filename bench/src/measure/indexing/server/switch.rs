//! Files change at once while somebody types: measures the keys, and the time until the server has absorbed the files.
//!
//! ```text
//! keys, idle ─► files are written ─► told ─► found by completions ─► counted in the status
//!               └──────────────────── keys go on ────────────────────┘
//! ```
//!
//! Responsible for this order, not for which files change and how.

use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use syntax::SourceFile;
use tests::lsp::{Buffer, Encoding};

use super::name_probes::NameProbes;
use super::server_fixture::ServerFixture;
use super::typing::{SteadyTyping, place_in};
use crate::measure::figures::SortedTimes;
use crate::measure::lsp::editor::Editor;

/// Minimum length of edited documents in lines.
const DOCUMENT_LINES: usize = 150;
/// Maximum length of the unsaved document in lines.
const NEIGHBOUR_LINES: usize = 3_000;

/// Completion times of keys.
pub(in crate::measure::indexing) struct KeyTimes {
    /// While the server is idle.
    pub(in crate::measure::indexing) idle: SortedTimes,
    /// From the first written file until everything is updated.
    pub(in crate::measure::indexing) meanwhile: SortedTimes,
}

/// A server, and the expected state after the switch.
pub(super) struct Switch<'a> {
    pub(super) desk: &'a ServerFixture,
    pub(super) editor: &'a Editor,
    /// Requests for names that only exist afterwards.
    pub(super) probes: NameProbes<'a>,
    /// Numbers of files and lines afterwards.
    pub(super) size: (usize, usize),
    /// Timeout.
    pub(super) deadline: Duration,
}

/// Times since the first written file.
pub(super) struct SwitchTimings {
    pub(super) keys: Vec<Duration>,
    /// Until the last file was written.
    pub(super) written: Duration,
    /// Until completions found the names.
    pub(super) searchable: Duration,
    /// Until the tokens of the built-in engine were updated, too: then the status has the numbers.
    pub(super) known: Duration,
}

impl Switch<'_> {
    /// Writes the files from another thread, then reports them to the server, and types until everything is absorbed.
    pub(super) fn run(
        self,
        typing: &mut SteadyTyping<'_>,
        write: impl FnOnce() -> Result<()> + Send,
        report: impl FnOnce(),
    ) -> Result<SwitchTimings> {
        let Switch { desk, editor, mut probes, size, deadline } = self;
        let mut report = Some(report);
        let start = Instant::now();
        thread::scope(|scope| {
            let mut writing = Some(scope.spawn(|| write().map(|()| start.elapsed())));
            let (mut keys, mut written, mut searchable) = (Vec::new(), None, None);
            loop {
                keys.push(typing.key());
                if let Some(writer) = writing.take_if(|writing| writing.is_finished()) {
                    written = Some(join(writer)?);
                    report.take().into_iter().for_each(|report| report());
                }
                if searchable.is_none() {
                    searchable = probes.poll(start)?;
                } else if desk.reported_size(editor)? == size {
                    break;
                }
                ensure!(
                    start.elapsed() < deadline,
                    "after {deadline:?}: written {written:?}, found {searchable:?}, counted {:?} of {size:?} files and lines",
                    desk.reported_size(editor)?
                );
            }
            let known = start.elapsed();
            let written = written.context("everything is absorbed before it is written")?;
            Ok(SwitchTimings { keys, written, searchable: searchable.unwrap_or(known), known })
        })
    }
}

fn join<T>(thread: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().map_err(|_| anyhow!("the writer of the files panicked"))?
}

/// Types keys while the server is idle, with the same concurrent requests as in a switch: for a name that does not exist.
pub(super) fn type_idle(
    typing: &mut SteadyTyping<'_>,
    mut probes: NameProbes<'_>,
    keys: usize,
) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..keys {
        times.push(typing.key());
        ensure!(probes.poll(Instant::now())?.is_none(), "a name is found that does not exist");
    }
    probes.end();
    Ok(times)
}

/// Returns files to edit, spread over `files`.
pub(super) fn documents<'f>(files: &[&'f SourceFile], count: usize) -> Result<Vec<&'f SourceFile>> {
    let files: Vec<&SourceFile> = files
        .iter()
        .copied()
        .filter(|file| file.text.lines().count() >= DOCUMENT_LINES && place_in(&file.text).is_some())
        .collect();
    ensure!(files.len() >= count, "the workspace has too few files to type into");
    Ok((0..count).map(|number| files[files.len() * (2 * number + 1) / (2 * count)]).collect())
}

/// Returns the longest of the other files within the limit, as an unsaved document. Its text replaces its file in the index, which
/// is merged again after each switch.
pub(super) fn unsaved(
    desk: &ServerFixture,
    files: &[&SourceFile],
    documents: &[&SourceFile],
) -> Result<Buffer> {
    let lines = |file: &&&SourceFile| file.text.lines().count();
    let others = files.iter().filter(|file| !documents.iter().any(|document| document.path == file.path));
    let file = others.filter(|file| lines(file) <= NEIGHBOUR_LINES).max_by_key(lines);
    let file = file.context("the workspace has no file to leave unsaved")?;
    let text = format!("{}\n", file.text);
    Ok(Buffer::new(desk.uri(&file.path), file.language.name(), Encoding::Utf16, &text))
}

/// Lines of a name that is added to a file. A single one may be in a window that is not shown, beside lines of brackets.
pub(super) const NAME_LINES: usize = 6;

/// Returns a text with a name in [`NAME_LINES`] additional lines at the end.
pub(super) fn with_name(text: &str, name: &str) -> String {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    [text, end, &format!("{name};\n").repeat(NAME_LINES)].concat()
}
