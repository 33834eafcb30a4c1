//! `ghostbench/case`: one case with everything that is known of it.

use tower_lsp_server::jsonrpc::{Error, Result};

use crate::ext::{CaseParams, CaseResult};
use crate::moment::Moment;
use crate::server::Server;
use crate::summaries::{Summaries, known};

pub(crate) async fn case(server: Server, params: CaseParams) -> Result<CaseResult> {
    let moment = Moment::of_request();
    for folder in server.folders.all() {
        let known = known(&server, &folder).await?;
        if let Some(case) = known.case(&params.id) {
            let summary = Summaries::new(&folder, &known, &moment.documents).with_answers(case);
            return Ok(CaseResult { summary, case: case.clone() });
        }
    }
    Err(no_case(&params.id))
}

/// What to tell somebody who asks for a case that is not there.
pub(crate) fn no_case(id: &str) -> Error {
    Error::invalid_params(format!("no case {id} is recorded in these folders; ghostbench/cases lists them"))
}
