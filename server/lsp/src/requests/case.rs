//! `ghostbench/case`: one case with everything that is known of it.

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;

use crate::beside::{beside, no_case};
use crate::ext::{CaseParams, CaseResult};
use crate::moment::Moment;
use crate::server::Server;
use crate::summaries::Summaries;

pub(crate) async fn case(server: Server, params: CaseParams) -> Result<CaseResult> {
    let moment = Moment::of_request();
    for folder in server.folders.all() {
        let summaries = Summaries::of_folder(&server, &folder, &moment.documents).await?;
        let known = Arc::clone(&summaries.known);
        let id = params.id.clone();
        let found = beside(move || {
            let Some(found) = known.case(&id)? else { return Ok(None) };
            known.suite.load(&found).map(|case| Some((found, case)))
        });
        if let Some((found, case)) = found.await? {
            return Ok(CaseResult { summary: summaries.with_answers(&found), case });
        }
    }
    Err(no_case(&params.id))
}
