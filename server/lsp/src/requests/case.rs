//! `ghostbench/case`: returns one case with its texts and results.

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;

use crate::case_summaries::CaseSummaries;
use crate::ext::{CaseParams, CaseResult};
use crate::request_context::RequestContext;
use crate::run_blocking::{no_case_error, run_blocking};
use crate::server::Server;

pub(crate) async fn case(server: Server, context: RequestContext, params: CaseParams) -> Result<CaseResult> {
    for folder in server.folders.all() {
        let summaries = CaseSummaries::of_folder(&server, &folder, &context).await?;
        let known = Arc::clone(&summaries.recorded);
        let id = params.id.clone();
        let found = run_blocking(move || {
            let Some(found) = known.case(&id)? else { return Ok(None) };
            known.suite.load(&found).map(|case| Some((found, case)))
        });
        if let Some((found, case)) = found.await? {
            return Ok(CaseResult { summary: summaries.summary_with_answers(&found), case });
        }
    }
    Err(no_case_error(&params.id))
}
