//! Cache of the last answers in one document, for typing through them and for returning to their positions.
//!
//! Ghost text must stay while the user types it. The rest of an answer is found without an engine: it fits if inserting it gives
//! the document that accepting the answer would have given. Pure: makes no requests and never waits.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cursor_snapshot::{CursorSnapshot, with_lf};

/// Maximum number of answers: enough for moving around, deleting and undoing.
const MAX_ANSWERS: usize = 64;

/// Maximum size of their texts in bytes. Every answer holds the whole document at its time; the largest document with completions fits
/// twice.
const MAX_BYTES: usize = 4 << 20;

/// The last answers in one document.
#[derive(Clone, Debug, Default)]
pub struct AnswerCache {
    /// Newest first.
    answers: VecDeque<CachedAnswer>,
}

#[derive(Clone, Debug)]
struct CachedAnswer {
    cursor: CursorSnapshot,
    /// The answer shown first, then the alternatives; with LF line ends.
    answers: Vec<String>,
    /// Whether the engine was asked for alternatives.
    has_alternatives: bool,
}

impl AnswerCache {
    /// Caches the answer at a place, and drops the oldest answers.
    pub fn insert(&mut self, place: CursorSnapshot, answer: &str) {
        self.push(CachedAnswer {
            cursor: place,
            answers: vec![with_lf(answer).into_owned()],
            has_alternatives: false,
        });
    }

    /// Caches all answers of an engine at a place, best first. The text shown there before stays first, since ghost text must not
    /// change while the user types it.
    pub fn insert_alternatives<'a>(
        &mut self,
        place: CursorSnapshot,
        answers: impl IntoIterator<Item = &'a str>,
    ) {
        let mut choice: Vec<String> = self.remaining_text(&place).into_iter().collect();
        for answer in answers.into_iter().map(with_lf) {
            if !choice.iter().any(|known| **known == *answer) {
                choice.push(answer.into_owned());
            }
        }
        self.push(CachedAnswer { cursor: place, answers: choice, has_alternatives: true });
    }

    fn push(&mut self, answer: CachedAnswer) {
        self.answers.push_front(answer);
        let is_too_much = |answers: &VecDeque<_>| answers.len() > MAX_ANSWERS || bytes(answers) > MAX_BYTES;
        while self.answers.len() > 1 && is_too_much(&self.answers) {
            self.answers.pop_back();
        }
    }

    /// Returns the rest of the newest answer whose beginning was typed up to `today`: with LF line ends, never empty. The whole answer
    /// if nothing was typed.
    pub fn remaining_text(&self, today: &CursorSnapshot) -> Option<String> {
        self.remaining_texts(today, false).into_iter().next()
    }

    /// Returns the number of answers on the line of `today` that other text was typed over.
    pub fn typed_over(&self, today: &CursorSnapshot) -> usize {
        self.answers.iter().filter(|known| known.is_typed_over(today)).count()
    }

    /// Returns the rest of that answer and of its alternatives, the one to show first at the front. With `wants_choice`, only answers
    /// with alternatives count.
    pub(crate) fn remaining_texts(&self, today: &CursorSnapshot, wants_choice: bool) -> Vec<String> {
        let rests = self
            .answers
            .iter()
            .filter(|known| known.has_alternatives || !wants_choice)
            .map(|known| known.remaining_texts(today));
        rests.into_iter().find(|rests| !rests.is_empty()).unwrap_or_default()
    }
}

impl CachedAnswer {
    /// Whether text was typed on its line that is the beginning of none of its answers.
    fn is_typed_over(&self, today: &CursorSnapshot) -> bool {
        // Most cached answers are on other lines.
        let written = if self.cursor.has_same_line(today) { self.cursor.inserted_until(today) } else { None };
        written.is_some_and(|written| !self.answers.iter().any(|answer| answer.starts_with(&*written.typed)))
    }

    /// Returns the rests of its answers at `today`.
    fn remaining_texts(&self, today: &CursorSnapshot) -> Vec<String> {
        let Some(written) = self.cursor.inserted_until(today) else { return Vec::new() };
        let rests: Vec<String> = self
            .answers
            .iter()
            .filter_map(|answer| {
                let rest = answer.strip_prefix(&*written.typed)?.strip_suffix(&*written.closed)?;
                Some(rest.to_owned()).filter(|rest| !rest.is_empty())
            })
            .collect();
        // The long comparison comes last, as few texts get here.
        if rests.is_empty() || !self.cursor.has_same_surroundings(today) { Vec::new() } else { rests }
    }
}

/// Returns the memory use in bytes; consecutive answers to one text share it.
fn bytes(answers: &VecDeque<CachedAnswer>) -> usize {
    let newer = std::iter::once(None).chain(answers.iter().map(Some));
    let sizes = answers.iter().zip(newer).map(|(known, newer)| {
        let text = &known.cursor.text;
        let is_shared = newer.is_some_and(|newer| Arc::ptr_eq(text, &newer.cursor.text));
        let answers: usize = known.answers.iter().map(String::len).sum();
        answers + if is_shared { 0 } else { text.len() }
    });
    sizes.sum()
}
