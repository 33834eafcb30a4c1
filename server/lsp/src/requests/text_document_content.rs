//! `workspace/textDocumentContent`: the text of a document that shows a case of an open suite.

use tower_lsp_server::gen_lsp_types::{TextDocumentContentParams, TextDocumentContentResult};
use tower_lsp_server::jsonrpc::{Error, Result};

use crate::case_title;
use crate::request_context::RequestContext;
use crate::requests::suite::find_case;
use crate::run_blocking::request_failed;
use crate::server::Server;
use crate::suite_document::{self, SuiteDocument};

pub(crate) async fn text_document_content(
    server: Server,
    context: RequestContext,
    params: TextDocumentContentParams,
) -> Result<TextDocumentContentResult> {
    let (id, document) = suite_document::parse_uri(&params.uri)
        .ok_or_else(|| Error::invalid_params(format!("{} is not a document of a suite", params.uri.0)))?;
    let found = find_case(&server, &context, &id).await?;
    let (summaries, recorded, case) =
        found.ok_or_else(|| request_failed("the suite of this case is not open any more; open it again"))?;
    let text = match document {
        SuiteDocument::Code => suite_document::case_text(&case).text,
        SuiteDocument::Answers => {
            let summary = summaries.summary_with_answers(&recorded);
            suite_document::answers_text(&case, &summary, &case_title::scenario(&summary))
        }
    };
    Ok(TextDocumentContentResult { text })
}
