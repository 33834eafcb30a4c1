//! The wire formats: how a request is serialized and an answer is parsed, one file per format.
//!
//! A format is a table of pure functions over JSON. It opens no connection and knows no templates: the [`PendingRequest`] already
//! contains the model's input, which `http_engine` prepares. Each format's file documents what real servers accept and send,
//! with every known trap.

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

use serde_json::{Map, Value};

use crate::http::{Framing, RequestHeaders, StreamEvent};
use crate::{ContextSnippet, EngineKind};

pub(crate) use answer_state::{AnswerState, MalformedReason};
pub use server_metadata::ServerMetadata;
pub(crate) use server_metadata::{SLOTS, busy};
pub(crate) use server_quirks::{ServerQuirk, ServerQuirks, quirk_of_refusal};

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// Input of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ModelInput<'a> {
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
        context: &'a [ContextSnippet],
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
pub(crate) struct ModelRequest<'a> {
    /// The model's input.
    pub(crate) input: ModelInput<'a>,
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
    pub(crate) path: fn(ModelInput<'_>) -> &'static str,
    /// Builds the request body.
    pub(crate) write: fn(&ModelRequest<'_>) -> Object,
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
