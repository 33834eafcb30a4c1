//! Assembles the prompt for an input within a token budget.
//!
//! ```text
//! budget ── tokens of the layout itself ──▶ rest ──quotas──▶ context, suffix, prefix ──cut──▶ fill in ──▶ count the whole
//!                                             ▲                                                              │ too much
//!                                             └───────────────────────── less ───────────────────────────────┘
//! ```
//!
//! The prefix keeps its end, the suffix its beginning, the context its best snippets. Everything is cut at line ends, except a
//! single line that exceeds the room. The counts of the parts need not add up to the count of the whole, so the whole is counted
//! last, and the budget holds with any counter. Deterministic: equal inputs give equal prompts.

use std::borrow::Cow;
use std::ops::Range;

use thiserror::Error;

use crate::answer_parser::AnswerParser;
use crate::language_names::prompt_name;
use crate::prompt_input::PromptInput;
use crate::render_context::{ContextWriter, RenderedContext};
use crate::special_tokens::escape_special_tokens;
use crate::template::{LayoutPiece, Placeholder, Template, one_line, pieces};
use crate::truncate::{CodeMeter, TokenCounter, Truncation, keep_beginning, keep_end};

/// Share of the budget for the text before the cursor, in percent; Continue's, as are the next two. Tokens that one part does not
/// need go to the others.
const PREFIX_SHARE: u32 = 30;
/// Share for the text after the cursor.
const SUFFIX_SHARE: u32 = 20;
/// Share for code from other files.
const CONTEXT_SHARE: u32 = 50;

/// A prompt for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// Instructions (the system message), for chat models.
    pub system: Option<&'static str>,
    /// The prompt; for chat models, the user's message.
    pub text: String,
    /// Stop strings for the server, the most important first.
    pub stop: Vec<String>,
    /// Kept bytes of each snippet, from its beginning; 0 if it was left out.
    pub kept_context: Vec<usize>,
    /// Ranges of prefix and suffix in `text`.
    pub ranges: PartRanges,
    /// Parser for the answers to this prompt.
    pub parser: AnswerParser,
}

/// Ranges of the parts in the prompt, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartRanges {
    /// The kept prefix.
    pub prefix: Range<usize>,
    /// The kept suffix; empty if none was kept, even if a substitute is sent for it.
    pub suffix: Range<usize>,
}

/// The budget is smaller than the template itself.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "the prompt's template alone takes {needed} tokens, and the budget is {budget}; raise `budget_tokens`"
)]
pub struct PromptTooLong {
    /// Tokens of a prompt without code.
    pub needed: usize,
    /// The budget in tokens.
    pub budget: usize,
}

/// Assembles the prompt for an input: as much of it as fits into `budget` tokens, in the template's layout. The budget includes
/// instructions and the template's own tokens. `count` returns the number of tokens of a text; [`crate::token_estimate`] needs no
/// tokenizer.
///
/// Code from other files is placed as the model was trained on, if that is known; otherwise as comments.
pub fn assemble(
    template: &Template,
    input: &PromptInput,
    budget: usize,
    count: TokenCounter<'_>,
) -> Result<Prompt, PromptTooLong> {
    let tokens = template.tokens();
    let assembly = PromptBuilder { template, input, budget, count, tokens: &tokens };
    if !input.context.is_empty()
        && let Ok(prompt) = assembly.fit(true)
        && prompt.kept_context.iter().any(|bytes| *bytes > 0)
    {
        return Ok(prompt);
    }
    assembly.fit(false)
}

struct PromptBuilder<'a> {
    template: &'a Template,
    input: &'a PromptInput,
    budget: usize,
    count: TokenCounter<'a>,
    tokens: &'a [&'a str],
}

/// The parts that are filled into a layout.
struct PromptParts {
    prefix: Range<usize>,
    suffix: Range<usize>,
    context: RenderedContext,
}

impl PromptBuilder<'_> {
    /// Returns the fullest prompt within the budget, with or without context.
    fn fit(&self, with_context: bool) -> Result<Prompt, PromptTooLong> {
        let writer = ContextWriter::new(self.template, self.input, self.tokens);
        let writer = with_context.then_some(&writer);
        let budget = self.budget;
        let end = self.input.cursor;
        let nothing = PromptParts { prefix: end..end, suffix: 0..0, context: RenderedContext::default() };
        let (empty, empty_tokens) = self.prompt(writer, &nothing);
        if empty_tokens > budget {
            return Err(PromptTooLong { needed: empty_tokens, budget });
        }
        let mut less = 0;
        loop {
            let room = (budget - empty_tokens).saturating_sub(less);
            if room == 0 {
                return Ok(empty);
            }
            let (prompt, tokens) = self.prompt(writer, &self.allocate(writer, room));
            if tokens <= budget {
                return Ok(prompt);
            }
            // Reduce by at least twice as much each time: a counter may grow faster than its text.
            less += (tokens - budget).max(less);
        }
    }

    /// Cuts the parts to `room` tokens together.
    fn allocate(&self, writer: Option<&ContextWriter<'_>>, room: usize) -> PromptParts {
        let (prefix, suffix) = (self.input.prefix(), self.input.suffix());
        let meter = CodeMeter { count: self.count, tokens: self.tokens };
        let fill =
            |quota| writer.map_or_else(RenderedContext::default, |writer| writer.fill(quota, self.count));
        let mut parts = (fill(room), keep_beginning(suffix, room, meter), keep_end(prefix, room, meter));
        let wanted = [parts.0.tokens, parts.1.tokens, parts.2.tokens];
        let [context, suffix_quota, prefix_quota] =
            quotas(room, [CONTEXT_SHARE, SUFFIX_SHARE, PREFIX_SHARE], wanted);
        // Cuts at line ends leave tokens over, which go to the next part. The prefix is last because it benefits most.
        if wanted[0] > context {
            parts.0 = fill(context);
        }
        let suffix_quota = suffix_quota + context - parts.0.tokens;
        if wanted[1] > suffix_quota {
            parts.1 = keep_beginning(suffix, suffix_quota, meter);
        }
        let prefix_quota = prefix_quota + suffix_quota.saturating_sub(parts.1.tokens);
        if wanted[2] > prefix_quota {
            parts.2 = keep_end(prefix, prefix_quota, meter);
        }
        let (context, Truncation { at: suffix_end, .. }, Truncation { at: prefix_start, .. }) = parts;
        PromptParts { prefix: prefix_start..prefix.len(), suffix: 0..suffix_end, context }
    }

    /// Fills the parts into the layout; returns the prompt and the counted tokens of instructions and prompt.
    fn prompt(&self, writer: Option<&ContextWriter<'_>>, parts: &PromptParts) -> (Prompt, usize) {
        let input = self.input;
        let (prefix, suffix) = (&input.prefix()[parts.prefix.clone()], &input.suffix()[parts.suffix.clone()]);
        let path = one_line(&input.path);
        let filled = LayoutValues {
            layout: writer.map_or(self.template.file(), ContextWriter::layout),
            prefix: escape_special_tokens(prefix, self.tokens),
            suffix: escape_special_tokens(suffix, self.tokens),
            empty_suffix: self.template.empty_suffix(),
            context: writer
                .map_or_else(String::new, |writer| [&*parts.context.text, &writer.tail()].concat()),
            path: escape_special_tokens(&path, self.tokens),
            language: prompt_name(input.language),
        };
        let (text, ranges) = filled.render();
        let system = self.template.system();
        let kept_context = if parts.context.kept.is_empty() {
            vec![0; input.context.len()]
        } else {
            parts.context.kept.clone()
        };
        let tokens = (self.count)(&text) + system.map_or(0, self.count);
        let restores = text.contains(crate::special_tokens::TOKEN_BREAK);
        let prompt = Prompt {
            system,
            stop: self.template.stop().into_iter().map(str::to_owned).collect(),
            kept_context,
            ranges,
            parser: AnswerParser::new(self.template, prefix, suffix, restores),
            text,
        };
        (prompt, tokens)
    }
}

/// Divides `room` tokens: each part gets the smaller of its share and its demand, and the rest is divided again by shares.
fn quotas<const N: usize>(room: usize, shares: [u32; N], wanted: [usize; N]) -> [usize; N] {
    let mut quotas = [0; N];
    let mut room = room;
    let mut open: Vec<usize> = (0..N).collect();
    loop {
        let sum: usize = open.iter().map(|part| shares[*part] as usize).sum();
        // Parts without a share get the rest, in order.
        let share = |part: usize| match sum {
            0 => room,
            _ => (room as u128 * u128::from(shares[part]) / sum as u128) as usize,
        };
        let content = open.iter().position(|part| wanted[*part] <= share(*part));
        let Some(content) = content else {
            let given: Vec<_> = open.iter().map(|part| (*part, share(*part))).collect();
            for (part, quota) in given {
                quotas[part] = quota.min(room);
                room -= quotas[part];
            }
            return quotas;
        };
        let part = open.remove(content);
        quotas[part] = wanted[part];
        room -= wanted[part];
    }
}

/// A layout that is being filled.
struct LayoutValues<'a> {
    layout: &'a str,
    prefix: Cow<'a, str>,
    suffix: Cow<'a, str>,
    empty_suffix: &'a str,
    context: String,
    path: Cow<'a, str>,
    language: &'static str,
}

impl LayoutValues<'_> {
    fn render(&self) -> (String, PartRanges) {
        let has_context = pieces(self.layout).any(|piece| piece == LayoutPiece::Slot(Placeholder::Context));
        let parts = [self.layout.len(), self.prefix.len(), self.suffix.len(), self.context.len()];
        let mut text = String::with_capacity(parts.iter().sum::<usize>() + self.path.len());
        let mut places = PartRanges::default();
        for piece in pieces(self.layout) {
            match piece {
                LayoutPiece::Literal(literal) => text.push_str(literal),
                LayoutPiece::Slot(Placeholder::Prefix) => {
                    if !has_context {
                        text.push_str(&self.context);
                    }
                    places.prefix = push(&mut text, &self.prefix);
                }
                LayoutPiece::Slot(Placeholder::Suffix) => {
                    places.suffix = push(&mut text, &self.suffix);
                    if self.suffix.is_empty() {
                        text.push_str(self.empty_suffix);
                    }
                }
                LayoutPiece::Slot(Placeholder::Context) => text.push_str(&self.context),
                LayoutPiece::Slot(Placeholder::Path) => text.push_str(&self.path),
                LayoutPiece::Slot(Placeholder::Language) => text.push_str(self.language),
                LayoutPiece::Slot(Placeholder::Repository | Placeholder::Text) => {}
            }
        }
        (text, places)
    }
}

/// Appends a part and returns its range.
fn push(text: &mut String, part: &str) -> Range<usize> {
    let start = text.len();
    text.push_str(part);
    start..text.len()
}

#[cfg(test)]
mod tests {
    use super::quotas;

    #[test]
    fn quotas_follow_the_shares() {
        assert_eq!(quotas(100, [50, 20, 30], [900, 900, 900]), [50, 20, 30]);
    }

    #[test]
    fn unused_quota_goes_to_the_other_parts() {
        assert_eq!(quotas(100, [50, 20, 30], [0, 900, 900]), [0, 40, 60]);
        assert_eq!(quotas(100, [50, 20, 30], [10, 5, 900]), [10, 5, 85]);
        assert_eq!(quotas(100, [50, 20, 30], [10, 5, 20]), [10, 5, 20]);
        assert_eq!(quotas(100, [50, 20, 30], [900, 900, 1]), [70, 28, 1]);
    }

    #[test]
    fn parts_without_a_share_get_the_remaining_quota() {
        assert_eq!(quotas(100, [0, 1, 1], [90, 20, 30]), [50, 20, 30]);
        assert_eq!(quotas(100, [0, 0, 0], [30, 90, 90]), [30, 70, 0]);
    }
}
