//! Tabby's `/v1/completions`: the server chooses template and context, and accepts additional context.
//!
//! Traps: it does not stream. Languages have VS Code's names.

use serde_json::{Value, json};

use super::openai::MANNERS;
use super::reading::{Reading, Wrong};
use super::{Asked, Format, Object, Question, Takes, fields, metadata};
use crate::ContextItem;
use crate::http::{Event, Framing};

pub(super) static FORMAT: Format = Format {
    takes: Takes::Hole,
    manners: MANNERS,
    takes_context: true,
    framing: Framing::ServerSent,
    stops: 0,
    path: |_| "/v1/completions",
    write,
    read,
    metadata: Some(metadata::HEALTH),
    tokenizer: None,
};

fn write(asked: &Asked<'_>) -> Object {
    let mut body = Object::new();
    match asked.question {
        Question::Hole { path, language, prefix, suffix, context } => {
            body.insert("language".to_owned(), vs_code_language(language).into());
            let mut segments = json!({"prefix": prefix, "suffix": suffix, "filepath": path});
            if !context.is_empty() {
                segments["relevant_snippets_from_changed_files"] = snippets(context);
            }
            body.insert("segments".to_owned(), segments);
        }
        Question::Rendered { prompt } | Question::Chat { user: prompt, .. } => {
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
fn snippets(context: &[ContextItem]) -> Value {
    let snippet = |(rank, item): (usize, &ContextItem)| {
        let score = 1.0 / (rank as f64 + 1.0);
        json!({"filepath": item.path, "body": item.text, "score": score})
    };
    context.iter().enumerate().map(snippet).collect()
}

fn vs_code_language(language: &str) -> &str {
    match language {
        "tsx" => "typescriptreact",
        other => other,
    }
}

fn read(_event: &Event, said: &Value, reading: &mut Reading) -> Result<(), Wrong> {
    let choice = fields::choice(said)?;
    let text = choice.and_then(|choice| choice.get("text")).and_then(Value::as_str);
    reading.text.push_str(text.unwrap_or_default());
    reading.finish(Some("stop"));
    reading.is_over = true;
    Ok(())
}
