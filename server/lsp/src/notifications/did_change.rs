//! `textDocument/didChange`

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use tower_lsp_server::gen_lsp_types::VersionedTextDocumentIdentifier;

use crate::documents::{ContentChange, SyncOutcome};
use crate::ordered_service::OrderedState;

/// Changes are read one by one: after one that cannot be read, another one may bring the whole text. (The protocol's own type takes a
/// change whose range cannot be read for one that replaces everything.)
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
    match Arc::make_mut(&mut state.documents).change(&uri, changes, state.arrival) {
        Some(SyncOutcome::Unchanged) => {}
        Some(SyncOutcome::Lost) => {
            state.ask_to_reopen(&format!("a change to {} does not fit its text", uri.0))
        }
        None => state.server.warn(format!("{}: it is not open, so a change to it is left out", uri.0)),
    }
}
