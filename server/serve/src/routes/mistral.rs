//! Mistral's `/v1/fim/completions`: a prompt and a suffix.

use serde_json::Value;

use super::{FillRequest, prompt_and_suffix};

pub(super) fn completion(body: &Value) -> Option<FillRequest> {
    prompt_and_suffix(body)
}
