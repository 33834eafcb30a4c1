//! One opportunity that is followed: its region, its suggestion and its truths so far.

use std::ops::Range;
use std::sync::Arc;

use cases::{
    ArmAnswer, ArmRole, ContextItem, Decision, Exposure, LossReason, Opportunity, OutcomeKind, Provenance,
    ProvenanceSpan, Status, Trigger, Truth, TruthStage,
};
use mining::UnitFinder;
use text::{Document, Edit, PositionEncoding};

use super::accepted_text::AcceptedText;
use super::offer::Offer;
use super::provenance_rules::code;
use super::region::{EditEffect, EditOrigin, Region};
use super::withdraw;

mod survival;
mod truths;

/// Precision of the times of commits in ms: git keeps seconds.
const COMMIT_PRECISION: u64 = 1_000;
/// Functions of a RAG case: Codev-Bench's three.
const RAG_FUNCTIONS: usize = 3;
/// Maximum number of places of other suggestions that are remembered.
const MAX_MARKS: usize = 64;

/// A document's text with its syntax, at one revision.
pub(crate) struct ParsedDocument<'a> {
    pub(crate) rope: &'a Document,
    /// The whole text with its units; `None` without a supported language.
    pub(crate) units: Option<(&'a str, UnitFinder<'a>)>,
}

/// Stages that were not taken since the region changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingStages {
    pub(crate) settled: bool,
    pub(crate) leave_block: bool,
    pub(crate) idle: bool,
}

impl PendingStages {
    const ALL: PendingStages = PendingStages { settled: true, leave_block: true, idle: true };

    /// The truth of a stage was taken.
    pub(crate) fn mark_taken(&mut self, stage: TruthStage) {
        match stage {
            TruthStage::Settled => self.settled = false,
            TruthStage::LeaveBlock => self.leave_block = false,
            TruthStage::Idle => self.idle = false,
            TruthStage::Save | TruthStage::Close | TruthStage::Commit => {}
        }
    }
}

/// A later request of a thought whose engine has not answered yet.
#[derive(Clone, Debug)]
pub(crate) struct LaterRequest {
    pub(crate) request: u64,
    pub(crate) row: Opportunity,
    /// The document at the request.
    pub(crate) snapshot: Document,
    pub(crate) offset: usize,
    pub(crate) time: u64,
}

/// For what an opportunity is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// For truths, and the survival of accepted text.
    Truths,
    /// For what becomes of its suggestion and its accepted text only: there will be no further truth.
    Outcome,
    /// It is not followed any more.
    Finished,
}

/// An opportunity of an earlier session, which may be continued.
#[derive(Clone, Debug)]
pub struct EarlierOpportunity {
    /// Its row.
    pub row: Opportunity,
    /// Time in ms since it was opened.
    pub age: u64,
}

/// An opportunity that is followed.
#[derive(Clone, Debug)]
pub(crate) struct OpenOpportunity {
    /// The row without the texts of its cursor.
    row: Opportunity,
    /// The document at the request.
    snapshot: Document,
    opened: u64,
    /// Age in ms at `opened`: that of an opportunity that was resumed.
    age: u64,
    /// Time of its last request; `None` if that was in an earlier session, whose thoughts are not continued.
    pub(crate) last_request: Option<u64>,
    pub(crate) region: Region,
    /// Time of the last edit in the lines of the region.
    pub(crate) touched: u64,
    pub(crate) pending: PendingStages,
    pub(crate) offer: Option<Offer>,
    /// The latest request whose answer was offered.
    pub(crate) offered_by: Option<u64>,
    /// Whether the engine was asked at its cursor.
    pub(crate) is_asked: bool,
    /// The last request of the same thought, until the document changes.
    pub(crate) later: Option<LaterRequest>,
    accepted: AcceptedText,
    /// Whether a suggestion was seen at its cursor in an earlier session.
    was_exposed: bool,
    reversals: u32,
    /// Offsets in the document at which other suggestions were visible.
    marks: Vec<usize>,
    /// Time of the last truth, and its text.
    last_truth: Option<String>,
    /// Functions of other files that are similar to the one at the cursor, best first.
    similar_functions: Vec<ContextItem>,
    /// The block around the region that is to be left, by number of the next edit; `None` in it if there is none without an error.
    pub(crate) block: Option<(u64, Option<Range<usize>>)>,
    /// Whether text at the ends of the region belongs to later thoughts, unless it is that of its suggestion.
    closes_ends: bool,
    is_changed: bool,
    phase: Phase,
}

impl OpenOpportunity {
    /// Opens an opportunity at `offset` of a document.
    pub(crate) fn new(row: Opportunity, snapshot: Document, offset: usize, now: u64) -> OpenOpportunity {
        let mut opened = OpenOpportunity {
            row,
            snapshot,
            opened: now,
            age: 0,
            last_request: Some(now),
            region: Region::new(offset),
            touched: now,
            pending: PendingStages::ALL,
            offer: None,
            offered_by: None,
            is_asked: false,
            later: None,
            accepted: AcceptedText::default(),
            was_exposed: false,
            reversals: 0,
            marks: Vec::new(),
            last_truth: None,
            similar_functions: Vec::new(),
            block: None,
            closes_ends: false,
            is_changed: false,
            phase: Phase::Truths,
        };
        opened.set_cursor(offset);
        opened
    }

    fn set_cursor(&mut self, offset: usize) {
        let position = self.snapshot.position(offset, PositionEncoding::Utf16);
        let cursor = &mut self.row.cursor;
        cursor.offset = offset;
        (cursor.line, cursor.character) =
            position.map_or((0, 0), |position| (position.line, position.character));
    }

    /// Continues an opportunity of an earlier session whose last truth, or cursor if there is none, is at `range` of the document.
    pub(crate) fn resumed(earlier: EarlierOpportunity, range: Range<usize>, now: u64) -> OpenOpportunity {
        let EarlierOpportunity { row, age } = earlier;
        let snapshot = Document::new(&[&*row.cursor.prefix, &row.cursor.suffix].concat());
        let (offset, truth) = (row.cursor.offset, row.truth().cloned());
        let mut resumed = OpenOpportunity::new(row, snapshot, offset, now);
        resumed.is_asked = true;
        resumed.last_request = None;
        resumed.age = age;
        resumed.similar_functions = resumed.row.similar_functions.clone();
        resumed.was_exposed = resumed.row.exposure != Exposure::None;
        resumed.accepted = AcceptedText::resumed(&resumed.row.outcome, truth.as_ref());
        match truth {
            None => resumed.region = Region::new(range.start),
            Some(truth) => resumed.resume_from(truth, range),
        }
        let outcome = resumed.row.outcome.clone();
        withdraw(&mut resumed.row.outcome);
        resumed.is_changed =
            outcome.survival_lost != resumed.accepted.loss() || outcome.kind != resumed.row.outcome.kind;
        resumed
    }

    fn resume_from(&mut self, truth: Truth, range: Range<usize>) {
        let span =
            |span: &ProvenanceSpan| (span.range.len(), span.provenance, span.arm.as_deref().map(Arc::from));
        let spans: Vec<_> = truth.provenance.iter().map(span).collect();
        self.region = Region::restored(range, &spans);
        // The system's clock may have been set back in between.
        self.age = self.age.max(truth.at.clamp(0.0, 1e15) as u64);
        self.last_truth = Some(truth.text);
        self.pending = PendingStages { settled: false, leave_block: false, idle: false };
        let has_ended = |truth: &Truth| matches!(truth.stage, TruthStage::Idle | TruthStage::Commit);
        if self.row.truths.iter().any(has_ended) {
            self.region.fix_ends();
        }
        if truth.stage == TruthStage::Commit {
            self.phase = Phase::Outcome;
        }
    }

    /// Returns the opportunity's id.
    pub(crate) fn id(&self) -> &str {
        &self.row.id
    }

    /// Returns the time since it was opened.
    pub(crate) fn age(&self, now: u64) -> u64 {
        self.age.saturating_add(now.saturating_sub(self.opened))
    }

    /// Returns the memory of the opportunity in bytes; its snapshot shares most of its text with the document.
    pub(crate) fn bytes(&self) -> usize {
        let row = &self.row;
        let context: usize =
            row.context.iter().chain(&self.similar_functions).map(|item| item.text.len() + 128).sum();
        let answers: usize =
            row.answers.iter().map(|answer| answer.text.len() + answer.raw.len() + 512).sum();
        let truths: usize = row.truths.iter().map(|truth| truth.text.len() + truth.region.len() + 256).sum();
        2_048 + context + answers + truths + self.region.bytes() + self.marks.len() * size_of::<usize>()
    }

    /// Begins again at the cursor of a later request of the same thought, of which nothing was shown before.
    pub(crate) fn restart(&mut self, row: Opportunity, snapshot: Document, offset: usize, now: u64) {
        let requests = self.row.requests.saturating_add(1);
        let id = std::mem::take(&mut self.row.id);
        *self = OpenOpportunity::new(Opportunity { id, requests, ..row }, snapshot, offset, now);
    }

    /// Begins again at the cursor of a later request, unless the document has changed since. Returns whether it does.
    pub(crate) fn restart_later(&mut self, request: u64) -> bool {
        let may_restart = self.may_restart() && !self.has_truth();
        let Some(later) = self.later.take().filter(|later| may_restart && later.request == request) else {
            return false;
        };
        self.row.requests = self.row.requests.saturating_sub(1);
        self.restart(later.row, later.snapshot, later.offset, later.time);
        true
    }

    /// Counts a further request of the same thought.
    pub(crate) fn count_request(&mut self, now: u64) {
        self.row.requests = self.row.requests.saturating_add(1);
        self.last_request = Some(now);
    }

    /// Sets the time until the next key.
    pub(crate) fn note_key(&mut self, now: u64) {
        self.row.rhythm.until_next_key.get_or_insert((now - self.opened) as f64);
    }

    /// Returns whether nothing was answered that the developer could have seen.
    pub(crate) fn may_restart(&self) -> bool {
        let is_unseen =
            |answer: &ArmAnswer| answer.role == ArmRole::Shadow || answer.status == Status::Cancelled;
        !self.is_marked() && self.offer.is_none() && self.row.answers.iter().all(is_unseen)
    }

    /// The developer marks the place: nothing should have been suggested here.
    pub(crate) fn reject(&mut self, now: u64) {
        self.row.trigger = Trigger::NotWanted;
        if let Some(offer) = &mut self.offer {
            offer.report_seen();
            offer.decide(OutcomeKind::Rejected, now);
        }
        self.is_changed = true;
    }

    /// Adds answers of arms, those of one arm only once, their context and the decisions for them.
    pub(crate) fn add_answers(
        &mut self,
        answers: Vec<ArmAnswer>,
        context: Vec<ContextItem>,
        decisions: Vec<Decision>,
    ) {
        if self.row.context.is_empty() {
            self.row.context = context;
        }
        if self.row.decisions.is_empty() {
            self.row.decisions = decisions;
        }
        for answer in answers {
            if !self.row.answers.iter().any(|known| known.arm == answer.arm) {
                self.row.answers.push(answer);
            }
        }
        self.row.answers.sort_by_key(|answer| answer.role == ArmRole::Shadow);
        self.is_changed = true;
    }

    /// Sets what retrieval found for it.
    pub(crate) fn set_context(&mut self, context: Vec<ContextItem>, similar_functions: Vec<ContextItem>) {
        (self.row.context, self.similar_functions) = (context, similar_functions);
        self.choose_functions();
        self.is_changed = true;
    }

    /// Keeps the most similar functions that do not contain the truth, as mined cases do.
    fn choose_functions(&mut self) {
        let code = |text: &str| -> String { code(text).collect() };
        let truth = self.last_truth.as_deref().map(code).filter(|truth| !truth.is_empty());
        let has_truth =
            |item: &&ContextItem| truth.as_ref().is_some_and(|truth| code(&item.text).contains(truth));
        let functions = self.similar_functions.iter().filter(|item| !has_truth(item));
        self.row.similar_functions = functions.take(RAG_FUNCTIONS).cloned().collect();
    }

    /// Remembers that another suggestion was visible at an offset of the document.
    pub(crate) fn mark_shown(&mut self, offset: usize) {
        let range = self.region.range();
        if range.start <= offset && offset <= range.end && self.marks.len() < MAX_MARKS {
            self.marks.push(offset);
        }
    }

    /// Follows a part of an edit.
    pub(crate) fn apply(
        &mut self,
        before: &Document,
        edit: &Edit,
        removed: &str,
        origin: &EditOrigin,
        now: u64,
    ) {
        if self.is_finished() {
            return;
        }
        self.later = None;
        let is_program = matches!(origin.provenance, Provenance::Formatter | Provenance::External);
        if self.is_on_lines(before, edit) && !is_program {
            self.touched = now;
        }
        if origin.provenance == Provenance::External && self.region.is_touched_by(edit) {
            return self.lose(LossReason::External);
        }
        if !is_program && self.is_covered(edit, removed) {
            self.replace();
            if self.is_finished() {
                return;
            }
        }
        let is_own = |offer: &Offer| offer.accepted_edits().contains(&origin.edit);
        if self.closes_ends && !self.offer.as_ref().is_some_and(is_own) {
            self.region.fix_ends();
        }
        let deletes_inside = !removed.trim().is_empty() && !is_program && {
            let region = self.region.range();
            region.start <= edit.range.start && edit.range.end <= region.end
        };
        self.marks.iter_mut().for_each(|mark| *mark = shifted(*mark, edit));
        let effect = match is_program {
            true => self.region.apply_format(edit, origin),
            false => self.region.apply(before, edit, origin),
        };
        match effect {
            EditEffect::Moved => {}
            EditEffect::Changed if origin.provenance == Provenance::External => {
                self.lose(LossReason::External)
            }
            EditEffect::Changed => {
                let is_reversal = deletes_inside || origin.provenance == Provenance::Undo;
                self.reversals = self.reversals.saturating_add(u32::from(is_reversal));
                self.pending = PendingStages::ALL;
            }
            EditEffect::Lost => self.lose(LossReason::Replaced),
        }
    }

    /// From now on, text at the ends of the region belongs to later thoughts, unless its suggestion, which may still be visible, is accepted.
    pub(crate) fn close_ends(&mut self) {
        self.closes_ends = true;
    }

    /// Returns the characters of the region that a formatter keeps.
    pub(crate) fn region_code(&self, document: &Document) -> String {
        code(&document.slice(self.region.range()).unwrap_or_default()).collect()
    }

    /// Whether an edit replaces the region together with lines before and after it by other text.
    fn is_covered(&self, edit: &Edit, removed: &str) -> bool {
        let region = self.region.range();
        let (Some(before), Some(after)) =
            (region.start.checked_sub(edit.range.start), edit.range.end.checked_sub(region.end))
        else {
            return false;
        };
        let part = |range: Range<usize>| removed.get(range).is_some_and(|text| text.contains('\n'));
        !edit.text.trim().is_empty() && part(0..before) && part(removed.len() - after..removed.len())
    }

    fn is_on_lines(&self, before: &Document, edit: &Edit) -> bool {
        let Range { start, end } = self.region.range();
        let line =
            |offset: usize| before.position(offset, PositionEncoding::Utf8).map(|position| position.line);
        let (Some(first), Some(last)) = (line(start), line(end)) else { return true };
        let (Some(from), Some(to)) = (line(edit.range.start), line(edit.range.end)) else { return true };
        from <= last && first <= to
    }

    /// Gives the text of these edits another provenance. A region with text from disk is lost.
    pub(crate) fn relabel(&mut self, edits: &Range<u64>, provenance: Provenance, arm: Option<&Arc<str>>) {
        if self.region.relabel(edits, provenance, arm) {
            self.pending = PendingStages::ALL;
            if provenance == Provenance::External {
                self.lose(LossReason::External);
            }
        }
    }

    /// Notes the time of the first acceptance.
    pub(crate) fn note_acceptance(&mut self, now: u64) {
        self.accepted.note_acceptance(self.age(now));
        self.is_changed = true;
    }

    /// The last acceptance was a redo. Returns false if it was not one of this opportunity, or is certain.
    pub(crate) fn retract_acceptance(&mut self, edits: &Range<u64>, now: u64) -> bool {
        let Some(offer) = self.offer.as_mut() else { return false };
        if !offer.retract(edits, now) {
            return false;
        }
        if offer.accepted_edits().is_empty() {
            self.accepted.retract();
        }
        self.is_changed = true;
        true
    }

    /// Whether the developer marked a missing suggestion, and has not written anything there yet.
    pub(crate) fn awaits_text(&self) -> bool {
        self.is_marked() && self.region.range().is_empty()
    }

    /// Whether the developer marked a missing suggestion. Later requests do not change its cursor.
    fn is_marked(&self) -> bool {
        self.row.trigger == Trigger::ShouldHaveSuggested
    }

    /// Marks the row as changed.
    pub(crate) fn note_change(&mut self) {
        self.is_changed = true;
    }

    /// Returns whether a commit that was made `commit_age` ms ago may contain text of this opportunity that the developer committed: an
    /// older one was only checked out.
    pub(crate) fn awaits_commit(&self, commit_age: u64, now: u64) -> bool {
        let is_later = commit_age <= self.age(now).saturating_add(COMMIT_PRECISION);
        let awaits = self.takes_truths() && self.is_decided() || self.accepted.awaits_commit();
        is_later && awaits && !self.is_finished()
    }

    /// Whether the developer has written or removed something, or a truth says that nothing was needed.
    fn is_decided(&self) -> bool {
        self.has_truth() || !self.region.range().is_empty()
    }

    /// Ends the opportunity: its text is not known any more.
    pub(crate) fn lose(&mut self, reason: LossReason) {
        if self.takes_truths() {
            self.row.lost = Some(reason);
        }
        self.finish_for(reason);
    }

    /// Ends the opportunity; without any truth it is lost.
    pub(crate) fn finish_or_lose(&mut self, reason: LossReason) {
        if self.row.truths.is_empty() { self.lose(reason) } else { self.finish_for(reason) }
    }

    fn finish_for(&mut self, reason: LossReason) {
        if !self.is_finished() {
            self.accepted.lose(reason);
            self.finish();
        }
    }

    /// The developer replaces the region together with the text around it: there is no further truth, but it is known what becomes of
    /// its suggestion and its accepted text.
    fn replace(&mut self) {
        if self.takes_truths() {
            self.row.lost = Some(LossReason::Replaced);
            self.end_truths();
        }
    }

    /// Whether its suggestion is not decided, or the survival of accepted text is not known.
    fn awaits_outcome(&self) -> bool {
        self.accepted.is_pending() || self.offer.as_ref().is_some_and(|offer| !offer.is_decided())
    }

    fn end_truths(&mut self) {
        self.phase = if self.awaits_outcome() { Phase::Outcome } else { Phase::Finished };
        self.is_changed = true;
    }

    fn finish(&mut self) {
        self.phase = Phase::Finished;
        self.is_changed = true;
    }

    /// Returns whether further truths are taken.
    pub(crate) fn takes_truths(&self) -> bool {
        self.phase == Phase::Truths
    }

    /// Returns whether the opportunity is not followed any more.
    pub(crate) fn is_finished(&self) -> bool {
        self.phase == Phase::Finished
    }

    /// Returns whether there is a truth.
    pub(crate) fn has_truth(&self) -> bool {
        !self.row.truths.is_empty()
    }

    /// Returns the row if it has changed since the last call.
    pub(crate) fn take_row(&mut self, now: u64) -> Option<Opportunity> {
        if !std::mem::take(&mut self.is_changed) {
            return None;
        }
        if self.is_finished() {
            // Nothing is known of the suggestion any more.
            self.offer.iter_mut().for_each(|offer| offer.decide(OutcomeKind::Cancelled, now));
        }
        let text = self.snapshot.text();
        let (prefix, suffix) = text.split_at_checked(self.row.cursor.offset)?;
        let mut row = self.row.clone();
        (row.cursor.prefix, row.cursor.suffix) = (prefix.to_owned(), suffix.to_owned());
        if let Some(offer) = &self.offer {
            row.outcome = offer.outcome(self.opened - self.age.min(self.opened), now);
            if offer.was_shown() && row.exposure == Exposure::None && row.truths.is_empty() {
                row.exposure = Exposure::Shown;
            }
        }
        self.accepted.describe(&mut row.outcome);
        Some(row)
    }
}

/// Returns an offset after an edit; within the removed text it moves to its start.
fn shifted(offset: usize, edit: &Edit) -> usize {
    if edit.range.end <= offset && !(edit.range.is_empty() && edit.range.start == offset) {
        offset - edit.range.len() + edit.text.len()
    } else {
        offset.min(edit.range.start)
    }
}
