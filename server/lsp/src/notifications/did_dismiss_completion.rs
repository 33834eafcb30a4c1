//! `ghostbench/didDismissCompletion`: a suggestion is not displayed any more.

use cases::OutcomeKind;
use trial::EventKind;

use crate::ext::{DidDismissCompletionParams, DismissReason};
use crate::from_proto;
use crate::ordered_service::OrderedState;

pub(crate) fn did_dismiss_completion(state: &mut OrderedState, params: DidDismissCompletionParams) {
    let kind = match params.reason {
        DismissReason::Rejected => OutcomeKind::Rejected,
        DismissReason::Ignored => OutcomeKind::Ignored,
    };
    let item = match params.item.map(|item| item.id().parse()) {
        Some(Err(_)) => return tracing::debug!("an item of another server was dismissed"),
        item => item.and_then(Result::ok),
    };
    let document = from_proto::document_key(&params.text_document.uri);
    if let Some(open) =
        state.text_sync.documents().get(&document).filter(|_| params.reason == DismissReason::Rejected)
    {
        let id = item.map(|item: u64| item.to_string());
        state.server.suggestions.reject(id.as_deref(), open);
    }
    state.record(|_| Some(EventKind::Dismissed { document, item, kind }));
}
