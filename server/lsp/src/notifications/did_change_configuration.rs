//! `workspace/didChangeConfiguration`

use tower_lsp_server::gen_lsp_types::DidChangeConfigurationParams;

use crate::ordered_service::OrderedState;

/// Applies the configuration that comes with the notification, and requests it if the client supports that: the answer comes later
/// than the requests that follow the notification.
pub(crate) fn did_change_configuration(state: &mut OrderedState, params: DidChangeConfigurationParams) {
    if let Some(settings) = params.settings.get("ghostbench") {
        state.server.folders.set_editor_settings(settings.clone());
    }
    if state.server.handshake().is_some_and(|agreed| agreed.client_features.configuration) {
        state.server.configuration_changed.notify_one();
    }
}
