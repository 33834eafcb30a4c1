//! Somebody who types at a steady rate and wants a completion behind each key.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use syntax::SourceFile;
use tests::lsp::{Buffer, Encoding};

use super::desk::Desk;
use crate::measure::lsp::editor::Editor;
use crate::measure::lsp::source::Typist;

/// A key is due so often: as fast as anybody types.
pub(super) const PERIOD: Duration = Duration::from_millis(50);
/// Typing begins at the first indented line behind so many percent of a file.
const CURSOR_PERCENT: usize = 60;

/// Keys in one document.
pub(super) struct Typing<'a> {
    editor: &'a Editor,
    typist: Typist,
    due: Instant,
}

impl<'a> Typing<'a> {
    /// Opens a document and types a key into it, whose completion also finds out what is known of the file.
    pub(super) fn begin(desk: &Desk, editor: &'a Editor, file: &SourceFile) -> Result<Typing<'a>> {
        let buffer = Buffer::new(desk.uri(&file.path), file.language.name(), Encoding::Utf16, &file.text);
        editor.open(&buffer);
        let cursor = place_in(&file.text).with_context(|| format!("{} has no indented line", file.path))?;
        let mut typing = Typing { editor, typist: Typist::new(buffer, cursor), due: Instant::now() };
        typing.key();
        Ok(typing)
    }

    /// Types a key when it is due, and waits for the completion. The time begins when the key is due, so that those count too which
    /// are late because the one before was slow.
    pub(super) fn key(&mut self) -> Duration {
        thread::sleep(self.due.saturating_duration_since(Instant::now()));
        let due = self.due;
        self.due += PERIOD;
        self.editor.change(self.typist.key());
        self.editor.complete(self.typist.completion());
        due.elapsed()
    }

    /// Closes the document.
    pub(super) fn end(self) {
        self.editor.close(&self.typist.buffer);
    }
}

/// Start of a line on which a method has a statement, most likely.
pub(super) fn place_in(text: &str) -> Option<usize> {
    let lines = text.split_inclusive('\n').scan(0, |start, line| {
        *start += line.len();
        Some((*start - line.len(), line))
    });
    let count = text.lines().count();
    let mut rest = lines.skip(count * CURSOR_PERCENT / 100);
    rest.find(|(_, line)| line.starts_with([' ', '\t']) && !line.trim().is_empty()).map(|(start, _)| start)
}
