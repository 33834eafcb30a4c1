//! Templates: layouts with placeholders, from a family's row or written by the user.
//!
//! Placeholders of a prompt are `{prefix}`, `{suffix}`, `{context}` (code from other files), `{path}`, `{repo}` and `{language}`; those of
//! one snippet of context are `{text}`, `{path}` and `{language}`. Everything else is literal.

use std::borrow::Cow;
use std::sync::Arc;

use thiserror::Error;

use crate::families::{EMPTY_SUFFIX, FAMILIES, Family, SHARED_TOKENS};
use crate::hole;

/// Prompt format of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Template {
    /// A row of the table.
    Family(&'static Family),
    /// Written out in the configuration.
    Written(Arc<Written>),
    /// Prefix and suffix separately, for servers that render the hole themselves ([`crate::Prompt::halves`]). The model's family,
    /// if known, provides the tokens that code must not contain.
    Halves(Option<&'static Family>),
}

/// A template written by the user, such as `<PRE> {prefix} <SUF>{suffix} <MID>`.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    layout: String,
    item: Option<String>,
    stop: Vec<String>,
    /// Parts of its layouts that look like tokens.
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

/// The layout of [`Template::Halves`]: nothing between prefix and suffix.
const HALVES: &str = "{prefix}{suffix}";

/// A placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Prefix,
    Suffix,
    Context,
    Path,
    Repository,
    Language,
    Text,
}

const SLOTS: &[(&str, Slot)] = &[
    ("prefix", Slot::Prefix),
    ("suffix", Slot::Suffix),
    ("context", Slot::Context),
    ("path", Slot::Path),
    ("repo", Slot::Repository),
    ("language", Slot::Language),
    ("text", Slot::Text),
];

/// Placeholders allowed in a prompt, and in a snippet of context.
const IN_PROMPT: &[Slot] =
    &[Slot::Prefix, Slot::Suffix, Slot::Context, Slot::Path, Slot::Repository, Slot::Language];
const IN_ITEM: &[Slot] = &[Slot::Path, Slot::Language, Slot::Text];

/// A piece of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Literal text.
    Literal(&'a str),
    /// A placeholder to fill in.
    Slot(Slot),
}

impl Template {
    /// Returns the template for chat models: a marked hole, instructions, and an answer between marks.
    pub fn hole() -> Template {
        Template::Family(&hole::FAMILY)
    }

    /// Parses a configured template: a family's name or alias, or a layout.
    pub fn parse(said: &str) -> Result<Template, TemplateError> {
        if said.contains('{') {
            return Ok(Template::Written(Arc::new(Written::new(said, None, &[])?)));
        }
        let family = Family::by_name(said).ok_or_else(|| TemplateError::Unknown {
            name: said.to_owned(),
            known: FAMILIES.iter().map(|family| family.name).collect::<Vec<_>>().join(", "),
        })?;
        Ok(Template::Family(family))
    }

    /// Returns the family's name, or the layout as written by the user.
    pub fn name(&self) -> &str {
        match self {
            Template::Family(family) => family.name,
            Template::Written(written) => &written.layout,
            Template::Halves(_) => "halves",
        }
    }

    /// Returns whether the suffix precedes the prefix, so that typing only extends the end of the prompt.
    pub fn is_suffix_first(&self) -> bool {
        let position = |slot| pieces(self.file()).position(|piece| piece == Piece::Slot(slot));
        position(Slot::Suffix).is_some_and(|suffix| Some(suffix) < position(Slot::Prefix))
    }

    /// Returns the stop strings for the server, the most important first. Empty if the template has none, or if the server knows
    /// them.
    pub fn stop(&self) -> Vec<&str> {
        match self {
            Template::Family(family) => family.stop.to_vec(),
            Template::Written(written) => written.stop.iter().map(String::as_str).collect(),
            Template::Halves(_) => Vec::new(),
        }
    }

    /// Returns all tokens that user code must not contain.
    pub fn tokens(&self) -> Vec<&str> {
        let own: Vec<&str> = match self {
            Template::Family(family) | Template::Halves(Some(family)) => family.tokens.to_vec(),
            Template::Written(written) => written.tokens.iter().map(String::as_str).collect(),
            Template::Halves(None) => Vec::new(),
        };
        own.into_iter().chain(SHARED_TOKENS.iter().copied()).collect()
    }

    /// Returns the layout for a single file.
    pub(crate) fn file(&self) -> &str {
        match self {
            Template::Family(family) => family.file,
            Template::Written(written) => &written.layout,
            Template::Halves(_) => HALVES,
        }
    }

    /// Returns the layout for code from several files; `None` if that goes as comments into [`Template::file`].
    pub(crate) fn files(&self) -> Option<&str> {
        match self {
            Template::Family(family) => family.files.as_ref().map(|files| files.layout),
            Template::Written(written) => Some(&written.layout),
            Template::Halves(_) => None,
        }
    }

    /// Returns the layout of one snippet of context; `None` if it is written as a comment.
    pub(crate) fn item(&self) -> Option<&str> {
        match self {
            Template::Family(family) => family.files.as_ref().and_then(|files| files.item),
            Template::Written(written) => written.item.as_deref(),
            Template::Halves(_) => None,
        }
    }

    /// Returns the layout of the repository's name before the context.
    pub(crate) fn repository(&self) -> &str {
        match self {
            Template::Family(family) => family.files.as_ref().map_or("", |files| files.repository),
            Template::Written(_) | Template::Halves(_) => "",
        }
    }

    pub(crate) fn empty_suffix(&self) -> &str {
        match self {
            Template::Family(family) => family.empty_suffix,
            Template::Written(_) | Template::Halves(_) => EMPTY_SUFFIX,
        }
    }

    pub(crate) fn tails(&self) -> &'static [&'static str] {
        match self {
            Template::Family(family) | Template::Halves(Some(family)) => family.tails,
            Template::Written(_) | Template::Halves(None) => &[],
        }
    }

    pub(crate) fn system(&self) -> Option<&'static str> {
        match self {
            Template::Family(family) => family.system,
            Template::Written(_) | Template::Halves(_) => None,
        }
    }
}

impl Family {
    /// Returns the family with this name. Case and signs between letters and digits do not matter.
    pub fn by_name(name: &str) -> Option<&'static Family> {
        let name = bare(name);
        let is_called = |family: &&Family| {
            bare(family.name) == name || family.aliases.iter().any(|alias| bare(alias) == name)
        };
        FAMILIES.iter().find(is_called)
    }
}

/// Reduces a name to lower-case letters and digits: `Qwen/Qwen2.5-Coder` and `qwen2_5_coder` are equal.
pub(crate) fn bare(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

impl Written {
    /// Creates a template from the layout of the prompt, that of a snippet of context (without it, context is written as
    /// comments), and the stop strings. Without `{context}` in the layout, the context goes directly before the prefix.
    pub fn new(layout: &str, item: Option<&str>, stop: &[String]) -> Result<Written, TemplateError> {
        let layout_slots = check_slots(layout, IN_PROMPT)?;
        once(&layout_slots, Slot::Prefix)?;
        for slot in [Slot::Suffix, Slot::Context] {
            if layout_slots.iter().filter(|found| **found == slot).count() > 1 {
                return Err(TemplateError::Twice { name: slot_name(slot) });
            }
        }
        if let Some(item) = item {
            once(&check_slots(item, IN_ITEM)?, Slot::Text)?;
        }
        let mut tokens: Vec<String> =
            [layout, item.unwrap_or("")].into_iter().flat_map(layout_tokens).map(str::to_owned).collect();
        tokens.extend(stop.iter().flat_map(|stop| bracketed(stop)).map(str::to_owned));
        tokens.sort();
        tokens.dedup();
        let (layout, item) = (layout.to_owned(), item.map(str::to_owned));
        Ok(Written { layout, item, stop: stop.to_vec(), tokens })
    }
}

fn once(slots: &[Slot], slot: Slot) -> Result<(), TemplateError> {
    let count = slots.iter().filter(|found| **found == slot).count();
    if count == 1 { Ok(()) } else { Err(TemplateError::Once { name: slot_name(slot) }) }
}

fn slot_name(slot: Slot) -> &'static str {
    SLOTS.iter().find(|(_, other)| *other == slot).map_or("", |(name, _)| name)
}

/// Returns the placeholders of a user's layout, if all of them are allowed.
fn check_slots(layout: &str, allowed: &[Slot]) -> Result<Vec<Slot>, TemplateError> {
    if layout.contains("{{") || layout.contains("}}") {
        return Err(TemplateError::DoubleBraces);
    }
    let mut slots = Vec::new();
    let mut rest = layout;
    while let Some((_, name, after)) = next_braces(rest) {
        let slot = SLOTS.iter().find(|(known, slot)| *known == name && allowed.contains(slot));
        let Some((_, slot)) = slot else {
            let known = allowed.iter().map(|slot| format!("{{{}}}", slot_name(*slot)));
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(TemplateError::Placeholder { name: name.to_owned(), known });
        };
        slots.push(*slot);
        rest = after;
    }
    Ok(slots)
}

/// Splits a layout into pieces.
pub(crate) fn pieces(layout: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = layout;
    let mut slot = None;
    std::iter::from_fn(move || {
        if let Some(slot) = slot.take() {
            return Some(Piece::Slot(slot));
        }
        if rest.is_empty() {
            return None;
        }
        let (literal, found, after) = split_at_slot(rest);
        rest = after;
        if literal.is_empty() {
            return found.map(Piece::Slot);
        }
        slot = found;
        Some(Piece::Literal(literal))
    })
}

/// Splits a layout into the text before the first placeholder, the placeholder, and the rest.
fn split_at_slot(layout: &str) -> (&str, Option<Slot>, &str) {
    let mut from = 0;
    while let Some((open, name, after)) = next_braces(&layout[from..]) {
        if let Some((_, slot)) = SLOTS.iter().find(|(known, _)| *known == name) {
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
        Piece::Literal(literal) => Some(literal),
        Piece::Slot(_) => None,
    });
    literals.flat_map(bracketed).collect()
}

/// Returns the token at the end of a layout, which a model reads last. Empty if the layout ends with the prefix.
pub(crate) fn last_token(layout: &str) -> &str {
    match pieces(layout).last() {
        Some(Piece::Literal(literal)) => bracketed(literal).last().copied().unwrap_or(""),
        _ => "",
    }
}

/// Maximum length of a token in bytes; those of the table have at most 24.
const LONGEST_TOKEN: usize = 40;

/// Returns the parts of a text that look like special tokens: `<..>` without blanks, `[WORD]`.
fn bracketed(text: &str) -> Vec<&str> {
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
