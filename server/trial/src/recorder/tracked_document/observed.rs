//! Edits that were not seen: the front door looks at a document only at requests and saves.

use cases::Provenance;
use text::{Document, Edit};

use super::{EditSource, MAX_KEYS, TrackedDocument};
use crate::recorder::fine_edits::{line_hunks, removed_text};
use crate::recorder::provenance_rules::{TrimmedEdit, provenance_of_edit};

impl TrackedDocument {
    /// Applies the edit between two looks at the document, hunk by hunk: each is a change by itself, since they were made one after the
    /// other. Returns false if it does not fit the text.
    pub(crate) fn observe(&mut self, edit: Edit, now: u64) -> bool {
        let Some(removed) = removed_text(&self.rope, &edit) else { return false };
        self.open.iter_mut().for_each(|open| open.note_key(now));
        for hunk in line_hunks(&edit, &removed) {
            for part in self.parts_at_offer(hunk) {
                if !self.change_by(vec![part], EditSource::Unobserved, now) {
                    return false;
                }
            }
        }
        self.keys.push_back(now);
        if self.keys.len() > MAX_KEYS {
            self.keys.pop_front();
        }
        self.last_edit = now;
        true
    }

    /// Splits an insertion that begins with the text of a suggestion: the rest was written after the suggestion was accepted.
    fn parts_at_offer(&self, edit: Edit) -> Vec<Edit> {
        let offers = self.open.iter().filter_map(|open| open.offer.as_ref());
        let accepted = offers.filter_map(|offer| offer.accepted_length(&edit)).max();
        match accepted.filter(|length| *length < edit.text.len()) {
            Some(length) => {
                let (start, (accepted, rest)) = (edit.range.start, edit.text.split_at(length));
                let rest = Edit { range: start + length..start + length, text: rest.to_owned() };
                vec![Edit { range: edit.range, text: accepted.to_owned() }, rest]
            }
            None => vec![edit],
        }
    }
}

/// Returns the provenance of edits that were not seen: a few keys are typed, whatever else happened is unknown.
pub(super) fn provenance(trimmed: &[(Document, TrimmedEdit)]) -> Option<Provenance> {
    let is_typed = |(before, edit): &(Document, TrimmedEdit)| {
        provenance_of_edit(edit, before, false) == Provenance::Typed
    };
    Some(if trimmed.iter().all(is_typed) { Provenance::Typed } else { Provenance::Unobserved })
}
