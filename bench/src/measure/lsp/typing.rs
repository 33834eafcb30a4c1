//! Cost of one typed character: applying the change and, at the next request, reading the scope at the cursor.
//!
//! No request exposes that alone. So the server's steps are repeated here on the same types and in the same order; a
//! second row is the additional time of a request over stdio that needs the tree of the whole document.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use syntax::{Language, SyntaxCache};
use text::{Document, Edit, Position, PositionEncoding};

use super::editor::Editor;
use super::typed_file::{IN_COMMENT, STATEMENTS};
use super::{LspBench, time};
use crate::measure::figures::{FigureRow, SortedTimes};

const KEYS: usize = 1000;

pub(super) fn measure(bench: &LspBench<'_>) -> Result<Vec<FigureRow>> {
    let plain = in_process(bench, STATEMENTS)?;
    let own = in_process(bench, bench.source.rest())?;
    let added = over_stdio(bench)?;
    let what = format!("applying a typed character and reading the scope behind it, {KEYS} characters");
    Ok(vec![
        FigureRow::times(format!("{what} of statements"), &plain, &[]),
        FigureRow::times(format!("{what} of a method, two thirds of them in its open docstring"), &own, &[]),
        FigureRow::times(
            "the same over stdio: additional time of a request that needs the tree of the whole document",
            &added,
            &[],
        ),
    ])
}

/// An open document, as in the server. A completion needs the text before the cursor, closed behind it.
struct ParsedDocument {
    rope: Document,
    text: Arc<str>,
    syntax: SyntaxCache,
}

impl ParsedDocument {
    /// Applies an insertion, and reads the scope behind it. `None` if the position is invalid.
    fn insert(&mut self, at: Position, new: &str) -> Option<()> {
        let start = self.rope.offset(at, PositionEncoding::Utf16)?;
        let end = self.rope.offset(at, PositionEncoding::Utf16)?;
        self.rope.apply(&Edit { range: start..end, text: new.to_owned() })?;
        let text: Arc<str> = self.rope.text().into();
        self.syntax.scope(Language::Python, &text[..start + new.len()]);
        self.text = text;
        Some(())
    }
}

fn in_process(bench: &LspBench<'_>, typed: &str) -> Result<SortedTimes> {
    let source = &bench.source;
    let mut open = ParsedDocument {
        rope: Document::new(&source.text),
        text: source.text.as_str().into(),
        syntax: SyntaxCache::default(),
    };
    open.syntax.scope(Language::Python, &open.text[..source.cursor]);
    let mut cursor = source.cursor;
    let mut times = Vec::new();
    for key in typed.chars().cycle().take(KEYS) {
        let at = open.rope.position(cursor, PositionEncoding::Utf16).context("the cursor is in the text")?;
        let key = key.to_string();
        let (took, inserted) = time(|| open.insert(at, &key));
        inserted.context("the cursor is in the text")?;
        cursor += key.len();
        times.push(took);
    }
    ensure!(open.text.len() == source.text.len() + cursor - source.cursor, "a character is missing");
    Ok(SortedTimes::new(times))
}

/// A request to record a case in a comment needs the tree, and then records nothing. It is sent once after a change and once
/// more.
fn over_stdio(bench: &LspBench<'_>) -> Result<SortedTimes> {
    let editor = Editor::scripted(&bench.ghostbench, Duration::ZERO);
    let mut typist = bench.source.typist(editor.uri("fast.py"));
    editor.open(&typist.buffer);
    let (line, character) = IN_COMMENT;
    let nothing =
        json!({"textDocument": typist.buffer.id(), "position": {"line": line, "character": character}});
    let in_vain = || editor.client.call_expecting_error("ghostbench/recordCase", nothing.clone());
    in_vain();
    let mut times = Vec::new();
    for _ in 0..KEYS {
        let change = typist.key();
        let (with_change, _) = time(|| {
            editor.change(change);
            in_vain()
        });
        let (without, _) = time(in_vain);
        times.push(with_change.saturating_sub(without));
    }
    Ok(SortedTimes::new(times))
}
