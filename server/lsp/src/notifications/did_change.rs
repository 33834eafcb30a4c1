//! `textDocument/didChange`

use serde::Deserialize;
use serde_json::Value;
use session::SyncOutcome;
use tower_lsp_server::gen_lsp_types::{Uri, VersionedTextDocumentIdentifier};
use trial::EventKind;

use crate::from_proto;
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
    state.server.folders.note_typing();
    match state.text_sync.change(&uri, changes, state.arrival, state.time) {
        Some(SyncOutcome::Unchanged) => state.record(|state| edited(state, &uri)),
        Some(SyncOutcome::Lost) => {
            state.record_loss(&uri);
            state.ask_to_reopen(&format!("invalid change of {}", uri.0));
        }
        None => state.server.warn(format!("{} is not open; its change is ignored", uri.0)),
    }
}

/// Returns the edits of the current message.
fn edited(state: &OrderedState, uri: &Uri) -> Option<EventKind> {
    let key = from_proto::document_key(uri);
    let document = state.text_sync.documents().get(&key).filter(|document| document.is_synchronized())?;
    let tracked = document.session.tracked_ranges();
    let revision = tracked.log().latest().filter(|revision| revision.number == state.arrival)?;
    Some(EventKind::Edited { document: key, edits: revision.edits.clone() })
}
