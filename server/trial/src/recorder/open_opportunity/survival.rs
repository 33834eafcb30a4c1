//! What became of the accepted text of an opportunity.

use std::ops::Range;

use cases::{Provenance, Survival, SurvivalAge, SurvivalKind};
use text::Document;

use super::{OpenOpportunity, Phase};
use crate::recorder::offer::saturated;

/// Minimum length of accepted text that can be recognized in another place, in bytes.
const MIN_MOVED_BYTES: usize = 12;

impl OpenOpportunity {
    /// Measures the survival of accepted text at the ages that have passed.
    pub(crate) fn measure_survival(&mut self, document: &Document, now: u64) {
        if self.is_finished() {
            return;
        }
        let due = self.accepted.due(self.age(now));
        due.into_iter().for_each(|age| self.measure(age, document));
        if self.phase == Phase::Outcome && !self.awaits_outcome() {
            self.finish();
        }
    }

    pub(super) fn measure(&mut self, age: SurvivalAge, document: &Document) {
        // Text of an earlier session has no number of its edit.
        let (edits, accepted) = match &self.offer {
            Some(offer) => (offer.accepted_edits(), offer.accepted_chars()),
            None => (&[0][..], self.row.outcome.accepted_chars as usize),
        };
        let range = self.region.range();
        let parts: Vec<Range<usize>> = self
            .region
            .origins(&range)
            .into_iter()
            .filter(|(_, origin)| origin.provenance == Provenance::Accepted && edits.contains(&origin.edit))
            .map(|(part, _)| range.start + part.start..range.start + part.end)
            .collect();
        let characters = |part: &Range<usize>| {
            document.slice(part.clone()).map_or(0, |text| text.replace('\r', "").chars().count())
        };
        let retained: usize = parts.iter().map(characters).sum();
        let is_unbroken = parts.windows(2).all(|pair| pair[0].end == pair[1].start);
        let kind = match retained {
            0 if self.was_moved(document) => SurvivalKind::Moved,
            0 => SurvivalKind::Deleted,
            _ if retained >= accepted && is_unbroken => SurvivalKind::Kept,
            _ => SurvivalKind::Edited,
        };
        let retained = if kind == SurvivalKind::Moved { accepted } else { retained };
        self.accepted.add(Survival { age, kind, retained_chars: saturated(retained) });
        self.is_changed = true;
    }

    /// Whether the accepted answer is once in the document, although it is not where it was accepted.
    fn was_moved(&self, document: &Document) -> bool {
        let arm = match &self.offer {
            Some(offer) => offer.outcome(0, 0).arm,
            None => self.row.outcome.arm.clone(),
        };
        let answer = self.row.answers.iter().find(|answer| Some(&answer.arm) == arm.as_ref());
        let Some(answer) =
            answer.map(|answer| answer.text.trim()).filter(|text| text.len() >= MIN_MOVED_BYTES)
        else {
            return false;
        };
        let text = document.text();
        let mut found = text.match_indices(answer);
        found.next().is_some() && found.next().is_none() && !self.snapshot.text().contains(answer)
    }
}
