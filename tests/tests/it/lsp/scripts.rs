//! What the scripted engine is told to do in these tests, and how the server's copy of a document is seen through it.

use std::sync::LazyLock;

use serde_json::{Value, json};
use tests::lsp::Buffer;

use super::editor::Editor;

/// Longer than a test waits for anything else, so that what waits for the engine is told apart from what does not.
pub(crate) const FOREVER_MS: u64 = 600_000;

/// Files by the engine's behaviour: `echo.py` tells which text the engine was given, `slow.py` is never answered, `talk.py`
/// is answered with [`TALK`], `panic.py` and `fail.py` are not answered well.
pub(crate) static RULES: LazyLock<Value> = LazyLock::new(|| {
    json!([
        {"path": "echo.py", "echo": true},
        {"path": "slow.py", "delay_ms": FOREVER_MS, "text": "too late"},
        {"path": "talk.py", "text": TALK},
        {"path": "fail.py", "fail": "the engine is out of order"},
        {"path": "panic.py", "panic": true},
    ])
});

/// What the engine says in `talk.py`.
pub(crate) const TALK: &str = "total = 1";

/// What the engine says in `echo.py` when its text is this.
pub(crate) fn echo(text: &str) -> String {
    format!("len={} blake3={}", text.len(), blake3::hash(text.as_bytes()).to_hex())
}

/// Fails unless the server's copy of a document that is echoed equals the client's.
#[track_caller]
pub(crate) fn assert_in_step(editor: &Editor, buffer: &Buffer) {
    let text = buffer.text();
    assert_eq!(editor.ghost_text(buffer, text.len()), echo(text), "the server's copy of {text:?}");
}
