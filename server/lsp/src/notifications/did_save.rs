//! `textDocument/didSave`: a file that engines may read has changed.

use tower_lsp_server::gen_lsp_types::DidSaveTextDocumentParams;
use trial::EventKind;

use crate::from_proto;
use crate::ordered_service::OrderedState;

pub(crate) fn did_save(state: &mut OrderedState, params: DidSaveTextDocumentParams) {
    let uri = params.text_document.uri;
    state.record(|_| Some(EventKind::Saved { document: from_proto::document_key(&uri) }));
    let Some(path) = from_proto::path(&uri) else { return };
    state.server.folders.note_changed(&path);
    // The path may lead through links.
    let document = state.text_sync.documents().get(&from_proto::document_key(&uri));
    let real = document.and_then(|document| document.known_real_path());
    if let Some(real) = real.filter(|real| **real != *path) {
        state.server.folders.note_changed(&real);
    }
}
