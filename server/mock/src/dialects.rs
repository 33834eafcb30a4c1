//! Dialects of real servers, one file each: the fields that each accepts and rejects, and the responses that it sends.
//!
//! Sources are the projects' own documentation and code, and the answers of a real llama-server. Where a real server ignores an
//! unknown field, the mock does too, and notes it in [`RequestLog::ignored_fields`](crate::RequestLog::ignored_fields).

mod anthropic;
mod body_check;
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

use crate::request_log::SharedLog;
use crate::{MockModel, ReceivedRequest, Reply, ReplyStep};

/// Reaction to a suffix that the request format has but the server's model or version does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuffixPolicy {
    /// Uses the suffix.
    Taken,
    /// Answers 400.
    Refused,
    /// Ignores the suffix.
    Ignored,
}

type Responder = fn(&Dialect, &ReceivedRequest, &mut Vec<String>) -> Reply;

/// A server of one kind with one model.
#[derive(Clone)]
pub struct Dialect {
    responder: Responder,
    model: MockModel,
    key: Option<String>,
    suffix: SuffixPolicy,
    is_reasoning: bool,
    delay: Duration,
    piece_delay: Duration,
}

impl Dialect {
    fn new(speech: Responder, model: MockModel, suffix: SuffixPolicy) -> Dialect {
        let (delay, piece_delay) = (Duration::ZERO, Duration::ZERO);
        Dialect { responder: speech, model, key: None, suffix, is_reasoning: false, delay, piece_delay }
    }

    /// llama.cpp's server 0.7.0, which ignores a suffix in `/v1/completions`.
    pub fn llama_cpp(model: MockModel) -> Dialect {
        Dialect::new(llama_cpp::reply, model, SuffixPolicy::Ignored)
    }

    /// OpenAI; requires a key.
    pub fn open_ai(model: MockModel, key: &str) -> Dialect {
        Dialect::new(openai::reply, model, SuffixPolicy::Taken).with_key(key)
    }

    /// vLLM.
    pub fn vllm(model: MockModel) -> Dialect {
        Dialect::new(vllm::reply, model, SuffixPolicy::Refused)
    }

    /// Ollama; uses a suffix if the model has a template for it.
    pub fn ollama(model: MockModel) -> Dialect {
        Dialect::new(ollama::reply, model, SuffixPolicy::Taken)
    }

    /// Text Generation Inference.
    pub fn tgi(model: MockModel) -> Dialect {
        Dialect::new(tgi::reply, model, SuffixPolicy::Refused)
    }

    /// Mistral; requires a key.
    pub fn mistral(model: MockModel, key: &str) -> Dialect {
        Dialect::new(mistral::reply, model, SuffixPolicy::Taken).with_key(key)
    }

    /// DeepSeek; requires a key.
    pub fn deepseek(model: MockModel, key: &str) -> Dialect {
        Dialect::new(deepseek::reply, model, SuffixPolicy::Taken).with_key(key)
    }

    /// Tabby; requires a key.
    pub fn tabby(model: MockModel, key: &str) -> Dialect {
        Dialect::new(tabby::reply, model, SuffixPolicy::Taken).with_key(key)
    }

    /// Anthropic; requires a key.
    pub fn anthropic(model: MockModel, key: &str) -> Dialect {
        Dialect::new(anthropic::reply, model, SuffixPolicy::Refused).with_key(key)
    }

    /// Requires this key.
    #[must_use]
    pub fn with_key(self, key: &str) -> Dialect {
        Dialect { key: Some(key.to_owned()), ..self }
    }

    /// Sets the reaction to a suffix.
    #[must_use]
    pub fn with_suffix(self, suffix: SuffixPolicy) -> Dialect {
        Dialect { suffix, ..self }
    }

    /// Makes the model a reasoning one, which rejects `max_tokens` and temperature (OpenAI's).
    #[must_use]
    pub fn with_reasoning(self) -> Dialect {
        Dialect { is_reasoning: true, ..self }
    }

    /// Adds a delay before each answer and before each piece of it.
    #[must_use]
    pub fn with_delays(self, delay: Duration, piece_delay: Duration) -> Dialect {
        Dialect { delay, piece_delay, ..self }
    }

    pub(crate) fn reply(&self, received: &ReceivedRequest, log: &SharedLog) -> Reply {
        let mut passed_over = Vec::new();
        let reply = (self.responder)(self, received, &mut passed_over);
        if !passed_over.is_empty() {
            log.note(|log| log.ignored_fields.append(&mut passed_over));
        }
        if self.delay.is_zero() { reply } else { reply.preceded_by(ReplyStep::Pause(self.delay)) }
    }

    /// Returns whether the request has the required key, if any.
    fn is_allowed(&self, received: &ReceivedRequest) -> bool {
        let Some(key) = &self.key else { return true };
        received.header("authorization") == Some(&format!("Bearer {key}"))
    }
}

/// An error in the format of OpenAI and many others.
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

/// Returns a string or a list of strings as a list.
fn texts(body: &Value, field: &str) -> Vec<String> {
    match body.get(field) {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(texts)) => {
            texts.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}
