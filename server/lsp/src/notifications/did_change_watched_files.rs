//! `workspace/didChangeWatchedFiles`: files changed outside of the editor.

use std::collections::BTreeSet;

use tower_lsp_server::gen_lsp_types::DidChangeWatchedFilesParams;
use trial::EventKind;

use crate::from_proto;
use crate::ordered_service::OrderedState;

pub(crate) fn did_change_watched_files(state: &mut OrderedState, params: DidChangeWatchedFilesParams) {
    let paths: Vec<_> = params.changes.iter().filter_map(|change| from_proto::path(&change.uri)).collect();
    state.server.folders.note_all_changed(&paths);
    // Some clients name a file several times after one save; a second change would be that of another program.
    let documents: BTreeSet<_> =
        params.changes.iter().map(|change| from_proto::document_key(&change.uri)).collect();
    for document in documents {
        if state.text_sync.documents().get(&document).is_some() {
            state.record(|_| Some(EventKind::ChangedOnDisk { document }));
        }
    }
}
