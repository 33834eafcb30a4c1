//! Renders a request: the prompt, or prefix and suffix, within the model's context window.

use prompt::{Count, NoRoom, Placement, Reading, Settings, Shares, Snippet, Template, assemble};
use syntax::Language;

use super::way::{Way, plain};
use crate::cassette::Document;
use crate::formats::Question;
use crate::{ContextItem, Request};

/// Rendered input of a model.
#[derive(Debug)]
pub(super) struct Sent {
    content: Content,
    path: String,
    language: &'static str,
    /// Stop strings, most important first.
    pub(super) stop: Vec<String>,
    /// How the answer is parsed.
    pub(super) reading: Reading,
}

#[derive(Debug)]
enum Content {
    Rendered { prompt: String },
    Hole { prefix: String, suffix: String, context: Vec<ContextItem> },
    Chat { system: String, user: String },
}

impl Sent {
    /// Renders a request in this prompt mode, with at most `tokens` tokens as counted by `count`. `takes_context` means that
    /// infill requests have a separate field for context; otherwise context is prepended to the prefix as comments.
    pub(super) fn new(
        request: &Request,
        way: &Way,
        tokens: usize,
        takes_context: bool,
        count: Count<'_>,
    ) -> Result<Sent, NoRoom> {
        let snippets: Vec<Snippet<'_>> =
            request.context.iter().map(|item| Snippet { path: &item.path, text: &item.text }).collect();
        let question = prompt::Question {
            path: &request.path,
            language: Language::from_name(request.language),
            repository: None,
            prefix: request.prefix(),
            suffix: request.suffix(),
            context: &snippets,
        };
        let template = match way {
            Way::Rendered(choice) => choice.template.clone(),
            Way::Hole => plain().unwrap_or_else(Template::hole),
            Way::Chat => Template::hole(),
        };
        let settings = Settings { tokens, shares: Shares::USUAL, placement: Placement::Trained };
        let prompt = assemble(&template, &question, &settings, count)?;
        let content = match way {
            Way::Rendered(_) => Content::Rendered { prompt: prompt.text },
            Way::Chat => {
                Content::Chat { system: prompt.system.unwrap_or_default().to_owned(), user: prompt.text }
            }
            Way::Hole => {
                let start = if takes_context { prompt.places.prefix.start } else { 0 };
                let context =
                    if takes_context { kept(&request.context, &prompt.kept.context) } else { Vec::new() };
                Content::Hole {
                    prefix: prompt.text[start..prompt.places.prefix.end].to_owned(),
                    suffix: prompt.text[prompt.places.suffix].to_owned(),
                    context,
                }
            }
        };
        Ok(Sent {
            content,
            path: request.path.as_ref().to_owned(),
            language: request.language,
            stop: prompt.stop,
            reading: prompt.reading,
        })
    }

    /// Returns the input for a format.
    pub(super) fn question(&self) -> Question<'_> {
        match &self.content {
            Content::Rendered { prompt } => Question::Rendered { prompt },
            Content::Hole { prefix, suffix, context } => {
                Question::Hole { path: &self.path, language: self.language, prefix, suffix, context }
            }
            Content::Chat { system, user } => Question::Chat { system, user },
        }
    }

    /// Whether the server builds the prompt.
    pub(super) fn is_hole(&self) -> bool {
        matches!(self.content, Content::Hole { .. })
    }

    /// Returns the prompt as text, for people.
    pub(super) fn shown(&self) -> String {
        match &self.content {
            Content::Rendered { prompt } => prompt.clone(),
            Content::Chat { system, user } => format!("{system}\n\n{user}"),
            Content::Hole { prefix, suffix, context } => {
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
fn kept(items: &[ContextItem], bytes: &[usize]) -> Vec<ContextItem> {
    let kept = items.iter().zip(bytes).filter(|&(_, &bytes)| bytes > 0);
    kept.map(|(item, &bytes)| ContextItem { path: item.path.clone(), text: item.text[..bytes].to_owned() })
        .collect()
}
