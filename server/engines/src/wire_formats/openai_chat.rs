//! OpenAI's `/v1/chat/completions`: a chat model fills the hole.
//!
//! Traps: the first piece may be null (llama.cpp). Reasoning models require `max_completion_tokens` and no temperature; they
//! answer 400, from which the quirk is detected.

use serde_json::{Value, json};

use super::answer_state::{AnswerState, MalformedReason};
use super::openai::HEADERS;
use super::{ModelInput, ModelRequest, Object, SupportedPrompts, WireFormat, openai_fields, server_metadata};
use crate::http::{Framing, StreamEvent};

pub(super) static FORMAT: WireFormat = WireFormat {
    supported_prompts: SupportedPrompts::Chat,
    headers: HEADERS,
    takes_context: false,
    framing: Framing::ServerSent,
    max_stops: 4,
    path: |_| "/v1/chat/completions",
    write,
    read,
    metadata: Some(server_metadata::MODELS),
    tokenizer: None,
};

fn write(asked: ModelRequest<'_>) -> Object {
    let mut body = openai_fields::common_fields(&asked);
    openai_fields::request_usage(&mut body);
    let messages = match asked.input {
        ModelInput::Chat { system: "", user } => json!([{"role": "user", "content": user}]),
        ModelInput::Chat { system, user } => {
            json!([{"role": "system", "content": system}, {"role": "user", "content": user}])
        }
        ModelInput::Rendered { prompt } | ModelInput::Hole { prefix: prompt, .. } => {
            json!([{"role": "user", "content": prompt}])
        }
    };
    body.insert("messages".to_owned(), messages);
    body
}

fn read(_event: &StreamEvent, response: &Value, reading: &mut AnswerState) -> Result<(), MalformedReason> {
    openai_fields::read_chat(response, reading)
}
