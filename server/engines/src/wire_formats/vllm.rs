//! vLLM's `/v1/completions`.
//!
//! Traps: `suffix` is in its schema but rejected with 400. Special tokens are removed from the text by default, so a special
//! token would never match a stop string.

use super::{ModelRequest, Object, SupportedPrompts, WireFormat, openai, server_metadata};
use crate::http::Framing;

pub(super) static FORMAT: WireFormat = WireFormat {
    supported_prompts: SupportedPrompts::Rendered,
    headers: openai::HEADERS,
    takes_context: false,
    framing: Framing::ServerSent,
    max_stops: usize::MAX,
    path: |_| "/v1/completions",
    write,
    read: openai::read,
    metadata: Some(server_metadata::MODELS),
    tokenizer: Some(server_metadata::VLLM_TOKENIZER),
};

fn write(asked: ModelRequest<'_>) -> Object {
    let mut body = openai::write(asked);
    body.insert("skip_special_tokens".to_owned(), false.into());
    body.insert("include_stop_str_in_output".to_owned(), false.into());
    body
}
