//! vLLM's `/v1/completions`.
//!
//! Traps: `suffix` stands in its schema and is refused by 400. Special tokens are left out of the text unless it is told otherwise, so a
//! mark of the template would never end an answer.

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
