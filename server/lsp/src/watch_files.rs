//! Asking the client to watch source files, so that what changes outside of the editor is read again.

use serde_json::json;
use syntax::Language;
use tower_lsp_server::Client;
use tower_lsp_server::gen_lsp_types::Registration;

/// Registers a watcher for every extension of every language.
pub(crate) async fn register(client: &Client) {
    let extensions: Vec<&str> =
        Language::ALL.iter().flat_map(|language| language.endings()).copied().collect();
    let pattern = format!("**/*.{{{}}}", extensions.join(","));
    let registration = Registration {
        id: "ghostbench-files".to_owned(),
        method: "workspace/didChangeWatchedFiles".to_owned(),
        register_options: Some(json!({ "watchers": [{ "globPattern": pattern }] })),
    };
    if let Err(error) = client.register_capability(vec![registration]).await {
        tracing::warn!(%error, "the client does not watch files");
    }
}
