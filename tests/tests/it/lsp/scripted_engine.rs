//! Rules of the scripted engine in these tests, and a check of the server's copy of a document.

use std::sync::LazyLock;

use serde_json::{Value, json};
use tests::lsp::Buffer;

use super::editor::Editor;

/// Longer than any other timeout, so that a wait for the engine is noticed.
pub(crate) const FOREVER_MS: u64 = 600_000;

/// Files by the engine's behaviour: `echo.py` returns the engine's input, `slow.py` is never answered, `talk.py` is answered
/// with [`TALK`], `panic.py` and `fail.py` fail.
pub(crate) static RULES: LazyLock<Value> = LazyLock::new(|| {
    json!([
        {"path": "echo.py", "echo": true},
        {"path": "slow.py", "delay_ms": FOREVER_MS, "text": "too late"},
        {"path": "talk.py", "text": TALK},
        {"path": "fail.py", "fail": "the engine is out of order"},
        {"path": "panic.py", "panic": true},
    ])
});

/// The engine's answer in `talk.py`.
pub(crate) const TALK: &str = "total = 1";

/// The engine's answer in `echo.py` for this text.
pub(crate) fn echo(text: &str) -> String {
    format!("len={} blake3={}", text.len(), blake3::hash(text.as_bytes()).to_hex())
}

/// Fails unless the server's copy of an echoed document equals the client's.
#[track_caller]
pub(crate) fn assert_synchronized(editor: &Editor, buffer: &Buffer) {
    let text = buffer.text();
    assert_eq!(editor.ghost_text(buffer, text.len()), echo(text), "the server's copy of {text:?}");
}
