//! The kinds of engines.

use std::fmt;

/// What kind of engine it is; decides how it is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The embedded model over the workspace's own tokens.
    Builtin,
    /// A fixed answer, for tests.
    Scripted,
    /// OpenAI's `/v1/completions`, which many servers offer.
    OpenAi,
    /// OpenAI's `/v1/chat/completions`.
    OpenAiChat,
    /// Anthropic's `/v1/messages`.
    Anthropic,
    /// A running server of llama.cpp.
    LlamaCpp,
    /// Ollama's `/api/generate`.
    Ollama,
    /// Mistral's `/v1/fim/completions`.
    MistralFim,
    /// DeepSeek's `/beta/completions`.
    DeepSeekFim,
    /// Hugging Face's Text Generation Inference.
    Tgi,
    /// vLLM's `/v1/completions`.
    Vllm,
    /// Tabby's `/v1/completions`.
    Tabby,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 12] = [
        Kind::Builtin,
        Kind::Scripted,
        Kind::OpenAi,
        Kind::OpenAiChat,
        Kind::Anthropic,
        Kind::LlamaCpp,
        Kind::Ollama,
        Kind::MistralFim,
        Kind::DeepSeekFim,
        Kind::Tgi,
        Kind::Vllm,
        Kind::Tabby,
    ];

    /// The word for this kind in files and in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Builtin => "builtin",
            Kind::Scripted => "scripted",
            Kind::OpenAi => "openai",
            Kind::OpenAiChat => "openai-chat",
            Kind::Anthropic => "anthropic",
            Kind::LlamaCpp => "llama-cpp",
            Kind::Ollama => "ollama",
            Kind::MistralFim => "mistral-fim",
            Kind::DeepSeekFim => "deepseek-fim",
            Kind::Tgi => "tgi",
            Kind::Vllm => "vllm",
            Kind::Tabby => "tabby",
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(Kind::from_name("OpenAI"), None);
    }
}
