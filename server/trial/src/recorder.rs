//! The recorder: follows the places at which completions were requested until the developer has written what belongs there.
//!
//! ```text
//! event ─► MonotonicClock ─► TrackedDocument: rope, provenance of the edit ─┬─► Region of each opportunity ─► Truth, stage by stage
//!                                                                           └─► Offer: shown, accepted, typed, ignored
//!                                                            changed rows ◄─┘
//! ```
//!
//! Responsible for opportunities, truths, outcomes and survival. It is a pure state machine: no clock, no files, no protocol, and
//! the same events give the same rows. It must never attribute the work of a program to the developer, and never keep a text
//! whose place it does not know: such an opportunity is closed with a reason.

mod accepted_text;
mod clock;
mod event;
mod fine_edits;
mod offer;
mod open_opportunity;
mod provenance_rules;
mod region;
mod removed_texts;
mod settings;
mod tracked_document;
mod unit;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use cases::{LossReason, OfferOutcome, Opportunity, OutcomeKind, Trigger, TruthStage};
use text::{Document, Edit};

pub use event::{
    AnswerEvent, CommittedFile, DocumentKey, Event, EventKind, GatheredContext, OfferedItem, RequestEvent,
};
pub use open_opportunity::EarlierOpportunity;
pub use settings::RecorderSettings;

use clock::MonotonicClock;
use fine_edits::unchanged_range;
use offer::Offer;
use open_opportunity::{LaterRequest, OpenOpportunity};
use tracked_document::{OpenedText, TrackedDocument};

/// Maximum number of requests that are remembered until they are answered.
const MAX_REQUESTS: usize = 1_024;
/// Maximum number of documents whose opportunities are kept after they were closed.
const MAX_CLOSED: usize = 64;

/// Follows opportunities, from their request to the last truth.
#[derive(Debug)]
pub struct Recorder {
    settings: RecorderSettings,
    clock: MonotonicClock,
    documents: BTreeMap<DocumentKey, TrackedDocument>,
    /// Requests with the opportunity they belong to.
    requests: VecDeque<RequestTarget>,
}

/// The opportunity that a request belongs to.
#[derive(Clone, Debug)]
struct RequestTarget {
    request: u64,
    document: DocumentKey,
    opportunity: String,
    /// Whether the request is at the cursor of the opportunity.
    is_first: bool,
    /// Its cursor, and the edits of the document until then.
    cursor: RequestCursor,
}

/// A cursor in the document after a number of edits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestCursor {
    pub(crate) offset: usize,
    pub(crate) edits: u64,
}

impl Recorder {
    /// Creates a recorder without documents.
    pub fn new(settings: RecorderSettings) -> Recorder {
        Recorder {
            settings,
            clock: MonotonicClock::default(),
            documents: BTreeMap::new(),
            requests: VecDeque::new(),
        }
    }

    /// Handles an event and returns the rows that have changed; each replaces the row with the same id.
    pub fn handle(&mut self, event: Event) -> Vec<Opportunity> {
        let now = self.clock.advance(event.time);
        match event.kind {
            EventKind::Opened { document, language, text, syntax } => {
                self.open(document, OpenedText { language, rope: text, syntax }, now)
            }
            EventKind::Edited { document, edits } => self.edit(&document, edits, now),
            EventKind::Observed { document, edit } => self.observe(&document, edit, now),
            EventKind::Desynchronized { document } => self.desynchronize(&document),
            EventKind::ChangedOnDisk { document } => self.with(&document, |open| open.note_disk_change(now)),
            EventKind::Saved { document } => self.with(&document, |open| open.save(now)),
            EventKind::Closed { document } => self.with(&document, |open| open.close(now)),
            EventKind::Renamed { from, to } => self.rename(&from, &to, now),
            EventKind::CursorMoved { document, offset } => self.with(&document, |open| open.cursor = offset),
            EventKind::Requested(request) => self.request(*request, now),
            EventKind::Asked { request } => self.ask(request),
            EventKind::Gathered(gathered) => self.gather(*gathered),
            EventKind::Answered(answer) => self.answer(*answer, now),
            EventKind::Shown { item } => self.report_shown(item, now),
            EventKind::Accepted { item, is_partial } => self.report_accepted(item, is_partial, now),
            EventKind::Dismissed { document, item, kind } => self.dismiss(&document, item, kind, now),
            EventKind::Identified { document, provenance } => {
                self.with(&document, |open| open.identify_last_change(provenance, now))
            }
            EventKind::Committed { files, age } => {
                for file in files {
                    self.with(&file.document, |document| document.commit(&file.text, age, now));
                }
            }
            EventKind::Tick => {}
        }
        self.tick(now)
    }

    /// Continues opportunities of an earlier session in an open document. Those whose text is not found are lost; their rows are returned.
    pub fn resume(&mut self, document: &str, rows: Vec<EarlierOpportunity>, time: u64) -> Vec<Opportunity> {
        let now = self.clock.advance(time);
        let Some(tracked) = self.documents.get_mut(document) else { return Vec::new() };
        let text = tracked.rope().text();
        let mut lost = Vec::new();
        for earlier in rows {
            match resumed_range(&earlier.row, &text) {
                Some(range) => tracked.resume(OpenOpportunity::resumed(earlier, range, now), now),
                None => lost.push(interrupted(earlier.row)),
            }
        }
        lost
    }

    /// Changes the settings, also for the opportunities that are followed.
    pub fn set_settings(&mut self, settings: RecorderSettings) {
        self.settings = settings;
    }

    /// Returns the documents that are open.
    pub fn open_documents(&self) -> Vec<DocumentKey> {
        self.documents
            .values()
            .filter(|document| document.is_open)
            .map(|document| document.key.clone())
            .collect()
    }

    /// Returns whether a document is open.
    pub fn is_open(&self, document: &str) -> bool {
        self.documents.get(document).is_some_and(|document| document.is_open)
    }

    /// Returns whether a document is open, or has opportunities that are followed.
    pub fn knows(&self, document: &str) -> bool {
        self.documents.contains_key(document)
    }

    /// Returns the documents with opportunities that are followed.
    pub fn followed_documents(&self) -> Vec<DocumentKey> {
        let followed = self.documents.values().filter(|document| !document.open.is_empty());
        followed.map(|document| document.key.clone()).collect()
    }

    /// Returns the number of opportunities that are followed.
    pub fn open_opportunities(&self) -> usize {
        self.documents.values().map(|document| document.open.len()).sum()
    }

    fn with(&mut self, document: &str, change: impl FnOnce(&mut TrackedDocument)) {
        if let Some(document) = self.documents.get_mut(document) {
            change(document);
        }
    }

    fn open(&mut self, key: DocumentKey, text: OpenedText, now: u64) {
        match self.documents.get_mut(&key) {
            Some(known) => known.reopen(text, now),
            None => {
                self.documents.insert(key.clone(), TrackedDocument::new(key, text, now));
            }
        }
    }

    fn edit(&mut self, document: &str, edits: Vec<Edit>, now: u64) {
        let Some(open) = self.documents.get_mut(document).filter(|open| open.is_open) else { return };
        if !open.edit(edits, now) {
            self.desynchronize(document);
        }
    }

    fn observe(&mut self, document: &str, edit: Edit, now: u64) {
        let Some(open) = self.documents.get_mut(document).filter(|open| open.is_open) else { return };
        if !open.observe(edit, now) {
            self.desynchronize(document);
        }
    }

    /// Without its text, nothing is known of a document; it is followed again after it was opened.
    fn desynchronize(&mut self, document: &str) {
        self.with(document, |open| {
            open.lose_all(LossReason::Inconsistent);
            open.is_open = false;
        });
    }

    fn rename(&mut self, from: &str, to: &DocumentKey, now: u64) {
        let Some(mut renamed) = self.documents.remove(from) else { return };
        // The editor may have opened it under its new name before it reported the renaming.
        if let Some(opened) = self.documents.remove(to) {
            renamed.reopen(opened.opened_text(), now);
            renamed.is_open = opened.is_open;
            renamed.open.extend(opened.open);
        }
        renamed.key = to.clone();
        let moved = self.requests.iter_mut().filter(|it| *it.document == *from || *it.document == **to);
        moved.for_each(|request| {
            request.document = to.clone();
            // The edits of the two documents are not counted together.
            request.cursor.edits = 0;
        });
        self.documents.insert(to.clone(), renamed);
    }

    fn request(&mut self, event: RequestEvent, now: u64) {
        let RequestEvent { request, document: key, offset, opportunity: mut row } = event;
        let Some(document) = self.documents.get_mut(&key).filter(|open| open.is_open) else { return };
        if offset > document.rope().len() {
            return;
        }
        document.cursor = offset;
        let cursor = RequestCursor { offset, edits: document.edits() };
        let snapshot = document.rope().clone();
        row.rhythm = document.rhythm(now);
        row.requests = 1;
        let thought = document.open.iter_mut().rfind(|open| {
            row.trigger != Trigger::ShouldHaveSuggested
                && continues(open, &snapshot, offset, now, self.settings.thought)
        });
        if row.trigger == Trigger::NotWanted
            && let Some(open) = thought
        {
            return open.reject(now);
        }
        let (opportunity, is_first) = match thought {
            Some(open) => {
                let is_first = open.may_restart() && !open.is_asked;
                if is_first {
                    open.restart(row, snapshot, offset, now)
                } else {
                    open.count_request(now);
                    open.later = open.may_restart().then(|| LaterRequest {
                        request,
                        row,
                        snapshot,
                        offset,
                        time: now,
                    });
                }
                (open.id().to_owned(), is_first)
            }
            None => {
                let id = row.id.clone();
                withdraw_offers(document, now);
                document.open.push(OpenOpportunity::new(row, snapshot, offset, now));
                (id, true)
            }
        };
        self.requests.push_back(RequestTarget { request, document: key, opportunity, is_first, cursor });
        if self.requests.len() > MAX_REQUESTS {
            self.requests.pop_front();
        }
    }

    /// The engine of a request is asked. Until it answers, its opportunity stays at the cursor of this request; only if it is asked again
    /// for a later request, which has cancelled the earlier question, the opportunity begins again there.
    fn ask(&mut self, request: u64) {
        let Some(target) = self.requests.iter_mut().rfind(|target| target.request == request) else { return };
        let document = self.documents.get_mut(&target.document);
        let open = document
            .and_then(|document| document.open.iter_mut().find(|open| open.id() == target.opportunity));
        let Some(open) = open else { return };
        if target.is_first || open.restart_later(request) {
            (target.is_first, open.is_asked) = (true, true);
        }
    }

    /// Returns whether the answers to a request are those of its opportunity. Only the first request of a thought has them: the answers
    /// to later ones belong to another cursor.
    pub fn takes_answers_of(&self, request: u64) -> bool {
        let target = self.target(request).filter(|target| target.is_first);
        let followed =
            target.and_then(|target| Some((self.documents.get(&target.document)?, &target.opportunity)));
        followed.is_some_and(|(document, id)| document.open.iter().any(|open| open.id() == id))
    }

    /// Returns what a request belongs to; `None` for an earlier request of a thought that began again, which is answered too late.
    fn target(&self, request: u64) -> Option<&RequestTarget> {
        let target = self.requests.iter().rfind(|target| target.request == request)?;
        let is_later = |later: &&RequestTarget| {
            later.is_first && later.opportunity == target.opportunity && later.request > request
        };
        let was_restarted = target.is_first && self.requests.iter().any(|later| is_later(&later));
        (!was_restarted).then_some(target)
    }

    fn gather(&mut self, event: GatheredContext) {
        let Some(target) = self.target(event.request).filter(|target| target.is_first).cloned() else {
            return;
        };
        let Some(document) = self.documents.get_mut(&target.document) else { return };
        if let Some(open) = document.open.iter_mut().find(|open| open.id() == target.opportunity) {
            open.set_context(event.context, event.similar_functions);
        }
    }

    fn answer(&mut self, event: AnswerEvent, now: u64) {
        let AnswerEvent { request, answers, items, context, decisions } = event;
        let Some(target) = self.target(request).cloned() else { return };
        let Some(document) = self.documents.get_mut(&target.document) else {
            return;
        };
        let Some(index) = document.open.iter().position(|open| open.id() == target.opportunity) else {
            return;
        };
        let open = &mut document.open[index];
        if target.is_first {
            open.add_answers(answers, context, decisions);
        }
        // The answer to an earlier request may be recorded after that to a later one, which alone the client takes.
        if items.is_empty() || open.offered_by > Some(request) {
            return;
        }
        open.offered_by = Some(request);
        let place = document.cursor_of_offer(index, target.is_first, target.cursor);
        let open = &mut document.open[index];
        let is_known = open.offer.as_mut().is_some_and(|offer| offer.extend(&items, place));
        match &mut open.offer {
            _ if is_known => {}
            Some(offer) if offer.is_decided() => {}
            offer => {
                match offer {
                    Some(offer) => offer.replace(items, place, now),
                    None => *offer = Offer::new(items, place, now),
                }
                open.note_change();
            }
        }
    }

    fn report_shown(&mut self, item: u64, now: u64) {
        let offered =
            |open: &&mut OpenOpportunity| open.offer.as_ref().is_some_and(|offer| offer.has_item(item));
        for document in self.documents.values_mut() {
            let Some(open) = document.open.iter_mut().find(offered) else { continue };
            open.note_change();
            let Some(offer) = &mut open.offer else { continue };
            offer.report_shown(now);
            let place = offer.place();
            document.mark_shown(place);
            return;
        }
    }

    fn report_accepted(&mut self, item: u64, is_partial: bool, now: u64) {
        for document in self.documents.values_mut() {
            let offered =
                |open: &OpenOpportunity| open.offer.as_ref().is_some_and(|offer| offer.has_item(item));
            let Some(index) = document.open.iter().position(offered) else { continue };
            document.accept_reported(index, item, is_partial, now);
            return;
        }
    }

    fn dismiss(&mut self, document: &str, item: Option<u64>, kind: OutcomeKind, now: u64) {
        let is_meant = |offer: &Offer| !offer.is_decided() && item.is_none_or(|item| offer.has_item(item));
        self.with(document, |document| {
            let mut places = Vec::new();
            for open in &mut document.open {
                let Some(offer) = open.offer.as_mut().filter(|offer| is_meant(offer)) else { continue };
                offer.report_seen();
                places.push(offer.place());
                offer.decide(kind, now);
                open.note_change();
            }
            places.into_iter().for_each(|place| document.mark_shown(place));
        });
    }

    fn tick(&mut self, now: u64) -> Vec<Opportunity> {
        let settings = self.settings;
        self.documents.values_mut().for_each(|document| document.tick(&settings, now));
        self.evict(now);
        let mut rows = Vec::new();
        for document in self.documents.values_mut() {
            rows.extend(document.open.iter_mut().filter_map(|open| open.take_row(now)));
            document.open.retain(|open| !open.is_finished());
        }
        self.documents.retain(|_, document| document.is_open || !document.open.is_empty());
        rows
    }

    /// Ends the oldest opportunities beyond the limits.
    fn evict(&mut self, now: u64) {
        let closed = self.documents.values().filter(|document| !document.is_open);
        let mut closed: Vec<(u64, DocumentKey)> =
            closed.map(|document| (document.since, document.key.clone())).collect();
        closed.sort();
        for (_, key) in closed.iter().rev().skip(MAX_CLOSED) {
            self.with(key, |document| {
                document.open.iter_mut().for_each(|open| open.finish_or_lose(LossReason::Evicted));
            });
        }
        let followed =
            || self.documents.values().flat_map(|document| &document.open).filter(|open| !open.is_finished());
        let (count, bytes) =
            followed().fold((0, 0), |(count, bytes), open| (count + 1, bytes + open.bytes()));
        if count <= self.settings.max_open && bytes <= self.settings.max_bytes {
            return;
        }
        let mut oldest: Vec<(Reverse<u64>, usize, String)> =
            followed().map(|open| (Reverse(open.age(now)), open.bytes(), open.id().to_owned())).collect();
        oldest.sort();
        let (mut count, mut bytes) = (count, bytes);
        let mut evicted = Vec::new();
        for (_, size, id) in oldest {
            if count <= self.settings.max_open && bytes <= self.settings.max_bytes {
                break;
            }
            (count, bytes) = (count - 1, bytes - size);
            evicted.push(id);
        }
        let open = self.documents.values_mut().flat_map(|document| &mut document.open);
        open.filter(|open| evicted.iter().any(|id| id == open.id()))
            .for_each(|open| open.finish_or_lose(LossReason::Evicted));
    }
}

/// Whether a request at `offset` is the same thought as an opportunity: nothing was decided since, and only text of the same
/// statement was written at its cursor, within seconds.
fn continues(open: &OpenOpportunity, text: &Document, offset: usize, now: u64, thought: u64) -> bool {
    let is_undecided = open.offer.as_ref().is_none_or(|offer| !offer.is_decided());
    let Some(written) = open.region.written(text).filter(|written| written.removed_before.is_empty()) else {
        return false;
    };
    let Range { start, end } = written.range;
    let is_at_end = offset == end || offset >= start && offset <= end && end - offset <= 2;
    let is_same_statement = text.slice(start..offset).is_some_and(|typed| !typed.contains(['\n', ';']));
    let is_recent = open.last_request.is_some_and(|last| now - last <= thought);
    open.takes_truths() && is_undecided && !open.has_truth() && is_recent && is_at_end && is_same_statement
}

/// A request at another place withdraws the suggestions of a document.
fn withdraw_offers(document: &mut TrackedDocument, now: u64) {
    for open in &mut document.open {
        if let Some(offer) = open.offer.as_mut().filter(|offer| !offer.is_decided()) {
            offer.decide(OutcomeKind::Ignored, now);
            open.note_change();
        }
    }
}

/// Returns whether a row of an earlier session awaits a further truth, or survival of its accepted text.
pub fn is_unfinished(row: &Opportunity) -> bool {
    awaits_truth(row) || accepted_text::is_pending(&row.outcome)
}

/// Returns a row of an earlier session that is not continued, with the reason of what it lacks.
pub fn interrupted(mut row: Opportunity) -> Opportunity {
    if awaits_truth(&row) {
        row.lost = Some(LossReason::Interrupted);
    }
    if accepted_text::is_pending(&row.outcome) {
        row.outcome.survival_lost = Some(LossReason::Interrupted);
    }
    withdraw(&mut row.outcome);
    row
}

/// The suggestion of an earlier session is not visible any more.
fn withdraw(outcome: &mut OfferOutcome) {
    if outcome.kind == OutcomeKind::Shown {
        outcome.kind = OutcomeKind::Cancelled;
    }
}

fn awaits_truth(row: &Opportunity) -> bool {
    row.lost.is_none() && row.truth().is_none_or(|truth| truth.stage != TruthStage::Commit)
}

/// Returns the range of the last truth of a row in the current text, or the cursor of a row without one; `None` if edits at that place,
/// whose author is not known, make it uncertain.
fn resumed_range(row: &Opportunity, text: &str) -> Option<Range<usize>> {
    if row.lost.is_some() {
        return None;
    }
    let start = row.cursor.prefix.len();
    let (old, range) = match row.truth() {
        None => ([&*row.cursor.prefix, &row.cursor.suffix].concat(), start..start),
        Some(truth) => {
            let suffix = row.cursor.suffix.strip_prefix(&*truth.deleted)?;
            let old = [&row.cursor.prefix, &*truth.region, suffix].concat();
            let range = start..start + truth.text.len();
            (truth.deleted_before.is_empty().then_some(old)?, range)
        }
    };
    let found = unchanged_range(&old, text, range.clone())?;
    (text.get(found.clone()) == old.get(range)).then_some(found)
}
