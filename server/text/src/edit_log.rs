//! The log of a document's edits, by revision: the only place from which ranges of earlier revisions follow later edits.
//!
//! Readers keep the number of the revision they know and ask for the edits since then. The log must never answer with a part of
//! them: an edit is forgotten together with all earlier ones, and a reader that asks for a forgotten edit gets `None`.

use std::collections::VecDeque;
use std::time::Instant;

use crate::{Edit, TrackedRange};

/// Maximum memory of one log in bytes: about 20,000 typed characters, an hour of uninterrupted typing. A larger revision is kept
/// until the next one.
const MAX_BYTES: usize = 2 << 20;

/// A revision of a document: the edits that one message of the editor makes at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Identifies the revision; later ones have larger numbers.
    pub number: u64,
    /// Time of arrival.
    pub time: Instant,
    /// The edits, each in the text that the previous ones left.
    pub edits: Vec<Edit>,
}

/// The latest revisions of one document. The oldest ones are forgotten when the log takes more than two megabytes.
#[derive(Clone, Debug)]
pub struct EditLog {
    /// Oldest first.
    revisions: VecDeque<Revision>,
    /// Number of the latest forgotten revision, at first of the opening of the document.
    start: u64,
    bytes: usize,
}

impl EditLog {
    /// Creates the log of a document whose text was set by revision `start`.
    pub fn new(start: u64) -> EditLog {
        EditLog { revisions: VecDeque::new(), start, bytes: 0 }
    }

    /// Adds a revision, later than all others, and forgets the oldest ones.
    pub fn push(&mut self, mut revision: Revision) {
        // A key is one edit; a list that grew step by step has room for four.
        revision.edits.shrink_to_fit();
        self.bytes += bytes(&revision);
        self.revisions.push_back(revision);
        while self.bytes > MAX_BYTES && self.revisions.len() > 1 {
            let Some(oldest) = self.revisions.pop_front() else { return };
            self.bytes -= bytes(&oldest);
            self.start = oldest.number;
        }
    }

    /// Returns the number of the latest revision.
    pub fn revision(&self) -> u64 {
        self.latest().map_or(self.start, |latest| latest.number)
    }

    /// Returns the latest revision; `None` if there was no edit.
    pub fn latest(&self) -> Option<&Revision> {
        self.revisions.back()
    }

    /// Returns the revisions after `number`, oldest first; `None` if one of them is forgotten.
    pub fn since(&self, number: u64) -> Option<impl DoubleEndedIterator<Item = &Revision>> {
        (number >= self.start).then(|| self.revisions.range(self.count_until(number)..))
    }

    /// Returns the last edit of revision `number` or of an earlier one; `None` if there is none or if it is forgotten.
    pub fn last_edit(&self, number: u64) -> Option<&Edit> {
        self.revisions.range(..self.count_until(number)).rev().find_map(|revision| revision.edits.last())
    }

    /// Moves a range to revision `number`, edit by edit. Returns `None` and leaves the range as it is if its own revision is later
    /// or an edit in between is forgotten.
    #[must_use = "without these edits the range is of another text"]
    pub fn follow(&self, range: &mut TrackedRange, number: u64) -> Option<()> {
        let number = number.min(self.revision());
        if number < range.revision {
            return None;
        }
        let revisions = self.since(range.revision)?.take_while(|revision| revision.number <= number);
        revisions.flat_map(|revision| &revision.edits).for_each(|edit| range.apply(edit));
        range.revision = number;
        Some(())
    }

    /// Moves a range to the latest revision if each edit in between `fits` the range that it finds. Otherwise, and if an edit is
    /// forgotten, returns false and leaves the range as it is.
    #[must_use = "the range may be of another text"]
    pub fn follow_while(
        &self,
        range: &mut TrackedRange,
        fits: impl Fn(&TrackedRange, &Edit) -> bool,
    ) -> bool {
        let Some(revisions) = self.since(range.revision) else { return false };
        let mut moved = range.clone();
        for edit in revisions.flat_map(|revision| &revision.edits) {
            if !fits(&moved, edit) {
                return false;
            }
            moved.apply(edit);
        }
        moved.revision = self.revision();
        *range = moved;
        true
    }

    /// Returns how many revisions are not later than `number`.
    fn count_until(&self, number: u64) -> usize {
        self.revisions.partition_point(|revision| revision.number <= number)
    }
}

/// Returns the memory of a revision.
fn bytes(revision: &Revision) -> usize {
    let text: usize = revision.edits.iter().map(|edit| edit.text.len()).sum();
    size_of::<Revision>() + revision.edits.len() * size_of::<Edit>() + text
}
