//! `textDocument/didOpen`

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::documents::OpenedDocument;
use crate::from_proto;
use crate::ordered::State;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    text_document: OpenedDocument,
}

pub(crate) fn did_open(state: &mut State, params: &Value) {
    match Params::deserialize(params) {
        Ok(params) => {
            let path = from_proto::path(&params.text_document.uri);
            path.iter().for_each(|path| state.server.folders.opened(path));
            Arc::make_mut(&mut state.documents).open(params.text_document, state.arrival);
        }
        Err(_) => state.lose_named("textDocument/didOpen", params),
    }
}
