//! Takes the truths of an opportunity, stage by stage.

use std::ops::Range;

use cases::{Exposure, LossReason, Provenance, ProvenanceSpan, SurvivalAge, Task, Truth, TruthStage};
use rapidfuzz::distance::levenshtein;

use super::{OpenOpportunity, ParsedDocument};
use crate::recorder::offer::{Offer, saturated};
use crate::recorder::region::{EditOrigin, WrittenText};
use crate::recorder::unit::{WrittenUnit, written_unit};

impl OpenOpportunity {
    /// Takes the truth of a stage.
    pub(crate) fn take(&mut self, stage: TruthStage, document: &ParsedDocument<'_>, now: u64) {
        if !self.takes_truths() {
            return;
        }
        let Some(written) = self.region.written(document.rope) else {
            return self.lose(LossReason::Inconsistent);
        };
        let unit = self.unit(&written, document);
        let start = written.range.start;
        let text = document.rope.slice(start..unit.end).unwrap_or_default().into_owned();
        let span = |(range, origin): (Range<usize>, &EditOrigin)| ProvenanceSpan {
            range,
            provenance: origin.provenance,
            arm: origin.arm.as_deref().map(str::to_owned),
        };
        let region = document.rope.slice(written.range.clone()).unwrap_or_default().into_owned();
        let distance =
            self.last_truth.as_ref().map(|last| saturated(levenshtein::distance(last.chars(), text.chars())));
        let truth = Truth {
            stage,
            at: self.age(now) as f64,
            provenance: merged(self.region.origins(&(start..unit.end)).into_iter().map(span)),
            text,
            region,
            deleted: written.removed_after.clone(),
            deleted_before: written.removed_before.clone(),
            reversals: self.reversals,
            distance,
        };
        self.set_exposure(&truth, start);
        (self.row.task, self.row.block_kind) = (unit.task, unit.kind);
        self.add(truth);
        self.shorten(&written, &unit);
        self.is_changed = true;
    }

    fn unit(&self, written: &WrittenText, document: &ParsedDocument<'_>) -> WrittenUnit {
        if !written.removed_before.is_empty() {
            return WrittenUnit { end: written.range.start, task: Some(Task::EMPTY), kind: None };
        }
        match &document.units {
            Some((text, units)) => written_unit(units, text, &written.range),
            None => WrittenUnit { end: written.range.end, task: None, kind: None },
        }
    }

    /// A truth of a later stage that an earlier stage contradicts afterwards is out of date.
    fn add(&mut self, truth: Truth) {
        let is_current = |known: &Truth| {
            known.stage < truth.stage
                || known.stage > truth.stage && known.text == truth.text && known.region == truth.region
        };
        self.row.truths.retain(is_current);
        self.last_truth = Some(truth.text.clone());
        self.choose_functions();
        let place = self.row.truths.partition_point(|known| known.stage < truth.stage);
        self.row.truths.insert(place, truth);
    }

    /// Later text behind the unit belongs to other opportunities.
    fn shorten(&mut self, written: &WrittenText, unit: &WrittenUnit) {
        let accepts_more = self.offer.as_ref().is_some_and(|offer| {
            let behind = unit.end..written.range.end;
            let edits = offer.accepted_edits();
            self.region.origins(&behind).iter().any(|(_, origin)| edits.contains(&origin.edit))
        });
        if unit.task.is_some() && unit.end > written.range.start && !accepts_more {
            self.region.truncate(unit.end);
        }
    }

    fn set_exposure(&mut self, truth: &Truth, start: usize) {
        let is_accepted = truth.provenance.iter().any(|span| span.provenance == Provenance::Accepted);
        let was_shown = self.was_exposed
            || self.offer.as_ref().is_some_and(Offer::was_shown)
            || self
                .marks
                .iter()
                .any(|&mark| mark == start || mark > start && mark < start + truth.text.len());
        self.row.exposure = match (is_accepted, was_shown) {
            (true, _) => Exposure::Accepted,
            (false, true) => Exposure::Shown,
            (false, false) => Exposure::None,
        };
    }

    /// Takes the last truth, the one of a commit. Accepted text is followed further.
    pub(crate) fn take_committed(&mut self, document: &ParsedDocument<'_>, now: u64) {
        self.take(TruthStage::Commit, document, now);
        if self.is_finished() {
            return;
        }
        if self.accepted.awaits_commit() {
            self.measure(SurvivalAge::Commit, document.rope);
        }
        self.close_ends();
        self.end_truths();
    }
}

/// Joins neighbouring spans of the same origin.
fn merged(spans: impl Iterator<Item = ProvenanceSpan>) -> Vec<ProvenanceSpan> {
    let mut merged: Vec<ProvenanceSpan> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if last.provenance == span.provenance && last.arm == span.arm => {
                last.range.end = span.range.end
            }
            _ => merged.push(span),
        }
    }
    merged
}
