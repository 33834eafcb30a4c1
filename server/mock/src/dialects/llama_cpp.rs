//! llama.cpp's server 0.7.0, after recorded answers.

use serde_json::{Value, json};

use super::body_check::{BodyError, FieldSpec, FieldType, check_body};
use super::streams::ResponseShape;
use super::{Dialect, SuffixPolicy, count, error, is_set, openai, streams, text, texts};
use crate::mock_model::{Generation, GenerationEnd, tokens};
use crate::{PromptHole, ReceivedRequest, Reply, ReplyStep};

/// Options that all routes accept.
const OPTIONS: &[FieldSpec] = &[
    ("model", FieldType::Text, false),
    ("prompt", FieldType::Text, false),
    ("n_predict", FieldType::Count, false),
    ("max_tokens", FieldType::Count, false),
    ("temperature", FieldType::Number, false),
    ("top_k", FieldType::Count, false),
    ("top_p", FieldType::Number, false),
    ("min_p", FieldType::Number, false),
    ("n", FieldType::Count, false),
    ("seed", FieldType::Count, false),
    ("stop", FieldType::Texts, false),
    ("stream", FieldType::Flag, false),
    ("stream_options", FieldType::Object, false),
    ("cache_prompt", FieldType::Flag, false),
    ("return_progress", FieldType::Flag, false),
    ("id_slot", FieldType::Count, false),
    ("n_indent", FieldType::Count, false),
    ("n_probs", FieldType::Count, false),
    ("logprobs", FieldType::Count, false),
    ("samplers", FieldType::List, false),
    ("t_max_prompt_ms", FieldType::Count, false),
    ("t_max_predict_ms", FieldType::Count, false),
    ("response_fields", FieldType::List, false),
    ("messages", FieldType::List, false),
];

const COMPLETIONS: ResponseShape =
    ResponseShape { is_chat: false, begins_with_role: false, counts_when_asked: false, more: with_timings };
const CHATS: ResponseShape =
    ResponseShape { is_chat: true, begins_with_role: true, counts_when_asked: false, more: with_timings };

pub(super) fn reply(dialect: &Dialect, received: &ReceivedRequest, passed_over: &mut Vec<String>) -> Reply {
    let is_public = matches!(received.path.as_str(), "/health" | "/v1/models");
    if !is_public && !dialect.is_allowed(received) {
        return error(401, "authentication_error", "Invalid API Key");
    }
    let body = received.json();
    let reply = match (received.method.as_str(), received.path.as_str()) {
        ("GET", "/health") => Reply::json(200, &json!({"status": "ok"})),
        ("GET", "/props") => props(dialect),
        ("GET", "/v1/models") => models(dialect),
        ("POST", "/infill") => infill(dialect, &body, passed_over),
        ("POST", "/completion") => completion(dialect, &body, passed_over),
        ("POST", "/v1/completions") => openai_completion(dialect, &body, passed_over),
        ("POST", "/v1/chat/completions") => chat(dialect, &body, passed_over),
        ("POST", "/tokenize") => tokenize(&body),
        _ => error(404, "not_found_error", "File Not Found"),
    };
    with_server_header(reply)
}

/// Adds the `Server` header that every answer has.
fn with_server_header(mut reply: Reply) -> Reply {
    if let Some(ReplyStep::Bytes(bytes)) = reply.steps.first_mut()
        && let Some(end) = bytes.windows(2).position(|window| window == b"\r\n")
    {
        bytes.splice(end..end, b"\r\nserver: llama.cpp".iter().copied());
    }
    reply
}

fn props(dialect: &Dialect) -> Reply {
    Reply::json(
        200,
        &json!({
            "default_generation_settings": {"n_ctx": 2048},
            "total_slots": 2,
            "model_alias": dialect.model.name,
            "model_path": format!("/models/{}.gguf", dialect.model.name),
            "build_info": "b11669-Debian",
        }),
    )
}

fn models(dialect: &Dialect) -> Reply {
    let name = &dialect.model.name;
    let model = json!({"id": name, "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx": 2048}});
    Reply::json(200, &json!({"object": "list", "data": [model]}))
}

fn tokenize(body: &Value) -> Reply {
    let count = tokens(text(body, "content"));
    Reply::json(200, &json!({"tokens": (0..count).collect::<Vec<_>>()}))
}

fn invalid(message: &str) -> Reply {
    error(400, "invalid_request_error", message)
}

/// The error of its JSON library for a missing field or one of another type.
fn refusal(body: &Value, needed: &[FieldSpec], passed_over: &mut Vec<String>) -> Option<Reply> {
    let fields: Vec<FieldSpec> = needed.iter().chain(OPTIONS).copied().collect();
    match check_body(body, &fields) {
        Err(BodyError::NoObject) => {
            Some(error(500, "server_error", "[json.exception.parse_error.101] parse error"))
        }
        Err(BodyError::Missing(field)) => {
            Some(invalid(&format!("[json.exception.out_of_range.403] key '{field}' not found")))
        }
        Err(BodyError::Type(field)) => {
            Some(invalid(&format!("[json.exception.type_error.302] type of {field}")))
        }
        Ok((_, mut unknown)) => {
            passed_over.append(&mut unknown);
            None
        }
    }
}

fn infill(dialect: &Dialect, body: &Value, passed_over: &mut Vec<String>) -> Reply {
    let Some(marks) = dialect.model.marks else {
        let message = "Infill is not supported by this model: prefix token is missing. suffix token is missing. middle token is missing. ";
        return error(501, "not_supported_error", message);
    };
    let needed = [
        ("input_suffix", FieldType::Text, true),
        ("input_prefix", FieldType::Text, true),
        ("input_extra", FieldType::List, false),
    ];
    if let Some(refusal) = refusal(body, &needed, passed_over) {
        return refusal;
    }
    let extras = body.get("input_extra").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if extras.iter().any(|extra| !extra.get("text").is_some_and(Value::is_string)) {
        return invalid("extra_context chunk must contain a \"text\" field with a string value");
    }
    let prefix = format!("{}{}", text(body, "input_prefix"), text(body, "prompt"));
    let hole = PromptHole { prefix, suffix: text(body, "input_suffix").to_owned() };
    let extras = extras
        .iter()
        .map(|extra| format!("<|file_sep|>{}\n{}", text(extra, "filename"), text(extra, "text")));
    let prompt = format!("{}{}", extras.collect::<String>(), marks.prompt(&hole));
    native(dialect, body, &prompt, &dialect.model.fill(&hole))
}

fn completion(dialect: &Dialect, body: &Value, passed_over: &mut Vec<String>) -> Reply {
    if let Some(refusal) = refusal(body, &[("prompt", FieldType::Text, true)], passed_over) {
        return refusal;
    }
    let prompt = text(body, "prompt");
    native(dialect, body, prompt, &dialect.model.complete(prompt))
}

fn timings(generation: &Generation) -> Value {
    json!({
        "cache_n": 1,
        "prompt_n": generation.input.saturating_sub(1),
        "prompt_ms": 2.5,
        "predicted_n": generation.pieces.len(),
        "predicted_ms": 1.5,
    })
}

fn with_timings(generation: &Generation) -> Value {
    json!({"timings": timings(generation)})
}

fn native(dialect: &Dialect, body: &Value, prompt: &str, response: &str) -> Reply {
    let limit = count(body, "n_predict", count(body, "max_tokens", 4096));
    let generation = Generation::new(prompt, response, limit, &texts(body, "stop"), false);
    let (stop_type, input, output) = match generation.ending {
        GenerationEnd::EndOfText => ("eos", generation.input, generation.pieces.len()),
        GenerationEnd::TokenLimit => ("limit", generation.input, generation.pieces.len()),
        GenerationEnd::StopSequence => ("word", generation.input, generation.pieces.len()),
    };
    let mut last = json!({
        "index": 0, "content": "", "tokens": [], "id_slot": 0, "stop": true, "model": dialect.model.name,
        "tokens_predicted": output, "tokens_evaluated": input, "prompt": prompt, "truncated": false,
        "stop_type": stop_type, "stopping_word": "", "tokens_cached": input + output, "timings": timings(&generation),
    });
    if !is_set(body, "stream") {
        last["content"] = json!(generation.text());
        return Reply::json(200, &last);
    }
    let send = |reply: Reply, event: &Value| reply.chunk(format!("data: {event}\n\n").as_bytes());
    let mut reply = Reply::stream("text/event-stream");
    if is_set(body, "return_progress") {
        let progress = json!({"total": input, "cache": 1, "processed": input, "time_ms": 2});
        let event =
            json!({"index": 0, "content": "", "tokens": [], "stop": false, "prompt_progress": progress});
        reply = send(reply, &event);
    }
    for (index, piece) in generation.pieces.iter().enumerate() {
        if !dialect.piece_delay.is_zero() {
            reply = reply.with_step(ReplyStep::Pause(dialect.piece_delay));
        }
        let event = json!({
            "index": 0, "content": piece, "tokens": [index], "stop": false, "id_slot": -1,
            "tokens_predicted": index + 1, "tokens_evaluated": input,
        });
        reply = send(reply, &event);
    }
    send(reply, &last).end()
}

fn openai_completion(dialect: &Dialect, body: &Value, passed_over: &mut Vec<String>) -> Reply {
    let suffix = text(body, "suffix");
    let needed = [("prompt", FieldType::Text, true), ("suffix", FieldType::Text, false)];
    if let Some(refusal) = refusal(body, &needed, passed_over) {
        return refusal;
    }
    if !suffix.is_empty() {
        if dialect.suffix == SuffixPolicy::Refused {
            return error(500, "server_error", "Unsupported param: suffix");
        }
        passed_over.push("suffix".to_owned());
    }
    let prompt = text(body, "prompt");
    let limit = count(body, "max_tokens", 4096);
    let generation =
        Generation::new(prompt, &dialect.model.complete(prompt), limit, &texts(body, "stop"), false);
    streams::reply(dialect, COMPLETIONS, body, &generation)
}

fn chat(dialect: &Dialect, body: &Value, passed_over: &mut Vec<String>) -> Reply {
    if let Some(refusal) = refusal(body, &[("messages", FieldType::List, true)], passed_over) {
        return refusal;
    }
    let conversation = openai::conversation(body);
    let response = dialect.model.chat(&conversation);
    let generation = Generation::new(
        &conversation,
        &response,
        count(body, "max_tokens", 4096),
        &texts(body, "stop"),
        false,
    );
    streams::reply(dialect, CHATS, body, &generation)
}
