//! `textDocument/didClose`

use tower_lsp_server::gen_lsp_types::DidCloseTextDocumentParams;

use trial::EventKind;

use crate::from_proto;
use crate::ordered_service::OrderedState;

pub(crate) fn did_close(state: &mut OrderedState, params: DidCloseTextDocumentParams) {
    let uri = params.text_document.uri;
    if state.text_sync.close(&uri) {
        state.record(|_| Some(EventKind::Closed { document: from_proto::document_key(&uri) }));
    } else {
        state.server.warn(format!("{} is not open; its didClose is ignored", uri.0));
    }
}
