//! DeepSeek: only below `/beta`.

use serde_json::{Value, json};

use super::check::{Field, Is, Wrong, check};
use super::streams::Shape;
use super::{Dialect, count, error, openai, streams, text, texts};
use crate::model::Generation;
use crate::{Hole, Received, Reply};

const FIELDS: &[Field] = &[
    ("model", Is::Text, true),
    ("prompt", Is::Text, true),
    ("suffix", Is::Text, false),
    ("max_tokens", Is::Count, false),
    ("temperature", Is::Number, false),
    ("top_p", Is::Number, false),
    ("echo", Is::Flag, false),
    ("frequency_penalty", Is::Number, false),
    ("presence_penalty", Is::Number, false),
    ("logprobs", Is::Count, false),
    ("stop", Is::Texts, false),
    ("stream", Is::Flag, false),
    ("stream_options", Is::Object, false),
];

/// The token counts include how much of the prompt was cached.
const SHAPE: Shape =
    Shape { is_chat: false, begins_with_role: false, counts_when_asked: false, more: cached };

fn cached(generation: &Generation) -> Value {
    let (input, output) = (generation.input, generation.pieces.len());
    json!({"usage": {
        "prompt_tokens": input,
        "completion_tokens": output,
        "prompt_cache_hit_tokens": input / 2,
        "prompt_cache_miss_tokens": input - input / 2,
    }})
}

pub(super) fn reply(dialect: &Dialect, received: &Received, passed_over: &mut Vec<String>) -> Reply {
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
    match check(body, FIELDS) {
        Err(Wrong::NoObject) => return refuse("Failed to parse the request body as JSON"),
        Err(Wrong::Missing(field)) => return refuse(&format!("missing field `{field}`")),
        Err(Wrong::Type(field)) => return refuse(&format!("{field}: invalid type")),
        Ok((_, mut unknown)) => passed_over.append(&mut unknown),
    }
    if text(body, "model") != dialect.model.name {
        return refuse("Model Not Exist");
    }
    if texts(body, "stop").len() > 16 {
        return refuse("Invalid stop value, the max size of stop is 16");
    }
    let (prompt, suffix) = (text(body, "prompt"), text(body, "suffix"));
    let said = dialect.model.fill(&Hole { prefix: prompt.to_owned(), suffix: suffix.to_owned() });
    let generation =
        Generation::new(prompt, &said, count(body, "max_tokens", 4096), &texts(body, "stop"), false);
    streams::reply(dialect, SHAPE, body, &generation)
}
