//! The kinds of engines: how each is spoken to, and what it cannot do without.

use std::fmt;

/// How an engine is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The built-in engine.
    Builtin,
    /// `/v1/completions`.
    OpenAi,
    /// `/v1/chat/completions`.
    OpenAiChat,
    /// A server of llama.cpp that is running.
    LlamaCpp,
    /// A server of llama.cpp that is started for a file.
    LlamaServer,
    /// Ollama.
    Ollama,
    /// Mistral's `/v1/fim/completions`.
    MistralFim,
    /// DeepSeek's `/beta/completions`.
    DeepSeekFim,
    /// Text Generation Inference.
    Tgi,
    /// vLLM.
    Vllm,
    /// A server of Tabby.
    Tabby,
    /// Anthropic's `/v1/messages`.
    Anthropic,
    /// Any program.
    Command,
    /// Any language server that offers inline completion.
    Lsp,
    /// Fixed answers, for tests; nobody can configure it.
    Scripted,
}

impl Kind {
    /// All that can be configured.
    pub const ALL: [Kind; 14] = [
        Kind::Builtin,
        Kind::OpenAi,
        Kind::OpenAiChat,
        Kind::LlamaCpp,
        Kind::LlamaServer,
        Kind::Ollama,
        Kind::MistralFim,
        Kind::DeepSeekFim,
        Kind::Tgi,
        Kind::Vllm,
        Kind::Tabby,
        Kind::Anthropic,
        Kind::Command,
        Kind::Lsp,
    ];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Builtin => "builtin",
            Kind::OpenAi => "openai",
            Kind::OpenAiChat => "openai-chat",
            Kind::LlamaCpp => "llama-cpp",
            Kind::LlamaServer => "llama-server",
            Kind::Ollama => "ollama",
            Kind::MistralFim => "mistral-fim",
            Kind::DeepSeekFim => "deepseek-fim",
            Kind::Tgi => "tgi",
            Kind::Vllm => "vllm",
            Kind::Tabby => "tabby",
            Kind::Anthropic => "anthropic",
            Kind::Command => "command",
            Kind::Lsp => "lsp",
            Kind::Scripted => "scripted",
        }
    }

    /// The kind that is called so, among those that can be configured.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What it is, in a sentence.
    pub fn doc(self) -> &'static str {
        match self {
            Kind::Builtin => {
                "The built-in engine, which writes from the workspace's own tokens and needs nothing."
            }
            Kind::OpenAi => "Any server with OpenAI's `/v1/completions`.",
            Kind::OpenAiChat => {
                "Any server with OpenAI's `/v1/chat/completions`: a chat model fills the hole."
            }
            Kind::LlamaCpp => "A server of llama.cpp that is running already.",
            Kind::LlamaServer => "A GGUF file, for which llama.cpp's `llama-server` is started and stopped.",
            Kind::Ollama => "Ollama's `/api/generate`.",
            Kind::MistralFim => "Mistral's `/v1/fim/completions`, with Codestral.",
            Kind::DeepSeekFim => "DeepSeek's `/beta/completions`.",
            Kind::Tgi => "Hugging Face's Text Generation Inference.",
            Kind::Vllm => "A server of vLLM.",
            Kind::Tabby => "A server of Tabby, which makes its own prompts.",
            Kind::Anthropic => "Anthropic's `/v1/messages`: a chat model fills the hole.",
            Kind::Command => {
                "Any program, which reads a request from its standard input and writes its answer."
            }
            Kind::Lsp => "Any language server that offers inline completion.",
            Kind::Scripted => "Fixed answers, for tests.",
        }
    }

    /// Whether it is more than a part of this process.
    pub(crate) fn is_elsewhere(self) -> bool {
        !matches!(self, Kind::Builtin | Kind::Scripted)
    }

    /// Whether a program is run for it.
    pub fn is_program(self) -> bool {
        matches!(self, Kind::LlamaServer | Kind::Command | Kind::Lsp)
    }

    /// Whether it is asked by HTTP.
    pub(crate) fn speaks_http(self) -> bool {
        self.is_elsewhere() && !matches!(self, Kind::Command | Kind::Lsp)
    }

    /// Whether it is a server that somebody else runs, with an address.
    pub(crate) fn has_address(self) -> bool {
        self.speaks_http() && !self.is_program()
    }

    /// Whether it has a model that we prompt.
    pub(crate) fn is_prompted(self) -> bool {
        self.speaks_http() && self != Kind::Tabby
    }

    /// Whether we can render the prompt ourselves.
    pub(crate) fn takes_template(self) -> bool {
        use Kind::{Anthropic, DeepSeekFim, MistralFim, OpenAiChat};
        self.is_prompted() && !matches!(self, OpenAiChat | Anthropic | MistralFim | DeepSeekFim)
    }

    /// Whether fields of the user's can go into a request.
    pub(crate) fn takes_extra(self) -> bool {
        self.speaks_http() || self == Kind::Lsp
    }

    /// Whether it is told how long an answer may be.
    pub(crate) fn has_limit(self) -> bool {
        self.is_prompted() || self == Kind::Command
    }

    /// Keys without which it cannot be asked. Code goes to servers that somebody named: only where the vendor's name stands in the
    /// kind, or the server is on this machine, there is a default.
    pub fn needs(self) -> &'static [&'static str] {
        match self {
            Kind::Builtin | Kind::LlamaCpp | Kind::Scripted => &[],
            Kind::OpenAi | Kind::Tgi | Kind::Vllm | Kind::Tabby => &["url"],
            Kind::OpenAiChat => &["url", "model"],
            Kind::Ollama | Kind::MistralFim | Kind::DeepSeekFim | Kind::Anthropic => &["model"],
            Kind::LlamaServer => &["gguf"],
            Kind::Command | Kind::Lsp => &["command"],
        }
    }

    /// Where it is asked when nobody says where.
    pub const fn default_url(self) -> Option<&'static str> {
        match self {
            Kind::LlamaCpp => Some("http://127.0.0.1:8080"),
            Kind::Ollama => Some("http://127.0.0.1:11434"),
            Kind::MistralFim => Some("https://api.mistral.ai"),
            Kind::DeepSeekFim => Some("https://api.deepseek.com"),
            Kind::Anthropic => Some("https://api.anthropic.com"),
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The words for all kinds.
pub(crate) const NAMES: [&str; Kind::ALL.len()] = {
    let mut names = [""; Kind::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Kind::ALL[at].name();
        at += 1;
    }
    names
};
