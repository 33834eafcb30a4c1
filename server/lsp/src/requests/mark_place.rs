//! The commands `ghostbench.shouldHaveSuggested` and `ghostbench.notWanted`: mark a cursor for the trial.
//!
//! The ordering layer has opened the opportunity already; here it is decided whether it is recorded.

use tower_lsp_server::jsonrpc::Result;

use crate::ext::MarkPlaceParams;
use crate::request_context::RequestContext;
use crate::run_blocking::request_failed;
use crate::server::Server;
use recording::document_facts;

pub(crate) async fn mark_place(
    server: Server,
    context: RequestContext,
    params: MarkPlaceParams,
) -> Result<()> {
    let document = context.document(&params.text_document.uri)?;
    context.offset(&document, params.position)?;
    let facts = document_facts(&server.session, &document).await;
    let is_recorded = facts.is_some();
    server.trial.describe(&document, facts);
    if is_recorded {
        return Ok(());
    }
    Err(request_failed(
        "the place is not recorded: no trial runs in the document's folder, or the file is left out; start one with `ghostbench trial start`",
    ))
}
