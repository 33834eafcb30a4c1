//! `ghostbench/cases`: what was recorded.

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;

use crate::beside::beside;
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
        let (known, path) = (Arc::clone(&summaries.known), path.clone());
        let wanted = beside(move || path.map_or_else(|| known.suite.cases(), |path| known.of_file(&path)));
        cases.extend(wanted.await?.iter().map(|case| summaries.of(case)));
    }
    Ok(CasesResult { cases })
}
