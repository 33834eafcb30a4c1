//! Tabby: segments in, one choice out, no stream.

use serde_json::{Value, json};

use super::body_check::{FieldSpec, FieldType, check_body};
use super::{Dialect, text};
use crate::{PromptHole, ReceivedRequest, Reply};

const FIELDS: &[FieldSpec] = &[
    ("language", FieldType::Text, false),
    ("segments", FieldType::Object, false),
    ("user", FieldType::Text, false),
    ("temperature", FieldType::Number, false),
    ("seed", FieldType::Count, false),
    ("mode", FieldType::Text, false),
    ("debug_options", FieldType::Object, false),
];

const SEGMENTS: &[FieldSpec] = &[
    ("prefix", FieldType::Text, true),
    ("suffix", FieldType::Text, false),
    ("filepath", FieldType::Text, false),
    ("git_url", FieldType::Text, false),
    ("declarations", FieldType::List, false),
    ("relevant_snippets_from_changed_files", FieldType::List, false),
    ("relevant_snippets_from_recently_opened_files", FieldType::List, false),
    ("clipboard", FieldType::Text, false),
    ("edit_history", FieldType::Object, false),
];

const SNIPPET: &[FieldSpec] = &[
    ("filepath", FieldType::Text, true),
    ("body", FieldType::Text, true),
    ("score", FieldType::Number, true),
];

pub(super) fn reply(dialect: &Dialect, received: &ReceivedRequest, passed_over: &mut Vec<String>) -> Reply {
    if !dialect.is_allowed(received) {
        return Reply::whole(401, "text/plain", b"");
    }
    match (received.method.as_str(), received.path.as_str()) {
        ("POST", "/v1/completions") => completion(dialect, &received.json(), passed_over),
        ("GET", "/v1/health") => Reply::json(200, &health(&dialect.model.name)),
        _ => Reply::whole(404, "text/plain", b""),
    }
}

/// Tabby's own agent stops if any of these fields is missing.
fn health(model: &str) -> Value {
    let version = json!({"build_date": "2024-11-25", "build_timestamp": "2024-11-25T00:00:00Z", "git_sha": "0000000", "git_describe": "v0.21.0"});
    json!({"model": model, "device": "cpu", "arch": "x86_64", "cpu_info": "", "cpu_count": 1, "cuda_devices": [], "version": version})
}

fn completion(dialect: &Dialect, body: &Value, passed_over: &mut Vec<String>) -> Reply {
    let refuse =
        || Reply::whole(422, "text/plain", b"Failed to deserialize the JSON body into the target type");
    let Ok((_, mut unknown)) = check_body(body, FIELDS) else { return refuse() };
    passed_over.append(&mut unknown);
    let Some(segments) = body.get("segments") else { return Reply::whole(400, "text/plain", b"") };
    let Ok((_, mut unknown)) = check_body(segments, SEGMENTS) else { return refuse() };
    passed_over.append(&mut unknown);
    for list in ["relevant_snippets_from_changed_files", "relevant_snippets_from_recently_opened_files"] {
        let snippets = segments.get(list).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        if snippets.iter().any(|snippet| check_body(snippet, SNIPPET).is_err()) {
            return refuse();
        }
    }
    let hole = PromptHole {
        prefix: text(segments, "prefix").to_owned(),
        suffix: text(segments, "suffix").to_owned(),
    };
    let choice = json!({"index": 0, "text": dialect.model.fill(&hole)});
    Reply::json(200, &json!({"id": "cmpl-1", "choices": [choice], "mode": "standard"}))
}
