//! OpenAI's `/v1/completions`, which llama.cpp, Ollama, LM Studio, LocalAI, OpenRouter and many others offer.
//!
//! Traps: `suffix` is supported by OpenAI's own completion models and few others. vLLM and TGI reject it with 400; llama.cpp's
//! server ignores it silently (measured with 0.7.0; other builds reject it), so its answer to a request with a suffix is
//! treated as an error. At most four stop strings are allowed.

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

/// Key header of OpenAI-compatible servers.
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
