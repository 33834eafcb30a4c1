//! DeepSeek's `/beta/completions`: OpenAI's format with full support for `suffix`.
//!
//! Traps: it is only offered below `/beta`. Usage reports how many input tokens were cached.

use super::{SupportedPrompts, WireFormat, openai, server_metadata};
use crate::http::Framing;

pub(super) static FORMAT: WireFormat = WireFormat {
    supported_prompts: SupportedPrompts::Hole,
    headers: openai::HEADERS,
    takes_context: false,
    framing: Framing::ServerSent,
    max_stops: 16,
    path: |_| "/beta/completions",
    write: openai::write,
    read: openai::read,
    metadata: Some(server_metadata::MODELS_WITHOUT_VERSION),
    tokenizer: None,
};
