//! Branch switches while typing next to an unsaved document: thousands of files are rewritten at once.
//!
//! ```text
//! keys, idle ─► files are rewritten ─► told ─► found by completions ─► counted in the status ─► keys, idle, in another
//! document
//!               └──────────────────── keys go on ────────────────────┘
//! ```

use std::fs;
use std::path::PathBuf;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::json;
use syntax::SourceFile;
use tests::lsp::{Buffer, Encoding, uri};

use super::query_document::{NAMES, QueryDocument};
use super::server_fixture::{ChangeReporter, ServerFixture};
use super::typing::{SteadyTyping, place_in};
use crate::measure::figures::SortedTimes;
use crate::measure::indexing::edits::LANGUAGES;
use crate::measure::lsp::editor::Editor;
use crate::measure::lsp::memory::resident;

/// Number of rewritten files; in a smaller folder all except those being edited.
const FILES: usize = 2_000;
/// Number of switches per notification source, each while another document than before is being edited.
const SWITCHES: usize = 6;
/// Number of documents that are edited in turn.
const DOCUMENTS: usize = 3;
/// Minimum length of these documents in lines.
const DOCUMENT_LINES: usize = 150;
/// Maximum length of the unsaved document in lines.
const NEIGHBOUR_LINES: usize = 3_000;
/// Keys before each switch: enough for the server to become idle after the previous switch.
const IDLE_KEYS: usize = 150;
/// Number of rewritten files whose new names are requested, the last one first.
const QUESTIONS: usize = 8;
/// A switch that does not happen.
const NEVER: usize = usize::MAX;
/// Timeout of a switch.
const DEADLINE: Duration = Duration::from_secs(60);

/// Results.
pub(in crate::measure::indexing) struct SwitchFigures {
    /// Files per switch.
    pub(in crate::measure::indexing) files: usize,
    /// Completion times while idle.
    pub(in crate::measure::indexing) idle: SortedTimes,
    /// Completion times from the first rewritten file until everything is updated.
    pub(in crate::measure::indexing) meanwhile: SortedTimes,
    /// Time from the first rewritten file until completions find the new names in all files; the slowest switch.
    pub(in crate::measure::indexing) searchable: Duration,
    /// The same until the tokens of the built-in engine are updated, too.
    pub(in crate::measure::indexing) known: Duration,
    /// Resident set afterwards in bytes.
    pub(in crate::measure::indexing) memory: f64,
}

/// Switches back and forth.
pub(super) fn measure(desk: &ServerFixture, teller: ChangeReporter) -> Result<SwitchFigures> {
    // Different numbers, so that each switch differs from all earlier ones.
    let first = if teller == ChangeReporter::Client { 0 } else { SWITCHES };
    let editor = desk.start_and_wait(teller)?;
    let documents = documents(desk)?;
    let files: Vec<&SourceFile> = desk
        .files
        .iter()
        .filter(|file| !documents.iter().any(|document| document.path == file.path))
        .take(FILES)
        .collect();
    // Its text replaces its file in the index, which is merged again after each switch.
    let neighbour = unsaved(desk, &documents)?;
    editor.open(&neighbour);
    let scene = SwitchFixture { desk, editor: &editor, teller, files: &files };
    let (mut idle, mut meanwhile) = (Vec::new(), Vec::new());
    let (mut searchable, mut known) = (Duration::ZERO, Duration::ZERO);
    for number in first..first + SWITCHES {
        let mut typing = SteadyTyping::begin(desk, &editor, documents[number % DOCUMENTS])?;
        idle.extend(scene.idle(&mut typing)?);
        let switch = scene.switch(number, &mut typing)?;
        meanwhile.extend(switch.keys);
        searchable = searchable.max(switch.searchable);
        known = known.max(switch.known);
        typing.end();
    }
    let memory = resident(&editor)?;
    editor.close(&neighbour);
    let (idle, meanwhile) = (SortedTimes::new(idle), SortedTimes::new(meanwhile));
    Ok(SwitchFigures { files: files.len(), idle, meanwhile, searchable, known, memory })
}

/// Files to edit, spread over the folder.
fn documents(desk: &ServerFixture) -> Result<Vec<&SourceFile>> {
    let files: Vec<&SourceFile> = desk
        .files
        .iter()
        .filter(|file| file.text.lines().count() >= DOCUMENT_LINES)
        .filter(|file| LANGUAGES.contains(&file.language) && place_in(&file.text).is_some())
        .collect();
    ensure!(files.len() >= DOCUMENTS, "the corpus has too few files to type into");
    Ok((0..DOCUMENTS).map(|number| files[files.len() * (2 * number + 1) / (2 * DOCUMENTS)]).collect())
}

/// Opens the longest of the other files within the limit as an unsaved document.
fn unsaved(desk: &ServerFixture, documents: &[&SourceFile]) -> Result<Buffer> {
    let lines = |file: &&SourceFile| file.text.lines().count();
    let files = desk
        .files
        .iter()
        .filter(|file| LANGUAGES.contains(&file.language))
        .filter(|file| !documents.iter().any(|document| document.path == file.path));
    let file = files.filter(|file| lines(file) <= NEIGHBOUR_LINES).max_by_key(lines);
    let file = file.context("the corpus has no file to leave unsaved")?;
    let text = format!("{}\n", file.text);
    Ok(Buffer::new(desk.uri(&file.path), file.language.name(), Encoding::Utf16, &text))
}

/// Shared by all switches.
struct SwitchFixture<'a> {
    desk: &'a ServerFixture,
    editor: &'a Editor,
    teller: ChangeReporter,
    files: &'a [&'a SourceFile],
}

/// One switch.
struct SwitchTimings {
    keys: Vec<Duration>,
    searchable: Duration,
    known: Duration,
}

impl SwitchFixture<'_> {
    /// Keys while idle, with the same concurrent requests as in a switch.
    fn idle(&self, typing: &mut SteadyTyping<'_>) -> Result<Vec<Duration>> {
        let mut questions = NameProbes::new(self, NEVER);
        let mut keys = Vec::new();
        for _ in 0..IDLE_KEYS {
            keys.push(typing.key());
            ensure!(questions.poll(Instant::now())?.is_none(), "a name is found that does not exist");
        }
        questions.end();
        Ok(keys)
    }

    fn switch(&self, number: usize, typing: &mut SteadyTyping<'_>) -> Result<SwitchTimings> {
        let texts: Vec<(PathBuf, String)> = self
            .files
            .iter()
            .enumerate()
            .map(|(place, file)| self.changed_file(number, place, file))
            .collect();
        let lines = self.desk.reported_size(self.editor)?.1;
        let more = self.files.len();
        let start = Instant::now();
        thread::scope(|scope| {
            let mut writing = Some(scope.spawn(|| write(&texts)));
            let mut questions = NameProbes::new(self, number);
            let mut keys = Vec::new();
            let mut searchable = None;
            loop {
                keys.push(typing.key());
                if let Some(written) = writing.take_if(|writing| writing.is_finished()) {
                    join(written)?;
                    self.report_changes();
                }
                if searchable.is_none() {
                    searchable = questions.poll(start)?;
                } else if self.desk.reported_size(self.editor)?.1 == lines + more {
                    break;
                }
                ensure!(
                    start.elapsed() < DEADLINE,
                    "{} after {DEADLINE:?}",
                    if searchable.is_none() {
                        "changed files are not found"
                    } else {
                        "changed lines are not counted"
                    }
                );
            }
            let known = start.elapsed();
            Ok(SwitchTimings { keys, searchable: searchable.unwrap_or(known), known })
        })
    }

    /// Returns the file with a new name and an additional line each time.
    fn changed_file(&self, number: usize, place: usize, file: &SourceFile) -> (PathBuf, String) {
        let end = if file.text.is_empty() || file.text.ends_with('\n') { "" } else { "\n" };
        let text = format!("{}{end}{}{};\n", file.text, "\n".repeat(number), name(number, place));
        (self.desk.root.join(&*file.path), text)
    }

    /// Notifies as VS Code does: collects all changes and sends them in one message.
    fn report_changes(&self) {
        const CHANGED: u8 = 2;
        if self.teller == ChangeReporter::Client {
            let change =
                |file: &&SourceFile| json!({"uri": uri(&self.desk.root.join(&*file.path)), "type": CHANGED});
            let changes: Vec<_> = self.files.iter().map(change).collect();
            self.editor.client.notify("workspace/didChangeWatchedFiles", json!({"changes": changes}));
        }
    }
}

fn name(number: usize, place: usize) -> String {
    format!("{NAMES}switch_{number}_{place}")
}

fn write(texts: &[(PathBuf, String)]) -> Result<()> {
    for (path, text) in texts {
        fs::write(path, text)?;
    }
    Ok(())
}

fn join(thread: ScopedJoinHandle<'_, Result<()>>) -> Result<()> {
    thread.join().map_err(|_| anyhow!("the writer of the files panicked"))?
}

/// Sequential requests for new names, concurrent with the keys.
struct NameProbes<'a> {
    scene: &'a SwitchFixture<'a>,
    number: usize,
    /// Positions of the remaining files.
    left: Vec<usize>,
    asked: Option<(QueryDocument, i64)>,
    /// Number of requests for the current name.
    times: usize,
    /// Time at which a repeated request was answered.
    found: Option<Duration>,
}

impl<'a> NameProbes<'a> {
    fn new(scene: &'a SwitchFixture<'a>, number: usize) -> NameProbes<'a> {
        let places: Vec<usize> = (0..scene.files.len())
            .filter(|&place| LANGUAGES.contains(&scene.files[place].language))
            .collect();
        let left = (1..=QUESTIONS).map(|number| places[places.len() * number / QUESTIONS - 1]).collect();
        NameProbes { scene, number, left, asked: None, times: 0, found: None }
    }

    /// Checks for an answer, and sends the next request. Returns the time of the last name to appear once all were found.
    fn poll(&mut self, start: Instant) -> Result<Option<Duration>> {
        let editor = self.scene.editor;
        if let Some((question, id)) = self.asked.take_if(|(_, id)| editor.client.is_answered(*id)) {
            let answer = editor.client.wait(id).map_err(|error| anyhow!("a completion failed: {error}"))?;
            if question.is_answered_by(&answer) {
                // Names found by the first request may have been available for a while.
                if self.times > 1 || self.found.is_none() {
                    self.found = Some(start.elapsed());
                }
                self.left.pop();
                self.times = 0;
            }
            question.close(editor);
        }
        if self.asked.is_none() {
            let Some(&place) = self.left.last() else { return Ok(self.found) };
            self.asked = Some(self.ask(place));
            self.times += 1;
        }
        Ok(None)
    }

    /// Waits for the pending request.
    fn end(self) {
        if let Some((question, id)) = self.asked {
            // The answer is no longer needed.
            drop(self.scene.editor.client.wait(id));
            question.close(self.scene.editor);
        }
    }

    fn ask(&self, place: usize) -> (QueryDocument, i64) {
        let SwitchFixture { desk, editor, files, .. } = *self.scene;
        let question =
            QueryDocument::open(editor, &desk.root, files[place].language, &name(self.number, place));
        let id = editor.ask(question.completion());
        (question, id)
    }
}
