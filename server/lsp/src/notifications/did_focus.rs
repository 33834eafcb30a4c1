//! `textDocument/didFocus`: accepted as Copilot's clients send it. Nothing depends on the focus yet.

use crate::ext::DidFocusParams;
use crate::ordered_service::OrderedState;

pub(crate) fn did_focus(_: &mut OrderedState, params: DidFocusParams) {
    tracing::debug!(has_document = params.text_document.is_some(), "focus");
}
