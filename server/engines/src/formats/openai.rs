//! OpenAI's `/v1/completions`, which llama.cpp, Ollama, LM Studio, LocalAI, OpenRouter and many others offer.
//!
//! Traps: `suffix` is taken by OpenAI's own completion models and few others. vLLM and TGI refuse it by 400; llama.cpp's server ignores
//! it silently (measured with 0.7.0; other builds refuse it), so an answer of that server to a suffix is none. At most four texts may
//! end an answer.

use serde_json::Value;

use super::reading::{Reading, Wrong};
use super::{Asked, Format, Object, Question, Takes, fields, metadata};
use crate::http::{Event, Framing, KeyHeader, Manners};

pub(super) static FORMAT: Format = Format {
    takes: Takes::RenderedOrHole,
    manners: MANNERS,
    takes_context: false,
    framing: Framing::ServerSent,
    stops: 4,
    path: |_| "/v1/completions",
    write,
    read,
    metadata: Some(metadata::MODELS),
    tokenizer: None,
};

/// How OpenAI's relatives take keys.
pub(super) const MANNERS: Manners = Manners { key: KeyHeader::Bearer, headers: &[] };

pub(super) fn write(asked: &Asked<'_>) -> Object {
    let mut body = fields::common(asked);
    fields::count_tokens(&mut body);
    match asked.question {
        Question::Hole { prefix, suffix, .. } => {
            body.insert("prompt".to_owned(), prefix.into());
            body.insert("suffix".to_owned(), suffix.into());
        }
        Question::Rendered { prompt } | Question::Chat { user: prompt, .. } => {
            body.insert("prompt".to_owned(), prompt.into());
        }
    }
    body
}

pub(super) fn read(_event: &Event, said: &Value, reading: &mut Reading) -> Result<(), Wrong> {
    fields::read_completion(said, reading)
}
