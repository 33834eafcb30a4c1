//! The last answers in one document: while their beginnings are being typed, and for who comes back to where they were given.
//!
//! A person who types what the ghost text says expects it to stay. What is left of an answer is found without an engine: the rest
//! fits if inserting it gives the very document that accepting the answer would have given. Pure: nothing here asks or waits.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::place::{Place, with_lf};

/// Answers that are kept: somebody who looks around, deletes and takes back comes through so many places.
const REMEMBERED: usize = 64;

/// Text that is kept for them, bytes: every answer holds the whole document as it was, and the largest one that is completed in fits
/// twice.
const MAX_BYTES: usize = 4 << 20;

/// The last answers in one document.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    /// The newest first.
    answers: VecDeque<Remembered>,
}

#[derive(Clone, Debug)]
struct Remembered {
    place: Place,
    /// With LF line ends.
    answer: String,
}

impl Recent {
    /// Remembers what was answered at a place, and forgets the oldest answers.
    pub fn remember(&mut self, place: Place, answer: &str) {
        self.answers.push_front(Remembered { place, answer: with_lf(answer).into_owned() });
        let is_too_much = |answers: &VecDeque<_>| answers.len() > REMEMBERED || bytes(answers) > MAX_BYTES;
        while self.answers.len() > 1 && is_too_much(&self.answers) {
            self.answers.pop_back();
        }
    }

    /// The rest of the newest answer whose beginning was typed up to `today`: with LF line ends, never empty. All of it if nothing was
    /// typed.
    pub fn typed_through(&self, today: &Place) -> Option<String> {
        self.answers.iter().find_map(|known| known.rest(today)).map(str::to_owned)
    }
}

impl Remembered {
    /// The part of the answer that is missing at `today`.
    fn rest(&self, today: &Place) -> Option<&str> {
        let written = self.place.written(today)?;
        let rest = self.answer.strip_prefix(&*written.typed)?.strip_suffix(&*written.closed)?;
        // The long comparisons come last: few texts get here.
        (!rest.is_empty() && self.place.is_around(today)).then_some(rest)
    }
}

/// What these keep in memory; neighbours that were given to one text share it.
fn bytes(answers: &VecDeque<Remembered>) -> usize {
    let newer = std::iter::once(None).chain(answers.iter().map(Some));
    let sizes = answers.iter().zip(newer).map(|(known, newer)| {
        let text = &known.place.text;
        let is_shared = newer.is_some_and(|newer| Arc::ptr_eq(text, &newer.place.text));
        known.answer.len() + if is_shared { 0 } else { text.len() }
    });
    sizes.sum()
}
