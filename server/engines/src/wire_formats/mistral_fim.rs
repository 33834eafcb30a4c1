//! Mistral's `/v1/fim/completions`, with Codestral.
//!
//! Traps: the answer has the shape of a chat answer. Unknown fields are rejected with 422, including `stream_options`, and the
//! seed is called `random_seed`. Token counts come with the last event.

use serde_json::Value;

use super::answer_state::{AnswerState, MalformedReason};
use super::openai::HEADERS;
use super::{ModelInput, ModelRequest, Object, SupportedPrompts, WireFormat, openai_fields, server_metadata};
use crate::http::{Framing, StreamEvent};

pub(super) static FORMAT: WireFormat = WireFormat {
    supported_prompts: SupportedPrompts::Hole,
    headers: HEADERS,
    takes_context: false,
    framing: Framing::ServerSent,
    max_stops: usize::MAX,
    path: |_| "/v1/fim/completions",
    write,
    read,
    metadata: Some(server_metadata::MODELS),
    tokenizer: None,
};

fn write(asked: ModelRequest<'_>) -> Object {
    let mut body = openai_fields::common_fields(&asked);
    if let Some(seed) = body.remove("seed") {
        body.insert("random_seed".to_owned(), seed);
    }
    match asked.input {
        ModelInput::Hole { prefix, suffix, .. } => {
            body.insert("prompt".to_owned(), prefix.into());
            body.insert("suffix".to_owned(), suffix.into());
        }
        ModelInput::Rendered { prompt } | ModelInput::Chat { user: prompt, .. } => {
            body.insert("prompt".to_owned(), prompt.into());
        }
    }
    body
}

fn read(_event: &StreamEvent, response: &Value, reading: &mut AnswerState) -> Result<(), MalformedReason> {
    openai_fields::read_chat(response, reading)
}
