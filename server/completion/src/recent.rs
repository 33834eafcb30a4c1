//! The last answers in one document, for as long as their beginnings are being typed.
//!
//! A person who types what the ghost text says expects it to stay. What is left of an answer is found without an engine: the rest
//! fits if inserting it gives the very document that accepting the answer would have given. Pure: nothing here asks or waits.
//!
//! Ghost text must not change under somebody's fingers, so what else the engine would know by now counts only where nothing was typed.
//!
//! Line ends are all alike, as an editor types its own. Brackets and quotes that an editor closes by itself, and the line it puts
//! a closing bracket on, may stand behind the cursor if the answer ends with them; any other change there ends an answer's use.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

/// Answers that are kept: somebody who deletes goes back through a few places, and texts of documents are large.
const REMEMBERED: usize = 8;

/// The last answers in one document.
#[derive(Clone, Debug, Default)]
pub struct Recent {
    /// The newest first.
    answers: VecDeque<Remembered>,
}

/// What an answer rests on beside the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// Whose it is: answers with the same fingerprint may stand for each other. To let what a person asked for by key live on while they
    /// type, remember it under the fingerprint of the requests that typing makes.
    pub fingerprint: String,
    /// Another number for every state of the workspace's files.
    pub workspace: u64,
    /// Another number for every state of the other documents.
    pub documents: u64,
}

#[derive(Clone, Debug)]
struct Remembered {
    text: Arc<str>,
    offset: usize,
    basis: Basis,
    /// With LF line ends.
    answer: String,
}

impl Recent {
    /// Remembers what was answered at `offset` (bytes) of `text`, and forgets the oldest answer.
    pub fn remember(&mut self, text: &Arc<str>, offset: usize, basis: &Basis, answer: &str) {
        self.answers.truncate(REMEMBERED - 1);
        self.answers.push_front(Remembered {
            text: Arc::clone(text),
            offset,
            basis: basis.clone(),
            answer: with_lf(answer).into_owned(),
        });
    }

    /// The rest of the newest answer whose beginning was typed up to `offset` of `text`: with LF line ends, never empty. All of it
    /// if nothing was typed; then its basis has to be the same.
    pub fn typed_through(&self, text: &str, offset: usize, basis: &Basis) -> Option<String> {
        let fits = |remembered: &&Remembered| {
            remembered.basis == *basis
                || remembered.basis.fingerprint == basis.fingerprint && remembered.offset < offset
        };
        let known = self.answers.iter().filter(fits);
        known.filter_map(|remembered| remembered.rest(text, offset)).next().map(str::to_owned)
    }
}

impl Remembered {
    /// The part of the answer that is missing at `offset` of `text`.
    fn rest(&self, text: &str, offset: usize) -> Option<&str> {
        let (before, after) = self.text.split_at_checked(self.offset)?;
        let (today_before, today_after) = text.split_at_checked(offset)?;
        let typed = today_before.get(before.len()..)?;
        let closed = today_after.get(..today_after.len().checked_sub(after.len())?)?;
        if !closed.chars().all(closes) {
            return None;
        }
        let rest = self.answer.strip_prefix(&*with_lf(typed))?.strip_suffix(&*with_lf(closed))?;
        // The long comparisons come last: few texts get here.
        let is_same = !rest.is_empty() && today_before.starts_with(before) && today_after.ends_with(after);
        is_same.then_some(rest)
    }
}

/// Whether editors put this character behind the cursor by themselves: after an opening bracket or quote, or a line end in between.
fn closes(character: char) -> bool {
    matches!(character, ')' | ']' | '}' | '>' | '"' | '\'' | '`') || character.is_whitespace()
}

fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").into() } else { text.into() }
}
