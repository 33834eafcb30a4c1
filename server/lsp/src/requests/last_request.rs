//! `ghostbench/lastRequest`: the last request for the ghost text of a document, and the request to an engine that it led to.

use std::time::{Duration, SystemTime};

use session::{EditorRequestRecord, EngineRequestRecord};
use text::Snippet;
use tower_lsp_server::gen_lsp_types::Position;
use tower_lsp_server::jsonrpc::Result;

use crate::ext::{LastRequest, LastRequestParams, SentContext, SentRequest};
use crate::request_context::RequestContext;
use crate::server::Server;

pub(crate) async fn last_request(
    _: Server,
    context: RequestContext,
    params: LastRequestParams,
) -> Result<Option<LastRequest>> {
    let document = context.document(&params.text_document.uri)?;
    let last = document.session.last_requests();
    let Some(editor) = last.editor else { return Ok(None) };
    let EditorRequestRecord {
        answered_at,
        position,
        is_invoked,
        engine,
        is_blind,
        status,
        reason,
        took,
        items,
    } = &*editor;
    Ok(Some(LastRequest {
        answered_at: rfc3339(*answered_at),
        position: Position::new(position.line, position.character),
        trigger: if *is_invoked { "invoked" } else { "automatic" }.to_owned(),
        engine: engine.clone().filter(|_| !is_blind),
        blind: *is_blind,
        status: status.clone(),
        // Messages of engines name them.
        reason: reason.clone().filter(|_| !(*is_blind && status == "error")),
        ms: ms(*took),
        items: items.clone(),
        sent: last.engine.map(|engine| sent_request(&engine, *is_blind)),
    }))
}

/// Returns a request to an engine, without what would reveal the engine of a blind trial: a prompt has the marks of its model.
fn sent_request(request: &EngineRequestRecord, is_blind: bool) -> SentRequest {
    SentRequest {
        sent_at: rfc3339(request.asked_at),
        engine: Some(request.engine.clone()).filter(|_| !is_blind),
        status: request.status.name().to_owned(),
        reason: request.reason.clone().filter(|_| !is_blind),
        ms: ms(request.took),
        context: request.context.iter().map(|snippet| sent_context(snippet, request.strategy)).collect(),
        prompt: request.prompt.clone().filter(|_| !is_blind),
        answer: Some(request.received.clone()).filter(|_| !is_blind),
        cut: request.is_cut,
    }
}

fn sent_context(snippet: &Snippet, strategy: &str) -> SentContext {
    let lines = u32::try_from(snippet.text.lines().count()).unwrap_or(u32::MAX);
    SentContext {
        path: snippet.path.to_string(),
        start_line: snippet.first_line,
        end_line: snippet.first_line.map(|start| start.saturating_add(lines)),
        strategy: strategy.to_owned(),
        text: snippet.text.clone(),
    }
}

fn rfc3339(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
