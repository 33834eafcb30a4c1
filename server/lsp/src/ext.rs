//! The server's own messages, beyond the language server protocol.
//!
//! docs/protocol.md describes each with an example; a test keeps it in sync with the types. Types only: no behavior here.

mod inspection;
mod outcomes;
mod pages;
mod suites;
mod trials;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tower_lsp_server::gen_lsp_types::{
    LspNotificationMethod, MessageDirection, Position, ProgressToken, Range, TextDocumentIdentifier, Uri,
};

pub use self::inspection::*;
pub use self::outcomes::*;
pub use self::pages::*;
pub use self::suites::*;
pub use self::trials::*;

/// Request: records the block at the cursor as a case. [`RecordCaseParams`] to [`RecordCaseResult`].
pub const RECORD_CASE: &str = "ghostbench/recordCase";
/// Request: lists recorded cases. [`CasesParams`] to [`CasesResult`].
pub const CASES: &str = "ghostbench/cases";
/// Request: returns one case with its texts and results. [`CaseParams`] to [`CaseResult`].
pub const CASE: &str = "ghostbench/case";
/// Request: replays recorded cases with the engines. [`ReplayParams`] to [`ReplayResult`].
pub const REPLAY: &str = "ghostbench/replay";
/// Request: compares the engines on the recorded cases. [`ScoreboardParams`] to [`ScoreboardResult`].
pub const SCOREBOARD: &str = "ghostbench/scoreboard";
/// Request: opens a suite and lists its cases. [`SuiteParams`] to [`SuiteResult`].
pub const SUITE: &str = "ghostbench/suite";
/// Request: returns a case of an open suite as a document. [`SuiteCaseParams`] to [`SuiteCaseResult`].
pub const SUITE_CASE: &str = "ghostbench/suiteCase";
/// Request: returns the server's status. No parameters to [`ServerStatus`].
pub const STATUS: &str = "ghostbench/status";
/// Request: lets simulated time pass. [`AdvanceTimeParams`] to `null`.
pub const ADVANCE_TIME: &str = "ghostbench/advanceTime";
/// Notification to the editor: the status line changed. [`DidChangeStatusParams`].
pub const DID_CHANGE_STATUS: &str = "ghostbench/didChangeStatus";
/// [`DID_CHANGE_STATUS`] as a type.
pub struct DidChangeStatus;

impl tower_lsp_server::gen_lsp_types::Notification for DidChangeStatus {
    type Params = DidChangeStatusParams;
    const METHOD: LspNotificationMethod<'static> = LspNotificationMethod::new(DID_CHANGE_STATUS);
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ServerToClient;
}

/// Request: returns the state of the live trial of a folder. [`TrialParams`] to [`TrialState`].
pub const TRIAL: &str = "ghostbench/trial";
/// Request: starts a live trial in a folder. [`StartTrialParams`] to [`StartTrialResult`].
pub const START_TRIAL: &str = "ghostbench/startTrial";
/// Request: stops the live trial of a folder. [`TrialParams`] to [`StopTrialResult`].
pub const STOP_TRIAL: &str = "ghostbench/stopTrial";
/// Notification to the editor: the state of the live trial of a folder changed. [`TrialState`].
pub const DID_CHANGE_TRIAL: &str = "ghostbench/didChangeTrial";
/// [`DID_CHANGE_TRIAL`] as a type.
pub struct DidChangeTrial;

impl tower_lsp_server::gen_lsp_types::Notification for DidChangeTrial {
    type Params = TrialState;
    const METHOD: LspNotificationMethod<'static> = LspNotificationMethod::new(DID_CHANGE_TRIAL);
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ServerToClient;
}

/// Request: pauses the recording of trials in all folders. [`PauseRecordingParams`] to [`PauseRecordingResult`].
pub const PAUSE_RECORDING: &str = "ghostbench/pauseRecording";
/// Request: ends a pause. No parameters to `null`.
pub const RESUME_RECORDING: &str = "ghostbench/resumeRecording";
/// Request: deletes what trials recorded lately. [`ForgetParams`] to [`ForgetResult`].
pub const FORGET: &str = "ghostbench/forget";
/// Request: returns the last request for the ghost text of a document. [`LastRequestParams`] to [`LastRequest`] or `null`.
pub const LAST_REQUEST: &str = "ghostbench/lastRequest";
/// Request: returns the truth of a case and the answers to it. [`AnswersParams`] to [`AnswersResult`].
pub const ANSWERS: &str = "ghostbench/answers";
/// Request: returns a report as a page. [`PageParams`] to [`PageResult`].
pub const PAGE: &str = "ghostbench/page";

/// Notification from the editor: a suggestion is not displayed any more, and was not accepted. [`DidDismissCompletionParams`].
pub const DID_DISMISS_COMPLETION: &str = "ghostbench/didDismissCompletion";
/// Notification from the editor: how the last change of a document came about. [`DidIdentifyChangeParams`].
pub const DID_IDENTIFY_CHANGE: &str = "ghostbench/didIdentifyChange";

/// Notification from the editor: a suggestion was displayed. [`DidShowCompletionParams`].
pub const DID_SHOW_COMPLETION: &str = "textDocument/didShowCompletion";
/// Notification from the editor: the beginning of a suggestion was accepted. [`DidPartiallyAcceptCompletionParams`].
pub const DID_PARTIALLY_ACCEPT_COMPLETION: &str = "textDocument/didPartiallyAcceptCompletion";
/// Notification from the editor: another document has the focus. [`DidFocusParams`].
pub const DID_FOCUS: &str = "textDocument/didFocus";

/// Command of an item: the item was accepted. One argument, the item's id.
pub const DID_ACCEPT_COMMAND: &str = "ghostbench.didAcceptCompletionItem";
/// Command of a code lens, and for key bindings: starts a replay. One argument, [`ReplayParams`].
pub const REPLAY_COMMAND: &str = "ghostbench.replay";
/// Command for key bindings: records the block at a cursor. One argument, [`RecordCaseParams`].
pub const RECORD_CASE_COMMAND: &str = "ghostbench.recordCase";
/// Command for key bindings: opens a suite. One argument, [`SuiteParams`].
pub const OPEN_SUITE_COMMAND: &str = "ghostbench.openSuite";

/// Scheme of the documents of suites.
pub(crate) const SUITE_SCHEME: &str = "ghostbench-suite";

/// Command for key bindings: a suggestion is missing at a cursor; what is written there is recorded. One argument, [`MarkPlaceParams`].
pub const SHOULD_HAVE_SUGGESTED_COMMAND: &str = "ghostbench.shouldHaveSuggested";
/// Command for key bindings: nothing should have been suggested at a cursor. One argument, [`MarkPlaceParams`].
pub const NOT_WANTED_COMMAND: &str = "ghostbench.notWanted";

/// Parameters of [`RECORD_CASE`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordCaseParams {
    /// The document; it must be open.
    pub text_document: TextDocumentIdentifier,
    /// The cursor.
    pub position: Position,
}

/// Result of [`RECORD_CASE`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordCaseResult {
    /// The case.
    pub case: CaseSummary,
    /// False if the suite already contains this case.
    pub added: bool,
    /// The suite's file.
    pub suite: PathBuf,
}

/// Parameters of [`CASES`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CasesParams {
    /// The document whose cases to list; if unset, lists the cases of all folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document: Option<TextDocumentIdentifier>,
}

/// Result of [`CASES`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CasesResult {
    /// The cases, in the order in which they were recorded.
    pub cases: Vec<CaseSummary>,
}

/// A case without its texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseSummary {
    /// Case id.
    pub id: String,
    /// Scenario.
    pub scenario: String,
    /// Variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Block kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_kind: Option<String>,
    /// Language name.
    pub language: String,
    /// File the case was recorded in.
    pub uri: Uri,
    /// Path of that file, relative to its folder.
    pub path: String,
    /// Line of the cursor when the case was recorded, 0-based.
    pub line: u32,
    /// Current range of the truth, if the document is open and still contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// Whether the text in `range` differs from the recorded text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
    /// Latest result of each engine.
    pub results: Vec<EngineResult>,
}

/// Result of one engine for one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineResult {
    /// The engine's name.
    pub engine: String,
    /// Fingerprint: differs between engines and settings whose answers may differ.
    pub fingerprint: String,
    /// One of ok, silent, gated, timeout, cancelled and error.
    pub status: String,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the answer equals the truth, ignoring white space and comments.
    pub exact: bool,
    /// Edit similarity, 0 to 100.
    pub edit_similarity: f64,
    /// Time to the complete answer, milliseconds.
    pub ms: f64,
    /// Whether the unit tests of the case pass with the answer in its place; unset if no test judged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// The answer; only in the result of [`CASE`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Parameters of [`CASE`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseParams {
    /// Case id.
    pub id: String,
}

/// Result of [`CASE`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseResult {
    /// Location and results, with the answers.
    pub summary: CaseSummary,
    /// The case as stored in the suite (docs/formats.md).
    pub case: cases::Case,
}

/// Scope of a replay.
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

/// Parameters of [`REPLAY`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayParams {
    /// Scope.
    pub target: ReplayTarget,
    /// Case id, for [`ReplayTarget::Case`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// The document for [`ReplayTarget::File`]; for [`ReplayTarget::Suite`] any document of the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document: Option<TextDocumentIdentifier>,
    /// For [`ReplayTarget::Suite`], an open suite; default: the recorded cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Uri>,
    /// Token for progress reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_done_token: Option<ProgressToken>,
}

/// Result of [`REPLAY`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayResult {
    /// The run's folder, for `ghostbench report`.
    pub run: PathBuf,
    /// Number of requests made.
    pub requests: usize,
    /// Number of requests planned.
    pub planned: usize,
    /// Whether the replay was cancelled before all requests were made.
    pub cancelled: bool,
    /// The cases with their results.
    pub cases: Vec<CaseSummary>,
}

/// Parameters of [`SCOREBOARD`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScoreboardParams {
    /// Any document of the folder; if unset, the first folder is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document: Option<TextDocumentIdentifier>,
    /// Whether to compare the arms of the folder's last trial, instead of the engines on recorded cases.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trial: bool,
}

/// Result of [`SCOREBOARD`]: compares the engines on the recorded cases of a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScoreboardResult {
    /// The suite's file.
    pub suite: PathBuf,
    /// Number of cases in the suite.
    pub cases: usize,
    /// Latest replay of the whole suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<PathBuf>,
    /// Name of the trial, if its arms are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<String>,
    /// The summary as `ghostbench report --json` prints it, or `ghostbench trial scoreboard --json` (docs/formats.md).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<serde_json::Value>,
    /// The summary as Markdown.
    pub markdown: String,
    /// The summary in columns, as `ghostbench report` prints it.
    pub text: String,
}

/// The server's status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerStatus {
    /// The server's version.
    pub version: String,
    /// One of utf-8, utf-16 and utf-32.
    pub position_encoding: String,
    /// The workspace's folders.
    pub folders: Vec<FolderStatus>,
    /// Engines of the first folder; the first one writes the ghost text.
    pub engines: Vec<EngineStatus>,
    /// Number of requests that engines are processing.
    pub busy: usize,
    /// Outcome of the last completion request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_completion: Option<CompletionStatus>,
    /// The trial that runs in the first folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<TrialStatus>,
    /// The server's log file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_file: Option<PathBuf>,
}

/// Status of a folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FolderStatus {
    /// The folder.
    pub uri: Uri,
    /// Its name.
    pub name: String,
    /// One of indexing, ready and failed.
    pub state: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Number of source files available to engines.
    pub files: usize,
    /// Number of lines in them.
    pub lines: usize,
    /// The suite's file.
    pub suite: PathBuf,
}

/// Status of an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineStatus {
    /// Name given by the user.
    pub name: String,
    /// Kind.
    pub kind: String,
    /// Model.
    pub model: String,
    /// Its uses: ghostText, replay, and arm of a trial whose arms are not hidden.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// Its usual time for ghost text in milliseconds; absent if unknown, and during a trial whose arms are hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<f64>,
    /// Why it is unavailable, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Fault since its last answer, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// Outcome of a completion request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletionStatus {
    /// One of ok, reused, silent, gated, superseded, timeout and error.
    pub status: String,
    /// Why there was no suggestion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Time from the request's arrival to its answer, milliseconds.
    pub ms: f64,
}

/// Parameters of [`ADVANCE_TIME`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvanceTimeParams {
    /// Milliseconds that pass. If negative, none pass, and the date is set back.
    pub ms: i64,
}

/// Content of the status line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidChangeStatusParams {
    /// Whether a long operation is running.
    pub busy: bool,
    /// One of normal and warning.
    pub kind: String,
    /// Text to show.
    pub message: String,
}
