//! OpenAI's `/v1/completions`, which llama.cpp, Ollama, LM Studio, LocalAI, OpenRouter and many others offer.
//!
//! Traps: `suffix` is supported by OpenAI's own completion models and few others. vLLM and TGI reject it with 400; llama.cpp's
//! server ignores it silently (measured with 0.7.0; other builds reject it), so its answer to a request with a suffix is
//! treated as an error. At most four stop strings are allowed.

use serde_json::Value;

use super::answer_state::{AnswerState, MalformedReason};
use super::{ModelInput, ModelRequest, Object, SupportedPrompts, WireFormat, openai_fields, server_metadata};
use crate::http::{Framing, KeyHeader, RequestHeaders, StreamEvent};

pub(super) static FORMAT: WireFormat = WireFormat {
    supported_prompts: SupportedPrompts::RenderedOrHole,
    headers: HEADERS,
    takes_context: false,
    framing: Framing::ServerSent,
    max_stops: 4,
    path: |_| "/v1/completions",
    write,
    read,
    metadata: Some(server_metadata::MODELS),
    tokenizer: None,
};

/// Key header of OpenAI-compatible servers.
pub(super) const HEADERS: RequestHeaders = RequestHeaders { key: KeyHeader::Bearer, headers: &[] };

pub(super) fn write(asked: ModelRequest<'_>) -> Object {
    let mut body = openai_fields::common_fields(&asked);
    openai_fields::request_usage(&mut body);
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

pub(super) fn read(
    _event: &StreamEvent,
    response: &Value,
    reading: &mut AnswerState,
) -> Result<(), MalformedReason> {
    openai_fields::read_completion(response, reading)
}
