//! `textDocument/didOpen`

use std::sync::Arc;

use tower_lsp_server::gen_lsp_types::DidOpenTextDocumentParams;

use crate::ordered::State;

pub(crate) fn did_open(state: &mut State, params: DidOpenTextDocumentParams) {
    Arc::make_mut(&mut state.documents).open(params.text_document, state.arrival);
}
