//! Templates: layouts with placeholders, from a family's row or written by the user.
//!
//! Placeholders of a prompt are `{prefix}`, `{suffix}`, `{context}` (code from other files), `{path}`, `{repo}` (always empty: no
//! engine knows the repository's name) and `{language}`; those of one snippet of context are `{text}`, `{path}` and `{language}`.
//! Everything else is literal.

use std::borrow::Cow;
use std::sync::Arc;

use thiserror::Error;

use crate::chat_prompt;
use crate::model_families::{EMPTY_SUFFIX, FAMILIES, ModelFamily, SHARED_TOKENS};

/// Prompt format of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Template {
    /// A row of the table.
    Family(&'static ModelFamily),
    /// Written out in the configuration.
    Custom(Arc<CustomTemplate>),
}

/// A template written by the user, such as `<PRE> {prefix} <SUF>{suffix} <MID>`.
#[derive(Debug, PartialEq, Eq)]
pub struct CustomTemplate {
    layout: String,
    /// Parts of its layout that look like tokens.
    tokens: Vec<String>,
}

/// Error in a configured template.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TemplateError {
    /// Neither a name nor a layout.
    #[error("unknown template `{name}`; known are {known}, or write one out with {{prefix}} and {{suffix}}")]
    Unknown {
        /// The unknown name.
        name: String,
        /// All known names.
        known: String,
    },
    /// An unknown placeholder.
    #[error("unknown placeholder `{{{name}}}` in the template; known here are {known}")]
    Placeholder {
        /// The text between the braces.
        name: String,
        /// All placeholders allowed there.
        known: String,
    },
    /// Placeholders of another program.
    #[error("the template has double braces; write {{prefix}} and {{suffix}} with single ones")]
    DoubleBraces,
    /// A placeholder that is required exactly once.
    #[error("the template needs `{{{name}}}` exactly once")]
    Once {
        /// The placeholder.
        name: &'static str,
    },
    /// A placeholder that is allowed once.
    #[error("the template has `{{{name}}}` more than once")]
    Twice {
        /// The placeholder.
        name: &'static str,
    },
}

/// A placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placeholder {
    Prefix,
    Suffix,
    Context,
    Path,
    Repository,
    Language,
    Text,
}

const PLACEHOLDERS: &[(&str, Placeholder)] = &[
    ("prefix", Placeholder::Prefix),
    ("suffix", Placeholder::Suffix),
    ("context", Placeholder::Context),
    ("path", Placeholder::Path),
    ("repo", Placeholder::Repository),
    ("language", Placeholder::Language),
    ("text", Placeholder::Text),
];

/// Placeholders allowed in a prompt.
const IN_PROMPT: &[Placeholder] = &[
    Placeholder::Prefix,
    Placeholder::Suffix,
    Placeholder::Context,
    Placeholder::Path,
    Placeholder::Repository,
    Placeholder::Language,
];

/// A piece of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayoutPiece<'a> {
    /// Literal text.
    Literal(&'a str),
    /// A placeholder to fill in.
    Slot(Placeholder),
}

impl Template {
    /// Returns the template for chat models: a marked hole, instructions, and an answer between marks.
    pub fn chat() -> Template {
        Template::Family(&chat_prompt::FAMILY)
    }

    /// Parses a configured template: a family's name or alias, or a layout.
    pub fn parse(setting: &str) -> Result<Template, TemplateError> {
        if setting.contains('{') {
            return Ok(Template::Custom(Arc::new(CustomTemplate::new(setting)?)));
        }
        let family = ModelFamily::by_name(setting).ok_or_else(|| TemplateError::Unknown {
            name: setting.to_owned(),
            known: FAMILIES.iter().map(|family| family.name).collect::<Vec<_>>().join(", "),
        })?;
        Ok(Template::Family(family))
    }

    /// Returns the family's name, or the layout as written by the user.
    pub fn name(&self) -> &str {
        match self {
            Template::Family(family) => family.name,
            Template::Custom(written) => &written.layout,
        }
    }

    /// Returns whether the suffix precedes the prefix, so that typing only extends the end of the prompt.
    pub fn is_suffix_first(&self) -> bool {
        let position = |slot| pieces(self.file()).position(|piece| piece == LayoutPiece::Slot(slot));
        position(Placeholder::Suffix).is_some_and(|suffix| Some(suffix) < position(Placeholder::Prefix))
    }

    /// Returns the stop strings for the server, the most important first. Templates written by users have none.
    pub fn stop(&self) -> Vec<&str> {
        match self {
            Template::Family(family) => family.stop.to_vec(),
            Template::Custom(_) => Vec::new(),
        }
    }

    /// Returns all tokens that user code must not contain.
    pub fn tokens(&self) -> Vec<&str> {
        let own: Vec<&str> = match self {
            Template::Family(family) => family.tokens.to_vec(),
            Template::Custom(written) => written.tokens.iter().map(String::as_str).collect(),
        };
        own.into_iter().chain(SHARED_TOKENS.iter().copied()).collect()
    }

    /// Returns the layout for a single file.
    pub(crate) fn file(&self) -> &str {
        match self {
            Template::Family(family) => family.file_layout,
            Template::Custom(written) => &written.layout,
        }
    }

    /// Returns the layout for code from several files; `None` if that goes as comments into [`Template::file`].
    pub(crate) fn files(&self) -> Option<&str> {
        match self {
            Template::Family(family) => family.repository_layout.as_ref().map(|files| files.layout),
            Template::Custom(written) => Some(&written.layout),
        }
    }

    /// Returns the layout of one snippet of context; `None` if it is written as a comment.
    pub(crate) fn item(&self) -> Option<&str> {
        match self {
            Template::Family(family) => family.repository_layout.as_ref().and_then(|files| files.item),
            Template::Custom(_) => None,
        }
    }

    pub(crate) fn empty_suffix(&self) -> &str {
        match self {
            Template::Family(family) => family.empty_suffix,
            Template::Custom(_) => EMPTY_SUFFIX,
        }
    }

    pub(crate) fn tails(&self) -> &'static [&'static str] {
        match self {
            Template::Family(family) => family.trailing_noise,
            Template::Custom(_) => &[],
        }
    }

    pub(crate) fn system(&self) -> Option<&'static str> {
        match self {
            Template::Family(family) => family.system,
            Template::Custom(_) => None,
        }
    }
}

impl ModelFamily {
    /// Returns the family with this name. Case and signs between letters and digits do not matter.
    pub fn by_name(name: &str) -> Option<&'static ModelFamily> {
        let name = normalized_name(name);
        FAMILIES.iter().find(|family| {
            normalized_name(family.name) == name
                || family.aliases.iter().any(|alias| normalized_name(alias) == name)
        })
    }
}

/// Reduces a name to lower-case letters and digits: `Qwen/Qwen2.5-Coder` and `qwen2_5_coder` are equal.
pub(crate) fn normalized_name(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

impl CustomTemplate {
    /// Creates a template from the layout of the prompt. Context is written as comments; without `{context}` in the layout, it
    /// goes directly before the prefix.
    fn new(layout: &str) -> Result<CustomTemplate, TemplateError> {
        let slots = check_placeholders(layout, IN_PROMPT)?;
        check_once(&slots, Placeholder::Prefix)?;
        for slot in [Placeholder::Suffix, Placeholder::Context] {
            if slots.iter().filter(|found| **found == slot).count() > 1 {
                return Err(TemplateError::Twice { name: placeholder_name(slot) });
            }
        }
        let mut tokens: Vec<String> = layout_tokens(layout).into_iter().map(str::to_owned).collect();
        tokens.sort();
        tokens.dedup();
        Ok(CustomTemplate { layout: layout.to_owned(), tokens })
    }
}

fn check_once(slots: &[Placeholder], slot: Placeholder) -> Result<(), TemplateError> {
    let count = slots.iter().filter(|found| **found == slot).count();
    if count == 1 { Ok(()) } else { Err(TemplateError::Once { name: placeholder_name(slot) }) }
}

fn placeholder_name(slot: Placeholder) -> &'static str {
    PLACEHOLDERS.iter().find(|(_, other)| *other == slot).map_or("", |(name, _)| name)
}

/// Returns the placeholders of a user's layout, if all of them are allowed.
fn check_placeholders(layout: &str, allowed: &[Placeholder]) -> Result<Vec<Placeholder>, TemplateError> {
    if layout.contains("{{") || layout.contains("}}") {
        return Err(TemplateError::DoubleBraces);
    }
    let mut slots = Vec::new();
    let mut rest = layout;
    while let Some((_, name, after)) = next_braces(rest) {
        let slot = PLACEHOLDERS.iter().find(|(known, slot)| *known == name && allowed.contains(slot));
        let Some((_, slot)) = slot else {
            let known = allowed.iter().map(|slot| format!("{{{}}}", placeholder_name(*slot)));
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(TemplateError::Placeholder { name: name.to_owned(), known });
        };
        slots.push(*slot);
        rest = after;
    }
    Ok(slots)
}

/// Splits a layout into pieces.
pub(crate) fn pieces(layout: &str) -> impl Iterator<Item = LayoutPiece<'_>> {
    let mut rest = layout;
    let mut slot = None;
    std::iter::from_fn(move || {
        if let Some(slot) = slot.take() {
            return Some(LayoutPiece::Slot(slot));
        }
        if rest.is_empty() {
            return None;
        }
        let (literal, found, after) = split_at_placeholder(rest);
        rest = after;
        if literal.is_empty() {
            return found.map(LayoutPiece::Slot);
        }
        slot = found;
        Some(LayoutPiece::Literal(literal))
    })
}

/// Splits a layout into the text before the first placeholder, the placeholder, and the rest.
fn split_at_placeholder(layout: &str) -> (&str, Option<Placeholder>, &str) {
    let mut from = 0;
    while let Some((open, name, after)) = next_braces(&layout[from..]) {
        if let Some((_, slot)) = PLACEHOLDERS.iter().find(|(known, _)| *known == name) {
            return (&layout[..from + open], Some(*slot), after);
        }
        from = layout.len() - after.len();
    }
    (layout, None, "")
}

/// Finds the first word in braces: the offset of the brace, the word, and the rest.
fn next_braces(text: &str) -> Option<(usize, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find('{')?;
        let inner = &text[open + 1..];
        let length = inner.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(inner.len());
        if length > 0
            && let Some(after) = inner[length..].strip_prefix('}')
        {
            return Some((open, &inner[..length], after));
        }
        from = open + 1;
    }
}

/// Returns the tokens in a layout, in order.
pub(crate) fn layout_tokens(layout: &str) -> Vec<&str> {
    let literals = pieces(layout).filter_map(|piece| match piece {
        LayoutPiece::Literal(literal) => Some(literal),
        LayoutPiece::Slot(_) => None,
    });
    literals.flat_map(bracketed_tokens).collect()
}

/// Returns the token at the end of a layout, which a model reads last. Empty if the layout ends with the prefix.
pub(crate) fn last_token(layout: &str) -> &str {
    match pieces(layout).last() {
        Some(LayoutPiece::Literal(literal)) => bracketed_tokens(literal).last().copied().unwrap_or(""),
        _ => "",
    }
}

/// Maximum length of a token in bytes; those of the table have at most 24.
const LONGEST_TOKEN: usize = 40;

/// Returns the parts of a text that look like special tokens: `<..>` without blanks, `[WORD]`.
fn bracketed_tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find(['<', '[']) {
        let from = &rest[open..];
        match token_length(from) {
            Some(length) => {
                tokens.push(&from[..length]);
                rest = &from[length..];
            }
            None => rest = &from[1..],
        }
    }
    tokens
}

/// Returns the length in bytes of the token at the beginning of a text.
fn token_length(text: &str) -> Option<usize> {
    let is_word = |c: char| c.is_ascii_uppercase() || matches!(c, '_' | '/');
    let inner = &text[1..];
    let (close, is_inner): (char, &dyn Fn(char) -> bool) = match text.as_bytes().first() {
        Some(b'<') => ('>', &|c| !c.is_whitespace() && c != '<'),
        _ => (']', &is_word),
    };
    let end = inner.find(|c| c == close || !is_inner(c))?;
    let length = 1 + end + 1;
    (end > 0 && inner[end..].starts_with(close) && length <= LONGEST_TOKEN).then_some(length)
}

/// Returns a path on one line, as prompts require.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) {
        Cow::Owned(text.replace(char::is_control, " "))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests;
