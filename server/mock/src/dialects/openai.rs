//! OpenAI: rejects unknown fields.

use serde_json::Value;

use super::body_check::{BodyError, FieldSpec, FieldType, check_body};
use super::streams::{ResponseShape, no_more};
use super::{Dialect, SuffixPolicy, count, error, streams, text, texts};
use crate::mock_model::Generation;
use crate::{PromptHole, ReceivedRequest, Reply};

const COMPLETION: &[FieldSpec] = &[
    ("model", FieldType::Text, true),
    ("prompt", FieldType::Texts, true),
    ("suffix", FieldType::Text, false),
    ("max_tokens", FieldType::Count, false),
    ("temperature", FieldType::Number, false),
    ("top_p", FieldType::Number, false),
    ("n", FieldType::Count, false),
    ("stop", FieldType::Texts, false),
    ("stream", FieldType::Flag, false),
    ("stream_options", FieldType::Object, false),
    ("seed", FieldType::Count, false),
    ("presence_penalty", FieldType::Number, false),
    ("frequency_penalty", FieldType::Number, false),
    ("logit_bias", FieldType::Object, false),
    ("logprobs", FieldType::Count, false),
    ("best_of", FieldType::Count, false),
    ("echo", FieldType::Flag, false),
    ("user", FieldType::Text, false),
];

const CHAT: &[FieldSpec] = &[
    ("model", FieldType::Text, true),
    ("messages", FieldType::List, true),
    ("max_tokens", FieldType::Count, false),
    ("max_completion_tokens", FieldType::Count, false),
    ("temperature", FieldType::Number, false),
    ("top_p", FieldType::Number, false),
    ("n", FieldType::Count, false),
    ("stop", FieldType::Texts, false),
    ("stream", FieldType::Flag, false),
    ("stream_options", FieldType::Object, false),
    ("seed", FieldType::Count, false),
    ("reasoning_effort", FieldType::Text, false),
    ("user", FieldType::Text, false),
];

pub(super) const COMPLETIONS: ResponseShape =
    ResponseShape { is_chat: false, begins_with_role: false, counts_when_asked: true, more: no_more };

const CHATS: ResponseShape =
    ResponseShape { is_chat: true, begins_with_role: true, counts_when_asked: true, more: no_more };

pub(super) fn reply(dialect: &Dialect, received: &ReceivedRequest, _passed_over: &mut Vec<String>) -> Reply {
    if !dialect.is_allowed(received) {
        let message = match received.header("authorization") {
            None => "You didn't provide an API key.".to_owned(),
            Some(key) => format!("Incorrect API key provided: {}.", key.trim_start_matches("Bearer ")),
        };
        return error(401, "invalid_request_error", &message);
    }
    match (received.method.as_str(), received.path.as_str()) {
        ("POST", "/v1/completions") => completion(dialect, &received.json()),
        ("POST", "/v1/chat/completions") => chat(dialect, &received.json()),
        ("GET", "/v1/models") => models(dialect),
        (method, path) => error(404, "invalid_request_error", &format!("Invalid URL ({method} {path})")),
    }
}

pub(super) fn models(dialect: &Dialect) -> Reply {
    Reply::json(
        200,
        &serde_json::json!({"object": "list", "data": [{"id": dialect.model.name, "object": "model"}]}),
    )
}

fn completion(dialect: &Dialect, body: &Value) -> Reply {
    if let Some(refusal) = refusal(dialect, body, COMPLETION) {
        return refusal;
    }
    let (prompt, suffix) = (text(body, "prompt"), text(body, "suffix"));
    let response = match (dialect.suffix, suffix) {
        (SuffixPolicy::Refused, suffix) if !suffix.is_empty() => {
            return error(400, "invalid_request_error", "Unsupported param: suffix");
        }
        (SuffixPolicy::Taken, suffix) if !suffix.is_empty() => {
            dialect.model.fill(&PromptHole { prefix: prompt.to_owned(), suffix: suffix.to_owned() })
        }
        _ => dialect.model.complete(prompt),
    };
    let generation =
        Generation::new(prompt, &response, count(body, "max_tokens", 16), &texts(body, "stop"), false);
    streams::reply(dialect, COMPLETIONS, body, &generation)
}

fn chat(dialect: &Dialect, body: &Value) -> Reply {
    if let Some(refusal) = refusal(dialect, body, CHAT).or_else(|| reasoning_refusal(dialect, body)) {
        return refusal;
    }
    let conversation = conversation(body);
    let limit = count(body, "max_tokens", count(body, "max_completion_tokens", 4096));
    let response = dialect.model.chat(&conversation);
    let generation = Generation::new(&conversation, &response, limit, &texts(body, "stop"), false);
    streams::reply(dialect, CHATS, body, &generation)
}

/// Joins the texts of all messages of a conversation.
pub(super) fn conversation(body: &Value) -> String {
    let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    messages.iter().map(|message| format!("{}\n", text(message, "content"))).collect()
}

fn reasoning_refusal(dialect: &Dialect, body: &Value) -> Option<Reply> {
    if !dialect.is_reasoning {
        return None;
    }
    let refuse = |message: &str| Some(error(400, "invalid_request_error", message));
    if body.get("max_tokens").is_some() {
        return refuse(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        );
    }
    if body.get("temperature").and_then(Value::as_f64).is_some_and(|temperature| temperature != 1.0) {
        return refuse(
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        );
    }
    None
}

fn refusal(dialect: &Dialect, body: &Value, fields: &[FieldSpec]) -> Option<Reply> {
    let refuse = |message: String| Some(error(400, "invalid_request_error", &message));
    match check_body(body, fields) {
        Err(BodyError::NoObject) => {
            return refuse("We could not parse the JSON body of your request.".to_owned());
        }
        Err(BodyError::Missing("model")) => return refuse("you must provide a model parameter".to_owned()),
        Err(BodyError::Missing(field)) => return refuse(format!("Missing required parameter: '{field}'.")),
        Err(BodyError::Type(field)) => return refuse(format!("Invalid type for '{field}'.")),
        Ok((_, unknown)) => {
            if let Some(field) = unknown.first() {
                return refuse(format!("Unrecognized request argument supplied: {field}"));
            }
        }
    }
    if texts(body, "stop").len() > 4 {
        return refuse("Invalid 'stop': array too long. Expected an array with maximum length 4.".to_owned());
    }
    if body.get("stream_options").is_some() && !super::is_set(body, "stream") {
        return refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.".to_owned());
    }
    let model = text(body, "model");
    (model != dialect.model.name).then(|| {
        error(
            404,
            "invalid_request_error",
            &format!("The model `{model}` does not exist or you do not have access to it."),
        )
    })
}
