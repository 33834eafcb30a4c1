//! Anthropic: own headers, typed events, and unknown fields are rejected.

use serde_json::{Value, json};

use super::body_check::{BodyError, FieldSpec, FieldType, check_body};
use super::{Dialect, count, is_set, openai, text, texts};
use crate::mock_model::{Generation, GenerationEnd};
use crate::{ReceivedRequest, Reply, ReplyStep};

const FIELDS: &[FieldSpec] = &[
    ("model", FieldType::Text, true),
    ("max_tokens", FieldType::Count, true),
    ("messages", FieldType::List, true),
    ("system", FieldType::Text, false),
    ("stop_sequences", FieldType::Texts, false),
    ("stream", FieldType::Flag, false),
    ("temperature", FieldType::Number, false),
    ("top_p", FieldType::Number, false),
    ("top_k", FieldType::Count, false),
    ("metadata", FieldType::Object, false),
    ("thinking", FieldType::Object, false),
];

fn refuse(status: u16, kind: &str, message: &str) -> Reply {
    Reply::json(status, &json!({"type": "error", "error": {"type": kind, "message": message}}))
}

pub(super) fn reply(dialect: &Dialect, received: &ReceivedRequest, _passed_over: &mut Vec<String>) -> Reply {
    match (received.header("x-api-key"), &dialect.key) {
        (None, _) => return refuse(401, "authentication_error", "x-api-key header is required"),
        (Some(key), Some(known)) if key != known => {
            return refuse(401, "authentication_error", "invalid x-api-key");
        }
        _ => {}
    }
    if received.header("anthropic-version") != Some("2023-06-01") {
        return refuse(400, "invalid_request_error", "anthropic-version: header is required");
    }
    match (received.method.as_str(), received.path.as_str()) {
        ("POST", "/v1/messages") => message(dialect, &received.json()),
        ("GET", "/v1/models") => openai::models(dialect),
        _ => refuse(404, "not_found_error", "Not Found"),
    }
}

fn message(dialect: &Dialect, body: &Value) -> Reply {
    let invalid = |message: &str| refuse(400, "invalid_request_error", message);
    match check_body(body, FIELDS) {
        Err(BodyError::NoObject) => return invalid("The request body is not valid JSON"),
        Err(BodyError::Missing(field)) => return invalid(&format!("{field}: Field required")),
        Err(BodyError::Type(field)) => return invalid(&format!("{field}: Input should be valid")),
        Ok((_, unknown)) => {
            if let Some(field) = unknown.first() {
                return invalid(&format!("{field}: Extra inputs are not permitted"));
            }
        }
    }
    let stops = texts(body, "stop_sequences");
    if stops.iter().any(|stop| stop.trim().is_empty()) {
        return invalid("stop_sequences: each stop sequence must contain non-whitespace");
    }
    if text(body, "model") != dialect.model.name {
        return refuse(404, "not_found_error", &format!("model: {}", text(body, "model")));
    }
    let conversation = openai::conversation(body);
    let response = dialect.model.chat(&conversation);
    let generation = Generation::new(&conversation, &response, count(body, "max_tokens", 0), &stops, false);
    if is_set(body, "stream") { stream(dialect, &generation) } else { whole(dialect, &generation) }
}

fn reason(ending: GenerationEnd) -> &'static str {
    match ending {
        GenerationEnd::EndOfText => "end_turn",
        GenerationEnd::TokenLimit => "max_tokens",
        GenerationEnd::StopSequence => "stop_sequence",
    }
}

fn usage(generation: &Generation, output: usize) -> Value {
    json!({
        "input_tokens": generation.input - generation.input / 2,
        "cache_read_input_tokens": generation.input / 2,
        "cache_creation_input_tokens": 0,
        "output_tokens": output,
    })
}

fn whole(dialect: &Dialect, generation: &Generation) -> Reply {
    Reply::json(
        200,
        &json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": dialect.model.name,
            "content": [{"type": "text", "text": generation.text()}],
            "stop_reason": reason(generation.ending), "stop_sequence": null,
            "usage": usage(generation, generation.pieces.len()),
        }),
    )
}

fn stream(dialect: &Dialect, generation: &Generation) -> Reply {
    let send = |reply: Reply, event: Value| {
        reply.chunk(format!("event: {}\ndata: {event}\n\n", text(&event, "type")).as_bytes())
    };
    let start = json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": dialect.model.name, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage(generation, 1),
    }});
    let mut reply = send(Reply::stream("text/event-stream; charset=utf-8"), start);
    let block =
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    reply = send(send(reply, block), json!({"type": "ping"}));
    for piece in &generation.pieces {
        if !dialect.piece_delay.is_zero() {
            reply = reply.with_step(ReplyStep::Pause(dialect.piece_delay));
        }
        let delta = json!({"type": "text_delta", "text": piece});
        reply = send(reply, json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    }
    reply = send(reply, json!({"type": "content_block_stop", "index": 0}));
    let delta = json!({"stop_reason": reason(generation.ending), "stop_sequence": null});
    let usage = json!({"output_tokens": generation.pieces.len()});
    reply = send(reply, json!({"type": "message_delta", "delta": delta, "usage": usage}));
    send(reply, json!({"type": "message_stop"})).end()
}
