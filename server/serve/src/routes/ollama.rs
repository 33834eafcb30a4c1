//! Ollama's `/api/generate`: a prompt and a suffix, or a raw prompt with the tokens of a model.

use serde_json::Value;

use super::{FillRequest, prompt_and_suffix};

/// A request without a prompt only loads the model.
pub(super) fn generate(body: &Value) -> Option<FillRequest> {
    prompt_and_suffix(body)
}
