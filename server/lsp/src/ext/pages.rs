//! Messages about views that editors show: reports as pages, and the answers to a case beside each other.

use serde::{Deserialize, Serialize};
use tower_lsp_server::gen_lsp_types::TextDocumentIdentifier;

use super::{CaseSummary, EngineResult};

/// Subject of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PageKind {
    /// The last trial.
    Trial,
    /// The latest replay of all recorded cases.
    Replay,
}

/// Parameters of [`PAGE`](super::PAGE).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageParams {
    /// Subject of the report.
    pub kind: PageKind,
    /// Any document of the folder; if unset, the first folder is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document: Option<TextDocumentIdentifier>,
}

/// Result of [`PAGE`](super::PAGE).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageResult {
    /// Its title.
    pub title: String,
    /// One HTML page that loads nothing.
    pub html: String,
}

/// Parameters of [`ANSWERS`](super::ANSWERS).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswersParams {
    /// Case id.
    pub case: String,
}

/// Result of [`ANSWERS`](super::ANSWERS): the truth of a case and the answers to it, to be shown beside each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswersResult {
    /// The case.
    pub case: CaseSummary,
    /// The case in words.
    pub title: String,
    /// The last lines before the truth.
    pub before: String,
    /// The right answer.
    pub truth: String,
    /// The first lines after it.
    pub after: String,
    /// The latest answer of each engine, with its text.
    pub answers: Vec<EngineResult>,
}
