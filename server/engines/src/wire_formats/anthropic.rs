//! Anthropic's `/v1/messages`: a chat model fills the hole.
//!
//! Traps: the key has a header of its own, and the API version is required. Events have types; unknown types may be added at
//! any time and are ignored. A blank stop string is rejected. Cached tokens are not included in the token counts.

use serde_json::{Value, json};

use super::answer_state::{AnswerState, MalformedReason};
use super::{ModelInput, ModelRequest, Object, SupportedPrompts, WireFormat, openai_fields, server_metadata};
use crate::Usage;
use crate::http::{Framing, KeyHeader, RequestHeaders, StreamEvent};

pub(super) static FORMAT: WireFormat = WireFormat {
    supported_prompts: SupportedPrompts::Chat,
    headers: RequestHeaders {
        key: KeyHeader::Named("x-api-key"),
        headers: &[("anthropic-version", "2023-06-01")],
    },
    takes_context: false,
    framing: Framing::ServerSent,
    max_stops: usize::MAX,
    path: |_| "/v1/messages",
    write,
    read,
    metadata: Some(server_metadata::MODELS),
    tokenizer: None,
};

fn write(asked: ModelRequest<'_>) -> Object {
    let mut body = openai_fields::common_fields(&asked);
    // There is no seed, and stop strings have another field.
    body.remove("seed");
    body.remove("stop");
    let stops: Vec<&String> = asked.stop.iter().filter(|stop| !stop.trim().is_empty()).collect();
    if !stops.is_empty() {
        body.insert("stop_sequences".to_owned(), json!(stops));
    }
    let user = match asked.input {
        ModelInput::Chat { system, user } => {
            if !system.is_empty() {
                body.insert("system".to_owned(), system.into());
            }
            user
        }
        ModelInput::Rendered { prompt } | ModelInput::Hole { prefix: prompt, .. } => prompt,
    };
    body.insert("messages".to_owned(), json!([{"role": "user", "content": user}]));
    body
}

fn read(_event: &StreamEvent, response: &Value, reading: &mut AnswerState) -> Result<(), MalformedReason> {
    let text = |place: &str| response.pointer(place).and_then(Value::as_str);
    match text("/type").ok_or("it has no `type`")? {
        "message_start" => count(response.pointer("/message/usage"), reading),
        "content_block_start" => reading.text.push_str(text("/content_block/text").unwrap_or_default()),
        "content_block_delta" => reading.text.push_str(text("/delta/text").unwrap_or_default()),
        "message_delta" => {
            reading.set_finish(text("/delta/stop_reason"));
            count(response.get("usage"), reading);
        }
        "message_stop" => reading.is_finished = true,
        "message" => {
            let blocks = response.get("content").and_then(Value::as_array).ok_or("it has no `content`")?;
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
            reading.text.extend(texts);
            reading.set_finish(text("/stop_reason"));
            count(response.get("usage"), reading);
        }
        _ => {}
    }
    Ok(())
}

/// Token counts arrive in parts: the input's at the start, the output's at the end.
fn count(usage: Option<&Value>, reading: &mut AnswerState) {
    let Some(usage) = usage else { return };
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let known = reading.usage.unwrap_or(Usage { input: 0, output: 0, cached: None });
    let cached = count("cache_read_input_tokens");
    let input = count("input_tokens")
        .map(|read| read + cached.unwrap_or(0) + count("cache_creation_input_tokens").unwrap_or(0));
    reading.usage = Some(Usage {
        input: input.unwrap_or(known.input),
        output: count("output_tokens").unwrap_or(known.output),
        cached: cached.or(known.cached),
    });
}
