//! `textDocument/didShowCompletion`: the client displayed a suggestion.

use trial::EventKind;

use crate::ext::DidShowCompletionParams;
use crate::ordered_service::OrderedState;

pub(crate) fn did_show_completion(state: &mut OrderedState, params: DidShowCompletionParams) {
    let id = params.item.id();
    if let Ok(item) = id.parse() {
        state.record(|_| Some(EventKind::Shown { item }));
    }
    tracing::debug!(id, known = state.server.suggestions.is_known(id), "shown");
}
