//! `ghostbench/case`: one case with everything that is known of it.

use tower_lsp_server::jsonrpc::Result;

use crate::beside::no_case;
use crate::ext::{CaseParams, CaseResult};
use crate::moment::Moment;
use crate::server::Server;
use crate::summaries::Summaries;

pub(crate) async fn case(server: Server, params: CaseParams) -> Result<CaseResult> {
    let moment = Moment::of_request();
    for folder in server.folders.all() {
        let summaries = Summaries::of_folder(&server, &folder, &moment.documents).await?;
        if let Some(case) = summaries.known.case(&params.id) {
            let summary = summaries.with_answers(case);
            return Ok(CaseResult { summary, case: case.clone() });
        }
    }
    Err(no_case(&params.id))
}
