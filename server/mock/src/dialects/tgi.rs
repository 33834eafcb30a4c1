//! Text Generation Inference: no suffix, no temperature of 0, at most four stops, special tokens in the stream.

use serde_json::{Value, json};

use super::body_check::{BodyError, FieldSpec, FieldType, check_body};
use super::{Dialect, count, is_set, text, texts};
use crate::mock_model::{Generation, GenerationEnd, tokens};
use crate::{ReceivedRequest, Reply, ReplyStep};

const FIELDS: &[FieldSpec] = &[
    ("inputs", FieldType::Text, true),
    ("parameters", FieldType::Object, false),
    ("stream", FieldType::Flag, false),
];

const PARAMETERS: &[FieldSpec] = &[
    ("best_of", FieldType::Count, false),
    ("temperature", FieldType::Number, false),
    ("repetition_penalty", FieldType::Number, false),
    ("frequency_penalty", FieldType::Number, false),
    ("top_k", FieldType::Count, false),
    ("top_p", FieldType::Number, false),
    ("typical_p", FieldType::Number, false),
    ("do_sample", FieldType::Flag, false),
    ("max_new_tokens", FieldType::Count, false),
    ("return_full_text", FieldType::Flag, false),
    ("stop", FieldType::Texts, false),
    ("truncate", FieldType::Count, false),
    ("watermark", FieldType::Flag, false),
    ("details", FieldType::Flag, false),
    ("decoder_input_details", FieldType::Flag, false),
    ("seed", FieldType::Count, false),
    ("top_n_tokens", FieldType::Count, false),
];

pub(super) fn reply(dialect: &Dialect, received: &ReceivedRequest, passed_over: &mut Vec<String>) -> Reply {
    if !dialect.is_allowed(received) {
        return Reply::whole(401, "text/plain", b"");
    }
    match (received.method.as_str(), received.path.as_str()) {
        ("POST", "/generate_stream") => generate(dialect, &received.json(), passed_over),
        ("POST", "/v1/completions") if received.json().get("suffix").is_some() => {
            invalid("Suffix is not supported and can be achieved by preprocessing the prompt.")
        }
        ("POST", "/tokenize") => tokenize(&received.json()),
        ("GET", "/info") => Reply::json(
            200,
            &json!({"model_id": dialect.model.name, "max_input_tokens": 3072, "max_total_tokens": 4096, "max_stop_sequences": 4}),
        ),
        _ => Reply::whole(404, "text/plain", b""),
    }
}

fn tokenize(body: &Value) -> Reply {
    Reply::json(
        200,
        &(0..tokens(text(body, "inputs")))
            .map(|id| json!({"id": id, "text": "", "start": 0, "stop": 0}))
            .collect(),
    )
}

fn invalid(message: &str) -> Reply {
    Reply::json(
        422,
        &json!({"error": format!("Input validation error: {message}"), "error_type": "validation"}),
    )
}

fn generate(dialect: &Dialect, body: &Value, passed_over: &mut Vec<String>) -> Reply {
    let refuse = |message: &str| {
        let message = format!("Failed to deserialize the JSON body into the target type: {message}");
        Reply::whole(422, "text/plain; charset=utf-8", message.as_bytes())
    };
    let parameters = body.get("parameters").cloned().unwrap_or_else(|| json!({}));
    match check_body(body, FIELDS)
        .and_then(|(_, unknown)| Ok((unknown, check_body(&parameters, PARAMETERS)?.1)))
    {
        Err(BodyError::NoObject) => return refuse("expected an object"),
        Err(BodyError::Missing(field)) => return refuse(&format!("missing field `{field}`")),
        Err(BodyError::Type(field)) => return refuse(&format!("{field}: invalid type")),
        Ok((mut unknown, mut unknown_parameters)) => {
            passed_over.append(&mut unknown);
            passed_over.append(&mut unknown_parameters);
        }
    }
    let number = |name: &str| parameters.get(name).and_then(Value::as_f64);
    let stops = texts(&parameters, "stop");
    if number("temperature").is_some_and(|temperature| temperature <= 0.0) {
        return invalid("`temperature` must be strictly positive");
    }
    if number("top_p").is_some_and(|top_p| top_p <= 0.0 || top_p >= 1.0) {
        return invalid("`top_p` must be > 0.0 and < 1.0");
    }
    if stops.len() > 4 {
        return invalid(&format!("`stop` supports up to 4 stop sequences. Given: {}", stops.len()));
    }
    if text(body, "inputs").is_empty() {
        return invalid("`inputs` cannot be empty");
    }
    stream(dialect, text(body, "inputs"), &parameters, &stops)
}

fn stream(dialect: &Dialect, inputs: &str, parameters: &Value, stops: &[String]) -> Reply {
    let limit = count(parameters, "max_new_tokens", 100);
    let generation = Generation::new(inputs, &dialect.model.complete(inputs), limit, stops, true);
    let whole = if is_set(parameters, "return_full_text") {
        format!("{inputs}{}", generation.text())
    } else {
        generation.text()
    };
    let (reason, closing) = match generation.ending {
        GenerationEnd::EndOfText => ("eos_token", Some("<|endoftext|>")),
        GenerationEnd::StopSequence => ("stop_sequence", None),
        GenerationEnd::TokenLimit => ("length", None),
    };
    let pieces: Vec<(&str, bool)> = generation
        .pieces
        .iter()
        .map(|piece| (piece.as_str(), false))
        .chain(closing.map(|text| (text, true)))
        .collect();
    let mut reply = Reply::stream("text/event-stream");
    for (index, &(piece, is_special)) in pieces.iter().enumerate() {
        let mut event = json!({
            "index": index + 1,
            "token": {"id": index, "text": piece, "logprob": -0.5, "special": is_special},
            "generated_text": null,
            "details": null,
        });
        if index + 1 == pieces.len() {
            event["generated_text"] = json!(whole);
            event["details"] = json!({
                "finish_reason": reason, "generated_tokens": pieces.len(), "input_length": generation.input, "seed": null,
            });
        }
        if !dialect.piece_delay.is_zero() {
            reply = reply.with_step(ReplyStep::Pause(dialect.piece_delay));
        }
        reply = reply.chunk(format!("data:{event}\n\n").as_bytes());
    }
    reply.end()
}
