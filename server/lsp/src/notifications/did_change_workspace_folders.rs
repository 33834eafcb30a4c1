//! `workspace/didChangeWorkspaceFolders`

use tower_lsp_server::gen_lsp_types::DidChangeWorkspaceFoldersParams;

use crate::from_proto;
use crate::ordered_service::OrderedState;

pub(crate) fn did_change_workspace_folders(
    state: &mut OrderedState,
    params: DidChangeWorkspaceFoldersParams,
) {
    for root in params.event.removed.iter().filter_map(|folder| from_proto::path(&folder.uri)) {
        state.server.folders.remove(&root);
    }
    for folder in params.event.added {
        state.server.add_folder(folder);
    }
    for path in state.text_sync.documents().all().filter_map(|document| document.path.as_ref()) {
        state.server.folders.note_opened(path);
    }
}
