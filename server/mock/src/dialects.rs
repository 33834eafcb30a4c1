//! Servers as they really are: what each accepts, refuses and sends, one file each.
//!
//! The facts are the projects' own documentation and sources, and the answers of a real llama-server; where a real server passes over
//! an unknown field, so does the mock, and notes it in [`Log::passed_over`](crate::Log::passed_over).

mod anthropic;
mod check;
mod deepseek;
mod llama_cpp;
mod mistral;
mod ollama;
mod openai;
mod streams;
mod tabby;
mod tgi;
mod vllm;

use std::time::Duration;

use serde_json::{Value, json};

use crate::log::Shared;
use crate::{Model, Received, Reply, Step};

/// What a server does with a suffix that its format knows and its model or version does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuffixPolicy {
    /// Uses it.
    Taken,
    /// Answers 400.
    Refused,
    /// Answers as if it were not there.
    Ignored,
}

type Speech = fn(&Dialect, &Received, &mut Vec<String>) -> Reply;

/// A server of one kind, with one model.
#[derive(Clone)]
pub struct Dialect {
    speech: Speech,
    model: Model,
    key: Option<String>,
    suffix: SuffixPolicy,
    reasons: bool,
    delay: Duration,
    piece_delay: Duration,
}

impl Dialect {
    fn new(speech: Speech, model: Model, suffix: SuffixPolicy) -> Dialect {
        let (delay, piece_delay) = (Duration::ZERO, Duration::ZERO);
        Dialect { speech, model, key: None, suffix, reasons: false, delay, piece_delay }
    }

    /// llama.cpp's server 0.7.0, which ignores a suffix in `/v1/completions`.
    pub fn llama_cpp(model: Model) -> Dialect {
        Dialect::new(llama_cpp::reply, model, SuffixPolicy::Ignored)
    }

    /// OpenAI; wants a key.
    pub fn open_ai(model: Model, key: &str) -> Dialect {
        Dialect::new(openai::reply, model, SuffixPolicy::Taken).with_key(key)
    }

    /// vLLM.
    pub fn vllm(model: Model) -> Dialect {
        Dialect::new(vllm::reply, model, SuffixPolicy::Refused)
    }

    /// Ollama; takes a suffix where the model has a template for it.
    pub fn ollama(model: Model) -> Dialect {
        Dialect::new(ollama::reply, model, SuffixPolicy::Taken)
    }

    /// Text Generation Inference.
    pub fn tgi(model: Model) -> Dialect {
        Dialect::new(tgi::reply, model, SuffixPolicy::Refused)
    }

    /// Mistral; wants a key.
    pub fn mistral(model: Model, key: &str) -> Dialect {
        Dialect::new(mistral::reply, model, SuffixPolicy::Taken).with_key(key)
    }

    /// DeepSeek; wants a key.
    pub fn deepseek(model: Model, key: &str) -> Dialect {
        Dialect::new(deepseek::reply, model, SuffixPolicy::Taken).with_key(key)
    }

    /// Tabby; wants a key.
    pub fn tabby(model: Model, key: &str) -> Dialect {
        Dialect::new(tabby::reply, model, SuffixPolicy::Taken).with_key(key)
    }

    /// Anthropic; wants a key.
    pub fn anthropic(model: Model, key: &str) -> Dialect {
        Dialect::new(anthropic::reply, model, SuffixPolicy::Refused).with_key(key)
    }

    /// The same server, which wants this key.
    #[must_use]
    pub fn with_key(self, key: &str) -> Dialect {
        Dialect { key: Some(key.to_owned()), ..self }
    }

    /// The same server with another way to treat a suffix.
    #[must_use]
    pub fn with_suffix(self, suffix: SuffixPolicy) -> Dialect {
        Dialect { suffix, ..self }
    }

    /// The same server with a model that reasons, which takes neither `max_tokens` nor a temperature (OpenAI's).
    #[must_use]
    pub fn reasoning(self) -> Dialect {
        Dialect { reasons: true, ..self }
    }

    /// The same server, which needs time before an answer and before each piece of it.
    #[must_use]
    pub fn taking(self, delay: Duration, piece_delay: Duration) -> Dialect {
        Dialect { delay, piece_delay, ..self }
    }

    pub(crate) fn reply(&self, received: &Received, log: &Shared) -> Reply {
        let mut passed_over = Vec::new();
        let reply = (self.speech)(self, received, &mut passed_over);
        if !passed_over.is_empty() {
            log.note(|log| log.passed_over.append(&mut passed_over));
        }
        if self.delay.is_zero() { reply } else { reply.after(Step::Pause(self.delay)) }
    }

    /// Whether the request shows the key, where one is wanted.
    fn is_allowed(&self, received: &Received) -> bool {
        let Some(key) = &self.key else { return true };
        received.header("authorization") == Some(&format!("Bearer {key}"))
    }
}

/// An error as OpenAI and many others write it.
fn error(status: u16, kind: &str, message: &str) -> Reply {
    Reply::json(status, &json!({"error": {"message": message, "type": kind, "param": null, "code": status}}))
}

fn text<'a>(body: &'a Value, field: &str) -> &'a str {
    body.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn count(body: &Value, field: &str, standard: usize) -> usize {
    body.get(field).and_then(Value::as_u64).and_then(|count| count.try_into().ok()).unwrap_or(standard)
}

fn is_set(body: &Value, field: &str) -> bool {
    body.get(field).and_then(Value::as_bool).unwrap_or(false)
}

/// A text or a list of texts.
fn texts(body: &Value, field: &str) -> Vec<String> {
    match body.get(field) {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(texts)) => {
            texts.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}
