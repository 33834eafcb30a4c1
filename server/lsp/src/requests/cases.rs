//! `ghostbench/cases`: what was recorded.

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;

use crate::ext::{CasesParams, CasesResult};
use crate::moment::Moment;
use crate::server::Server;
use crate::summaries::{Summaries, known};

pub(crate) async fn cases(server: Server, params: Option<CasesParams>) -> Result<CasesResult> {
    let moment = Moment::of_request();
    let document = params.and_then(|params| params.text_document);
    let document = document.map(|document| moment.document(&document.uri)).transpose()?;
    let home = document.map(|document| server.folders.home(&document));
    let (folders, path) = match home {
        Some(home) => (home.folder.into_iter().collect(), Some(home.path)),
        None => (server.folders.all(), None),
    };
    let mut cases = Vec::new();
    for folder in folders {
        let known = known(&server, &folder).await?;
        let mut summaries = Summaries::new(&folder, &known, &moment.documents);
        let is_wanted = |of: &str| path.as_ref().is_none_or(|path: &Arc<str>| **path == *of);
        cases.extend(known.cases.iter().filter(|case| is_wanted(&case.path)).map(|case| summaries.of(case)));
    }
    Ok(CasesResult { cases })
}
