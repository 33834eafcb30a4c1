//! Mistral: rejects unknown fields, and answers fill-in-the-middle requests in the format of chats.

use serde_json::{Value, json};

use super::body_check::{BodyError, FieldSpec, FieldType, check_body};
use super::streams::{ResponseShape, no_more};
use super::{Dialect, count, openai, streams, text, texts};
use crate::mock_model::Generation;
use crate::{PromptHole, ReceivedRequest, Reply};

const FIELDS: &[FieldSpec] = &[
    ("model", FieldType::Text, true),
    ("prompt", FieldType::Text, true),
    ("suffix", FieldType::Text, false),
    ("max_tokens", FieldType::Count, false),
    ("min_tokens", FieldType::Count, false),
    ("temperature", FieldType::Number, false),
    ("top_p", FieldType::Number, false),
    ("stop", FieldType::Texts, false),
    ("stream", FieldType::Flag, false),
    ("random_seed", FieldType::Count, false),
];

const SHAPE: ResponseShape =
    ResponseShape { is_chat: true, begins_with_role: true, counts_when_asked: false, more: no_more };

pub(super) fn reply(dialect: &Dialect, received: &ReceivedRequest, _passed_over: &mut Vec<String>) -> Reply {
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
    match check_body(body, FIELDS) {
        Err(BodyError::NoObject) => return refuse("json_invalid", "0", "JSON decode error"),
        Err(BodyError::Missing(field)) => return refuse("missing", field, "Field required"),
        Err(BodyError::Type(field)) => return refuse("type", field, "Input should be valid"),
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
    let response = dialect.model.fill(&PromptHole { prefix: prompt.to_owned(), suffix: suffix.to_owned() });
    let generation =
        Generation::new(prompt, &response, count(body, "max_tokens", 4096), &texts(body, "stop"), false);
    streams::reply(dialect, SHAPE, body, &generation)
}
