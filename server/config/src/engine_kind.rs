//! The kinds of engines: their protocols and requirements.

use std::fmt;

/// Protocol of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EngineKind {
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

impl EngineKind {
    /// All configurable kinds.
    pub const ALL: [EngineKind; 14] = [
        EngineKind::Builtin,
        EngineKind::OpenAi,
        EngineKind::OpenAiChat,
        EngineKind::LlamaCpp,
        EngineKind::LlamaServer,
        EngineKind::Ollama,
        EngineKind::MistralFim,
        EngineKind::DeepSeekFim,
        EngineKind::Tgi,
        EngineKind::Vllm,
        EngineKind::Tabby,
        EngineKind::Anthropic,
        EngineKind::Command,
        EngineKind::Lsp,
    ];

    /// Returns the name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Builtin => "builtin",
            EngineKind::OpenAi => "openai",
            EngineKind::OpenAiChat => "openai-chat",
            EngineKind::LlamaCpp => "llama-cpp",
            EngineKind::LlamaServer => "llama-server",
            EngineKind::Ollama => "ollama",
            EngineKind::MistralFim => "mistral-fim",
            EngineKind::DeepSeekFim => "deepseek-fim",
            EngineKind::Tgi => "tgi",
            EngineKind::Vllm => "vllm",
            EngineKind::Tabby => "tabby",
            EngineKind::Anthropic => "anthropic",
            EngineKind::Command => "command",
            EngineKind::Lsp => "lsp",
            EngineKind::Scripted => "scripted",
        }
    }

    /// Returns the configurable kind with this name.
    pub fn from_name(name: &str) -> Option<EngineKind> {
        EngineKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns one sentence of documentation.
    pub fn doc(self) -> &'static str {
        match self {
            EngineKind::Builtin => {
                "The built-in engine, which completes from the workspace's own tokens and needs no setup."
            }
            EngineKind::OpenAi => "Any server with OpenAI's `/v1/completions`.",
            EngineKind::OpenAiChat => "Any server with OpenAI's `/v1/chat/completions`, for chat models.",
            EngineKind::LlamaCpp => "A running llama.cpp server.",
            EngineKind::LlamaServer => {
                "A GGUF file. Ghostbench starts and stops llama.cpp's `llama-server` for it."
            }
            EngineKind::Ollama => "Ollama's `/api/generate`.",
            EngineKind::MistralFim => "Mistral's `/v1/fim/completions`, with Codestral.",
            EngineKind::DeepSeekFim => "DeepSeek's `/beta/completions`.",
            EngineKind::Tgi => "Hugging Face's Text Generation Inference.",
            EngineKind::Vllm => "A vLLM server.",
            EngineKind::Tabby => "A Tabby server, which builds its own prompts.",
            EngineKind::Anthropic => "Anthropic's `/v1/messages`, for chat models.",
            EngineKind::Command => {
                "Any program that reads requests from its standard input and writes answers to its standard output."
            }
            EngineKind::Lsp => "Any language server that offers inline completion.",
            EngineKind::Scripted => "Fixed answers, for tests.",
        }
    }

    /// Returns whether the engine runs outside of this process.
    pub fn is_external(self) -> bool {
        !matches!(self, EngineKind::Builtin | EngineKind::Scripted)
    }

    /// Returns whether Ghostbench starts a program for it.
    pub fn is_program(self) -> bool {
        matches!(self, EngineKind::LlamaServer | EngineKind::Command | EngineKind::Lsp)
    }

    /// Returns whether it uses HTTP.
    pub(crate) fn uses_http(self) -> bool {
        self.is_external() && !matches!(self, EngineKind::Command | EngineKind::Lsp)
    }

    /// Returns whether it is a server with an address, not started by Ghostbench.
    pub(crate) fn has_address(self) -> bool {
        self.uses_http() && !self.is_program()
    }

    /// Returns whether it has a model that Ghostbench prompts.
    pub(crate) fn takes_prompt(self) -> bool {
        self.uses_http() && self != EngineKind::Tabby
    }

    /// Returns whether Ghostbench can render the prompt.
    pub(crate) fn takes_template(self) -> bool {
        use EngineKind::{Anthropic, DeepSeekFim, MistralFim, OpenAiChat};
        self.takes_prompt() && !matches!(self, OpenAiChat | Anthropic | MistralFim | DeepSeekFim)
    }

    /// Returns whether requests can contain extra fields from the user.
    pub(crate) fn takes_extra_body(self) -> bool {
        self.uses_http() || self == EngineKind::Lsp
    }

    /// Returns whether requests limit the length of the answer.
    pub(crate) fn takes_max_tokens(self) -> bool {
        self.takes_prompt() || self == EngineKind::Command
    }

    /// Returns the required keys. Code is sent only to servers that the user named: the address has a default only if the kind
    /// names the vendor or the server is on this machine.
    pub fn required_keys(self) -> &'static [&'static str] {
        match self {
            EngineKind::Builtin | EngineKind::LlamaCpp | EngineKind::Scripted => &[],
            EngineKind::OpenAi | EngineKind::Tgi | EngineKind::Vllm | EngineKind::Tabby => &["url"],
            EngineKind::OpenAiChat => &["url", "model"],
            EngineKind::Ollama | EngineKind::MistralFim | EngineKind::DeepSeekFim | EngineKind::Anthropic => {
                &["model"]
            }
            EngineKind::LlamaServer => &["gguf"],
            EngineKind::Command | EngineKind::Lsp => &["command"],
        }
    }

    /// Returns the default address.
    pub const fn default_url(self) -> Option<&'static str> {
        match self {
            EngineKind::LlamaCpp => Some("http://127.0.0.1:8080"),
            EngineKind::Ollama => Some("http://127.0.0.1:11434"),
            EngineKind::MistralFim => Some("https://api.mistral.ai"),
            EngineKind::DeepSeekFim => Some("https://api.deepseek.com"),
            EngineKind::Anthropic => Some("https://api.anthropic.com"),
            _ => None,
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Names of all kinds.
pub(crate) const NAMES: [&str; EngineKind::ALL.len()] = {
    let mut names = [""; EngineKind::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = EngineKind::ALL[at].name();
        at += 1;
    }
    names
};
