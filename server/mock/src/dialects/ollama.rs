//! Ollama: JSON lines, nanoseconds, and a suffix only if the model's template has a place for it.

use serde_json::{Value, json};

use super::body_check::{BodyError, FieldSpec, FieldType, check_body};
use super::{Dialect, SuffixPolicy, count, is_set, text, texts};
use crate::mock_model::{Generation, GenerationEnd};
use crate::{PromptHole, ReceivedRequest, Reply, ReplyStep};

const FIELDS: &[FieldSpec] = &[
    ("model", FieldType::Text, true),
    ("prompt", FieldType::Text, false),
    ("suffix", FieldType::Text, false),
    ("system", FieldType::Text, false),
    ("template", FieldType::Text, false),
    ("context", FieldType::List, false),
    ("stream", FieldType::Flag, false),
    ("raw", FieldType::Flag, false),
    ("format", FieldType::Object, false),
    ("keep_alive", FieldType::Text, false),
    ("images", FieldType::List, false),
    ("options", FieldType::Object, false),
    ("think", FieldType::Flag, false),
];

const OPTIONS: &[FieldSpec] = &[
    ("num_predict", FieldType::Count, false),
    ("num_ctx", FieldType::Count, false),
    ("num_keep", FieldType::Count, false),
    ("num_batch", FieldType::Count, false),
    ("temperature", FieldType::Number, false),
    ("top_k", FieldType::Count, false),
    ("top_p", FieldType::Number, false),
    ("min_p", FieldType::Number, false),
    ("seed", FieldType::Count, false),
    ("stop", FieldType::Texts, false),
    ("repeat_penalty", FieldType::Number, false),
];

pub(super) fn reply(dialect: &Dialect, received: &ReceivedRequest, passed_over: &mut Vec<String>) -> Reply {
    if !dialect.is_allowed(received) {
        return refuse(401, "unauthorized");
    }
    match (received.method.as_str(), received.path.as_str()) {
        ("POST", "/api/generate") => generate(dialect, &received.json(), passed_over),
        ("POST", "/api/show") => show(dialect, &received.json()),
        ("GET", "/api/tags") => Reply::json(200, &json!({"models": [{"name": dialect.model.name}]})),
        _ => Reply::whole(404, "text/plain", b"404 page not found"),
    }
}

fn refuse(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({"error": message}))
}

fn takes_suffix(dialect: &Dialect) -> bool {
    dialect.suffix == SuffixPolicy::Taken && dialect.model.marks.is_some()
}

fn show(dialect: &Dialect, body: &Value) -> Reply {
    if text(body, "model") != dialect.model.name {
        return refuse(404, &format!("model '{}' not found", text(body, "model")));
    }
    let capabilities =
        if takes_suffix(dialect) { json!(["completion", "insert"]) } else { json!(["completion"]) };
    Reply::json(
        200,
        &json!({
            "template": "{{ .Prompt }}",
            "model_info": {"general.architecture": "qwen2", "qwen2.context_length": 4096},
            "capabilities": capabilities,
        }),
    )
}

fn generate(dialect: &Dialect, body: &Value, passed_over: &mut Vec<String>) -> Reply {
    let options = body.get("options").cloned().unwrap_or_else(|| json!({}));
    match check_body(body, FIELDS).and_then(|(_, unknown)| Ok((unknown, check_body(&options, OPTIONS)?.1))) {
        Err(BodyError::NoObject) => return refuse(400, "invalid character looking for beginning of value"),
        Err(BodyError::Missing(field)) => return refuse(400, &format!("{field} is required")),
        Err(BodyError::Type(field)) => {
            return refuse(400, &format!("json: cannot unmarshal into field {field}"));
        }
        Ok((mut unknown, mut unknown_options)) => {
            passed_over.append(&mut unknown);
            passed_over.append(&mut unknown_options);
        }
    }
    let (model, prompt, suffix) = (text(body, "model"), text(body, "prompt"), text(body, "suffix"));
    if model != dialect.model.name {
        return refuse(404, &format!("model '{model}' not found"));
    }
    let is_raw = is_set(body, "raw");
    if is_raw && ["template", "system", "context"].iter().any(|field| body.get(*field).is_some()) {
        return refuse(400, "raw mode does not support template, system, or context");
    }
    if !suffix.is_empty() && !takes_suffix(dialect) {
        return refuse(400, &format!("registry.ollama.ai/library/{model} does not support insert"));
    }
    let completion = match suffix {
        "" if is_raw => dialect.model.complete(prompt),
        "" => dialect.model.chat(prompt),
        suffix => dialect.model.fill(&PromptHole { prefix: prompt.to_owned(), suffix: suffix.to_owned() }),
    };
    let limit = count(&options, "num_predict", 4096);
    let generation = Generation::new(prompt, &completion, limit, &texts(&options, "stop"), false);
    stream(dialect, body, &generation)
}

fn stream(dialect: &Dialect, body: &Value, generation: &Generation) -> Reply {
    let line = |response: &str| json!({"model": dialect.model.name, "created_at": "2026-11-22T00:00:00Z", "response": response, "done": false});
    let mut last = line("");
    last["done"] = json!(true);
    last["done_reason"] =
        json!(if generation.ending == GenerationEnd::TokenLimit { "length" } else { "stop" });
    last["total_duration"] = json!(9_000_000_u64);
    last["load_duration"] = json!(2_000_000_u64);
    last["prompt_eval_count"] = json!(generation.input);
    last["prompt_eval_duration"] = json!(3_000_000_u64);
    last["eval_count"] = json!(generation.pieces.len());
    last["eval_duration"] = json!(4_000_000_u64);
    if body.get("stream") == Some(&json!(false)) {
        last["response"] = json!(generation.text());
        return Reply::json(200, &last);
    }
    let mut reply = Reply::stream("application/x-ndjson");
    for piece in &generation.pieces {
        if !dialect.piece_delay.is_zero() {
            reply = reply.with_step(ReplyStep::Pause(dialect.piece_delay));
        }
        reply = reply.chunk(format!("{}\n", line(piece)).as_bytes());
    }
    reply.chunk(format!("{last}\n").as_bytes()).end()
}
