//! `textDocument/didChange`

use std::sync::Arc;

use tower_lsp_server::gen_lsp_types::DidChangeTextDocumentParams;

use crate::ordered::State;

pub(crate) fn did_change(state: &mut State, params: DidChangeTextDocumentParams) {
    let document = params.text_document;
    let (uri, version) = (document.text_document_identifier.uri, document.version);
    let documents = Arc::make_mut(&mut state.documents);
    let problem = match documents.change(&uri, version, params.content_changes, state.arrival) {
        Some(Ok(())) => return,
        Some(Err(_)) => "a change does not fit its text; close it and open it again",
        None => "it is not open, so a change to it is left out",
    };
    state.server.warn(format!("{}: {problem}", uri.0));
}
