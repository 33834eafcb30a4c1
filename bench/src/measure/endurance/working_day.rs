//! What the developer does: keys with a request each, pastes, undo, formatters, saves, other files, checkouts.
//!
//! Each action leaves the document as it was, or as a branch has it, so that nothing grows but what the server keeps.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};
use tests::lsp::{Buffer, Encoding, uri};
use text::{Edit, SplitMix64};

use super::connection::ServerConnection;
use super::own_folder::{BranchedFile, OwnFolder};
use crate::measure::lsp::editor::CHANGED;

/// Seed of all choices.
const SEED: u64 = 8;
/// Documents that are open at a time.
const OPEN: usize = 4;
/// Time between two keys: hands need five times as long.
const KEY: Duration = Duration::from_millis(25);
/// Typed characters of a line, at most.
const LINE_KEYS: usize = 60;

/// An open document, and the number of its file.
struct OpenDocument {
    file: usize,
    buffer: Buffer,
}

/// Numbers of actions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DayCounts {
    keys: u64,
    accepted: u64,
    cancelled: u64,
    pastes: u64,
    formatted: u64,
    saves: u64,
    opened: u64,
    checkouts: u64,
    changed_files: u64,
}

impl DayCounts {
    /// Describes the day.
    pub(super) fn summary(&self) -> String {
        let DayCounts {
            keys,
            accepted,
            cancelled,
            pastes,
            formatted,
            saves,
            opened,
            checkouts,
            changed_files,
        } = self;
        format!(
            "{keys} keys with a request each, of which {cancelled} were cancelled and {accepted} accepted; {pastes} pastes, {formatted} formatted documents, {saves} saves, \
             {opened} opened documents, {checkouts} checkouts that changed {changed_files} files"
        )
    }
}

/// A day that can be played.
pub(super) struct WorkingDay<'a> {
    server: &'a ServerConnection,
    folder: &'a OwnFolder,
    random: SplitMix64,
    open: Vec<OpenDocument>,
    branch: usize,
    counts: DayCounts,
}

impl<'a> WorkingDay<'a> {
    pub(super) fn new(server: &'a ServerConnection, folder: &'a OwnFolder) -> Result<WorkingDay<'a>> {
        let counts = DayCounts::default();
        let mut day =
            WorkingDay { server, folder, random: SplitMix64::new(SEED), open: Vec::new(), branch: 0, counts };
        while day.open.len() < OPEN {
            day.open_another()?;
        }
        Ok(day)
    }

    /// Plays for so long.
    pub(super) fn play(&mut self, length: Duration) -> Result<DayCounts> {
        let start = Instant::now();
        while start.elapsed() < length {
            let document = self.random.below(self.open.len());
            match self.random.below(100) {
                0..70 => self.type_line(document)?,
                70..78 => self.paste_and_undo(document)?,
                78..84 => self.format(document)?,
                84..91 => self.save(document)?,
                91..95 => {
                    self.close(document)?;
                    self.open_another()?;
                }
                95..98 => self.look_around(document)?,
                _ => self.check_out()?,
            }
        }
        Ok(self.counts)
    }

    /// Deletes the content of a line, types it again, and undoes what a suggestion has added.
    fn type_line(&mut self, document: usize) -> Result<()> {
        let before = self.open[document].buffer.text().to_owned();
        let Some((start, line)) = self.choose_line(&before) else { return Ok(()) };
        self.edit(document, start..start + line.len(), "")?;
        let mut cursor = start;
        let mut under_way = None;
        for key in line.chars().take(LINE_KEYS) {
            if let Some(id) = under_way.take()
                && self.random.below(2) == 0
            {
                self.server.cancel(id)?;
                self.counts.cancelled += 1;
            }
            self.edit(document, cursor..cursor, &key.to_string())?;
            cursor += key.len_utf8();
            let params = completion(&self.open[document].buffer, cursor);
            self.counts.keys += 1;
            if self.random.below(8) == 0 {
                let list = self.server.call("textDocument/inlineCompletion", params)?;
                if self.random.below(3) == 0 && self.accept(document, cursor, &list["items"][0])? {
                    break;
                }
            } else {
                under_way = Some(self.server.request("textDocument/inlineCompletion", params)?);
            }
            thread::sleep(KEY);
        }
        self.restore(document, &before)
    }

    /// Chooses a line with code; returns the start of its content, and the content.
    fn choose_line<'t>(&mut self, text: &'t str) -> Option<(usize, &'t str)> {
        let near = text.floor_char_boundary(self.random.below(text.len().max(1)));
        let start = text[near..].find('\n').map(|end| near + end + 1)?;
        let line = text[start..].lines().next()?;
        let content = line.trim_start();
        (content.len() > 10).then_some((start + line.len() - content.len(), content))
    }

    /// Inserts a suggestion at the cursor; returns whether there was one.
    fn accept(&mut self, document: usize, cursor: usize, item: &Value) -> Result<bool> {
        let Some(command) = item.get("command") else { return Ok(false) };
        let ghost = self.open[document].buffer.ghost_text(cursor, item);
        self.server.notify("textDocument/didShowCompletion", json!({"item": item}))?;
        self.edit(document, cursor..cursor, &ghost)?;
        let params = json!({"command": command["command"], "arguments": command["arguments"]});
        self.server.request("workspace/executeCommand", params)?;
        self.counts.accepted += 1;
        Ok(true)
    }

    fn paste_and_undo(&mut self, document: usize) -> Result<()> {
        let before = self.open[document].buffer.text().to_owned();
        let Some((start, _)) = self.choose_line(&before) else { return Ok(()) };
        let end = before.floor_char_boundary((start + 800).min(before.len()));
        self.edit(document, start..start, &before[start..end])?;
        let uri = self.open[document].buffer.id();
        self.server
            .notify("ghostbench/didIdentifyChange", json!({"textDocument": uri, "provenance": "pasted"}))?;
        self.counts.pastes += 1;
        self.restore(document, &before)
    }

    /// Replaces the whole text by one with other blanks, and back, as formatters do.
    fn format(&mut self, document: usize) -> Result<()> {
        let before = self.open[document].buffer.text().to_owned();
        let formatted: String = before.lines().map(|line| format!("{} \n", line.trim_end())).collect();
        for text in [formatted, before] {
            let buffer = &mut self.open[document].buffer;
            let change = buffer.change_all(&text);
            let params = buffer.did_change(vec![change]);
            self.server.notify("textDocument/didChange", params)?;
        }
        self.counts.formatted += 1;
        Ok(())
    }

    fn save(&mut self, document: usize) -> Result<()> {
        let OpenDocument { file, buffer } = &self.open[document];
        let path = &self.folder.files[*file].path;
        fs::write(path, buffer.text())?;
        self.server.notify("textDocument/didSave", json!({"textDocument": buffer.id()}))?;
        self.notify_watched(&[(path, CHANGED)])?;
        self.counts.saves += 1;
        Ok(())
    }

    /// Requests what an editor shows besides suggestions.
    fn look_around(&mut self, document: usize) -> Result<()> {
        let id = json!({"textDocument": self.open[document].buffer.id()});
        self.server.request("textDocument/codeLens", id.clone())?;
        self.server.request("ghostbench/lastRequest", id)?;
        self.server.request("ghostbench/status", Value::Null).map(drop)
    }

    /// Switches to the other branch. The editor reloads the open documents that are on it, and closes the others.
    fn check_out(&mut self) -> Result<()> {
        self.branch = 1 - self.branch;
        let changes = self.folder.check_out(self.branch)?;
        self.notify_watched(&changes)?;
        self.counts.checkouts += 1;
        self.counts.changed_files += changes.len() as u64;
        for document in (0..self.open.len()).rev() {
            match &self.folder.files[self.open[document].file].texts[self.branch] {
                Some(text) => self.restore(document, text)?,
                None => self.close(document)?,
            }
        }
        while self.open.len() < OPEN {
            self.open_another()?;
        }
        Ok(())
    }

    fn open_another(&mut self) -> Result<()> {
        loop {
            let file = self.random.below(self.folder.files.len());
            let BranchedFile { path, language, texts } = &self.folder.files[file];
            let is_open = self.open.iter().any(|document| document.file == file);
            let Some(text) = texts[self.branch].as_ref().filter(|_| !is_open) else { continue };
            let buffer = Buffer::new(uri(path), language.name(), Encoding::Utf16, text);
            self.server.notify("textDocument/didOpen", buffer.did_open())?;
            self.open.push(OpenDocument { file, buffer });
            self.counts.opened += 1;
            return Ok(());
        }
    }

    fn close(&mut self, document: usize) -> Result<()> {
        let OpenDocument { buffer, .. } = self.open.swap_remove(document);
        self.server.notify("textDocument/didClose", buffer.did_close())
    }

    fn edit(&mut self, document: usize, range: std::ops::Range<usize>, text: &str) -> Result<()> {
        let params = self.open[document].buffer.edit(range, text);
        self.server.notify("textDocument/didChange", params)
    }

    /// Changes the smallest range that leads to this text.
    fn restore(&mut self, document: usize, text: &str) -> Result<()> {
        match Edit::between(self.open[document].buffer.text(), text) {
            Some(Edit { range, text }) => self.edit(document, range, &text),
            None => Ok(()),
        }
    }

    fn notify_watched(&self, changes: &[(&Path, u8)]) -> Result<()> {
        let changes: Vec<Value> =
            changes.iter().map(|(path, kind)| json!({"uri": uri(path), "type": kind})).collect();
        self.server.notify("workspace/didChangeWatchedFiles", json!({"changes": changes}))
    }
}

/// Parameters of the request at this offset.
fn completion(buffer: &Buffer, offset: usize) -> Value {
    json!({"textDocument": buffer.id(), "position": buffer.position(offset), "context": {"triggerKind": 2}})
}
