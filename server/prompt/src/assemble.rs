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
use crate::line_prices::LinePrices;
use crate::prompt_input::PromptInput;
use crate::render_context::{ContextWriter, RenderedContext};
use crate::special_tokens::{Escaper, TOKEN_BREAK};
use crate::template::{LayoutPiece, Placeholder, Template, one_line, pieces};
use crate::token_estimate::{TokenEstimator, known_lines};
use crate::truncate::{CodeMeter, KeptEnd, MeasuredText, Truncation};

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
/// instructions and the template's own tokens. `estimator` counts tokens without a tokenizer. `prices` are those of earlier prompts;
/// they change nothing but the time.
///
/// Code from other files is placed as the model was trained on, if that is known; otherwise as comments.
pub fn assemble(
    template: &Template,
    input: &PromptInput,
    budget: usize,
    estimator: TokenEstimator,
    prices: &LinePrices,
) -> Result<Prompt, PromptTooLong> {
    let tokens = template.tokens();
    let escaper = Escaper::new(&tokens);
    prices.begin_prompt(template);
    let meter = CodeMeter { estimator, escaper: &escaper, prices };
    let mut builder = PromptBuilder {
        template,
        input,
        budget,
        meter,
        system_tokens: template.system().map_or(0, |system| estimator.count(system)),
        prefix: MeasuredText::new(input.prefix(), KeptEnd::End, meter),
        suffix: MeasuredText::new(input.suffix(), KeptEnd::Beginning, meter),
    };
    if !input.context.is_empty() {
        let writer = ContextWriter::new(template, input, meter);
        if let Ok(prompt) = builder.fit(Some(writer))
            && prompt.kept_context.iter().any(|bytes| *bytes > 0)
        {
            return Ok(prompt);
        }
    }
    builder.fit(None)
}

struct PromptBuilder<'a> {
    template: &'a Template,
    input: &'a PromptInput,
    budget: usize,
    meter: CodeMeter<'a>,
    /// Tokens of the instructions.
    system_tokens: usize,
    prefix: MeasuredText<'a>,
    suffix: MeasuredText<'a>,
}

/// The parts that are filled into a layout.
#[derive(Default)]
struct PromptParts {
    prefix: Truncation,
    suffix: Truncation,
    context: RenderedContext,
}

/// A filled layout.
struct FilledLayout {
    text: String,
    ranges: PartRanges,
    /// Tokens of instructions and prompt.
    tokens: usize,
}

impl PromptBuilder<'_> {
    /// Returns the fullest prompt within the budget, with or without context.
    fn fit(&mut self, mut writer: Option<ContextWriter<'_>>) -> Result<Prompt, PromptTooLong> {
        let budget = self.budget;
        let nothing = PromptParts::default();
        let empty = self.fill(writer.as_ref(), &nothing);
        if empty.tokens > budget {
            return Err(PromptTooLong { needed: empty.tokens, budget });
        }
        let mut less = 0;
        loop {
            let room = (budget - empty.tokens).saturating_sub(less);
            if room == 0 {
                return Ok(self.prompt(empty, &nothing));
            }
            let parts = self.allocate(writer.as_mut(), room);
            let filled = self.fill(writer.as_ref(), &parts);
            if filled.tokens <= budget {
                return Ok(self.prompt(filled, &parts));
            }
            // Reduce by at least twice as much each time: a counter may grow faster than its text.
            less += (filled.tokens - budget).max(less);
        }
    }

    /// Cuts the parts to `room` tokens together.
    fn allocate(&mut self, mut writer: Option<&mut ContextWriter<'_>>, room: usize) -> PromptParts {
        let (prefix, suffix) = (&mut self.prefix, &mut self.suffix);
        let mut fill = |quota: usize, limit: usize| match &mut writer {
            Some(writer) => writer.fill(quota, limit),
            None => Some(RenderedContext::default()),
        };
        let [context_quota, suffix_quota, prefix_quota] =
            quotas(room, [CONTEXT_SHARE, SUFFIX_SHARE, PREFIX_SHARE], |part, limit| match part {
                0 => fill(room, limit).map(|context| context.tokens),
                1 => suffix.keep(room, limit).map(|kept| kept.tokens),
                _ => prefix.keep(room, limit).map(|kept| kept.tokens),
            });
        // Cuts at line ends leave tokens over, which go to the next part. The prefix is last because it benefits most.
        let context = fill(room, context_quota).or_else(|| fill(context_quota, usize::MAX));
        let context = context.unwrap_or_default();
        let suffix_quota = suffix_quota + context_quota - context.tokens;
        let suffix = suffix.keep_within(room, suffix_quota);
        let prefix_quota = prefix_quota + suffix_quota.saturating_sub(suffix.tokens);
        let prefix = prefix.keep_within(room, prefix_quota);
        PromptParts { prefix, suffix, context }
    }

    /// Fills the parts into the layout and counts the whole.
    fn fill(&self, writer: Option<&ContextWriter<'_>>, parts: &PromptParts) -> FilledLayout {
        let path = one_line(&self.input.path);
        let values = LayoutValues {
            layout: writer.map_or(self.template.file(), ContextWriter::layout),
            prefix: self.prefix.sent(&parts.prefix),
            suffix: self.suffix.sent(&parts.suffix),
            empty_suffix: self.template.empty_suffix(),
            context: writer
                .map_or_else(String::new, |writer| [&*parts.context.text, &writer.tail()].concat()),
            path: self.meter.escaper.escape(&path),
            language: prompt_name(self.input.language),
        };
        let (text, ranges, context_start) = values.render();
        let mut known = self.prefix.known_lines(&parts.prefix, ranges.prefix.start);
        known.extend(self.suffix.known_lines(&parts.suffix, ranges.suffix.start));
        known.extend(known_lines(parts.context.lines.iter().copied(), context_start));
        known.sort_unstable_by_key(|line| line.start);
        let tokens = self.meter.estimator.count_with_lines(&text, &known) + self.system_tokens;
        FilledLayout { text, ranges, tokens }
    }

    fn prompt(&self, filled: FilledLayout, parts: &PromptParts) -> Prompt {
        let FilledLayout { text, ranges, .. } = filled;
        let (prefix, suffix) = (self.input.prefix(), self.input.suffix());
        let prefix = &prefix[prefix.len() - parts.prefix.bytes..];
        let restores = text.contains(TOKEN_BREAK);
        let kept_context = match parts.context.kept.is_empty() {
            true => vec![0; self.input.context.len()],
            false => parts.context.kept.clone(),
        };
        Prompt {
            system: self.template.system(),
            stop: self.template.stop().into_iter().map(str::to_owned).collect(),
            kept_context,
            ranges,
            parser: AnswerParser::new(self.template, prefix, &suffix[..parts.suffix.bytes], restores),
            text,
        }
    }
}

/// Divides `room` tokens: each part gets the smaller of its share and its demand, and the rest is divided again by shares.
/// `demand` returns the demand of a part, or `None` if that exceeds a limit.
fn quotas<const N: usize>(
    room: usize,
    shares: [u32; N],
    mut demand: impl FnMut(usize, usize) -> Option<usize>,
) -> [usize; N] {
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
        let content = open.iter().enumerate().find_map(|(at, part)| Some((at, demand(*part, share(*part))?)));
        let Some((at, demand)) = content else {
            let given: Vec<_> = open.iter().map(|part| (*part, share(*part))).collect();
            for (part, quota) in given {
                quotas[part] = quota.min(room);
                room -= quotas[part];
            }
            return quotas;
        };
        quotas[open.remove(at)] = demand;
        room -= demand;
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
    /// Returns the text, the ranges of prefix and suffix, and the start of the context.
    fn render(&self) -> (String, PartRanges, usize) {
        let has_context = pieces(self.layout).any(|piece| piece == LayoutPiece::Slot(Placeholder::Context));
        let parts = [self.layout.len(), self.prefix.len(), self.suffix.len(), self.context.len()];
        let mut text = String::with_capacity(parts.iter().sum::<usize>() + self.path.len());
        let (mut places, mut context_start) = (PartRanges::default(), 0);
        for piece in pieces(self.layout) {
            match piece {
                LayoutPiece::Literal(literal) => text.push_str(literal),
                LayoutPiece::Slot(Placeholder::Prefix) => {
                    if !has_context {
                        context_start = push(&mut text, &self.context).start;
                    }
                    places.prefix = push(&mut text, &self.prefix);
                }
                LayoutPiece::Slot(Placeholder::Suffix) => {
                    places.suffix = push(&mut text, &self.suffix);
                    if self.suffix.is_empty() {
                        text.push_str(self.empty_suffix);
                    }
                }
                LayoutPiece::Slot(Placeholder::Context) => {
                    context_start = push(&mut text, &self.context).start;
                }
                LayoutPiece::Slot(Placeholder::Path) => text.push_str(&self.path),
                LayoutPiece::Slot(Placeholder::Language) => text.push_str(self.language),
                LayoutPiece::Slot(Placeholder::Repository | Placeholder::Text) => {}
            }
        }
        (text, places, context_start)
    }
}

/// Appends a part and returns its range.
fn push(text: &mut String, part: &str) -> Range<usize> {
    let start = text.len();
    text.push_str(part);
    start..text.len()
}

#[cfg(test)]
mod tests;
