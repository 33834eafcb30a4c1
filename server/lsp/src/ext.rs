//! Our own messages: what travels between an editor and this server beside the language server protocol.
//!
//! docs/protocol.md describes each with an example, and a test keeps both in step. Shapes only: no behaviour here.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tower_lsp_server::gen_lsp_types::{
    LspNotificationMethod, MessageDirection, Position, ProgressToken, Range, TextDocumentIdentifier, Uri,
};

/// Request: makes a case of the block at a cursor. [`RecordCaseParams`] to [`RecordCaseResult`].
pub const RECORD_CASE: &str = "ghostbench/recordCase";
/// Request: lists recorded cases. [`CasesParams`] to [`CasesResult`].
pub const CASES: &str = "ghostbench/cases";
/// Request: one case with everything that is known of it. [`CaseParams`] to [`CaseResult`].
pub const CASE: &str = "ghostbench/case";
/// Request: asks the engines recorded cases again. [`ReplayParams`] to [`ReplayResult`].
pub const REPLAY: &str = "ghostbench/replay";
/// Request: how the engines compare on the recorded cases. [`ScoreboardParams`] to [`ScoreboardResult`].
pub const SCOREBOARD: &str = "ghostbench/scoreboard";
/// Request: what the server is doing. No parameters to [`ServerStatus`].
pub const STATUS: &str = "ghostbench/status";
/// Notification to the editor: the status line changed. [`DidChangeStatusParams`].
pub const DID_CHANGE_STATUS: &str = "ghostbench/didChangeStatus";
/// [`DID_CHANGE_STATUS`] as a type.
pub struct DidChangeStatus;

impl tower_lsp_server::gen_lsp_types::Notification for DidChangeStatus {
    type Params = DidChangeStatusParams;
    const METHOD: LspNotificationMethod<'static> = LspNotificationMethod::new(DID_CHANGE_STATUS);
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ServerToClient;
}

/// Notification from the editor: a suggestion was drawn. [`DidShowCompletionParams`].
pub const DID_SHOW_COMPLETION: &str = "textDocument/didShowCompletion";
/// Notification from the editor: the beginning of a suggestion was accepted. [`DidPartiallyAcceptCompletionParams`].
pub const DID_PARTIALLY_ACCEPT_COMPLETION: &str = "textDocument/didPartiallyAcceptCompletion";
/// Notification from the editor: another document has the focus. [`DidFocusParams`].
pub const DID_FOCUS: &str = "textDocument/didFocus";

/// Command that an item carries: it was accepted. One argument, the item's id.
pub const DID_ACCEPT_COMMAND: &str = "ghostbench.didAcceptCompletionItem";
/// Command of a code lens, and for key bindings: replays. One argument, [`ReplayParams`].
pub const REPLAY_COMMAND: &str = "ghostbench.replay";
/// Command for key bindings: records the block at a cursor. One argument, [`RecordCaseParams`].
pub const RECORD_CASE_COMMAND: &str = "ghostbench.recordCase";

/// Where to record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordCaseParams {
    /// The document; it must be open.
    pub text_document: TextDocumentIdentifier,
    /// The cursor.
    pub position: Position,
}

/// What was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordCaseResult {
    /// The case.
    pub case: CaseSummary,
    /// False if the suite held this very case already.
    pub added: bool,
    /// The suite's file.
    pub suite: PathBuf,
}

/// Which cases to list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CasesParams {
    /// Only those of this document; all of all folders otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document: Option<TextDocumentIdentifier>,
}

/// The cases, in the order in which they were recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CasesResult {
    /// The cases.
    pub cases: Vec<CaseSummary>,
}

/// A case without its texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseSummary {
    /// Its identity.
    pub id: String,
    /// The scenario's word.
    pub scenario: String,
    /// The variant's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The block kind's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_kind: Option<String>,
    /// The language's name.
    pub language: String,
    /// The file it was cut from.
    pub uri: Uri,
    /// That file, relative to its folder.
    pub path: String,
    /// The cursor when it was recorded, 0-based line.
    pub line: u32,
    /// Where its truth stands now, if the document is open and still holds that place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// Whether what stands there now is not what was recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
    /// What each engine made of it when it was last asked.
    pub results: Vec<EngineResult>,
}

/// What one engine made of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineResult {
    /// The engine's name.
    pub engine: String,
    /// Tells apart engines and settings whose answers may differ.
    pub fingerprint: String,
    /// The status' word: ok, silent, gated, timeout, cancelled or error.
    pub status: String,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the answer is the truth, but for white space and comments.
    pub exact: bool,
    /// Edit similarity, 0 to 100.
    pub edit_similarity: f64,
    /// Time to the whole answer, milliseconds.
    pub ms: f64,
    /// The answer, where one case is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Which case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseParams {
    /// Its identity.
    pub id: String,
}

/// One case with everything that is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseResult {
    /// Its place and results, with the answers.
    pub summary: CaseSummary,
    /// The case as it stands in the suite (docs/formats.md).
    pub case: cases::Case,
}

/// What is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReplayTarget {
    /// One case.
    Case,
    /// All cases of a document.
    File,
    /// All cases of a folder.
    Suite,
}

/// What to replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayParams {
    /// How much.
    pub target: ReplayTarget,
    /// The case's identity, for [`ReplayTarget::Case`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// The document for [`ReplayTarget::File`]; for [`ReplayTarget::Suite`] any document of the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document: Option<TextDocumentIdentifier>,
    /// Where progress is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_done_token: Option<ProgressToken>,
}

/// How a replay went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayResult {
    /// The run's folder, for `ghostbench report`.
    pub run: PathBuf,
    /// Requests made.
    pub requests: usize,
    /// Requests that were planned.
    pub planned: usize,
    /// Whether it was cancelled before all were made.
    pub cancelled: bool,
    /// The cases with what the engines made of them.
    pub cases: Vec<CaseSummary>,
}

/// Whose scoreboard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScoreboardParams {
    /// Any document of the folder; the first folder otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document: Option<TextDocumentIdentifier>,
}

/// How the engines compare on the recorded cases of a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScoreboardResult {
    /// The suite's file.
    pub suite: PathBuf,
    /// Cases in the suite.
    pub cases: usize,
    /// The last replay of the whole suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<PathBuf>,
    /// Its summary as `ghostbench report --json` prints it (docs/formats.md).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<serde_json::Value>,
    /// The same for people, in Markdown.
    pub markdown: String,
    /// The same as `ghostbench report` prints it, in columns.
    pub text: String,
}

/// What the server is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerStatus {
    /// The server's version.
    pub version: String,
    /// utf-8, utf-16 or utf-32.
    pub position_encoding: String,
    /// The workspace's folders.
    pub folders: Vec<FolderStatus>,
    /// The engines of the first folder; the first one writes the ghost text.
    pub engines: Vec<EngineStatus>,
    /// Questions that an engine is working on.
    pub busy: usize,
    /// How the last request for a completion ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_completion: Option<CompletionStatus>,
    /// Where the server writes its log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_file: Option<PathBuf>,
}

/// What is known of a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FolderStatus {
    /// The folder.
    pub uri: Uri,
    /// Its name.
    pub name: String,
    /// indexing, ready or failed.
    pub state: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Source files that engines may read.
    pub files: usize,
    /// Their lines.
    pub lines: usize,
    /// The suite's file.
    pub suite: PathBuf,
}

/// An engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineStatus {
    /// The user's name for it.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Its model.
    pub model: String,
    /// Why it is not asked, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is wrong with it since it last wrote ghost text, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// How a request for a completion ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletionStatus {
    /// The status' word: ok, reused, silent, gated, superseded, timeout or error.
    pub status: String,
    /// Why there was no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// From the request's arrival to its answer, milliseconds.
    pub ms: f64,
}

/// The status line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidChangeStatusParams {
    /// Whether something takes a while.
    pub busy: bool,
    /// normal or warning.
    pub kind: String,
    /// What to tell.
    pub message: String,
}

/// A suggestion that was drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidShowCompletionParams {
    /// The item as it was answered.
    pub item: ShownItem,
}

/// A suggestion of which the beginning was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidPartiallyAcceptCompletionParams {
    /// The item as it was answered.
    pub item: ShownItem,
    /// UTF-16 units from the start of the item's text.
    pub accepted_length: u32,
}

/// As much of an item as says which one it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownItem {
    /// The item's command; its argument is the item's id.
    pub command: tower_lsp_server::gen_lsp_types::Command,
}

impl ShownItem {
    /// The item's id; empty for an item that is not ours.
    pub fn id(&self) -> &str {
        let argument = self.command.arguments.as_ref().and_then(|arguments| arguments.first());
        argument.and_then(|id| id.as_str()).unwrap_or_default()
    }
}

/// The document that has the focus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidFocusParams {
    /// None when no document has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document: Option<TextDocumentIdentifier>,
}
