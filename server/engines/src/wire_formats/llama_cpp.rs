//! llama.cpp's server: `/infill`, where the server builds the prompt, and `/completion`, which takes a rendered prompt.
//!
//! Traps: `/infill` truncates the prefix to three quarters of a batch and the suffix to a quarter in all cases, and drops
//! the first of its extra texts first; so the nearest goes last. Closing the connection frees the server only while it streams,
//! and during prompt evaluation only with `return_progress`. There is no `[DONE]`: the last event contains `stop`.

use serde_json::{Value, json};
use text::Snippet;

use super::answer_state::{AnswerState, MalformedReason};
use super::openai::HEADERS;
use super::{ModelInput, ModelRequest, Object, SupportedPrompts, WireFormat, openai_fields, server_metadata};
use crate::Usage;
use crate::http::{Framing, StreamEvent};

pub(super) static FORMAT: WireFormat = WireFormat {
    supported_prompts: SupportedPrompts::HoleOrRendered,
    headers: HEADERS,
    takes_context: true,
    framing: Framing::ServerSent,
    max_stops: usize::MAX,
    path,
    write,
    read,
    metadata: Some(server_metadata::PROPS),
    tokenizer: Some(server_metadata::LLAMA_CPP_TOKENIZER),
};

fn path(input: &ModelInput) -> &'static str {
    match input {
        ModelInput::Hole { .. } => "/infill",
        ModelInput::Rendered { .. } | ModelInput::Chat { .. } => "/completion",
    }
}

fn write(asked: ModelRequest<'_>) -> Object {
    let mut body = openai_fields::common_fields(&asked);
    if let Some(tokens) = body.remove("max_tokens") {
        body.insert("n_predict".to_owned(), tokens);
    }
    body.insert("cache_prompt".to_owned(), true.into());
    body.insert("return_progress".to_owned(), true.into());
    match asked.input {
        ModelInput::Hole { prefix, suffix, context, .. } => {
            body.insert("input_prefix".to_owned(), prefix.into());
            body.insert("input_suffix".to_owned(), suffix.into());
            body.insert("prompt".to_owned(), "".into());
            body.insert("input_extra".to_owned(), context.iter().rev().map(extra).collect());
        }
        ModelInput::Rendered { prompt } | ModelInput::Chat { user: prompt, .. } => {
            body.insert("prompt".to_owned(), prompt.into());
        }
    }
    body
}

fn extra(item: &Snippet) -> Value {
    json!({"filename": *item.path, "text": item.text})
}

/// `response_fields` can move fields to the root, named by their path.
fn read(_event: &StreamEvent, response: &Value, reading: &mut AnswerState) -> Result<(), MalformedReason> {
    // With `n_cmpl` there are several answers.
    let response = response.as_array().and_then(|answers| answers.first()).unwrap_or(response);
    if response.get("index").and_then(Value::as_u64).unwrap_or(0) != 0 {
        return Ok(());
    }
    reading.text.push_str(response.get("content").and_then(Value::as_str).ok_or("it has no `content`")?);
    if response.get("stop").and_then(Value::as_bool) == Some(true) {
        reading.set_finish(response.get("stop_type").and_then(Value::as_str).or(Some("stop")));
        reading.is_finished = true;
    }
    if let Some(timings) = response.get("timings") {
        reading.timings = Some(openai_fields::timings_of(timings));
    }
    if let Some(prompt) = response.get("prompt").and_then(Value::as_str) {
        reading.prompt = Some(prompt.to_owned());
    }
    reading.usage = usage(response).or(reading.usage);
    Ok(())
}

/// All tokens of the prompt were evaluated once: `prompt_n` of them now, the others for an earlier request.
fn usage(response: &Value) -> Option<Usage> {
    let count = |name: &str| {
        response.get(name).or_else(|| response.pointer(&format!("/{name}"))).and_then(Value::as_u64)
    };
    let (input, output) = (count("tokens_evaluated")?, count("tokens_predicted")?);
    let now = count("timings/prompt_n");
    let cached = count("timings/cache_n").or_else(|| now.map(|now| input.saturating_sub(now)));
    Some(Usage { input, output, cached })
}
