//! What a request asks: the text before and after the cursor, and the path of the file if it names one.
//!
//! One file for each API. They read a copy of the body: nothing here can change the bytes that are passed on. A body that cannot be read
//! is no opportunity, which is no error.

mod chat;
mod deepseek;
mod llama_cpp;
mod mistral;
mod ollama;
mod openai;
mod tabby;
pub(crate) mod tabby_event;

use serde_json::Value;

use crate::dialect::Dialect;

/// The place that a request describes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FillRequest {
    /// The text before the cursor; its beginning may be cut, or be something else than the file.
    pub(crate) prefix: String,
    /// The text after the cursor; its end may be cut.
    pub(crate) suffix: String,
    /// Path of the file, or its end.
    pub(crate) path: Option<String>,
}

/// How the answer of our own must look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AnswerOptions {
    /// Whether the answer is a stream.
    pub(crate) is_stream: bool,
    /// The model that the plugin named.
    pub(crate) model: Option<String>,
    /// llama.cpp's `response_fields`: if there are any, only these fields are in the answer.
    pub(crate) fields: Vec<String>,
}

/// A parsed body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParsedBody {
    /// The place; `None` if the body describes none.
    pub(crate) fill: Option<FillRequest>,
    /// How to answer.
    pub(crate) options: AnswerOptions,
}

/// Parses a body; `None` if it is no JSON object.
pub(crate) fn parse(dialect: Dialect, body: &[u8]) -> Option<ParsedBody> {
    let body: Value = serde_json::from_slice(body).ok().filter(Value::is_object)?;
    let fill = match dialect {
        Dialect::LlamaInfill => llama_cpp::infill(&body),
        Dialect::LlamaCompletion => llama_cpp::completion(&body),
        Dialect::Completions => openai::completion(&body),
        Dialect::Tabby => tabby::completion(&body),
        Dialect::Chat => chat::completion(&body),
        Dialect::OllamaGenerate => ollama::generate(&body),
        Dialect::MistralFim => mistral::completion(&body),
        Dialect::DeepSeekFim => deepseek::completion(&body),
    };
    let wants_stream = body.get("stream").and_then(Value::as_bool);
    let is_stream = match dialect {
        Dialect::Tabby => false,
        Dialect::OllamaGenerate => wants_stream.unwrap_or(true),
        _ => wants_stream.unwrap_or(false),
    };
    let fields = body.get("response_fields").and_then(Value::as_array).into_iter().flatten();
    let options = AnswerOptions {
        is_stream,
        model: text(&body, "model").map(str::to_owned),
        fields: fields.filter_map(|field| Some(field.as_str()?.to_owned())).collect(),
    };
    let fill = fill.filter(|fill| !(fill.prefix.is_empty() && fill.suffix.is_empty()));
    Some(ParsedBody { fill, options })
}

/// Returns a field with text.
fn text<'a>(body: &'a Value, field: &str) -> Option<&'a str> {
    body.get(field)?.as_str()
}

/// The place of a request with a prompt and a suffix, each in a field of its own; without a suffix, the prompt may contain both.
fn prompt_and_suffix(body: &Value) -> Option<FillRequest> {
    let prompt = match body.get("prompt")? {
        Value::Array(prompts) => prompts.first().filter(|_| prompts.len() == 1)?.as_str()?,
        prompt => prompt.as_str()?,
    };
    match text(body, "suffix").filter(|suffix| !suffix.is_empty()) {
        Some(suffix) => {
            Some(FillRequest { prefix: prompt.to_owned(), suffix: suffix.to_owned(), path: None })
        }
        None => Some(
            crate::fim_prompt::split(prompt)
                .unwrap_or_else(|| FillRequest { prefix: prompt.to_owned(), ..FillRequest::default() }),
        ),
    }
}

#[cfg(test)]
mod tests;
