//! The wire formats: how a request is serialized and an answer is parsed, one file per format.
//!
//! A format is a table of pure functions over JSON. It opens no connection and knows no templates: the [`Question`] already
//! contains the model's input, which `http_engine` prepares. Each format's file documents what real servers accept and send,
//! with every known trap.

mod anthropic;
mod deepseek_fim;
mod fields;
mod lesson;
mod llama_cpp;
mod metadata;
mod mistral_fim;
mod ollama;
mod openai;
mod openai_chat;
mod reading;
mod tabby;
mod tgi;
mod vllm;

use serde_json::{Map, Value};

use crate::http::{Event, Framing, Manners};
use crate::{ContextItem, Kind};

pub(crate) use lesson::{Lesson, Lessons, lesson};
pub use metadata::Metadata;
pub(crate) use metadata::{SLOTS, busy};
pub(crate) use reading::{Reading, Wrong};

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// Input of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Question<'a> {
    /// A prompt with the model's special tokens.
    Rendered {
        /// The prompt.
        prompt: &'a str,
    },
    /// Prefix and suffix, for servers that build the prompt.
    Hole {
        /// The document's path, relative to the workspace root.
        path: &'a str,
        /// Language name, as in `syntax`.
        language: &'a str,
        /// Text before the cursor.
        prefix: &'a str,
        /// Text after the cursor.
        suffix: &'a str,
        /// Context from other files, nearest first.
        context: &'a [ContextItem],
    },
    /// A chat.
    Chat {
        /// System message.
        system: &'a str,
        /// User message.
        user: &'a str,
    },
}

/// A request with its sampling parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// The model's input.
    pub(crate) question: Question<'a>,
    /// Model name, for servers with several.
    pub(crate) model: Option<&'a str>,
    /// Stop strings, most important first.
    pub(crate) stop: &'a [String],
    /// Sampling parameters.
    pub(crate) sampling: &'a Sampling,
}

/// Sampling parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Maximum tokens of an answer.
    pub max_tokens: u32,
    /// Temperature. `None`: the lowest that the server allows, usually 0.
    pub temperature: Option<f64>,
    /// Nucleus sampling probability; default: the server's.
    pub top_p: Option<f64>,
    /// Seed for reproducible sampling, for servers that support it.
    pub seed: Option<u64>,
}

impl Sampling {
    /// Greedy decoding with at most this number of tokens.
    pub fn likeliest(max_tokens: u32) -> Sampling {
        Sampling { max_tokens, temperature: None, top_p: None, seed: None }
    }

    /// Temperature for servers that accept 0.
    fn temperature(&self) -> f64 {
        self.temperature.unwrap_or(0.0)
    }
}

/// Inputs that a server accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Rendered prompts only.
    Rendered,
    /// Both; uses rendered prompts if a template is known, unless infill is configured.
    RenderedOrHole,
    /// Both; uses infill, unless a template is configured or the server rejects infill.
    HoleOrRendered,
    /// Infill only.
    Hole,
    /// Chats only.
    Chat,
}

/// A wire format.
pub(crate) struct Format {
    /// Inputs that it accepts.
    pub(crate) takes: Takes,
    /// How the key is sent, and additional headers.
    pub(crate) manners: Manners,
    /// Whether an infill request has a separate field for context.
    pub(crate) takes_context: bool,
    /// Framing of stream events.
    pub(crate) framing: Framing,
    /// Maximum number of stop strings; further ones are omitted.
    pub(crate) stops: usize,
    /// Path of the endpoint.
    pub(crate) path: fn(Question<'_>) -> &'static str,
    /// Builds the request body.
    pub(crate) write: fn(&Asked<'_>) -> Object,
    /// Parses an event, or the whole answer of a server that doesn't stream.
    pub(crate) read: fn(&Event, &Value, &mut Reading) -> Result<(), Wrong>,
    /// Endpoint with the server's metadata.
    pub(crate) metadata: Option<metadata::Source>,
    /// Endpoint that counts tokens.
    pub(crate) tokenizer: Option<metadata::Tokenizer>,
}

/// Returns the format of a kind; `None` for kinds that don't use HTTP.
pub(crate) fn of(kind: Kind) -> Option<&'static Format> {
    match kind {
        Kind::Builtin | Kind::Command | Kind::Lsp | Kind::Scripted => None,
        Kind::OpenAi => Some(&openai::FORMAT),
        Kind::OpenAiChat => Some(&openai_chat::FORMAT),
        Kind::Anthropic => Some(&anthropic::FORMAT),
        Kind::LlamaCpp | Kind::LlamaServer => Some(&llama_cpp::FORMAT),
        Kind::Ollama => Some(&ollama::FORMAT),
        Kind::MistralFim => Some(&mistral_fim::FORMAT),
        Kind::DeepSeekFim => Some(&deepseek_fim::FORMAT),
        Kind::Tgi => Some(&tgi::FORMAT),
        Kind::Vllm => Some(&vllm::FORMAT),
        Kind::Tabby => Some(&tabby::FORMAT),
    }
}

/// Merges `extra` into a body: objects recursively, other values replace.
pub(crate) fn overlay(body: &mut Object, extra: &Object) {
    for (name, value) in extra {
        match (body.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => overlay(inner, value),
            _ => drop(body.insert(name.clone(), value.clone())),
        }
    }
}
