//! Fits a request into a model's context window: the prompt, or prefix and suffix.

use std::sync::Arc;

use prompt::{AnswerParser, LinePrices, PromptTooLong, Template, TokenEstimator, assemble};
use text::Snippet;

use super::prompt_mode::{PLAIN_TEMPLATE, PromptMode};
use crate::cassette::Document;
use crate::wire_formats::{ModelInput, SupportedPrompts};
use crate::{FunctionTask, PromptInput, Request};

/// End of the code block that an engine without a chat continues in a search.
const FENCE: &str = "\n```";

/// The input of a model for a request, and how its answer is read.
#[derive(Debug)]
pub(super) struct RenderedInput {
    /// The input.
    pub(super) input: ModelInput,
    /// Stop strings, most important first.
    pub(super) stop: Vec<String>,
    /// How the answer is parsed.
    pub(super) parser: AnswerParser,
}

impl RenderedInput {
    /// Renders a task without a cursor: its prompt for a chat, and for a search the code to continue as it is, because infill and
    /// budgets of completions would cut the function out of it. `None` if the task is rendered like a completion.
    pub(super) fn of_function(
        request: &Request,
        task: &FunctionTask,
        supported: SupportedPrompts,
    ) -> Option<RenderedInput> {
        let PromptInput { path, language, .. } = &request.input;
        let input = match (supported, &task.search) {
            (SupportedPrompts::Chat, _) => ModelInput::Chat { system: "", user: task.prompt.to_string() },
            (_, None) => return None,
            (SupportedPrompts::Hole, Some(_)) => ModelInput::Hole {
                path: Arc::clone(path),
                language: *language,
                prefix: request.input.prefix().to_owned(),
                suffix: request.input.suffix().to_owned(),
                context: Vec::new(),
            },
            (_, Some(_)) => ModelInput::Rendered { prompt: request.input.prefix().to_owned() },
        };
        let stop = match supported {
            SupportedPrompts::Chat => Vec::new(),
            _ => vec![FENCE.to_owned()],
        };
        Some(RenderedInput { input, stop, parser: AnswerParser::verbatim() })
    }

    /// Renders a request in this prompt mode, with at most `budget` tokens as counted by `estimator`. `takes_context` means that
    /// infill requests have a separate field for context; otherwise context is prepended to the prefix as comments.
    /// `prices` are those of earlier requests with the same estimator.
    pub(super) fn new(
        request: &Request,
        mode: &PromptMode,
        budget: usize,
        takes_context: bool,
        estimator: TokenEstimator,
        prices: &LinePrices,
    ) -> Result<RenderedInput, PromptTooLong> {
        let PromptInput { path, language, context, .. } = &request.input;
        let template = match mode {
            PromptMode::Rendered(choice) => choice.template.clone(),
            PromptMode::Infill => PLAIN_TEMPLATE.clone(),
            PromptMode::Chat => Template::chat(),
        };
        let prompt = assemble(&template, &request.input, budget, estimator, prices)?;
        let input = match mode {
            PromptMode::Rendered(_) => ModelInput::Rendered { prompt: prompt.text },
            PromptMode::Chat => {
                ModelInput::Chat { system: prompt.system.unwrap_or_default(), user: prompt.text }
            }
            PromptMode::Infill => {
                let start = if takes_context { prompt.ranges.prefix.start } else { 0 };
                let context = match takes_context {
                    true => truncate_context(context, &prompt.kept_context),
                    false => Vec::new(),
                };
                ModelInput::Hole {
                    path: Arc::clone(path),
                    language: *language,
                    prefix: prompt.text[start..prompt.ranges.prefix.end].to_owned(),
                    suffix: prompt.text[prompt.ranges.suffix].to_owned(),
                    context,
                }
            }
        };
        Ok(RenderedInput { input, stop: prompt.stop, parser: prompt.parser })
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

/// Truncates the snippets to the available room.
fn truncate_context(snippets: &[Snippet], bytes: &[usize]) -> Vec<Snippet> {
    let kept = snippets.iter().zip(bytes).filter(|&(_, &bytes)| bytes > 0);
    kept.map(|(snippet, &bytes)| Snippet { text: snippet.text[..bytes].to_owned(), ..snippet.clone() })
        .collect()
}
