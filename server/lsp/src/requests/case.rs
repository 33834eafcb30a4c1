//! `ghostbench/case`: returns one case with its texts and results.

use tower_lsp_server::jsonrpc::Result;

use crate::ext::{CaseParams, CaseResult};
use crate::request_context::RequestContext;
use crate::requests::suite::find_case;
use crate::run_blocking::no_case_error;
use crate::server::Server;

pub(crate) async fn case(server: Server, context: RequestContext, params: CaseParams) -> Result<CaseResult> {
    match find_case(&server, &context, &params.id).await? {
        Some((summaries, found, case)) => {
            Ok(CaseResult { summary: summaries.summary_with_answers(&found), case })
        }
        None => Err(no_case_error(&params.id)),
    }
}
