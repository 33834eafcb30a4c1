//! `textDocument/didShowCompletion`: the client displayed a suggestion.

use crate::ext::DidShowCompletionParams;
use crate::ordered_service::OrderedState;

pub(crate) fn did_show_completion(state: &mut OrderedState, params: DidShowCompletionParams) {
    let id = params.item.id();
    tracing::debug!(id, known = state.server.suggestions.is_known(id), "shown");
}
