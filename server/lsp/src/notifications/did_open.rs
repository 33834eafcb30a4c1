//! `textDocument/didOpen`

use serde::Deserialize;
use serde_json::Value;

use crate::from_proto;
use crate::ordered_service::{OrderedState, opened};
use crate::text_sync::DidOpenDocument;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    text_document: DidOpenDocument,
}

pub(crate) fn did_open(state: &mut OrderedState, params: &Value) {
    match Params::deserialize(params) {
        Ok(params) => {
            let path = from_proto::path(&params.text_document.uri);
            path.iter().for_each(|path| state.server.folders.note_opened(path));
            let key = from_proto::document_key(&params.text_document.uri);
            state.text_sync.open(params.text_document, state.arrival);
            state.record(|state| opened(state.text_sync.documents().get(&key)?));
            state.describe(&key);
        }
        Err(_) => state.mark_named_desynchronized("textDocument/didOpen", params),
    }
}
