//! The kinds of engines: their protocols and requirements.

use std::fmt;

/// Protocol of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The built-in engine.
    Builtin,
    /// `/v1/completions`.
    OpenAi,
    /// `/v1/chat/completions`.
    OpenAiChat,
    /// A running llama.cpp server.
    LlamaCpp,
    /// A llama.cpp server started by Ghostbench for a model file.
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
    /// A Tabby server.
    Tabby,
    /// Anthropic's `/v1/messages`.
    Anthropic,
    /// Any program.
    Command,
    /// Any language server that offers inline completion.
    Lsp,
    /// Fixed answers, for tests; not configurable.
    Scripted,
}

impl Kind {
    /// All configurable kinds.
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

    /// Returns the name used in files.
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

    /// Returns the configurable kind with this name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns one sentence of documentation.
    pub fn doc(self) -> &'static str {
        match self {
            Kind::Builtin => {
                "The built-in engine, which completes from the workspace's own tokens and needs no setup."
            }
            Kind::OpenAi => "Any server with OpenAI's `/v1/completions`.",
            Kind::OpenAiChat => "Any server with OpenAI's `/v1/chat/completions`, for chat models.",
            Kind::LlamaCpp => "A running llama.cpp server.",
            Kind::LlamaServer => {
                "A GGUF file. Ghostbench starts and stops llama.cpp's `llama-server` for it."
            }
            Kind::Ollama => "Ollama's `/api/generate`.",
            Kind::MistralFim => "Mistral's `/v1/fim/completions`, with Codestral.",
            Kind::DeepSeekFim => "DeepSeek's `/beta/completions`.",
            Kind::Tgi => "Hugging Face's Text Generation Inference.",
            Kind::Vllm => "A vLLM server.",
            Kind::Tabby => "A Tabby server, which builds its own prompts.",
            Kind::Anthropic => "Anthropic's `/v1/messages`, for chat models.",
            Kind::Command => {
                "Any program that reads requests from its standard input and writes answers to its standard output."
            }
            Kind::Lsp => "Any language server that offers inline completion.",
            Kind::Scripted => "Fixed answers, for tests.",
        }
    }

    /// Returns whether the engine runs outside of this process.
    pub(crate) fn is_elsewhere(self) -> bool {
        !matches!(self, Kind::Builtin | Kind::Scripted)
    }

    /// Returns whether Ghostbench starts a program for it.
    pub fn is_program(self) -> bool {
        matches!(self, Kind::LlamaServer | Kind::Command | Kind::Lsp)
    }

    /// Returns whether it uses HTTP.
    pub(crate) fn speaks_http(self) -> bool {
        self.is_elsewhere() && !matches!(self, Kind::Command | Kind::Lsp)
    }

    /// Returns whether it is a server with an address, not started by Ghostbench.
    pub(crate) fn has_address(self) -> bool {
        self.speaks_http() && !self.is_program()
    }

    /// Returns whether it has a model that Ghostbench prompts.
    pub(crate) fn is_prompted(self) -> bool {
        self.speaks_http() && self != Kind::Tabby
    }

    /// Returns whether Ghostbench can render the prompt.
    pub(crate) fn takes_template(self) -> bool {
        use Kind::{Anthropic, DeepSeekFim, MistralFim, OpenAiChat};
        self.is_prompted() && !matches!(self, OpenAiChat | Anthropic | MistralFim | DeepSeekFim)
    }

    /// Returns whether requests can contain extra fields from the user.
    pub(crate) fn takes_extra(self) -> bool {
        self.speaks_http() || self == Kind::Lsp
    }

    /// Returns whether requests limit the length of the answer.
    pub(crate) fn has_limit(self) -> bool {
        self.is_prompted() || self == Kind::Command
    }

    /// Returns the required keys. Code is sent only to servers that the user named: the address has a default only if the kind
    /// names the vendor or the server is on this machine.
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

    /// Returns the default address.
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

/// Names of all kinds.
pub(crate) const NAMES: [&str; Kind::ALL.len()] = {
    let mut names = [""; Kind::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Kind::ALL[at].name();
        at += 1;
    }
    names
};
