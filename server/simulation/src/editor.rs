//! The editor of the simulated developer: its documents, its time, and the messages that it sends as VS Code does.

mod expected_texts;

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use cases::Provenance;
use serde_json::{Value, json};
use syntax::Language;
use text::{Document, Edit, Position, PositionEncoding};
use url::Url;

pub use self::expected_texts::ProvenanceDifference;
pub(crate) use self::expected_texts::{ExpectedTexts, ExpectedTruth};
use crate::SimulationSettings;
use crate::connection::Connection;
use crate::error::SimulationError;
use crate::judge::{ServerFacts, ServerResources};
use crate::scratch::{FAST, RIVAL, Scratch, TRIAL};

/// How VS Code counts characters.
const ENCODING: PositionEncoding = PositionEncoding::Utf16;
/// Time limit of the server's start.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Time in simulated ms after which the server's resources are measured for the first time.
const WARM_UP: u64 = 30 * 60 * 1_000;
/// Time in ms after which the server has noticed a commit.
const NOTICE_COMMIT: u64 = 2_000;
/// Kinds of changes of a watched file.
const CREATED: u8 = 1;
const CHANGED: u8 = 2;
const DELETED: u8 = 3;

const COMPLETION: &str = "textDocument/inlineCompletion";

/// An open document.
#[derive(Debug)]
struct OpenFile {
    language: Language,
    rope: Document,
    version: i64,
}

/// A suggestion that the editor displays.
#[derive(Clone, Debug)]
pub(crate) struct Suggestion {
    item: Value,
    range: Range<usize>,
    /// The text that its acceptance inserts at the cursor.
    pub(crate) inserted: String,
}

/// What the engines answer to the next request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EngineAnswers {
    /// The engine that is shown.
    pub(crate) fast: String,
    /// Its rival in shadow.
    pub(crate) rival: String,
}

/// An editor with a server.
#[derive(Debug)]
pub(crate) struct Editor {
    settings: SimulationSettings,
    scratch: Scratch,
    server: Connection,
    /// By path in the workspace.
    files: BTreeMap<String, OpenFile>,
    /// Time in ms.
    now: u64,
    /// Date at which this time was zero, for the server.
    started: SystemTime,
    /// The last request, if its answer was not awaited.
    unanswered: Option<i64>,
    /// The folders of the commits in the workspace, the oldest first.
    folders: VecDeque<String>,
    /// The texts in the files of the engines.
    answers: EngineAnswers,
    expected: ExpectedTexts,
    facts: ServerFacts,
}

impl Editor {
    /// Starts an editor without open documents.
    pub(crate) fn start(settings: &SimulationSettings) -> Result<Editor, SimulationError> {
        let scratch = Scratch::new(settings)?;
        let server = Connection::start(&settings.program, &mut scratch.server(settings))?;
        let mut editor = Editor {
            settings: settings.clone(),
            scratch,
            server,
            files: BTreeMap::new(),
            now: 0,
            started: SystemTime::now(),
            unanswered: None,
            folders: VecDeque::new(),
            answers: EngineAnswers::default(),
            expected: ExpectedTexts::default(),
            facts: ServerFacts::default(),
        };
        editor.shake_hands()?;
        Ok(editor)
    }

    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Returns whether the developer's time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.settings.max_hours.is_some_and(|most| self.hours() >= most)
    }

    fn hours(&self) -> f64 {
        self.now as f64 / 3_600_000.0
    }

    /// Ends the server. Returns its files and the expected texts.
    pub(crate) fn finish(mut self) -> Result<(Scratch, ExpectedTexts, ServerFacts), SimulationError> {
        if self.facts.resources.is_some() {
            self.measure_resources()?;
        }
        self.facts.hours = self.hours();
        self.server.end()?;
        Ok((self.scratch, self.expected, self.facts))
    }

    /// Kills the server while documents are open, and starts another one.
    pub(crate) fn restart_server(&mut self) -> Result<(), SimulationError> {
        self.server.kill()?;
        self.server = Connection::start(&self.settings.program, &mut self.scratch.server(&self.settings))?;
        self.unanswered = None;
        self.facts.kills += 1;
        self.facts.resources = None;
        self.shake_hands()?;
        if !self.settings.is_real_time {
            // The clock of the new server begins at zero.
            self.pass_time(self.now)?;
        }
        self.files.keys().try_for_each(|path| self.send_open(&self.server, path))
    }

    fn shake_hands(&mut self) -> Result<(), SimulationError> {
        shake_hands(&mut self.server, self.scratch.workspace())?;
        self.started = SystemTime::now();
        wait_for_status(&mut self.server, |status| status["trial"]["name"] == TRIAL)
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, ms: u64) -> Result<(), SimulationError> {
        if self.now < WARM_UP && self.now + ms >= WARM_UP {
            self.measure_resources()?;
        }
        self.now += ms;
        self.pass_time(ms)
    }

    fn pass_time(&mut self, ms: u64) -> Result<(), SimulationError> {
        if self.settings.is_real_time {
            thread::sleep(Duration::from_millis(ms));
            return Ok(());
        }
        self.server.call("ghostbench/advanceTime", json!({"ms": ms})).map(drop)
    }

    /// The date for the developer.
    fn date(&self) -> SystemTime {
        match self.settings.is_real_time {
            true => SystemTime::now(),
            false => self.started + Duration::from_millis(self.now),
        }
    }

    /// Commits all saved files.
    pub(crate) fn commit(&self, message: &str) -> Result<(), SimulationError> {
        self.scratch.commit(message, self.date())
    }

    /// Replaces the last commit by one with another message.
    pub(crate) fn amend(&self, message: &str) -> Result<(), SimulationError> {
        self.scratch.amend(message, self.date())
    }

    /// Commits all saved files, and keeps them in another branch as they are.
    pub(crate) fn branch(&self) -> Result<(), SimulationError> {
        self.commit("before")?;
        self.scratch.branch(self.date())
    }

    /// Saves and commits all files, looks at the other branch, where somebody commits, comes back, and rebases.
    pub(crate) fn visit_branch(&mut self) -> Result<(), SimulationError> {
        let paths: Vec<String> = self.files.keys().cloned().collect();
        paths.iter().try_for_each(|path| self.save(path))?;
        self.wait(NOTICE_COMMIT)?;
        self.commit("work in progress")?;
        self.wait(NOTICE_COMMIT)?;
        self.scratch.check_out_other(self.date())?;
        self.reload(&paths)?;
        self.commit("upstream")?;
        self.wait(NOTICE_COMMIT)?;
        self.scratch.check_out_previous(self.date())?;
        self.reload(&paths)?;
        self.scratch.rebase(self.date())?;
        self.reload(&paths)?;
        self.wait(NOTICE_COMMIT)
    }

    /// Reloads files that have changed on disk.
    fn reload(&mut self, paths: &[String]) -> Result<(), SimulationError> {
        for path in paths {
            match self.scratch.read(path) {
                None => self.notify_watched(path, DELETED)?,
                Some(text) if text == self.text(path) => {}
                Some(text) => {
                    self.notify_watched(path, CHANGED)?;
                    self.edit(path, 0..self.text(path).len(), &text)?;
                }
            }
        }
        self.wait(NOTICE_COMMIT)
    }

    /// Notes how a part of a file after the commit was written.
    pub(crate) fn note_provenance(&mut self, path: &str, range: Range<usize>, provenance: Provenance) {
        self.expected.note(path, range, provenance);
    }

    fn measure_resources(&mut self) -> Result<(), SimulationError> {
        let process = self.server.process_id();
        let Some((resident_bytes, threads)) = memory_and_threads(process) else { return Ok(()) };
        let Some(new_server_bytes) = self.memory_of_new_server()? else { return Ok(()) };
        let open_files = fs::read_dir(format!("/proc/{process}/fd")).map_or(0, |files| files.count() as u64);
        let resources = ServerResources { resident_bytes, new_server_bytes, threads, open_files };
        let first = self.facts.resources.map_or(resources, |[first, _]| first);
        self.facts.resources = Some([first, resources]);
        Ok(())
    }

    /// Returns the resident memory of a server that starts now and answers one request.
    fn memory_of_new_server(&self) -> Result<Option<u64>, SimulationError> {
        let mut command = self.scratch.server_without_trial(&self.settings);
        let mut server = Connection::start(&self.settings.program, &mut command)?;
        shake_hands(&mut server, self.scratch.workspace())?;
        wait_for_status(&mut server, |_| true)?;
        self.files.keys().try_for_each(|path| self.send_open(&server, path))?;
        if let Some(path) = self.files.keys().next() {
            let position = json!({"line": 0, "character": 0});
            let document = json!({"uri": self.uri(path)});
            let params =
                json!({"textDocument": document, "position": position, "context": {"triggerKind": 2}});
            server.call(COMPLETION, params)?;
        }
        let bytes = memory_and_threads(server.process_id()).map(|(bytes, _)| bytes);
        server.end()?;
        Ok(bytes)
    }

    /// Notes that files are written in a folder.
    pub(crate) fn note_folder(&mut self, folder: &str) {
        if self.folders.back().is_none_or(|last| last != folder) {
            self.folders.push_back(folder.to_owned());
        }
    }

    /// Deletes the oldest folders, whose files are closed, until so many are left.
    pub(crate) fn keep_folders(&mut self, most: usize) -> Result<(), SimulationError> {
        while self.folders.len() > most {
            let Some(folder) = self.folders.pop_front() else { break };
            for path in self.scratch.remove_folder(&folder)? {
                self.notify_watched(&path, DELETED)?;
            }
        }
        Ok(())
    }

    /// Creates a file and opens it.
    pub(crate) fn open(&mut self, path: &str, language: Language, text: &str) -> Result<(), SimulationError> {
        self.write(path, text, CREATED)?;
        self.files.insert(path.to_owned(), OpenFile { language, rope: Document::new(text), version: 0 });
        self.send_open(&self.server, path)
    }

    /// Closes a document.
    pub(crate) fn close(&mut self, path: &str) -> Result<(), SimulationError> {
        self.files.remove(path);
        self.server.notify("textDocument/didClose", json!({"textDocument": {"uri": self.uri(path)}}))
    }

    /// Returns the text of a document.
    pub(crate) fn text(&self, path: &str) -> String {
        self.files.get(path).map(|file| file.rope.text()).unwrap_or_default()
    }

    /// Changes a range of a document.
    pub(crate) fn edit(
        &mut self,
        path: &str,
        range: Range<usize>,
        text: &str,
    ) -> Result<(), SimulationError> {
        self.edits(path, vec![Edit { range, text: text.to_owned() }])
    }

    /// Sends edits in one message, each in the text that the previous ones left, and cancels the request that is under way.
    pub(crate) fn edits(&mut self, path: &str, edits: Vec<Edit>) -> Result<(), SimulationError> {
        let uri = self.uri(path);
        let Some(file) = self.files.get_mut(path) else { return Ok(()) };
        let mut changes = Vec::new();
        for edit in &edits {
            let range = file.range(edit.range.clone());
            changes.push(json!({"range": range, "text": edit.text}));
            file.rope.apply(edit).expect("the developer edits inside the text");
        }
        file.version += 1;
        let document = json!({"uri": uri, "version": file.version});
        self.server
            .notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}))?;
        match self.unanswered.take() {
            Some(id) => self.server.notify("$/cancelRequest", json!({"id": id})),
            None => Ok(()),
        }
    }

    /// Requests a completion, for which the engines have these texts. Without patience the answer is not awaited. Returns the
    /// suggestion that inserts text at the cursor.
    pub(crate) fn request(
        &mut self,
        path: &str,
        offset: usize,
        expected: ExpectedTruth,
        answers: EngineAnswers,
        is_patient: bool,
    ) -> Result<Option<Suggestion>, SimulationError> {
        self.prepare(answers)?;
        let Some(file) = self.files.get(path) else { return Ok(None) };
        let prefix = file.rope.slice(0..offset).unwrap_or_default();
        self.expected.expect(path, &prefix, expected);
        let params = json!({
            "textDocument": {"uri": self.uri(path)},
            "position": file.position(offset),
            "context": {"triggerKind": 2},
        });
        let id = self.server.request(COMPLETION, params)?;
        if !is_patient {
            self.unanswered = Some(id);
            return Ok(None);
        }
        let list = self.server.wait(id, COMPLETION)?;
        let item = list["items"].get(0);
        Ok(item.and_then(|item| self.files.get(path)?.suggestion(item, offset)))
    }

    fn prepare(&mut self, answers: EngineAnswers) -> Result<(), SimulationError> {
        if self.answers.fast != answers.fast {
            self.scratch.write(&self.scratch.suggestion(FAST), &answers.fast)?;
        }
        if self.answers.rival != answers.rival {
            self.scratch.write(&self.scratch.suggestion(RIVAL), &answers.rival)?;
        }
        self.answers = answers;
        Ok(())
    }

    /// Reports that a suggestion is visible.
    pub(crate) fn show(&mut self, suggestion: &Suggestion) -> Result<(), SimulationError> {
        self.server.notify("textDocument/didShowCompletion", json!({"item": suggestion.item}))
    }

    /// Accepts a suggestion.
    pub(crate) fn accept(&mut self, path: &str, suggestion: &Suggestion) -> Result<(), SimulationError> {
        let text = suggestion.item["insertText"].as_str().unwrap_or_default().to_owned();
        self.edit(path, suggestion.range.clone(), &text)?;
        let command = &suggestion.item["command"];
        let params = json!({"command": command["command"], "arguments": command["arguments"]});
        self.server.call("workspace/executeCommand", params).map(drop)
    }

    /// Accepts the beginning of a suggestion, which inserts `part` at the cursor.
    pub(crate) fn accept_part(
        &mut self,
        path: &str,
        suggestion: &Suggestion,
        part: &str,
    ) -> Result<(), SimulationError> {
        let cursor = suggestion.range.end;
        self.edit(path, cursor..cursor, part)?;
        let text = suggestion.item["insertText"].as_str().unwrap_or_default();
        let rest = suggestion.inserted.len() - part.len();
        let accepted = text[..text.len() - rest].encode_utf16().count();
        let params = json!({"item": suggestion.item, "acceptedLength": accepted});
        self.server.notify("textDocument/didPartiallyAcceptCompletion", params)
    }

    /// Saves a document; the change on disk is reported a moment later.
    pub(crate) fn save(&mut self, path: &str) -> Result<(), SimulationError> {
        let text = self.text(path);
        self.scratch.write(&self.scratch.workspace().join(path), &text)?;
        self.server.notify("textDocument/didSave", json!({"textDocument": {"uri": self.uri(path)}}))?;
        self.wait(100)?;
        self.notify_watched(path, CHANGED)
    }

    /// Replaces a saved document with another version from disk.
    pub(crate) fn check_out(&mut self, path: &str, text: &str) -> Result<(), SimulationError> {
        self.write(path, text, CHANGED)?;
        self.edit(path, 0..self.text(path).len(), text)
    }

    /// Renames a saved file in the editor, which opens it under its new name. Returns the new path.
    pub(crate) fn rename(&mut self, path: &str) -> Result<String, SimulationError> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let renamed = format!("{folder}/renamed_{name}");
        let root = self.scratch.workspace();
        self.scratch.rename(&root.join(path), &root.join(&renamed))?;
        self.expected.rename(path, &renamed);
        let Some(file) = self.files.get(path) else { return Ok(renamed) };
        let (language, text) = (file.language, file.rope.text());
        self.close(path)?;
        self.files.insert(renamed.clone(), OpenFile { language, rope: Document::new(&text), version: 0 });
        self.send_open(&self.server, &renamed)?;
        let files = json!([{"oldUri": self.uri(path), "newUri": self.uri(&renamed)}]);
        self.server.notify("workspace/didRenameFiles", json!({"files": files}))?;
        self.notify_watched(path, DELETED)?;
        self.notify_watched(&renamed, CREATED)?;
        Ok(renamed)
    }

    fn write(&self, path: &str, text: &str, kind: u8) -> Result<(), SimulationError> {
        self.scratch.write(&self.scratch.workspace().join(path), text)?;
        self.notify_watched(path, kind)
    }

    fn notify_watched(&self, path: &str, kind: u8) -> Result<(), SimulationError> {
        let change = json!({"uri": self.uri(path), "type": kind});
        self.server.notify("workspace/didChangeWatchedFiles", json!({"changes": [change]}))
    }

    fn send_open(&self, server: &Connection, path: &str) -> Result<(), SimulationError> {
        let Some(file) = self.files.get(path) else { return Ok(()) };
        let document = json!({
            "uri": self.uri(path),
            "languageId": file.language.name(),
            "version": file.version,
            "text": file.rope.text(),
        });
        server.notify("textDocument/didOpen", json!({"textDocument": document}))
    }

    fn uri(&self, path: &str) -> String {
        uri(self.scratch.workspace().join(path))
    }
}

impl OpenFile {
    fn position(&self, offset: usize) -> Value {
        let position = self.rope.position(offset, ENCODING).unwrap_or(Position { line: 0, character: 0 });
        json!({"line": position.line, "character": position.character})
    }

    fn range(&self, range: Range<usize>) -> Value {
        json!({"start": self.position(range.start), "end": self.position(range.end)})
    }

    /// Reads an item; `None` if it changes other text than it inserts.
    fn suggestion(&self, item: &Value, cursor: usize) -> Option<Suggestion> {
        let offset = |position: &Value| {
            let number = |name: &str| u32::try_from(position[name].as_u64()?).ok();
            self.rope.offset(Position { line: number("line")?, character: number("character")? }, ENCODING)
        };
        let range = offset(&item["range"]["start"])?..offset(&item["range"]["end"])?;
        let typed = self.rope.slice(range.start..cursor)?;
        let inserted = item["insertText"].as_str()?.strip_prefix(&*typed)?.to_owned();
        let is_insertion = range.end == cursor && !inserted.is_empty();
        is_insertion.then(|| Suggestion { item: item.clone(), range, inserted })
    }
}

/// Opens the connection, and the workspace.
fn shake_hands(server: &mut Connection, root: PathBuf) -> Result<(), SimulationError> {
    let folder = json!({"uri": uri(root), "name": "workspace"});
    let watching = json!({"didChangeWatchedFiles": {"dynamicRegistration": true}});
    let capabilities = json!({"workspace": watching, "textDocument": {"inlineCompletion": {}}});
    let params = json!({"processId": null, "capabilities": capabilities, "workspaceFolders": [folder]});
    server.call("initialize", params)?;
    server.notify("initialized", json!({}))
}

/// Waits until the workspace is indexed and the status is as wanted.
fn wait_for_status(
    server: &mut Connection,
    is_wanted: impl Fn(&Value) -> bool,
) -> Result<(), SimulationError> {
    let start = Instant::now();
    loop {
        let status = server.call("ghostbench/status", Value::Null)?;
        if is_wanted(&status) && status["folders"][0]["state"] == "ready" {
            return Ok(());
        }
        if start.elapsed() > START_TIMEOUT {
            return Err(SimulationError::NoAnswer { method: "ghostbench/status".to_owned() });
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn uri(path: PathBuf) -> String {
    Url::from_file_path(path).expect("the temporary folder is absolute").into()
}

/// Returns the resident memory of a process in bytes and its number of threads; `None` where the system does not report them in a file.
fn memory_and_threads(process: u32) -> Option<(u64, u64)> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes: u64 = value("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok()?;
    Some((kilobytes << 10, value("Threads:")?.trim().parse().ok()?))
}
