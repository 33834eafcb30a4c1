//! vLLM's `/v1/completions`.
//!
//! Traps: `suffix` is in its schema but rejected with 400. Special tokens are removed from the text by default, so a special
//! token would never match a stop string.

use super::{Asked, Format, Object, Takes, metadata, openai};
use crate::http::Framing;

pub(super) static FORMAT: Format = Format {
    takes: Takes::Rendered,
    manners: openai::MANNERS,
    takes_context: false,
    framing: Framing::ServerSent,
    stops: usize::MAX,
    path: |_| "/v1/completions",
    write,
    read: openai::read,
    metadata: Some(metadata::MODELS),
    tokenizer: Some(metadata::VLLM_TOKENIZER),
};

fn write(asked: &Asked<'_>) -> Object {
    let mut body = openai::write(asked);
    body.insert("skip_special_tokens".to_owned(), false.into());
    body.insert("include_stop_str_in_output".to_owned(), false.into());
    body
}
