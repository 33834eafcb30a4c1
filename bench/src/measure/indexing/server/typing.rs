//! Simulates typing at a steady rate with a completion request after each key.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use syntax::SourceFile;
use tests::lsp::{Buffer, Encoding};

use super::server_fixture::ServerFixture;
use crate::measure::lsp::editor::Editor;
use crate::measure::lsp::typed_file::Typist;

/// Typing begins at the first indented line after this percentage of a file.
const CURSOR_PERCENT: usize = 60;

/// Typing in one document.
pub(super) struct SteadyTyping<'a> {
    editor: &'a Editor,
    typist: Typist,
    /// Time between keys.
    period: Duration,
    due: Instant,
}

impl<'a> SteadyTyping<'a> {
    /// Opens a document and types a first key, whose completion also collects the file's context.
    pub(super) fn begin(
        desk: &ServerFixture,
        editor: &'a Editor,
        file: &SourceFile,
        period: Duration,
    ) -> Result<SteadyTyping<'a>> {
        let buffer = Buffer::new(desk.uri(&file.path), file.language.name(), Encoding::Utf16, &file.text);
        editor.open(&buffer);
        let cursor = place_in(&file.text).with_context(|| format!("{} has no indented line", file.path))?;
        let mut typing =
            SteadyTyping { editor, typist: Typist::new(buffer, cursor), period, due: Instant::now() };
        typing.key();
        Ok(typing)
    }

    /// Types a key when it is due, and waits for the completion. Time is measured from the moment when the key is due, so that
    /// delays caused by a slow previous key count too.
    pub(super) fn key(&mut self) -> Duration {
        thread::sleep(self.due.saturating_duration_since(Instant::now()));
        let due = self.due;
        self.due += self.period;
        self.editor.change(self.typist.key());
        self.editor.complete(self.typist.completion());
        due.elapsed()
    }

    /// Closes the document.
    pub(super) fn end(self) {
        self.editor.close(&self.typist.buffer);
    }
}

/// Returns the start of a line that is most likely a statement in a method.
pub(super) fn place_in(text: &str) -> Option<usize> {
    let lines = text.split_inclusive('\n').scan(0, |start, line| {
        *start += line.len();
        Some((*start - line.len(), line))
    });
    let count = text.lines().count();
    let mut rest = lines.skip(count * CURSOR_PERCENT / 100);
    rest.find(|(_, line)| line.starts_with([' ', '\t']) && !line.trim().is_empty()).map(|(start, _)| start)
}
