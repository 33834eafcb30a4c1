//! `ghostbench/cases`: what was recorded.

use std::sync::Arc;

use cases::Case;
use tower_lsp_server::jsonrpc::Result;

use crate::ext::{CasesParams, CasesResult};
use crate::moment::Moment;
use crate::server::Server;
use crate::summaries::Summaries;

pub(crate) async fn cases(server: Server, params: Option<CasesParams>) -> Result<CasesResult> {
    let moment = Moment::of_request();
    let document = params.and_then(|params| params.text_document);
    let document = document.map(|document| moment.document(&document.uri)).transpose()?;
    let (folders, path) = match document {
        Some(document) => {
            let home = server.folders.home(&document).await;
            (home.folder.into_iter().collect(), Some(home.path))
        }
        None => (server.folders.all(), None),
    };
    let mut cases = Vec::new();
    for folder in folders {
        let summaries = Summaries::of_folder(&server, &folder, &moment.documents).await?;
        let is_wanted = |case: &&Case| path.as_ref().is_none_or(|path: &Arc<str>| **path == *case.path);
        cases.extend(summaries.known.cases.iter().filter(is_wanted).map(|case| summaries.of(case)));
    }
    Ok(CasesResult { cases })
}
