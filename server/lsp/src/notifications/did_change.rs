//! `textDocument/didChange`

use serde::Deserialize;
use serde_json::Value;
use session::SyncOutcome;
use tower_lsp_server::gen_lsp_types::VersionedTextDocumentIdentifier;

use crate::ordered_service::OrderedState;
use crate::text_sync::ContentChange;

/// Changes are decoded one by one: a later one may replace the whole text after one that cannot be decoded. (The protocol
/// library's type decodes a change with an invalid range as a replacement of the whole text.)
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    text_document: VersionedTextDocumentIdentifier,
    content_changes: Vec<Value>,
}

pub(crate) fn did_change(state: &mut OrderedState, params: &Value) {
    let Ok(Params { text_document, content_changes }) = Params::deserialize(params) else {
        return state.mark_named_desynchronized("textDocument/didChange", params);
    };
    let uri = text_document.text_document_identifier.uri;
    let changes = content_changes.into_iter().map(|change| ContentChange::deserialize(change).ok());
    match state.text_sync.change(&uri, changes, state.arrival, state.time) {
        Some(SyncOutcome::Unchanged) => {}
        Some(SyncOutcome::Lost) => state.ask_to_reopen(&format!("invalid change of {}", uri.0)),
        None => state.server.warn(format!("{} is not open; its change is ignored", uri.0)),
    }
}
