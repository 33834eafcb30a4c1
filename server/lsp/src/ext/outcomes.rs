//! Messages about what became of suggestions and changes.

use serde::{Deserialize, Serialize};
use tower_lsp_server::gen_lsp_types::TextDocumentIdentifier;

/// Parameters of [`DID_SHOW_COMPLETION`](super::DID_SHOW_COMPLETION).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidShowCompletionParams {
    /// The item as sent by the server.
    pub item: ShownItem,
}

/// Parameters of [`DID_PARTIALLY_ACCEPT_COMPLETION`](super::DID_PARTIALLY_ACCEPT_COMPLETION).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidPartiallyAcceptCompletionParams {
    /// The item as sent by the server.
    pub item: ShownItem,
    /// Length of the accepted text, in UTF-16 units from the start of the item's text.
    pub accepted_length: u32,
}

/// How a suggestion ended that was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DismissReason {
    /// The developer dismissed it by a key that does nothing else.
    Rejected,
    /// The developer did something else.
    Ignored,
}

/// Parameters of [`DID_DISMISS_COMPLETION`](super::DID_DISMISS_COMPLETION).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidDismissCompletionParams {
    /// The document.
    pub text_document: TextDocumentIdentifier,
    /// The item as sent by the server; if unset, the one that is displayed in the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ShownItem>,
    /// How it ended.
    pub reason: DismissReason,
}

/// How a change came about, as far as an editor can know better than the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdentifiedProvenance {
    /// Completed by the editor's popup menu.
    Popup,
    /// Pasted.
    Pasted,
    /// Restored or removed by undo or redo.
    Undo,
    /// Written by a formatter.
    Formatter,
    /// Written by another provider of completions, an agent or another plugin.
    OtherProvider,
}

/// Parameters of [`DID_IDENTIFY_CHANGE`](super::DID_IDENTIFY_CHANGE).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidIdentifyChangeParams {
    /// The document; its last change is meant.
    pub text_document: TextDocumentIdentifier,
    /// How it came about.
    pub provenance: IdentifiedProvenance,
}

/// The part of an item that identifies it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownItem {
    /// The item's command; its argument is the item's id.
    pub command: tower_lsp_server::gen_lsp_types::Command,
}

impl ShownItem {
    /// Returns the item's id; empty for an item of another server.
    pub fn id(&self) -> &str {
        let argument = self.command.arguments.as_ref().and_then(|arguments| arguments.first());
        argument.and_then(|id| id.as_str()).unwrap_or_default()
    }
}

/// Parameters of [`DID_FOCUS`](super::DID_FOCUS).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidFocusParams {
    /// The document that has the focus; `None` if no document has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document: Option<TextDocumentIdentifier>,
}
