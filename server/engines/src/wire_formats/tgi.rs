//! Hugging Face's Text Generation Inference: `/generate_stream`.
//!
//! Traps: there is no suffix. A temperature of 0 is rejected; omitting it has the same meaning. The stream contains special
//! tokens, marked as such, and the stop strings. At most four stop strings are allowed.

use serde_json::{Value, json};

use super::answer_state::{AnswerState, MalformedReason};
use super::openai::HEADERS;
use super::{ModelInput, ModelRequest, Object, SupportedPrompts, WireFormat, server_metadata};
use crate::Usage;
use crate::http::{Framing, StreamEvent};

pub(super) static FORMAT: WireFormat = WireFormat {
    supported_prompts: SupportedPrompts::Rendered,
    headers: HEADERS,
    takes_context: false,
    framing: Framing::ServerSent,
    max_stops: 4,
    path: |_| "/generate_stream",
    write,
    read,
    metadata: Some(server_metadata::INFO),
    tokenizer: Some(server_metadata::TGI_TOKENIZER),
};

fn write(asked: ModelRequest<'_>) -> Object {
    let sampling = asked.sampling;
    let mut parameters = Object::new();
    parameters.insert("max_new_tokens".to_owned(), sampling.max_tokens.into());
    let temperature = sampling.temperature.filter(|&temperature| temperature > 0.0);
    parameters.insert("do_sample".to_owned(), temperature.is_some().into());
    if let Some(temperature) = temperature {
        parameters.insert("temperature".to_owned(), json!(temperature));
    }
    // Must be less than 1; omitting it means 1.
    if let Some(top_p) = sampling.top_p.filter(|&top_p| top_p < 1.0) {
        parameters.insert("top_p".to_owned(), json!(top_p));
    }
    if let Some(seed) = sampling.seed {
        parameters.insert("seed".to_owned(), seed.into());
    }
    if !asked.stop.is_empty() {
        parameters.insert("stop".to_owned(), json!(asked.stop));
    }
    parameters.insert("return_full_text".to_owned(), false.into());
    parameters.insert("details".to_owned(), true.into());
    let prompt = match asked.input {
        ModelInput::Rendered { prompt } | ModelInput::Hole { prefix: prompt, .. } => prompt,
        ModelInput::Chat { user, .. } => user,
    };
    let mut body = Object::new();
    body.insert("inputs".to_owned(), prompt.into());
    body.insert("parameters".to_owned(), parameters.into());
    body
}

/// An event with a token, or the whole answer, which the compatible routes wrap in a list.
fn read(_event: &StreamEvent, response: &Value, reading: &mut AnswerState) -> Result<(), MalformedReason> {
    let response = response.as_array().and_then(|answers| answers.first()).unwrap_or(response);
    let whole = response.get("generated_text").and_then(Value::as_str);
    match (response.get("token"), whole) {
        (Some(token), _) => {
            let is_special = token.get("special").and_then(Value::as_bool).unwrap_or(false);
            let text = token.get("text").and_then(Value::as_str).ok_or("its token has no `text`")?;
            reading.text.push_str(if is_special { "" } else { text });
        }
        (None, Some(whole)) => reading.text.push_str(whole),
        (None, None) => return Err("it has neither `token` nor `generated_text`"),
    }
    reading.is_finished = whole.is_some();
    let Some(details) = response.get("details").filter(|details| details.is_object()) else { return Ok(()) };
    reading.set_finish(details.get("finish_reason").and_then(Value::as_str));
    let count = |name: &str| details.get(name).and_then(Value::as_u64);
    reading.usage = count("generated_tokens")
        .zip(count("input_length").or_else(|| prefill(details)))
        .map(|(output, input)| Usage { input, output, cached: None });
    Ok(())
}

/// Older servers list the input tokens instead of counting them.
fn prefill(details: &Value) -> Option<u64> {
    let tokens = details.get("prefill")?.as_array().filter(|tokens| !tokens.is_empty())?;
    u64::try_from(tokens.len()).ok()
}
