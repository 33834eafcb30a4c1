//! `textDocument/codeLens`: shows recorded cases, those of open suites, and their results.

use std::sync::Arc;

use serde_json::json;
use tower_lsp_server::gen_lsp_types::{CodeLens, CodeLensParams, Command, Range};
use tower_lsp_server::jsonrpc::Result;

use crate::case_summaries::CaseSummaries;
use crate::case_title;
use crate::ext::{CaseSummary, REPLAY_COMMAND};
use crate::request_context::{RequestContext, ensure_synchronized};
use crate::run_blocking::run_blocking;
use crate::server::Server;

pub(crate) async fn code_lens(
    server: Server,
    context: RequestContext,
    params: CodeLensParams,
) -> Result<Option<Vec<CodeLens>>> {
    let document = context.document(&params.text_document.uri)?;
    ensure_synchronized(&document)?;
    let home = server.folders.locate(&document).await;
    let Some(folder) = home.folder else { return Ok(None) };
    let mut lenses = Vec::new();
    for suite in folder.suites() {
        let summaries = CaseSummaries::of_suite(&server, &folder, &suite, &context).await?;
        let (known, path) = (Arc::clone(&summaries.recorded), Arc::clone(&home.path));
        let cases = run_blocking(move || known.of_file(&path)).await?;
        lenses.extend(cases.iter().filter_map(|case| lens(&summaries.summary(case))));
    }
    Ok(Some(lenses))
}

/// A click replays the case.
fn lens(case: &CaseSummary) -> Option<CodeLens> {
    let command = Command {
        title: case_title::with_results(case),
        tooltip: Some("Replay this case".to_owned()),
        command: REPLAY_COMMAND.to_owned(),
        arguments: Some(vec![json!({ "target": "case", "case": case.id })]),
    };
    Some(CodeLens { range: on_one_line(case.range?), command: Some(command), data: None })
}

/// A lens must not span several lines; it is at the start of the recorded range.
fn on_one_line(range: Range) -> Range {
    if range.start.line == range.end.line { range } else { Range::new(range.start, range.start) }
}
