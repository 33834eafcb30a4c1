//! Mistral's `/v1/fim/completions`, with Codestral.
//!
//! Traps: the answer has the shape of a chat answer. Unknown fields are rejected with 422, including `stream_options`, and the
//! seed is called `random_seed`. Token counts come with the last event.

use serde_json::Value;

use super::openai::MANNERS;
use super::reading::{Reading, Wrong};
use super::{Asked, Format, Object, Question, Takes, fields, metadata};
use crate::http::{Event, Framing};

pub(super) static FORMAT: Format = Format {
    takes: Takes::Hole,
    manners: MANNERS,
    takes_context: false,
    framing: Framing::ServerSent,
    stops: usize::MAX,
    path: |_| "/v1/fim/completions",
    write,
    read,
    metadata: Some(metadata::MODELS),
    tokenizer: None,
};

fn write(asked: &Asked<'_>) -> Object {
    let mut body = fields::common(asked);
    if let Some(seed) = body.remove("seed") {
        body.insert("random_seed".to_owned(), seed);
    }
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

fn read(_event: &Event, said: &Value, reading: &mut Reading) -> Result<(), Wrong> {
    fields::read_chat(said, reading)
}
