//! `ghostbench/cases`: lists recorded cases, and those of open suites in a document.

use std::sync::Arc;

use tower_lsp_server::jsonrpc::Result;

use crate::case_summaries::CaseSummaries;
use crate::ext::{CasesParams, CasesResult};
use crate::request_context::RequestContext;
use crate::run_blocking::run_blocking;
use crate::server::Server;

pub(crate) async fn cases(
    server: Server,
    context: RequestContext,
    params: Option<CasesParams>,
) -> Result<CasesResult> {
    let document = params.and_then(|params| params.text_document);
    let document = document.map(|document| context.document(&document.uri)).transpose()?;
    let (folders, path) = match document {
        Some(document) => {
            let home = server.folders.locate(&document).await;
            (home.folder.into_iter().collect(), Some(home.path))
        }
        None => (server.folders.all(), None),
    };
    let mut cases = Vec::new();
    for folder in folders {
        // A whole suite that was opened can be large; ghostbench/suite lists it in parts.
        let suites = match path {
            Some(_) => folder.suites(),
            None => vec![Arc::clone(&folder.recorded_cases)],
        };
        for suite in suites {
            let summaries = CaseSummaries::of_suite(&server, &folder, &suite, &context).await?;
            let (known, path) = (Arc::clone(&summaries.recorded), path.clone());
            let wanted =
                run_blocking(move || path.map_or_else(|| known.suite.cases(), |path| known.of_file(&path)));
            cases.extend(wanted.await?.iter().map(|case| summaries.summary(case)));
        }
    }
    Ok(CasesResult { cases })
}
