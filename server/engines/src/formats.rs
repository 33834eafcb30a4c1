//! The wire formats: how a question is written and an answer is read, one file each.
//!
//! A format is a table of pure functions over JSON. It neither opens a connection nor knows templates: what a model is to read stands
//! in the [`Question`], and who puts it there is `http_engine`. What real servers accept and send, with every trap, is told in the
//! format's own file.

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

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Question<'a> {
    /// A prompt in which the model's own marks stand.
    Rendered {
        /// The prompt.
        prompt: &'a str,
    },
    /// The text around the hole, for servers that put the prompt together.
    Hole {
        /// The document's path, relative to the workspace root.
        path: &'a str,
        /// Its language, as `syntax` names it.
        language: &'a str,
        /// Text before the hole.
        prefix: &'a str,
        /// Text after it.
        suffix: &'a str,
        /// Code from elsewhere, nearest first.
        context: &'a [ContextItem],
    },
    /// A conversation.
    Chat {
        /// What the model is.
        system: &'a str,
        /// What it is to do.
        user: &'a str,
    },
}

/// A question with all that is said about the answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// What the model is asked.
    pub(crate) question: Question<'a>,
    /// The model, for servers that have several.
    pub(crate) model: Option<&'a str>,
    /// Where the answer ends, what matters most first.
    pub(crate) stop: &'a [String],
    /// How it is chosen.
    pub(crate) sampling: &'a Sampling,
}

/// How a model chooses its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Most tokens of an answer.
    pub max_tokens: u32,
    /// How freely it chooses. `None` is as little as the server allows, 0 for nearly all.
    pub temperature: Option<f64>,
    /// The part of the probability that is chosen from; the server's own where nothing is said.
    pub top_p: Option<f64>,
    /// Makes a free choice repeatable, for servers that know it.
    pub seed: Option<u64>,
}

impl Sampling {
    /// The likeliest answer of at most so many tokens.
    pub fn likeliest(max_tokens: u32) -> Sampling {
        Sampling { max_tokens, temperature: None, top_p: None, seed: None }
    }

    /// What is sent where the server takes 0.
    fn temperature(&self) -> f64 {
        self.temperature.unwrap_or(0.0)
    }
}

/// Which questions a server can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Rendered prompts alone.
    Rendered,
    /// Both; rendered prompts where a template is known, unless the hole is asked for.
    RenderedOrHole,
    /// Both; the hole, unless a template is asked for or the server refuses it.
    HoleOrRendered,
    /// The hole alone.
    Hole,
    /// Conversations alone.
    Chat,
}

/// How a server is spoken to.
pub(crate) struct Format {
    /// What it can be asked.
    pub(crate) takes: Takes,
    /// How the key is sent, and which headers go with it.
    pub(crate) manners: Manners,
    /// Whether code from elsewhere has a place of its own beside the text around a hole.
    pub(crate) takes_context: bool,
    /// How events of a stream are told apart.
    pub(crate) framing: Framing,
    /// Most texts that may end an answer; what is beyond is left out.
    pub(crate) stops: usize,
    /// Where a question is asked.
    pub(crate) path: fn(Question<'_>) -> &'static str,
    /// The body of a request.
    pub(crate) write: fn(&Asked<'_>) -> Object,
    /// Takes what an event says, or a whole answer where the server does not stream.
    pub(crate) read: fn(&Event, &Value, &mut Reading) -> Result<(), Wrong>,
    /// Where the server tells of itself, and what it says there.
    pub(crate) metadata: Option<metadata::Source>,
    /// Where it counts tokens.
    pub(crate) tokenizer: Option<metadata::Tokenizer>,
}

/// The format of a kind, for those that are asked by HTTP.
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

/// Lays `extra` over a body: fields of objects one by one, all else as a whole.
pub(crate) fn overlay(body: &mut Object, extra: &Object) {
    for (name, value) in extra {
        match (body.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(value)) => overlay(inner, value),
            _ => drop(body.insert(name.clone(), value.clone())),
        }
    }
}
