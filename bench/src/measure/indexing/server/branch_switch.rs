//! Branch switches while typing next to an unsaved document: thousands of files are rewritten at once, then others are edited.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use syntax::SourceFile;
use tests::lsp::uri;

use super::name_probes::{NameProbes, ProbedName, spread};
use super::query_document::NAMES;
use super::server_fixture::{ChangeReporter, ServerFixture};
use super::switch::{self, KeyTimes, Switch, SwitchTimings};
use super::typing::SteadyTyping;
use crate::measure::figures::SortedTimes;
use crate::measure::indexing::edits::LANGUAGES;
use crate::measure::lsp::editor::{CHANGED, Editor};
use crate::measure::lsp::memory::resident;

/// Number of rewritten files; in a smaller folder all except those being edited.
const FILES: usize = 2_000;
/// Number of switches per notification source, each while another document than before is being edited.
const SWITCHES: usize = 6;
/// Number of documents that are edited in turn.
const DOCUMENTS: usize = 3;
/// Keys before each switch: enough for the server to become idle after the previous switch.
const IDLE_KEYS: usize = 150;
/// Time between keys: as fast as anybody types.
const PERIOD: Duration = Duration::from_millis(50);
/// Time between two requests for a new name: with each key.
const PROBE_PERIOD: Duration = Duration::ZERO;
/// A switch that does not happen.
const NEVER: usize = usize::MAX;
/// Timeout of a switch.
const DEADLINE: Duration = Duration::from_secs(60);

/// Results.
pub(in crate::measure::indexing) struct SwitchFigures {
    /// Files per switch.
    pub(in crate::measure::indexing) files: usize,
    /// Completion times.
    pub(in crate::measure::indexing) keys: KeyTimes,
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
    let typed: Vec<&SourceFile> =
        desk.files.iter().filter(|file| LANGUAGES.contains(&file.language)).collect();
    let documents = switch::documents(&typed, DOCUMENTS)?;
    let files: Vec<&SourceFile> = desk
        .files
        .iter()
        .filter(|file| !documents.iter().any(|document| document.path == file.path))
        .take(FILES)
        .collect();
    let neighbour = switch::unsaved(desk, &typed, &documents)?;
    editor.open(&neighbour);
    let scene = SwitchFixture { desk, editor: &editor, teller, files: &files };
    let (mut idle, mut meanwhile) = (Vec::new(), Vec::new());
    let (mut searchable, mut known) = (Duration::ZERO, Duration::ZERO);
    for number in first..first + SWITCHES {
        let mut typing = SteadyTyping::begin(desk, &editor, documents[number % DOCUMENTS], PERIOD)?;
        let probes = NameProbes::new(desk, &editor, scene.names(NEVER), PROBE_PERIOD);
        idle.extend(switch::type_idle(&mut typing, probes, IDLE_KEYS)?);
        let switch = scene.switch(number, &mut typing)?;
        meanwhile.extend(switch.keys);
        searchable = searchable.max(switch.searchable);
        known = known.max(switch.known);
        typing.end();
    }
    let memory = resident(&editor)?;
    editor.close(&neighbour);
    let keys = KeyTimes { idle: SortedTimes::new(idle), meanwhile: SortedTimes::new(meanwhile) };
    Ok(SwitchFigures { files: files.len(), keys, searchable, known, memory })
}

/// Shared by all switches.
struct SwitchFixture<'a> {
    desk: &'a ServerFixture,
    editor: &'a Editor,
    teller: ChangeReporter,
    files: &'a [&'a SourceFile],
}

impl SwitchFixture<'_> {
    fn switch(&self, number: usize, typing: &mut SteadyTyping<'_>) -> Result<SwitchTimings> {
        let texts: Vec<(PathBuf, String)> = self
            .files
            .iter()
            .enumerate()
            .map(|(place, file)| self.changed_file(number, place, file))
            .collect();
        let (files, lines) = self.desk.reported_size(self.editor)?;
        let switch = Switch {
            desk: self.desk,
            editor: self.editor,
            probes: NameProbes::new(self.desk, self.editor, self.names(number), PROBE_PERIOD),
            size: (files, lines + self.files.len() * switch::NAME_LINES),
            deadline: DEADLINE,
        };
        switch.run(typing, || write(&texts), || self.report_changes())
    }

    /// Returns the names of a switch that are looked for.
    fn names(&self, number: usize) -> Vec<ProbedName> {
        let places: Vec<usize> =
            (0..self.files.len()).filter(|&at| LANGUAGES.contains(&self.files[at].language)).collect();
        let probed = spread(&places).into_iter();
        probed
            .map(|&place| ProbedName { language: self.files[place].language, name: name(number, place) })
            .collect()
    }

    /// Returns the file with a new name, and more lines each time.
    fn changed_file(&self, number: usize, place: usize, file: &SourceFile) -> (PathBuf, String) {
        let name = format!("{}{}", "\n".repeat(number), name(number, place));
        (self.desk.root.join(&*file.path), switch::with_name(&file.text, &name))
    }

    /// Notifies as VS Code does: collects all changes and sends them in one message.
    fn report_changes(&self) {
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
