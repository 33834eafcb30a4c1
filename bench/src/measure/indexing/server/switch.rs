//! Branch switches behind somebody who types beside an unsaved document: thousands of files are rewritten at once.
//!
//! ```text
//! keys, idle ─► files are rewritten ─► told ─► found by completions ─► counted in the status ─► keys, idle, in another document
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

use super::desk::{Desk, Teller};
use super::question::{NAMES, Question};
use super::typing::{Typing, place_in};
use crate::measure::figures::Times;
use crate::measure::indexing::edits::LANGUAGES;
use crate::measure::lsp::editor::Editor;
use crate::measure::lsp::memory::resident;

/// Files that are rewritten; all but those that are typed into of a smaller folder.
const FILES: usize = 2_000;
/// Switches of each teller, each behind somebody who types into another document than the time before.
const SWITCHES: usize = 6;
/// Documents that are typed into by turns.
const DOCUMENTS: usize = 3;
/// The shortest of them, lines.
const DOCUMENT_LINES: usize = 150;
/// The longest document that is open beside them, unsaved.
const NEIGHBOUR_LINES: usize = 3_000;
/// Keys before each switch: long enough for the server to have rested from the switch before.
const IDLE_KEYS: usize = 150;
/// Rewritten files whose new names completions are asked for, the last one first.
const QUESTIONS: usize = 8;
/// A switch that does not come.
const NEVER: usize = usize::MAX;
/// Longer than any switch takes.
const DEADLINE: Duration = Duration::from_secs(60);

/// What was measured.
pub(in crate::measure::indexing) struct Switches {
    /// Files of each switch.
    pub(in crate::measure::indexing) files: usize,
    /// Completions while nothing happens.
    pub(in crate::measure::indexing) idle: Times,
    /// Completions from the first rewritten file until everything is known of all of them.
    pub(in crate::measure::indexing) meanwhile: Times,
    /// From the first rewritten file until completions find what is new in all of them; the slowest switch.
    pub(in crate::measure::indexing) searchable: Duration,
    /// The same until the tokens of the built-in engine are new, too.
    pub(in crate::measure::indexing) known: Duration,
    /// Resident set afterwards, bytes.
    pub(in crate::measure::indexing) memory: f64,
}

/// Switches to and fro.
pub(super) fn measure(desk: &Desk, teller: Teller) -> Result<Switches> {
    // Whatever a switch leaves behind, the next one is another one.
    let first = if teller == Teller::Client { 0 } else { SWITCHES };
    let editor = desk.start_and_wait(teller)?;
    let documents = documents(desk)?;
    let files: Vec<&SourceFile> = desk
        .files
        .iter()
        .filter(|file| !documents.iter().any(|document| document.path == file.path))
        .take(FILES)
        .collect();
    // It is searched in the place of its file, which is put together anew after each switch.
    let neighbour = unsaved(desk, &documents)?;
    editor.open(&neighbour);
    let scene = Scene { desk, editor: &editor, teller, files: &files };
    let (mut idle, mut meanwhile) = (Vec::new(), Vec::new());
    let (mut searchable, mut known) = (Duration::ZERO, Duration::ZERO);
    for number in first..first + SWITCHES {
        let mut typing = Typing::begin(desk, &editor, documents[number % DOCUMENTS])?;
        idle.extend(scene.idle(&mut typing)?);
        let switch = scene.switch(number, &mut typing)?;
        meanwhile.extend(switch.keys);
        searchable = searchable.max(switch.searchable);
        known = known.max(switch.known);
        typing.end();
    }
    let memory = resident(&editor)?;
    editor.close(&neighbour);
    let (idle, meanwhile) = (Times::new(idle), Times::new(meanwhile));
    Ok(Switches { files: files.len(), idle, meanwhile, searchable, known, memory })
}

/// Files to type into, spread over the folder.
fn documents(desk: &Desk) -> Result<Vec<&SourceFile>> {
    let is_long = |file: &&SourceFile| file.text.lines().count() >= DOCUMENT_LINES;
    let has_place = |file: &&SourceFile| LANGUAGES.contains(&file.language) && place_in(&file.text).is_some();
    let files: Vec<&SourceFile> = desk.files.iter().filter(is_long).filter(has_place).collect();
    ensure!(files.len() >= DOCUMENTS, "the corpus has too few files to type into");
    Ok((0..DOCUMENTS).map(|number| files[files.len() * (2 * number + 1) / (2 * DOCUMENTS)]).collect())
}

/// The longest of the other files, but for those longer than anybody edits, as a document that is not saved.
fn unsaved(desk: &Desk, documents: &[&SourceFile]) -> Result<Buffer> {
    let is_other = |file: &&SourceFile| !documents.iter().any(|document| document.path == file.path);
    let lines = |file: &&SourceFile| file.text.lines().count();
    let files = desk.files.iter().filter(|file| LANGUAGES.contains(&file.language)).filter(is_other);
    let file = files.filter(|file| lines(file) <= NEIGHBOUR_LINES).max_by_key(lines);
    let file = file.context("the corpus has no file to leave unsaved")?;
    let text = format!("{}\n", file.text);
    Ok(Buffer::new(desk.uri(&file.path), file.language.name(), Encoding::Utf16, &text))
}

/// What all switches share.
struct Scene<'a> {
    desk: &'a Desk,
    editor: &'a Editor,
    teller: Teller,
    files: &'a [&'a SourceFile],
}

/// One switch.
struct Switch {
    keys: Vec<Duration>,
    searchable: Duration,
    known: Duration,
}

impl Scene<'_> {
    /// Keys while nothing happens, with the same questions beside them as in a switch.
    fn idle(&self, typing: &mut Typing<'_>) -> Result<Vec<Duration>> {
        let mut questions = Questions::new(self, NEVER);
        let mut keys = Vec::new();
        for _ in 0..IDLE_KEYS {
            keys.push(typing.key());
            ensure!(questions.look(Instant::now())?.is_none(), "a name is found that stands nowhere");
        }
        questions.end();
        Ok(keys)
    }

    fn switch(&self, number: usize, typing: &mut Typing<'_>) -> Result<Switch> {
        let texts: Vec<(PathBuf, String)> =
            self.files.iter().enumerate().map(|(place, file)| self.rewritten(number, place, file)).collect();
        let lines = self.desk.told(self.editor)?.1;
        let more = self.files.len();
        let start = Instant::now();
        thread::scope(|scope| {
            let mut writing = Some(scope.spawn(|| write(&texts)));
            let mut questions = Questions::new(self, number);
            let mut keys = Vec::new();
            let mut searchable = None;
            loop {
                keys.push(typing.key());
                if let Some(written) = writing.take_if(|writing| writing.is_finished()) {
                    join(written)?;
                    self.tell();
                }
                if searchable.is_none() {
                    searchable = questions.look(start)?;
                } else if self.desk.told(self.editor)?.1 == lines + more {
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
            Ok(Switch { keys, searchable: searchable.unwrap_or(known), known })
        })
    }

    /// A file with a name in it that it does not have before, and a line more each time.
    fn rewritten(&self, number: usize, place: usize, file: &SourceFile) -> (PathBuf, String) {
        let end = if file.text.is_empty() || file.text.ends_with('\n') { "" } else { "\n" };
        let text = format!("{}{end}{}{};\n", file.text, "\n".repeat(number), name(number, place));
        (self.desk.root.join(&*file.path), text)
    }

    /// Tells as VS Code does: it collects changes until there are no more of them, and sends all in one message.
    fn tell(&self) {
        const CHANGED: u8 = 2;
        if self.teller == Teller::Client {
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

/// Questions for new names, asked one after the other beside the keys.
struct Questions<'a> {
    scene: &'a Scene<'a>,
    number: usize,
    /// The places of the files that are still to be asked for.
    left: Vec<usize>,
    asked: Option<(Question, i64)>,
    /// How often the question was asked.
    times: usize,
    /// When a question that had to be asked again was answered.
    found: Option<Duration>,
}

impl<'a> Questions<'a> {
    fn new(scene: &'a Scene<'a>, number: usize) -> Questions<'a> {
        let places: Vec<usize> = (0..scene.files.len())
            .filter(|&place| LANGUAGES.contains(&scene.files[place].language))
            .collect();
        let left = (1..=QUESTIONS).map(|number| places[places.len() * number / QUESTIONS - 1]).collect();
        Questions { scene, number, left, asked: None, times: 0, found: None }
    }

    /// Looks whether an answer has come, and asks on. Gives the time of the last name to appear, once all were found.
    fn look(&mut self, start: Instant) -> Result<Option<Duration>> {
        let editor = self.scene.editor;
        if let Some((question, id)) = self.asked.take_if(|(_, id)| editor.client.is_answered(*id)) {
            let answer = editor.client.wait(id).map_err(|error| anyhow!("a completion failed: {error}"))?;
            if question.is_answered_by(&answer) {
                // Those that are there when they are first asked for may have been there for long.
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

    /// Waits for what was asked.
    fn end(self) {
        if let Some((question, id)) = self.asked {
            // What it is does not matter any more.
            drop(self.scene.editor.client.wait(id));
            question.close(self.scene.editor);
        }
    }

    fn ask(&self, place: usize) -> (Question, i64) {
        let Scene { desk, editor, files, .. } = *self.scene;
        let question = Question::open(editor, &desk.root, files[place].language, &name(self.number, place));
        let id = editor.ask(question.completion());
        (question, id)
    }
}
