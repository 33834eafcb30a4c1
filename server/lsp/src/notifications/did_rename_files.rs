//! `workspace/didRenameFiles`: files and folders were renamed in the editor; their recorded cases move with them.

use tower_lsp_server::gen_lsp_types::{RenameFilesParams, Uri};
use trial::EventKind;

use crate::from_proto;
use crate::ordered_service::OrderedState;

pub(crate) fn did_rename_files(state: &mut OrderedState, params: RenameFilesParams) {
    for file in &params.files {
        let paths = [&file.old_uri, &file.new_uri].map(from_proto::path);
        let [Some(old), Some(new)] = paths else { continue };
        state.server.folders.note_renamed(&old, &new);
        state.record(|_| {
            let [from, to] =
                [&file.old_uri, &file.new_uri].map(|uri| from_proto::document_key(&Uri(uri.to_string())));
            Some(EventKind::Renamed { from, to })
        });
    }
    state.server.refresh_lenses();
}
