//! DeepSeek: only below `/beta`.

use serde_json::{Value, json};

use super::body_check::{BodyError, FieldSpec, FieldType, check_body};
use super::streams::ResponseShape;
use super::{Dialect, count, error, openai, streams, text, texts};
use crate::mock_model::Generation;
use crate::{PromptHole, ReceivedRequest, Reply};

const FIELDS: &[FieldSpec] = &[
    ("model", FieldType::Text, true),
    ("prompt", FieldType::Text, true),
    ("suffix", FieldType::Text, false),
    ("max_tokens", FieldType::Count, false),
    ("temperature", FieldType::Number, false),
    ("top_p", FieldType::Number, false),
    ("echo", FieldType::Flag, false),
    ("frequency_penalty", FieldType::Number, false),
    ("presence_penalty", FieldType::Number, false),
    ("logprobs", FieldType::Count, false),
    ("stop", FieldType::Texts, false),
    ("stream", FieldType::Flag, false),
    ("stream_options", FieldType::Object, false),
];

/// The token counts include how much of the prompt was cached.
const SHAPE: ResponseShape =
    ResponseShape { is_chat: false, begins_with_role: false, counts_when_asked: false, more: cached };

fn cached(generation: &Generation) -> Value {
    let (input, output) = (generation.input, generation.pieces.len());
    json!({"usage": {
        "prompt_tokens": input,
        "completion_tokens": output,
        "prompt_cache_hit_tokens": input / 2,
        "prompt_cache_miss_tokens": input - input / 2,
    }})
}

pub(super) fn reply(dialect: &Dialect, received: &ReceivedRequest, passed_over: &mut Vec<String>) -> Reply {
    if !dialect.is_allowed(received) {
        return error(401, "authentication_error", "Authentication Fails (no such user)");
    }
    match (received.method.as_str(), received.path.as_str()) {
        ("POST", "/beta/completions") => completion(dialect, &received.json(), passed_over),
        ("GET", "/models") => openai::models(dialect),
        ("POST", "/v1/completions" | "/completions") => error(
            400,
            "invalid_request_error",
            "completions api is only available when using beta api (set base_url=\"https://api.deepseek.com/beta\")",
        ),
        _ => Reply::whole(404, "text/plain", b""),
    }
}

fn completion(dialect: &Dialect, body: &Value, passed_over: &mut Vec<String>) -> Reply {
    let refuse = |message: &str| error(400, "invalid_request_error", message);
    match check_body(body, FIELDS) {
        Err(BodyError::NoObject) => return refuse("Failed to parse the request body as JSON"),
        Err(BodyError::Missing(field)) => return refuse(&format!("missing field `{field}`")),
        Err(BodyError::Type(field)) => return refuse(&format!("{field}: invalid type")),
        Ok((_, mut unknown)) => passed_over.append(&mut unknown),
    }
    if text(body, "model") != dialect.model.name {
        return refuse("Model Not Exist");
    }
    if texts(body, "stop").len() > 16 {
        return refuse("Invalid stop value, the max size of stop is 16");
    }
    let (prompt, suffix) = (text(body, "prompt"), text(body, "suffix"));
    let response = dialect.model.fill(&PromptHole { prefix: prompt.to_owned(), suffix: suffix.to_owned() });
    let generation =
        Generation::new(prompt, &response, count(body, "max_tokens", 4096), &texts(body, "stop"), false);
    streams::reply(dialect, SHAPE, body, &generation)
}
