//! The last answers in one document: while their beginnings are being typed, and for who comes back to where they were given.
//!
//! A person who types what the ghost text says expects it to stay. What is left of an answer is found without an engine: the rest
//! fits if inserting it gives the very document that accepting the answer would have given. Pure: nothing here asks or waits.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::cursor_snapshot::{CursorSnapshot, with_lf};

/// Answers that are kept: somebody who looks around, deletes and takes back comes through so many places.
const MAX_ANSWERS: usize = 64;

/// Text that is kept for them, bytes: every answer holds the whole document as it was, and the largest one that is completed in fits
/// twice.
const MAX_BYTES: usize = 4 << 20;

/// The last answers in one document.
#[derive(Clone, Debug, Default)]
pub struct AnswerCache {
    /// The newest first.
    answers: VecDeque<CachedAnswer>,
}

#[derive(Clone, Debug)]
struct CachedAnswer {
    cursor: CursorSnapshot,
    /// What is shown first, and what else there is; with LF line ends.
    answers: Vec<String>,
    /// Whether the engine was asked for all that it has.
    has_alternatives: bool,
}

impl AnswerCache {
    /// Remembers what was answered at a place, and forgets the oldest answers.
    pub fn insert(&mut self, place: CursorSnapshot, answer: &str) {
        self.push(CachedAnswer {
            cursor: place,
            answers: vec![with_lf(answer).into_owned()],
            has_alternatives: false,
        });
    }

    /// Remembers all that an engine had to offer at a place, best first. What was shown there before stays the first of it, since ghost
    /// text must not change under somebody's fingers.
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

    /// The rest of the newest answer whose beginning was typed up to `today`: with LF line ends, never empty. All of it if nothing was
    /// typed.
    pub fn remaining_text(&self, today: &CursorSnapshot) -> Option<String> {
        self.remaining_texts(today, false).into_iter().next()
    }

    /// The same with the rests of what else there was to choose from, the one to be shown first. For who wants a choice, only what an
    /// engine was asked for all that it has counts.
    pub(crate) fn remaining_texts(&self, today: &CursorSnapshot, wants_choice: bool) -> Vec<String> {
        let counts = |known: &&CachedAnswer| known.has_alternatives || !wants_choice;
        let rests = self.answers.iter().filter(counts).map(|known| known.remaining_texts(today));
        rests.into_iter().find(|rests| !rests.is_empty()).unwrap_or_default()
    }
}

impl CachedAnswer {
    /// The parts of its answers that are missing at `today`.
    fn remaining_texts(&self, today: &CursorSnapshot) -> Vec<String> {
        let Some(written) = self.cursor.inserted_until(today) else { return Vec::new() };
        let rest = |answer: &String| {
            let rest = answer.strip_prefix(&*written.typed)?.strip_suffix(&*written.closed)?;
            Some(rest.to_owned()).filter(|rest| !rest.is_empty())
        };
        let rests: Vec<String> = self.answers.iter().filter_map(rest).collect();
        // The long comparisons come last: few texts get here.
        if rests.is_empty() || !self.cursor.has_same_surroundings(today) { Vec::new() } else { rests }
    }
}

/// What these keep in memory; neighbours that were given to one text share it.
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
