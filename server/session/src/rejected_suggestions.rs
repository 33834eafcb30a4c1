//! Suggestions that the user rejected: one rejected twice on a line is not shown there again.

use std::collections::VecDeque;

use text::{EditLog, TrackedRange};

/// Rejections after which a suggestion is withheld at its place.
pub(crate) const ENOUGH_REJECTIONS: usize = 2;

/// Maximum number of remembered suggestions per document, the latest.
const MAX_REJECTED: usize = 64;

/// The rejected suggestions of one document.
#[derive(Default)]
pub(crate) struct RejectedSuggestions(VecDeque<RejectedSuggestion>);

struct RejectedSuggestion {
    /// The cursor, in the current text.
    cursor: TrackedRange,
    /// The suggestion behind the text of its line before the cursor: it is then the same suggestion at every cursor of the line.
    line: String,
    times: usize,
}

impl RejectedSuggestions {
    /// Moves the places along with the latest edits, and forgets those of deleted text.
    pub(crate) fn follow_edits(&mut self, log: &EditLog) {
        self.0.retain_mut(|rejected| log.follow(&mut rejected.cursor, log.revision()).is_some());
    }

    /// Counts rejections of a suggestion. `is_same_line` compares a cursor of the current text with that of the suggestion.
    pub(crate) fn add(
        &mut self,
        cursor: TrackedRange,
        line: String,
        times: usize,
        is_same_line: impl Fn(usize) -> bool,
    ) {
        let known =
            self.0.iter_mut().find(|known| known.line == line && is_same_line(known.cursor.range().start));
        if let Some(known) = known {
            known.times += times;
            return;
        }
        if self.0.len() == MAX_REJECTED {
            self.0.pop_front();
        }
        self.0.push_back(RejectedSuggestion { cursor, line, times });
    }

    /// Returns whether a suggestion was rejected often enough. `is_same_line` compares a cursor of the current text with that of the suggestion.
    pub(crate) fn withholds(&self, line: &str, is_same_line: impl Fn(usize) -> bool) -> bool {
        self.0.iter().any(|known| {
            known.times >= ENOUGH_REJECTIONS && known.line == line && is_same_line(known.cursor.range().start)
        })
    }
}
