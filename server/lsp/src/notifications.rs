//! Notification handlers, one file per method; each changes the state at once and in order of arrival.

mod did_change;
mod did_change_configuration;
mod did_change_watched_files;
mod did_change_workspace_folders;
mod did_close;
mod did_dismiss_completion;
mod did_focus;
mod did_identify_change;
mod did_open;
mod did_partially_accept_completion;
mod did_rename_files;
mod did_save;
mod did_show_completion;
mod work_done_progress_cancel;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_lsp_server::jsonrpc::Request;

use crate::ext;
use crate::ordered_service::OrderedState;

/// Applies a notification to the state. Returns false if its method is not handled here.
pub(crate) fn dispatch(state: &mut OrderedState, notification: &Request) -> bool {
    match notification.method() {
        "textDocument/didOpen" => did_open::did_open(state, params(notification)),
        "textDocument/didChange" => did_change::did_change(state, params(notification)),
        "textDocument/didClose" => apply(state, notification, did_close::did_close),
        "textDocument/didSave" => apply(state, notification, did_save::did_save),
        "workspace/didChangeWatchedFiles" => {
            apply(state, notification, did_change_watched_files::did_change_watched_files);
        }
        "workspace/didRenameFiles" => apply(state, notification, did_rename_files::did_rename_files),
        "workspace/didChangeWorkspaceFolders" => {
            apply(state, notification, did_change_workspace_folders::did_change_workspace_folders);
        }
        "workspace/didChangeConfiguration" => {
            apply(state, notification, did_change_configuration::did_change_configuration);
        }
        "window/workDoneProgress/cancel" => {
            apply(state, notification, work_done_progress_cancel::work_done_progress_cancel);
        }
        ext::DID_SHOW_COMPLETION => apply(state, notification, did_show_completion::did_show_completion),
        ext::DID_PARTIALLY_ACCEPT_COMPLETION => {
            apply(state, notification, did_partially_accept_completion::did_partially_accept_completion);
        }
        ext::DID_DISMISS_COMPLETION => {
            apply(state, notification, did_dismiss_completion::did_dismiss_completion);
        }
        ext::DID_IDENTIFY_CHANGE => apply(state, notification, did_identify_change::did_identify_change),
        ext::DID_FOCUS => apply(state, notification, did_focus::did_focus),
        _ => return false,
    }
    true
}

fn apply<P: DeserializeOwned>(
    state: &mut OrderedState,
    notification: &Request,
    change: fn(&mut OrderedState, P),
) {
    match P::deserialize(params(notification)) {
        Ok(params) => change(state, params),
        // The error may quote the parameters, which may contain code.
        Err(_) => state.server.warn(format!("invalid parameters of {}", notification.method())),
    }
}

/// The parameters; `null` if there are none.
pub(crate) fn params(notification: &Request) -> &Value {
    notification.params().unwrap_or(&Value::Null)
}
