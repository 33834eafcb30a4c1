//! `textDocument/codeLens`: shows recorded cases and their results.

use std::sync::Arc;

use serde_json::json;
use tower_lsp_server::gen_lsp_types::{CodeLens, CodeLensParams, Command, Range};
use tower_lsp_server::jsonrpc::Result;

use crate::case_summaries::CaseSummaries;
use crate::ext::{CaseSummary, EngineResult, REPLAY_COMMAND};
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
    let summaries = CaseSummaries::of_folder(&server, &folder, &context).await?;
    let (known, path) = (Arc::clone(&summaries.recorded), home.path);
    let cases = run_blocking(move || known.of_file(&path)).await?;
    Ok(Some(cases.iter().filter_map(|case| lens(&summaries.summary(case))).collect()))
}

/// A click replays the case.
fn lens(case: &CaseSummary) -> Option<CodeLens> {
    let command = Command {
        title: title(case),
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

fn title(case: &CaseSummary) -> String {
    let cut = match &case.variant {
        Some(variant) => format!("{}/{variant}", case.scenario),
        None => case.scenario.clone(),
    };
    let edited = if case.edited { ", edited since" } else { "" };
    let results: Vec<String> = case.results.iter().map(result).collect();
    let results = if results.is_empty() { "not replayed yet".to_owned() } else { results.join(" | ") };
    format!("{cut}{edited}: {results}")
}

fn result(result: &EngineResult) -> String {
    let EngineResult { engine, status, exact, edit_similarity, ms, .. } = result;
    let verdict = match status.as_str() {
        _ if *exact => "exact".to_owned(),
        "ok" => format!("{edit_similarity:.0} % similar"),
        other => other.to_owned(),
    };
    format!("{engine} {verdict}, {ms:.1} ms")
}
