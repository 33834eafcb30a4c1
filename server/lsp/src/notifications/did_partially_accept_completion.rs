//! `textDocument/didPartiallyAcceptCompletion`: the beginning of a suggestion was accepted.

use trial::EventKind;

use crate::ext::DidPartiallyAcceptCompletionParams;
use crate::ordered_service::OrderedState;

pub(crate) fn did_partially_accept_completion(
    state: &mut OrderedState,
    params: DidPartiallyAcceptCompletionParams,
) {
    let units = params.accepted_length as usize;
    if let Ok(item) = params.item.id().parse() {
        state.record(|_| Some(EventKind::Accepted { item, is_partial: true }));
    }
    state.server.suggestions.accept(params.item.id(), Some(units), state.text_sync.documents());
}
