//! The wire formats: how a request is serialized and an answer is parsed, one file per format.
//!
//! A format is a table of pure functions over JSON. It opens no connection and knows no templates: the [`ModelRequest`] already
//! contains the model's input, which `http_engine` fits into its context window. Each format's file documents what real servers accept and
//! send, with every known trap.

mod answer_state;
mod anthropic;
mod deepseek_fim;
mod llama_cpp;
mod mistral_fim;
mod ollama;
mod openai;
mod openai_chat;
mod openai_fields;
mod server_metadata;
mod server_quirks;
mod tabby;
mod tgi;
mod vllm;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};
use syntax::Language;
use text::Snippet;

use crate::EngineKind;
use crate::http::{Framing, RequestHeaders, StreamEvent};

pub(crate) use answer_state::{AnswerState, MalformedReason};
pub use server_metadata::ServerMetadata;
pub(crate) use server_metadata::{SLOTS, busy};
pub(crate) use server_quirks::{ServerQuirk, ServerQuirks, quirk_of_refusal};

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// Input of a model, fitted into its context window.
#[derive(Clone, Debug)]
pub(crate) enum ModelInput {
    /// A prompt with the model's special tokens.
    Rendered {
        /// The prompt.
        prompt: String,
    },
    /// Prefix and suffix, for servers that build the prompt.
    Hole {
        /// The document's path, relative to the workspace root.
        path: Arc<str>,
        /// Language of the document.
        language: Language,
        /// Text before the cursor.
        prefix: String,
        /// Text after the cursor.
        suffix: String,
        /// Context from other files, nearest first.
        context: Vec<Snippet>,
    },
    /// A chat.
    Chat {
        /// System message; empty for none.
        system: &'static str,
        /// User message.
        user: String,
    },
}

impl ModelInput {
    /// Whether the server builds the prompt.
    pub(crate) fn is_infill(&self) -> bool {
        matches!(self, ModelInput::Hole { .. })
    }

    /// Returns the prompt as text, for people.
    pub(crate) fn prompt_text(&self) -> Cow<'_, str> {
        match self {
            ModelInput::Rendered { prompt } => prompt.into(),
            ModelInput::Chat { system: "", user } => user.into(),
            ModelInput::Chat { system, user } => format!("{system}\n\n{user}").into(),
            ModelInput::Hole { prefix, suffix, context, .. } => {
                let context = context.iter().map(|item| format!("[{}]\n{}\n", item.path, item.text));
                format!("{}{prefix}[hole]{suffix}", context.collect::<String>()).into()
            }
        }
    }
}

/// The input of a model with everything else that decides its answer.
#[derive(Debug)]
pub(crate) struct ModelRequest<'a> {
    /// The model's input.
    pub(crate) input: ModelInput,
    /// Stop strings, most important first.
    pub(crate) stop: Vec<String>,
    /// Model name, for servers with several.
    pub(crate) model: Option<&'a str>,
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
    pub fn greedy(max_tokens: u32) -> Sampling {
        Sampling { max_tokens, temperature: None, top_p: None, seed: None }
    }

    /// Temperature for servers that accept 0.
    fn temperature(&self) -> f64 {
        self.temperature.unwrap_or(0.0)
    }
}

/// Inputs that a server accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SupportedPrompts {
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
pub(crate) struct WireFormat {
    /// Inputs that it accepts.
    pub(crate) supported_prompts: SupportedPrompts,
    /// How the key is sent, and additional headers.
    pub(crate) headers: RequestHeaders,
    /// Whether an infill request has a separate field for context.
    pub(crate) takes_context: bool,
    /// Framing of stream events.
    pub(crate) framing: Framing,
    /// Maximum number of stop strings; further ones are omitted.
    pub(crate) max_stops: usize,
    /// Path of the endpoint.
    pub(crate) path: fn(&ModelInput) -> &'static str,
    /// Builds the request body.
    pub(crate) write: fn(ModelRequest<'_>) -> Object,
    /// Parses an event, or the whole answer of a server that doesn't stream.
    pub(crate) read: fn(&StreamEvent, &Value, &mut AnswerState) -> Result<(), MalformedReason>,
    /// Endpoint with the server's metadata.
    pub(crate) metadata: Option<server_metadata::MetadataEndpoint>,
    /// Endpoint that counts tokens.
    pub(crate) tokenizer: Option<server_metadata::TokenizerEndpoint>,
}

/// Returns the format of a kind; `None` for kinds that don't use HTTP.
pub(crate) fn wire_format(kind: EngineKind) -> Option<&'static WireFormat> {
    match kind {
        EngineKind::Builtin | EngineKind::Command | EngineKind::Lsp | EngineKind::Scripted => None,
        EngineKind::OpenAi => Some(&openai::FORMAT),
        EngineKind::OpenAiChat => Some(&openai_chat::FORMAT),
        EngineKind::Anthropic => Some(&anthropic::FORMAT),
        EngineKind::LlamaCpp | EngineKind::LlamaServer => Some(&llama_cpp::FORMAT),
        EngineKind::Ollama => Some(&ollama::FORMAT),
        EngineKind::MistralFim => Some(&mistral_fim::FORMAT),
        EngineKind::DeepSeekFim => Some(&deepseek_fim::FORMAT),
        EngineKind::Tgi => Some(&tgi::FORMAT),
        EngineKind::Vllm => Some(&vllm::FORMAT),
        EngineKind::Tabby => Some(&tabby::FORMAT),
    }
}

/// Merges `extra` into a body: objects recursively, other values replace.
pub(crate) fn merge_fields(body: &mut Object, extra: &Object) {
    for (name, value) in extra {
        match (body.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => merge_fields(inner, value),
            _ => drop(body.insert(name.clone(), value.clone())),
        }
    }
}
