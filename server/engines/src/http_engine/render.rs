//! Renders a request: the prompt, or prefix and suffix, within the model's context window.

use prompt::{
    AnswerParser, BudgetShares, ContextPlacement, PromptSettings, PromptTooLong, Snippet, Template,
    TokenCounter, assemble,
};
use syntax::Language;

use super::prompt_mode::{PromptMode, plain_template};
use crate::cassette::Document;
use crate::wire_formats::ModelInput;
use crate::{ContextSnippet, Request};

/// Rendered input of a model.
#[derive(Debug)]
pub(super) struct RenderedRequest {
    content: RenderedContent,
    path: String,
    language: &'static str,
    /// Stop strings, most important first.
    pub(super) stop: Vec<String>,
    /// How the answer is parsed.
    pub(super) reading: AnswerParser,
}

#[derive(Debug)]
enum RenderedContent {
    Rendered { prompt: String },
    Hole { prefix: String, suffix: String, context: Vec<ContextSnippet> },
    Chat { system: String, user: String },
}

impl RenderedRequest {
    /// Renders a request in this prompt mode, with at most `tokens` tokens as counted by `count`. `takes_context` means that
    /// infill requests have a separate field for context; otherwise context is prepended to the prefix as comments.
    pub(super) fn new(
        request: &Request,
        way: &PromptMode,
        tokens: usize,
        takes_context: bool,
        count: TokenCounter<'_>,
    ) -> Result<RenderedRequest, PromptTooLong> {
        let snippets: Vec<Snippet<'_>> =
            request.context.iter().map(|item| Snippet { path: &item.path, text: &item.text }).collect();
        let question = prompt::PromptInput {
            path: &request.path,
            language: Language::from_name(request.language),
            repository: None,
            prefix: request.prefix(),
            suffix: request.suffix(),
            context: &snippets,
        };
        let template = match way {
            PromptMode::Rendered(choice) => choice.template.clone(),
            PromptMode::Infill => plain_template().unwrap_or_else(Template::chat),
            PromptMode::Chat => Template::chat(),
        };
        let settings =
            PromptSettings { tokens, shares: BudgetShares::DEFAULT, placement: ContextPlacement::Trained };
        let prompt = assemble(&template, &question, &settings, count)?;
        let content = match way {
            PromptMode::Rendered(_) => RenderedContent::Rendered { prompt: prompt.text },
            PromptMode::Chat => RenderedContent::Chat {
                system: prompt.system.unwrap_or_default().to_owned(),
                user: prompt.text,
            },
            PromptMode::Infill => {
                let start = if takes_context { prompt.ranges.prefix.start } else { 0 };
                let context = if takes_context {
                    truncate_context(&request.context, &prompt.kept.context)
                } else {
                    Vec::new()
                };
                RenderedContent::Hole {
                    prefix: prompt.text[start..prompt.ranges.prefix.end].to_owned(),
                    suffix: prompt.text[prompt.ranges.suffix].to_owned(),
                    context,
                }
            }
        };
        Ok(RenderedRequest {
            content,
            path: request.path.as_ref().to_owned(),
            language: request.language,
            stop: prompt.stop,
            reading: prompt.reading,
        })
    }

    /// Returns the input for a format.
    pub(super) fn model_input(&self) -> ModelInput<'_> {
        match &self.content {
            RenderedContent::Rendered { prompt } => ModelInput::Rendered { prompt },
            RenderedContent::Hole { prefix, suffix, context } => {
                ModelInput::Hole { path: &self.path, language: self.language, prefix, suffix, context }
            }
            RenderedContent::Chat { system, user } => ModelInput::Chat { system, user },
        }
    }

    /// Whether the server builds the prompt.
    pub(super) fn is_infill(&self) -> bool {
        matches!(self.content, RenderedContent::Hole { .. })
    }

    /// Returns the prompt as text, for people.
    pub(super) fn prompt_text(&self) -> String {
        match &self.content {
            RenderedContent::Rendered { prompt } => prompt.clone(),
            RenderedContent::Chat { system, user } => format!("{system}\n\n{user}"),
            RenderedContent::Hole { prefix, suffix, context } => {
                let context = context.iter().map(|item| format!("[{}]\n{}\n", item.path, item.text));
                format!("{}{prefix}[hole]{suffix}", context.collect::<String>())
            }
        }
    }
}

/// Returns the document in a prompt of this template: the text between its last special tokens. Without any, the whole prompt
/// is before the cursor.
pub(super) fn document_in(prompt: &str, template: &Template) -> Document {
    let tokens = template.tokens();
    let mut texts = vec![prompt];
    for token in tokens {
        texts = texts.into_iter().flat_map(|text| text.split(token)).collect();
    }
    // No text follows the token that ends the document.
    if texts.len() > 1 && texts.last().is_some_and(|text| text.is_empty()) {
        texts.pop();
    }
    match (&texts[..], template.is_suffix_first()) {
        ([.., after, before], true) | ([.., before, after], false) => Document::new(before, after),
        _ => Document::new(prompt, ""),
    }
}

/// Truncates the items to the available room.
fn truncate_context(items: &[ContextSnippet], bytes: &[usize]) -> Vec<ContextSnippet> {
    let kept = items.iter().zip(bytes).filter(|&(_, &bytes)| bytes > 0);
    kept.map(|(item, &bytes)| ContextSnippet { path: item.path.clone(), text: item.text[..bytes].to_owned() })
        .collect()
}
