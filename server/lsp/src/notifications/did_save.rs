//! `textDocument/didSave`: what engines may read of the folder has changed.

use tower_lsp_server::gen_lsp_types::DidSaveTextDocumentParams;

use crate::from_proto;
use crate::ordered::State;

pub(crate) fn did_save(state: &mut State, params: DidSaveTextDocumentParams) {
    if let Some(path) = from_proto::path(&params.text_document.uri) {
        state.server.folders.changed(&path);
    }
}
