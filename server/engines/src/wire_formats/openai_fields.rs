//! Fields shared by the formats that are OpenAI's or derived from it.

use serde_json::{Value, json};

use super::answer_state::{AnswerState, MalformedReason, milliseconds};
use super::{ModelRequest, Object};
use crate::{ServerTimings, Usage};

/// Returns the fields that all OpenAI-compatible formats support.
pub(super) fn common_fields(asked: &ModelRequest<'_>) -> Object {
    let sampling = asked.sampling;
    let mut body = Object::new();
    if let Some(model) = asked.model {
        body.insert("model".to_owned(), model.into());
    }
    body.insert("max_tokens".to_owned(), sampling.max_tokens.into());
    body.insert("temperature".to_owned(), json!(sampling.temperature()));
    if let Some(top_p) = sampling.top_p {
        body.insert("top_p".to_owned(), json!(top_p));
    }
    if let Some(seed) = sampling.seed {
        body.insert("seed".to_owned(), seed.into());
    }
    if !asked.stop.is_empty() {
        body.insert("stop".to_owned(), json!(asked.stop));
    }
    body.insert("stream".to_owned(), true.into());
    body
}

/// Requests token counts in a final event. Servers without support ignore or reject the field; a rejection is remembered.
pub(super) fn request_usage(body: &mut Object) {
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
}

/// Returns the first choice; `None` if the list is empty, as in the event with the token counts.
pub(super) fn choice(event: &Value) -> Result<Option<&Value>, MalformedReason> {
    let choices = event.get("choices").and_then(Value::as_array).ok_or("it has no `choices`")?;
    Ok(choices.iter().find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0))
}

/// Reads an event of `/v1/completions`.
pub(super) fn read_completion(event: &Value, reading: &mut AnswerState) -> Result<(), MalformedReason> {
    if let Some(choice) = choice(event)? {
        reading.text.push_str(choice.get("text").and_then(Value::as_str).unwrap_or_default());
        reading.set_finish(choice.get("finish_reason").and_then(Value::as_str));
    }
    read_usage(event, reading);
    Ok(())
}

/// Reads an event of `/v1/chat/completions` and similar formats. Content may be null; reasoning is not part of the answer.
pub(super) fn read_chat(event: &Value, reading: &mut AnswerState) -> Result<(), MalformedReason> {
    if let Some(choice) = choice(event)? {
        let response = choice
            .get("delta")
            .or_else(|| choice.get("message"))
            .ok_or("it has neither `delta` nor `message`")?;
        reading.text.push_str(&content(response.get("content")));
        reading.set_finish(choice.get("finish_reason").and_then(Value::as_str));
    }
    read_usage(event, reading);
    Ok(())
}

/// Reads text, or a list of parts of which only those with text are used (Mistral's).
fn content(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}

/// Reads token counts and llama.cpp's measurements wherever they occur.
fn read_usage(event: &Value, reading: &mut AnswerState) {
    if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
        reading.usage = usage_of(usage).or(reading.usage);
    }
    if let Some(timings) = event.get("timings").filter(|timings| timings.is_object()) {
        reading.timings = Some(timings_of(timings));
        reading.usage = reading.usage.or_else(|| llama_cpp_usage(timings));
    }
}

fn usage_of(usage: &Value) -> Option<Usage> {
    let cached = ["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/num_cached_tokens"];
    Some(Usage {
        input: usage.get("prompt_tokens")?.as_u64()?,
        output: usage.get("completion_tokens").and_then(Value::as_u64).unwrap_or(0),
        cached: cached.iter().find_map(|place| usage.pointer(place)?.as_u64()),
    })
}

/// Reads llama.cpp's `timings`.
pub(super) fn timings_of(timings: &Value) -> ServerTimings {
    ServerTimings {
        load: None,
        prompt: timings.get("prompt_ms").and_then(milliseconds),
        generation: timings.get("predicted_ms").and_then(milliseconds),
    }
}

/// Reads llama.cpp's counts: `prompt_n` tokens were evaluated, `cache_n` were cached.
pub(super) fn llama_cpp_usage(timings: &Value) -> Option<Usage> {
    let count = |name: &str| timings.get(name).and_then(Value::as_u64);
    let (read, cached) = (count("prompt_n")?, count("cache_n"));
    Some(Usage { input: read + cached.unwrap_or(0), output: count("predicted_n").unwrap_or(0), cached })
}
