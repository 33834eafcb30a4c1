//! Asks the client to watch the workspace, so that changes outside of the editor are read.

use serde_json::json;
use tower_lsp_server::Client;
use tower_lsp_server::gen_lsp_types::Registration;

/// Registers a watcher for all files. Returns whether the client accepted.
///
/// A pattern of source files would not suffice: VS Code reports a deleted or renamed folder by one event for the folder alone,
/// and ignore files and manifests matter too. `workspace` filters the events by the rules of its walk.
pub(crate) async fn register(client: &Client) -> bool {
    let registration = Registration {
        id: "ghostbench-files".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: Some(json!({ "watchers": [{ "globPattern": "**/*" }] })),
    };
    let registered = client.register_capability(vec![registration]).await;
    if let Err(error) = &registered {
        tracing::warn!(%error, "the client does not watch files");
    }
    registered.is_ok()
}
