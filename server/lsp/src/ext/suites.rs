//! Messages about suites that are opened in the editor.

use serde::{Deserialize, Serialize};
use tower_lsp_server::gen_lsp_types::{Range, TextDocumentIdentifier, Uri};

use super::CaseSummary;

/// Parameters of [`SUITE`](super::SUITE) and [`OPEN_SUITE_COMMAND`](super::OPEN_SUITE_COMMAND).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SuiteParams {
    /// The suite's file.
    pub suite: Uri,
    /// Any document of the folder to open it in; if unset, the first folder is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_document: Option<TextDocumentIdentifier>,
    /// Number of the first case to list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
}

/// Result of [`SUITE`](super::SUITE).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SuiteResult {
    /// The suite's file, as in the parameters.
    pub suite: Uri,
    /// Number of cases in the suite.
    pub total: u32,
    /// Number of lines without a valid case.
    pub problems: u32,
    /// The cases from the requested one on, at most 1,000.
    pub cases: Vec<CaseSummary>,
}

/// Parameters of [`SUITE_CASE`](super::SUITE_CASE).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SuiteCaseParams {
    /// The file of an open suite.
    pub suite: Uri,
    /// Number of the case in the suite, from 0.
    pub number: u32,
}

/// Result of [`SUITE_CASE`](super::SUITE_CASE).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SuiteCaseResult {
    /// Its number.
    pub number: u32,
    /// Number of cases in the suite.
    pub total: u32,
    /// URI of the document with the code.
    pub uri: Uri,
    /// Text of this document, with a mark at the hole.
    pub text: String,
    /// Range of the mark.
    pub hole: Range,
    /// URI of the document with the answers.
    pub answers_uri: Uri,
    /// Text of this document, as Markdown: the right answer and the latest of each engine.
    pub answers: String,
    /// Location and results, with the answers.
    pub case: CaseSummary,
}
