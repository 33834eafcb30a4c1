//! Tabby's `/v1/completions`: the server chooses template and context, and accepts additional context.
//!
//! Traps: it does not stream. Languages have VS Code's names.

use serde_json::{Value, json};
use text::Snippet;

use super::answer_state::{AnswerState, MalformedReason};
use super::openai::HEADERS;
use super::{ModelInput, ModelRequest, Object, SupportedPrompts, WireFormat, openai_fields, server_metadata};
use crate::http::{Framing, StreamEvent};

pub(super) static FORMAT: WireFormat = WireFormat {
    supported_prompts: SupportedPrompts::Hole,
    headers: HEADERS,
    takes_context: true,
    framing: Framing::ServerSent,
    max_stops: 0,
    path: |_| "/v1/completions",
    write,
    read,
    metadata: Some(server_metadata::HEALTH),
    tokenizer: None,
};

fn write(asked: ModelRequest<'_>) -> Object {
    let mut body = Object::new();
    match asked.input {
        ModelInput::Hole { path, language, prefix, suffix, context } => {
            body.insert("language".to_owned(), vs_code_language(language.name()).into());
            let mut segments = json!({"prefix": prefix, "suffix": suffix, "filepath": *path});
            if !context.is_empty() {
                segments["relevant_snippets_from_changed_files"] = snippets(&context);
            }
            body.insert("segments".to_owned(), segments);
        }
        ModelInput::Rendered { prompt } | ModelInput::Chat { user: prompt, .. } => {
            body.insert("debug_options".to_owned(), json!({"raw_prompt": prompt}));
        }
    }
    if let Some(temperature) = asked.sampling.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(seed) = asked.sampling.seed {
        body.insert("seed".to_owned(), seed.into());
    }
    body
}

/// Every snippet needs a score; ours is derived from the rank.
fn snippets(context: &[Snippet]) -> Value {
    context
        .iter()
        .enumerate()
        .map(|(rank, item)| {
            let score = 1.0 / (rank as f64 + 1.0);
            json!({"filepath": *item.path, "body": item.text, "score": score})
        })
        .collect()
}

fn vs_code_language(language: &'static str) -> &'static str {
    match language {
        "tsx" => "typescriptreact",
        other => other,
    }
}

fn read(_event: &StreamEvent, response: &Value, reading: &mut AnswerState) -> Result<(), MalformedReason> {
    let choice = openai_fields::choice(response)?;
    let text = choice.and_then(|choice| choice.get("text")).and_then(Value::as_str);
    reading.text.push_str(text.unwrap_or_default());
    reading.set_finish(Some("stop"));
    reading.is_finished = true;
    Ok(())
}
