//! `textDocument/didClose`

use std::sync::Arc;

use tower_lsp_server::gen_lsp_types::DidCloseTextDocumentParams;

use crate::ordered::State;

pub(crate) fn did_close(state: &mut State, params: DidCloseTextDocumentParams) {
    let uri = params.text_document.uri;
    if !Arc::make_mut(&mut state.documents).close(&uri) {
        state.server.warn(format!("{}: it was closed without being open", uri.0));
    }
}
