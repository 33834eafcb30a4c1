//! Mistral: rejects unknown fields, and answers fill-in-the-middle requests in the format of chats.

use serde_json::{Value, json};

use super::check::{Field, Is, Wrong, check};
use super::streams::{Shape, no_more};
use super::{Dialect, count, openai, streams, text, texts};
use crate::model::Generation;
use crate::{Hole, Received, Reply};

const FIELDS: &[Field] = &[
    ("model", Is::Text, true),
    ("prompt", Is::Text, true),
    ("suffix", Is::Text, false),
    ("max_tokens", Is::Count, false),
    ("min_tokens", Is::Count, false),
    ("temperature", Is::Number, false),
    ("top_p", Is::Number, false),
    ("stop", Is::Texts, false),
    ("stream", Is::Flag, false),
    ("random_seed", Is::Count, false),
];

const SHAPE: Shape = Shape { is_chat: true, begins_with_role: true, counts_when_asked: false, more: no_more };

pub(super) fn reply(dialect: &Dialect, received: &Received, _passed_over: &mut Vec<String>) -> Reply {
    if !dialect.is_allowed(received) {
        return Reply::json(401, &json!({"detail": "Unauthorized"}));
    }
    match (received.method.as_str(), received.path.as_str()) {
        ("POST", "/v1/fim/completions") => completion(dialect, &received.json()),
        ("GET", "/v1/models") => openai::models(dialect),
        _ => Reply::json(404, &json!({"message": "no Route matched with those values"})),
    }
}

fn refuse(kind: &str, field: &str, message: &str) -> Reply {
    Reply::json(
        422,
        &json!({"detail": [{"type": kind, "loc": ["body", field], "msg": message, "input": null}]}),
    )
}

fn completion(dialect: &Dialect, body: &Value) -> Reply {
    match check(body, FIELDS) {
        Err(Wrong::NoObject) => return refuse("json_invalid", "0", "JSON decode error"),
        Err(Wrong::Missing(field)) => return refuse("missing", field, "Field required"),
        Err(Wrong::Type(field)) => return refuse("type", field, "Input should be valid"),
        Ok((_, unknown)) => {
            if let Some(field) = unknown.first() {
                return refuse("extra_forbidden", field, "Extra inputs are not permitted");
            }
        }
    }
    let model = text(body, "model");
    if model != dialect.model.name {
        let message = format!("Invalid model: {model}");
        return Reply::json(
            400,
            &json!({"object": "error", "message": message, "type": "invalid_model", "param": null, "code": "1500"}),
        );
    }
    let (prompt, suffix) = (text(body, "prompt"), text(body, "suffix"));
    let said = dialect.model.fill(&Hole { prefix: prompt.to_owned(), suffix: suffix.to_owned() });
    let generation =
        Generation::new(prompt, &said, count(body, "max_tokens", 4096), &texts(body, "stop"), false);
    streams::reply(dialect, SHAPE, body, &generation)
}
