//! OpenAI's `/v1/chat/completions`: a chat model fills the hole.
//!
//! Traps: the first piece may be null (llama.cpp). Reasoning models require `max_completion_tokens` and no temperature; they
//! answer 400, from which the quirk is detected.

use serde_json::{Value, json};

use super::openai::MANNERS;
use super::reading::{Reading, Wrong};
use super::{Asked, Format, Object, Question, Takes, fields, metadata};
use crate::http::{Event, Framing};

pub(super) static FORMAT: Format = Format {
    takes: Takes::Chat,
    manners: MANNERS,
    takes_context: false,
    framing: Framing::ServerSent,
    stops: 4,
    path: |_| "/v1/chat/completions",
    write,
    read,
    metadata: Some(metadata::MODELS),
    tokenizer: None,
};

fn write(asked: &Asked<'_>) -> Object {
    let mut body = fields::common(asked);
    fields::count_tokens(&mut body);
    let messages = match asked.question {
        Question::Chat { system, user } => {
            json!([{"role": "system", "content": system}, {"role": "user", "content": user}])
        }
        Question::Rendered { prompt } | Question::Hole { prefix: prompt, .. } => {
            json!([{"role": "user", "content": prompt}])
        }
    };
    body.insert("messages".to_owned(), messages);
    body
}

fn read(_event: &Event, said: &Value, reading: &mut Reading) -> Result<(), Wrong> {
    fields::read_chat(said, reading)
}
