//! DeepSeek's `/beta/completions`: OpenAI's format with full support for `suffix`.
//!
//! Traps: it is only offered below `/beta`. Usage reports how many input tokens were cached.

use super::{Format, Takes, metadata, openai};
use crate::http::Framing;

pub(super) static FORMAT: Format = Format {
    takes: Takes::Hole,
    manners: openai::MANNERS,
    takes_context: false,
    framing: Framing::ServerSent,
    stops: 16,
    path: |_| "/beta/completions",
    write: openai::write,
    read: openai::read,
    metadata: Some(metadata::MODELS_WITHOUT_VERSION),
    tokenizer: None,
};
