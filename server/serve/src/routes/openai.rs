//! OpenAI's `/v1/completions`: a prompt with a suffix, or with the tokens of a model.

use serde_json::Value;

use super::{FillRequest, prompt_and_suffix};

pub(super) fn completion(body: &Value) -> Option<FillRequest> {
    prompt_and_suffix(body)
}
