//! Ollama's `/api/generate`.
//!
//! Traps: `suffix` is rejected with 400 if the model's template has no placeholder for it; `raw` then accepts a rendered
//! prompt. Models with reasoning use it unless it is disabled. Durations are nanoseconds. A changed option reloads the model,
//! so options are always the same.

use serde_json::{Value, json};

use super::answer_state::{AnswerState, MalformedReason, nanoseconds};
use super::openai::HEADERS;
use super::{ModelInput, ModelRequest, Object, SupportedPrompts, WireFormat, server_metadata};
use crate::http::{Framing, StreamEvent};
use crate::{ServerTimings, Usage};

pub(super) static FORMAT: WireFormat = WireFormat {
    supported_prompts: SupportedPrompts::HoleOrRendered,
    headers: HEADERS,
    takes_context: false,
    framing: Framing::JsonLines,
    max_stops: usize::MAX,
    path: |_| "/api/generate",
    write,
    read,
    metadata: Some(server_metadata::OLLAMA),
    tokenizer: None,
};

fn write(asked: ModelRequest<'_>) -> Object {
    let sampling = asked.sampling;
    let mut options = Object::new();
    options.insert("num_predict".to_owned(), sampling.max_tokens.into());
    options.insert("temperature".to_owned(), json!(sampling.temperature()));
    if let Some(top_p) = sampling.top_p {
        options.insert("top_p".to_owned(), json!(top_p));
    }
    if let Some(seed) = sampling.seed {
        options.insert("seed".to_owned(), seed.into());
    }
    if !asked.stop.is_empty() {
        options.insert("stop".to_owned(), json!(asked.stop));
    }
    let mut body = Object::new();
    if let Some(model) = asked.model {
        body.insert("model".to_owned(), model.into());
    }
    match asked.input {
        ModelInput::Hole { prefix, suffix, .. } => {
            body.insert("prompt".to_owned(), prefix.into());
            body.insert("suffix".to_owned(), suffix.into());
        }
        ModelInput::Rendered { prompt } | ModelInput::Chat { user: prompt, .. } => {
            body.insert("prompt".to_owned(), prompt.into());
            body.insert("raw".to_owned(), true.into());
        }
    }
    body.insert("think".to_owned(), false.into());
    body.insert("stream".to_owned(), true.into());
    body.insert("options".to_owned(), options.into());
    body
}

fn read(_event: &StreamEvent, response: &Value, reading: &mut AnswerState) -> Result<(), MalformedReason> {
    reading.text.push_str(response.get("response").and_then(Value::as_str).ok_or("it has no `response`")?);
    if response.get("done").and_then(Value::as_bool) != Some(true) {
        return Ok(());
    }
    reading.set_finish(response.get("done_reason").and_then(Value::as_str).or(Some("stop")));
    reading.is_finished = true;
    let duration = |name: &str| response.get(name).and_then(nanoseconds);
    reading.timings = Some(ServerTimings {
        load: duration("load_duration"),
        prompt: duration("prompt_eval_duration"),
        generation: duration("eval_duration"),
    });
    let count = |name: &str| response.get(name).and_then(Value::as_u64);
    reading.usage = count("eval_count")
        // The count is absent if the whole prompt is cached.
        .map(|output| Usage { input: count("prompt_eval_count").unwrap_or(0), output, cached: None });
    Ok(())
}
