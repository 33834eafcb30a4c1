//! Asking the client to watch the workspace, so that what changes outside of the editor is read again.

use serde_json::json;
use tower_lsp_server::Client;
use tower_lsp_server::gen_lsp_types::Registration;

/// Registers a watcher for everything; says whether the client agreed.
///
/// A pattern of source files would not do: VS Code tells of a folder that was deleted or renamed by one event for the folder alone, and
/// ignore files and manifests count too. What is of no interest `workspace` finds out, by the rules that it walks by.
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
