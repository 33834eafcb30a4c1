//! Runs the completion pipeline.

use std::cell::RefCell;

use completion::{CompletionSettings, DocumentText, WorkspaceIndex, complete};
use engines::{Script, ScriptedEngine};
use syntax::Language;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

/// Returns the editor's ghost text at the cursor between `prefix` and `suffix`, for an engine that streams these pieces.
pub(crate) fn cleaned_answer(language: Language, prefix: &str, suffix: &str, pieces: Vec<String>) -> String {
    thread_local!(static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) });
    let document = DocumentText { path: "main".into(), language, text: [prefix, suffix].concat().into() };
    let engine = ScriptedEngine::new("oracle", Script { pieces, ..Script::default() });
    let snapshot = WorkspaceIndex::empty().snapshot(document).with_context(std::sync::Arc::default());
    let (settings, cancel) = (CompletionSettings::for_replay(), CancellationToken::new());
    let asking = complete(&snapshot, prefix.len(), &engine, &settings, &cancel);
    RUNTIME.with_borrow_mut(|runtime| {
        runtime
            .get_or_insert_with(|| {
                Builder::new_current_thread().enable_time().build().expect("a runtime of one thread")
            })
            .block_on(asking)
            .text
    })
}

/// Returns the text in pieces of one to about forty bytes, deterministic for a `seed`.
pub(crate) fn pieces(text: &str, seed: &str) -> Vec<String> {
    let mut state = seed.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut rest = text;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Servers mostly send single tokens, and sometimes several.
        let most = if state & 0x700 == 0 { 40 } else { 8 };
        let length = rest.ceil_char_boundary(1 + (state >> 16) as usize % most);
        pieces.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    pieces
}
