//! llama.cpp: `/infill`, and `/completion` with a rendered prompt.

use serde_json::Value;

use super::{FillRequest, prompt_and_suffix, text};

/// `/infill`. A request that generates nothing only warms the cache of the server.
pub(super) fn infill(body: &Value) -> Option<FillRequest> {
    if body.get("n_predict").and_then(Value::as_i64) == Some(0) {
        return None;
    }
    let prefix = [text(body, "input_prefix")?, text(body, "prompt").unwrap_or_default()].concat();
    Some(FillRequest { prefix, suffix: text(body, "input_suffix")?.to_owned(), path: None })
}

/// `/completion`.
pub(super) fn completion(body: &Value) -> Option<FillRequest> {
    if body.get("n_predict").and_then(Value::as_i64) == Some(0) {
        return None;
    }
    prompt_and_suffix(body)
}
