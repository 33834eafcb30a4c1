//! Extracts the insertion from a model's raw answer.
//!
//! Completion models ideally write only the insertion. They may also continue behind it, after a token at which the server should
//! have stopped, repeat the prompt, or wrap code in fences. Chat models put the insertion between the marks given in the
//! instructions, or into fences, with text around it. This module removes everything that cannot be meant as code. It must not
//! judge by the document: repeated suffixes, brackets and indentation are not its responsibility.
//!
//! ```text
//! raw ──thoughts──▶ ──completion: repeated prompt, end tokens, fences, tails──▶ neutralised tokens restored ──▶ insertion
//!                   └─chat: between marks, else in fences, else all of it─────┘
//! ```
//!
//! Both also work on partial answers. An earlier insertion is then a prefix of a later one, except for blanks at its end: text that
//! may still turn out not to belong to the insertion is held back.

use crate::chat_prompt::{ANSWER_CLOSE, ANSWER_OPEN, HOLE_MARK};
use crate::model_families::{ModelFamily, SHARED_TOKENS};
use crate::special_tokens::{TOKEN_BREAK, unescape_special_tokens};
use crate::template::{LayoutPiece, Placeholder, Template, last_token, layout_tokens, pieces};

mod fences;
mod reasoning;

use fences::{in_first_fence, is_inside_fence, without_fences};

/// Parser for the answers to one prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerParser {
    template: Template,
    /// Whether the prompt contains neutralised tokens, which answers may repeat.
    restores: bool,
    hole: HoleSurroundings,
    /// Whether everything besides reasoning belongs to the answer: fences and the text around them, too.
    is_verbatim: bool,
}

/// Properties of the hole that distinguish line breaks of an answer from those around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HoleSurroundings {
    /// Only blanks precede the hole on its line.
    begins_line: bool,
    /// The text before the hole cannot end a line: a blank, an operator, an opening bracket.
    is_unfinished: bool,
    /// Text follows the hole on its line.
    line_goes_on: bool,
    /// The hole is inside a Markdown fence, so the answer may contain a fence on purpose.
    is_in_fence: bool,
}

/// The insertion of an answer so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insertion {
    /// The text.
    pub text: String,
    /// Whether the rest of the answer does not belong to it, so that reading can stop.
    pub is_complete: bool,
}

/// Whether more of the answer can follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerStage {
    Streaming,
    Whole,
}

impl AnswerParser {
    /// Creates a parser for a template and the text around the hole. `restores` says whether the prompt contains neutralised
    /// special tokens.
    pub fn new(template: &Template, prefix: &str, suffix: &str, restores: bool) -> AnswerParser {
        let line = prefix.rsplit('\n').next().unwrap_or("");
        let rest = suffix.split('\n').next().unwrap_or("");
        let hole = HoleSurroundings {
            begins_line: line.trim().is_empty(),
            is_unfinished: line.ends_with(|c: char| c.is_whitespace() || "=([,+-*/%&|<.!?".contains(c)),
            line_goes_on: !rest.trim().is_empty(),
            is_in_fence: is_inside_fence(prefix),
        };
        AnswerParser { template: template.clone(), restores, hole, is_verbatim: false }
    }

    /// Creates a parser for answers that are no insertions: it removes nothing but reasoning.
    pub fn verbatim() -> AnswerParser {
        AnswerParser { is_verbatim: true, ..AnswerParser::new(&Template::chat(), "", "", false) }
    }

    /// Returns the insertion of a partial answer.
    pub fn parse_partial(&self, raw: &str) -> Insertion {
        let (text, is_complete) = self.parse(raw, AnswerStage::Streaming);
        let text = if is_complete { text } else { self.without_half_token(text) };
        Insertion { text: self.restore_tokens(text), is_complete }
    }

    /// Returns the insertion of a complete answer.
    pub fn parse_whole(&self, raw: &str) -> String {
        self.restore_tokens(self.parse(raw, AnswerStage::Whole).0)
    }

    fn restore_tokens(&self, text: &str) -> String {
        if self.restores { unescape_special_tokens(text, &self.template.tokens()) } else { text.to_owned() }
    }

    /// Returns the insertion before neutralised tokens are restored, and whether it is complete.
    fn parse<'r>(&self, raw: &'r str, stage: AnswerStage) -> (&'r str, bool) {
        let Some(answer) = reasoning::after_reasoning(raw, stage) else { return ("", false) };
        if self.is_verbatim {
            return (answer, false);
        }
        match self.template.system() {
            Some(_) => self.parse_chat(answer, stage),
            None => self.parse_completion(answer, stage),
        }
    }

    fn parse_completion<'r>(&self, raw: &'r str, stage: AnswerStage) -> (&'r str, bool) {
        let Some(text) = self.after_prompt(raw, stage) else { return ("", false) };
        let mut ends = self.template.tokens();
        ends.extend(self.template.stop());
        let (text, has_ended) = split_at_stop(text, &ends);
        let stage = if has_ended { AnswerStage::Whole } else { stage };
        let text = without_partial_stop(text, &ends, stage);
        let (text, is_closed) =
            if self.hole.is_in_fence { (text, false) } else { without_fences(text, stage) };
        (self.without_tail(text, if is_closed { AnswerStage::Whole } else { stage }), has_ended || is_closed)
    }

    /// Returns the text behind the prompt if a server repeats it, or behind the prompt's last token if a model does. `None` while
    /// the prompt is still being repeated.
    fn after_prompt<'r>(&self, raw: &'r str, stage: AnswerStage) -> Option<&'r str> {
        let last = last_token(self.template.file());
        let start = raw.trim_start();
        if last.is_empty() {
            return Some(raw);
        }
        if let Some(answer) = start.strip_prefix(last) {
            return Some(answer);
        }
        if !first_token(self.template.file()).is_some_and(|token| start.starts_with(token)) {
            return Some(raw);
        }
        match (start.split_once(last), stage) {
            (Some((_, answer)), _) => Some(answer),
            (None, AnswerStage::Whole) => Some(raw),
            (None, AnswerStage::Streaming) => None,
        }
    }

    /// Removes text that models of the family append by mistake.
    fn without_tail<'r>(&self, text: &'r str, stage: AnswerStage) -> &'r str {
        let tails = self.template.tails();
        match stage {
            AnswerStage::Streaming => {
                let held = without_partial_stop(text, tails, stage);
                let ended = tails.iter().filter_map(|tail| text.strip_suffix(tail));
                ended.fold(held, |shortest, text| if text.len() < shortest.len() { text } else { shortest })
            }
            AnswerStage::Whole => tails.iter().find_map(|tail| text.strip_suffix(tail)).unwrap_or(text),
        }
    }

    fn parse_chat<'r>(&self, raw: &'r str, stage: AnswerStage) -> (&'r str, bool) {
        let (raw, has_ended) = split_at_stop(
            reasoning::after_unopened_reasoning(raw),
            &[&[ANSWER_CLOSE], SHARED_TOKENS].concat(),
        );
        let stage = if has_ended { AnswerStage::Whole } else { stage };
        let answer = match raw.split_once(ANSWER_OPEN) {
            // An answer in a fence before the mark takes precedence.
            Some((talk, answer)) if !has_closed_fence(talk) => answer,
            _ => {
                let (text, is_complete) = self.parse_unmarked(raw, stage);
                return (text, has_ended || is_complete);
            }
        };
        let text = without_partial_stop(answer, &[&[ANSWER_CLOSE, HOLE_MARK], SHARED_TOKENS].concat(), stage);
        if text.trim_start().starts_with('`') {
            let (text, is_closed) = without_fences(text, stage);
            return (without_mark(text), has_ended || is_closed);
        }
        (without_mark(self.without_frame(text)), has_ended)
    }

    /// Reads an answer without the marks. Until it is complete, code and other text are indistinguishable.
    fn parse_unmarked<'r>(&self, raw: &'r str, stage: AnswerStage) -> (&'r str, bool) {
        match in_first_fence(raw, stage) {
            Some((text, true)) => return (without_mark(text), true),
            Some((text, false)) if stage == AnswerStage::Whole => return (without_mark(text), false),
            None if stage == AnswerStage::Whole => {}
            _ => return ("", false),
        }
        let text = without_mark(raw);
        let quoted = text.trim().strip_prefix('`').and_then(|text| text.strip_suffix('`'));
        (quoted.filter(|text| !text.contains(['`', '\n'])).unwrap_or(text), false)
    }

    /// Removes the line breaks that separate the text from the marks.
    fn without_frame<'r>(&self, text: &'r str) -> &'r str {
        let behind_break = text.strip_prefix('\n').or_else(|| text.strip_prefix("\r\n"));
        let text = match behind_break {
            Some(rest) if self.hole.begins_line || self.hole.is_unfinished => rest,
            _ => text,
        };
        // Complete lines before a continued line end with their own line break.
        if self.hole.begins_line && self.hole.line_goes_on {
            return text;
        }
        let before_blanks = text.trim_end_matches([' ', '\t']);
        match before_blanks.strip_suffix('\n') {
            Some(rest) => rest.strip_suffix('\r').unwrap_or(rest),
            None => text,
        }
    }

    /// Removes the beginning of a neutralised token at the end, whose restored form is not known yet.
    fn without_half_token<'r>(&self, text: &'r str) -> &'r str {
        let Some(at) = text.rfind(TOKEN_BREAK).filter(|_| self.restores) else { return text };
        let behind = &text[at + TOKEN_BREAK.len_utf8()..];
        if !self.template.tokens().iter().any(|token| {
            let others = token.chars().next().map_or("", |first| &token[first.len_utf8()..]);
            others.starts_with(behind) && others != behind
        }) {
            return text;
        }
        let first = text[..at].chars().next_back().map_or(0, char::len_utf8);
        &text[..at - first]
    }
}

/// Returns whether text follows the line of a closing fence. That line itself may still continue.
fn has_closed_fence(text: &str) -> bool {
    in_first_fence(text, AnswerStage::Streaming).is_some_and(|(_, is_closed)| is_closed)
}

/// Returns the text before the first of `ends`, and whether one was found.
fn split_at_stop<'r>(text: &'r str, ends: &[&str]) -> (&'r str, bool) {
    let first = ends.iter().filter_map(|end| text.find(end)).min();
    (&text[..first.unwrap_or(text.len())], first.is_some())
}

/// Removes the possible beginning of one of `ends` at the end of the text, if more can follow.
fn without_partial_stop<'r>(text: &'r str, ends: &[&str], stage: AnswerStage) -> &'r str {
    if stage == AnswerStage::Whole {
        return text;
    }
    let longest = ends.iter().map(|end| end.len()).max().unwrap_or(0);
    let from = text.ceil_char_boundary(text.len().saturating_sub(longest));
    let held = text[from..]
        .char_indices()
        .map(|(at, _)| from + at)
        .find(|at| ends.iter().any(|end| end.starts_with(&text[*at..])));
    &text[..held.unwrap_or(text.len())]
}

/// Removes an echoed hole mark: returns the text behind it, or the text before it if that is not blank.
fn without_mark(text: &str) -> &str {
    match text.split_once(HOLE_MARK) {
        Some((before, after)) if before.trim().is_empty() => without_mark(after),
        Some((before, _)) => before,
        None => text,
    }
}

/// Returns the token directly before the prefix or the suffix, whichever comes first.
fn first_token(layout: &str) -> Option<&str> {
    let mut token = None;
    for piece in pieces(layout) {
        match piece {
            LayoutPiece::Literal(literal) => token = layout_tokens(literal).last().copied().or(token),
            LayoutPiece::Slot(Placeholder::Prefix | Placeholder::Suffix) => return token,
            LayoutPiece::Slot(_) => {}
        }
    }
    None
}

impl ModelFamily {
    /// Returns all strings that end an answer of the family, for callers that search for them.
    pub fn ends(&self) -> impl Iterator<Item = &'static str> {
        self.stop.iter().chain(self.tokens).chain(SHARED_TOKENS).copied()
    }
}

#[cfg(test)]
mod tests;
