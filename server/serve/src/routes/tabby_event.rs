//! Tabby's `/v1/events`: what became of a completion.

use serde_json::Value;

use super::text;
use crate::trial_link::{CompletionEvent, CompletionEventKind};

/// Parses an event; `None` for events that say nothing about a completion.
pub(crate) fn parse(path: &str, body: &[u8]) -> Option<CompletionEvent> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let kind = match text(&body, "type")? {
        "view" => CompletionEventKind::Shown,
        // The kind of a selection is in the query: a line instead of the whole block.
        "select" => CompletionEventKind::Accepted { is_partial: path.contains("select_kind=line") },
        "dismiss" => CompletionEventKind::Dismissed,
        _ => return None,
    };
    Some(CompletionEvent { completion: text(&body, "completion_id")?.to_owned(), kind })
}
