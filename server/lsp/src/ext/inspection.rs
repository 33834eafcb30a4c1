//! Messages that show developers the last request, and let them pause and undo recording.

use serde::{Deserialize, Serialize};
use tower_lsp_server::gen_lsp_types::{Position, TextDocumentIdentifier};

/// Parameters of [`LAST_REQUEST`](super::LAST_REQUEST).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastRequestParams {
    /// The document; it must be open.
    pub text_document: TextDocumentIdentifier,
}

/// Result of [`LAST_REQUEST`](super::LAST_REQUEST): the last request for ghost text of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastRequest {
    /// Time of its answer, RFC 3339 in UTC.
    pub answered_at: String,
    /// The cursor.
    pub position: Position,
    /// One of automatic and invoked.
    pub trigger: String,
    /// Name of the engine that writes; absent if none was chosen, and while the developer must not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Whether the engine is hidden because of a trial.
    pub blind: bool,
    /// One of ok, reused, silent, gated, superseded, timeout and error.
    pub status: String,
    /// Why there was no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Time from its arrival to its answer, milliseconds.
    pub ms: f64,
    /// The texts that were offered, the best one first.
    pub items: Vec<String>,
    /// The last request to an engine for this document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<SentRequest>,
}

/// A request to an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentRequest {
    /// When it was sent, RFC 3339 in UTC.
    pub sent_at: String,
    /// Name of the engine; absent while the developer must not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// One of ok, silent, gated, timeout, cancelled and error.
    pub status: String,
    /// Why there was no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Time to its end, milliseconds.
    pub ms: f64,
    /// Code from elsewhere that it contained, nearest first.
    pub context: Vec<SentContext>,
    /// The prompt; absent for engines without one, and while the developer must not know the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The answer as it was received; absent while the developer must not know the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Whether the prompt or the answer was cut for its length.
    pub cut: bool,
}

/// Code from elsewhere in a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentContext {
    /// Its file, relative to the workspace folder.
    pub path: String,
    /// Its first line, 0-based; absent if it was assembled from several places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u32>,
    /// The line after its last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// The strategy that chose it.
    pub strategy: String,
    /// The code.
    pub text: String,
}

/// Parameters of [`PAUSE_RECORDING`](super::PAUSE_RECORDING).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PauseRecordingParams {
    /// Duration in minutes; if unset, an hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u32>,
}

/// Result of [`PAUSE_RECORDING`](super::PAUSE_RECORDING).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PauseRecordingResult {
    /// When recording resumes, RFC 3339 in UTC.
    pub until: String,
}

/// Parameters of [`FORGET`](super::FORGET).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForgetParams {
    /// How far back, in minutes.
    pub minutes: u32,
}

/// Result of [`FORGET`](super::FORGET).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForgetResult {
    /// Number of opportunities that were deleted.
    pub forgotten: usize,
}
