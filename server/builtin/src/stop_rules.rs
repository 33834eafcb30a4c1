//! Stop rules: where a completion ends, and which tokens are not permitted next.
//!
//! Tracks open brackets, indentation and the last line of the generated text. The rules follow the feasibility study, section 8.6.

use crate::corpus_view::CorpusView;
use crate::cursor::GenerationMode;
use crate::settings::StopReason;
use crate::vocabulary::{IndentChange, TokenId, is_newline};

/// Lengths of runs that must not occur three times in a row (feasibility study, section 8.6: three times).
const REPEATED_RUN: std::ops::RangeInclusive<usize> = 4..=16;
/// Minimum length of a line that may not duplicate the next one, in tokens (feasibility study, section 8.6).
const MIN_DUPLICATE_LINE: usize = 4;

/// Decision about a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenDecision {
    Write,
    WriteAndStop(StopReason),
    Stop(StopReason),
    /// The token is not permitted; try the next guess.
    Reject,
}

/// State of the generated text.
#[derive(Debug)]
pub(crate) struct StopRules<'v, 'c> {
    view: &'v CorpusView<'c>,
    mode: GenerationMode,
    written: Vec<TokenId>,
    /// Texts of the open brackets.
    open: Vec<&'v str>,
    /// Number of brackets of the statement that were opened before the cursor and are still open.
    open_before: usize,
    /// Indentation relative to the cursor's line.
    column: i64,
}

impl<'v, 'c> StopRules<'v, 'c> {
    pub(crate) fn new(view: &'v CorpusView<'c>, mode: GenerationMode) -> StopRules<'v, 'c> {
        let open_before = if mode == GenerationMode::Statement { view.cursor.open_brackets } else { 0 };
        StopRules { view, mode, written: Vec::new(), open: Vec::new(), open_before, column: 0 }
    }

    pub(crate) fn judge(&self, token: TokenId) -> TokenDecision {
        let text = self.view.text(token);
        if let (Some(open), Some(fitting)) = (self.open.last(), opener_of(text))
            && *open != fitting
        {
            return TokenDecision::Reject;
        }
        if self.leaves_brackets(text) {
            return TokenDecision::Reject;
        }
        if !self.open.is_empty() || self.open_before > 0 {
            return TokenDecision::Write;
        }
        if self.mode == GenerationMode::Statement {
            self.judge_in_statement(token, text)
        } else {
            self.judge_in_block(token, text)
        }
    }

    /// Returns whether the token begins a line that is no more indented than its statement although a bracket is open.
    fn leaves_brackets(&self, text: &str) -> bool {
        let in_brackets = self.open.last().map_or(self.open_before > 0, |&open| open != "{");
        let starts_line = self.written.last().is_some_and(|&last| is_newline(last));
        let is_outside =
            self.mode == GenerationMode::Statement && in_brackets && starts_line && self.column <= 0;
        is_outside && opener_of(text).is_none()
    }

    fn judge_in_statement(&self, token: TokenId, text: &str) -> TokenDecision {
        match text {
            _ if is_newline(token) && self.written.is_empty() => TokenDecision::Reject,
            _ if is_newline(token) => TokenDecision::Stop(StopReason::StatementEnd),
            _ if opener_of(text).is_some() => TokenDecision::Stop(StopReason::SuffixReached),
            ";" if self.view.cursor.before_semicolon => TokenDecision::Stop(StopReason::SuffixReached),
            ";" if self.view.family.has_semicolons() => TokenDecision::WriteAndStop(StopReason::StatementEnd),
            _ => TokenDecision::Write,
        }
    }

    fn judge_in_block(&self, token: TokenId, text: &str) -> TokenDecision {
        if opener_of(text).is_some() {
            return TokenDecision::Stop(StopReason::BlockEnd);
        }
        if let Some(change) = IndentChange::of(token) {
            return self.judge_newline(change.columns(self.view.layout.unit));
        }
        if self.mode == GenerationMode::OneStatement && self.is_statement_done() && !continues_statement(text)
        {
            return TokenDecision::Stop(StopReason::StatementEnd);
        }
        TokenDecision::Write
    }

    fn judge_newline(&self, columns: i64) -> TokenDecision {
        let is_body = self.mode == GenerationMode::Body;
        if self.written.is_empty() {
            return if is_body && columns > 0 { TokenDecision::Write } else { TokenDecision::Reject };
        }
        let innermost = i64::from(is_body && self.view.family.is_indented());
        if self.column + columns < innermost {
            TokenDecision::Stop(StopReason::BlockEnd)
        } else {
            TokenDecision::Write
        }
    }

    /// Returns whether a new statement would begin here: after a line end at the statement's own indentation, or after a `;`.
    fn is_statement_done(&self) -> bool {
        let Some(&last) = self.written.last() else { return false };
        let is_semicolon = self.view.family.has_semicolons() && self.view.text(last) == ";";
        self.column <= 0 && (is_semicolon || (is_newline(last) && !self.ends_with_attribute()))
    }

    /// Returns whether the last complete line is a decorator, annotation or attribute, which belongs to the next one.
    fn ends_with_attribute(&self) -> bool {
        let line = self.written.split(|&token| is_newline(token)).rfind(|line| !line.is_empty());
        let mut texts = line.unwrap_or_default().iter().map(|&token| self.view.text(token));
        matches!((texts.next(), texts.next()), (Some("@"), _) | (Some("#"), Some("[")))
    }

    pub(crate) fn push(&mut self, token: TokenId) {
        let text = self.view.text(token);
        if matches!(text, "(" | "[" | "{") {
            self.open.push(text);
        } else if opener_of(text).is_some() && self.open.pop().is_none() {
            self.open_before = self.open_before.saturating_sub(1);
        } else if let Some(change) = IndentChange::of(token) {
            self.column += change.columns(self.view.layout.unit);
        }
        self.written.push(token);
    }

    /// Returns the number of tokens to remove if the same run occurred three times: all but its first occurrence.
    pub(crate) fn repeated_tokens(&self) -> Option<usize> {
        let run = |length: usize, back: usize| {
            let end = self.written.len().checked_sub(back * length)?;
            Some(&self.written[end.checked_sub(length)?..end])
        };
        REPEATED_RUN
            .into_iter()
            .find(|&length| {
                run(length, 2).is_some()
                    && run(length, 0) == run(length, 1)
                    && run(length, 0) == run(length, 2)
            })
            .map(|length| 2 * length)
    }

    /// Returns the number of tokens to remove if the last line equals the one after the cursor.
    pub(crate) fn duplicated_tokens(&self) -> Option<usize> {
        let next_line = &self.view.cursor.next_line;
        let line = self.written.rsplit(|&token| is_newline(token)).next().unwrap_or_default();
        let is_duplicate =
            self.mode != GenerationMode::Statement && line.len() >= MIN_DUPLICATE_LINE && line == next_line;
        is_duplicate.then_some(line.len())
    }
}

/// Returns the opening bracket for a closing one.
fn opener_of(text: &str) -> Option<&'static str> {
    match text {
        ")" => Some("("),
        "]" => Some("["),
        "}" => Some("{"),
        _ => None,
    }
}

/// Returns whether a line beginning with this token continues the statement before it.
fn continues_statement(text: &str) -> bool {
    matches!(
        text,
        "else" | "elif" | "except" | "finally" | "catch" | "{" | "." | "?." | "&&" | "||" | "?" | ":" | ";"
    )
}
