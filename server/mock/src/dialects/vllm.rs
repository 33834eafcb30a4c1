//! vLLM: rejects a suffix, ignores unknown fields, and leaves special tokens out of the text by default.

use serde_json::{Value, json};

use super::body_check::{BodyError, FieldSpec, FieldType, check_body};
use super::{Dialect, count, openai, streams, text, texts};
use crate::mock_model::{Generation, tokens};
use crate::{ReceivedRequest, Reply};

const FIELDS: &[FieldSpec] = &[
    ("model", FieldType::Text, false),
    ("prompt", FieldType::Texts, true),
    ("suffix", FieldType::Text, false),
    ("max_tokens", FieldType::Count, false),
    ("min_tokens", FieldType::Count, false),
    ("temperature", FieldType::Number, false),
    ("top_p", FieldType::Number, false),
    ("top_k", FieldType::Count, false),
    ("n", FieldType::Count, false),
    ("stop", FieldType::Texts, false),
    ("stream", FieldType::Flag, false),
    ("stream_options", FieldType::Object, false),
    ("seed", FieldType::Count, false),
    ("skip_special_tokens", FieldType::Flag, false),
    ("spaces_between_special_tokens", FieldType::Flag, false),
    ("include_stop_str_in_output", FieldType::Flag, false),
    ("repetition_penalty", FieldType::Number, false),
    ("stop_token_ids", FieldType::List, false),
    ("ignore_eos", FieldType::Flag, false),
];

pub(super) fn reply(dialect: &Dialect, received: &ReceivedRequest, passed_over: &mut Vec<String>) -> Reply {
    if !dialect.is_allowed(received) {
        return Reply::json(401, &json!({"error": "Unauthorized"}));
    }
    match (received.method.as_str(), received.path.as_str()) {
        ("POST", "/v1/completions") => completion(dialect, &received.json(), passed_over),
        ("POST", "/tokenize") => tokenize(&received.json()),
        ("GET", "/v1/models") => Reply::json(
            200,
            &json!({"object": "list", "data": [{
                "id": dialect.model.name, "object": "model", "owned_by": "vllm", "root": dialect.model.name,
                "max_model_len": 4096,
            }]}),
        ),
        _ => Reply::json(404, &json!({"detail": "Not Found"})),
    }
}

fn tokenize(body: &Value) -> Reply {
    let count = tokens(text(body, "prompt"));
    Reply::json(
        200,
        &json!({"count": count, "max_model_len": 4096, "tokens": (0..count).collect::<Vec<_>>()}),
    )
}

fn refuse(status: u16, kind: &str, message: &str) -> Reply {
    Reply::json(status, &json!({"error": {"message": message, "type": kind, "param": null, "code": status}}))
}

fn completion(dialect: &Dialect, body: &Value, passed_over: &mut Vec<String>) -> Reply {
    match check_body(body, FIELDS) {
        Err(BodyError::NoObject) => return refuse(400, "BadRequestError", "JSON decode error"),
        Err(BodyError::Missing(field)) => {
            return refuse(
                400,
                "BadRequestError",
                &format!("[{{'type': 'missing', 'loc': ('body', '{field}')}}]"),
            );
        }
        Err(BodyError::Type(field)) => {
            return refuse(400, "BadRequestError", &format!("Input should be valid: {field}"));
        }
        Ok((_, mut unknown)) => passed_over.append(&mut unknown),
    }
    if body.get("suffix").is_some_and(|suffix| !suffix.is_null()) {
        return refuse(400, "BadRequestError", "suffix is not currently supported");
    }
    let model = text(body, "model");
    if !model.is_empty() && model != dialect.model.name {
        return refuse(404, "NotFoundError", &format!("The model `{model}` does not exist."));
    }
    let prompt = text(body, "prompt");
    let mut response = dialect.model.complete(prompt);
    if body.get("skip_special_tokens") != Some(&json!(false)) {
        for mark in dialect.model.marks.iter().flat_map(|marks| marks.all()).filter(|mark| !mark.is_empty()) {
            response = response.replace(mark, "");
        }
    }
    let generation =
        Generation::new(prompt, &response, count(body, "max_tokens", 16), &texts(body, "stop"), false);
    streams::reply(dialect, openai::COMPLETIONS, body, &generation)
}
