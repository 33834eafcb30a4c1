//! `textDocument/didChange`

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use tower_lsp_server::gen_lsp_types::VersionedTextDocumentIdentifier;

use crate::documents::{Change, Parted};
use crate::ordered::State;

/// The protocol's own type takes a change whose range cannot be read for one that replaces everything.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    text_document: VersionedTextDocumentIdentifier,
    content_changes: Vec<Change>,
}

pub(crate) fn did_change(state: &mut State, params: &Value) {
    let Ok(Params { text_document, content_changes }) = Params::deserialize(params) else {
        state.part(params);
        let problem = "textDocument/didChange came with parameters of another shape; close the document and open it again";
        return state.server.warn(problem.to_owned());
    };
    let uri = text_document.text_document_identifier.uri;
    let documents = Arc::make_mut(&mut state.documents);
    let problem = match documents.change(&uri, content_changes, state.arrival) {
        Some(Ok(())) => return,
        Some(Err(Parted)) => "a change does not fit its text; close it and open it again",
        None => "it is not open, so a change to it is left out",
    };
    state.server.warn(format!("{}: {problem}", uri.0));
}
