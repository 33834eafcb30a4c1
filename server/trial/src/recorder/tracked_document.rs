//! One document with the opportunities in it: applies edits, with their provenance, to all of them, and takes their truths.

mod observed;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use cases::{LossReason, OutcomeKind, Provenance, TruthStage, TypingRhythm};
use mining::UnitFinder;
use syntax::{Language, SourceFile, SyntaxCache, Tree};
use text::{Document, Edit};

use super::RequestCursor;
use super::event::DocumentKey;
use super::fine_edits::{character_hunks, line_hunks, removed_text, trim, unchanged_range};
use super::offer::{FollowedEdit, OfferedEdit};
use super::open_opportunity::{OpenOpportunity, ParsedDocument};
use super::provenance_rules::{
    ChangeContext, TrimmedEdit, is_many_places, provenance_of_change, provenance_of_edit,
};
use super::region::EditOrigin;
use super::removed_texts::RemovedTexts;
use super::settings::RecorderSettings;

/// Time between a change and a save, or a change on disk, that belong together, in ms.
const TOGETHER: u64 = 1_500;
/// Number of keys whose times are kept, for the typing rhythm.
const MAX_KEYS: usize = 17;
/// Number of changes whose provenance may still be corrected.
const MAX_RECENT: usize = 32;

/// A document.
#[derive(Debug)]
pub(crate) struct TrackedDocument {
    pub(crate) key: DocumentKey,
    language: Option<Language>,
    rope: Document,
    syntax: SyntaxCache,
    /// Number of the next edit; 0 is no edit of this session.
    edits: u64,
    /// Times of the last keys.
    keys: VecDeque<u64>,
    pub(crate) cursor: usize,
    removed: RemovedTexts,
    last_edit: u64,
    changed_on_disk: Option<u64>,
    saved: Option<u64>,
    /// Whether the change on disk by the last save was not reported yet.
    expects_own_change: bool,
    has_unsaved_edits: bool,
    recent: VecDeque<RecentChange>,
    pub(crate) is_open: bool,
    /// Time of the closing, otherwise of the opening.
    pub(crate) since: u64,
    pub(crate) open: Vec<OpenOpportunity>,
}

/// The text of a document that is opened.
#[derive(Clone, Debug)]
pub(crate) struct OpenedText {
    pub(crate) language: Option<Language>,
    pub(crate) rope: Document,
    pub(crate) syntax: SyntaxCache,
}

/// A change whose provenance may still be corrected.
#[derive(Clone, Debug)]
struct RecentChange {
    time: u64,
    edits: Range<u64>,
    /// Whether it replaces text in several places or lines.
    is_wide: bool,
    /// Whether it may be a reload of the file: it changes a document without unsaved edits.
    is_reload: bool,
    /// Whether it accepts a suggestion.
    is_acceptance: bool,
    provenance: Option<Provenance>,
}

/// What is known about how edits came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EditSource {
    /// The editor sent them as they were made.
    Sent,
    /// Their provenance is known.
    Known(Provenance),
    /// They were found by comparing two states of the document.
    Unobserved,
}

/// A part of an edit with the text before it.
struct EditPart {
    before: Document,
    edit: Edit,
    removed: String,
}

impl TrackedDocument {
    /// Creates a document that was opened now.
    pub(crate) fn new(key: DocumentKey, text: OpenedText, now: u64) -> TrackedDocument {
        let OpenedText { language, rope, syntax } = text;
        TrackedDocument {
            key,
            language,
            rope,
            syntax,
            edits: 1,
            keys: VecDeque::new(),
            cursor: 0,
            removed: RemovedTexts::default(),
            last_edit: now,
            changed_on_disk: None,
            saved: None,
            expects_own_change: false,
            has_unsaved_edits: false,
            recent: VecDeque::new(),
            is_open: true,
            since: now,
            open: Vec::new(),
        }
    }

    /// Returns the number of the next edit.
    pub(crate) fn edits(&self) -> u64 {
        self.edits
    }

    /// Returns the current text.
    pub(crate) fn rope(&self) -> &Document {
        &self.rope
    }

    /// Returns the typing rhythm before a request at `now`.
    pub(crate) fn rhythm(&self, now: u64) -> TypingRhythm {
        let mut pauses: Vec<u64> =
            self.keys.iter().zip(self.keys.iter().skip(1)).map(|(one, next)| next - one).collect();
        pauses.sort_unstable();
        TypingRhythm {
            since_last_key: self.keys.back().map(|last| (now - last) as f64),
            between_keys: (pauses.len() >= 2).then(|| pauses[pauses.len() / 2] as f64),
            until_next_key: None,
        }
    }

    /// Opens the document again with another text: it may have changed while it was closed.
    pub(crate) fn reopen(&mut self, text: OpenedText, now: u64) {
        let OpenedText { language, rope, syntax } = text;
        let (old, new) = (self.rope.text(), rope.text());
        (self.language, self.syntax) = (language, syntax);
        if let Some(edit) = Edit::between(&old, &new) {
            self.change_by(vec![edit], EditSource::Known(Provenance::External), now);
        }
        self.rope = rope;
        self.removed = RemovedTexts::default();
        (self.is_open, self.since, self.has_unsaved_edits) = (true, now, false);
        self.last_edit = now;
    }

    /// Continues an opportunity of an earlier session. Its accepted text survived the ages that have passed: it is the same as then.
    pub(crate) fn resume(&mut self, mut open: OpenOpportunity, now: u64) {
        open.measure_survival(&self.rope, now);
        self.open.push(open);
    }

    /// Applies the edits of one message. Returns false if they do not fit the text.
    pub(crate) fn edit(&mut self, edits: Vec<Edit>, now: u64) -> bool {
        self.open.iter_mut().for_each(|open| open.note_key(now));
        let fits = self.change_by(edits, EditSource::Sent, now);
        self.keys.push_back(now);
        if self.keys.len() > MAX_KEYS {
            self.keys.pop_front();
        }
        self.last_edit = now;
        fits
    }

    fn change_by(&mut self, edits: Vec<Edit>, source: EditSource, now: u64) -> bool {
        let Some((trimmed, after)) = self.trimmed(edits) else { return false };
        let is_near = |time: Option<u64>| time.is_some_and(|time| now - time <= TOGETHER);
        let around = ChangeContext {
            is_changed_on_disk: is_near(self.changed_on_disk),
            is_saved: !self.has_unsaved_edits,
            is_around_save: is_near(self.saved),
        };
        let edits: Vec<TrimmedEdit> = trimmed.iter().map(|(_, edit)| edit.clone()).collect();
        let provenance = match source {
            EditSource::Sent => provenance_of_change(&edits, around),
            EditSource::Known(provenance) => Some(provenance),
            EditSource::Unobserved => observed::provenance(&trimmed),
        };
        let first = self.edits;
        let mut offered = Vec::new();
        for (before, edit) in &trimmed {
            offered.extend(self.apply(before, edit, provenance, now));
        }
        // A program that edits the document withdraws its suggestion.
        let is_program = matches!(provenance, Some(Provenance::Formatter | Provenance::External));
        let kind = if is_program { OutcomeKind::Cancelled } else { OutcomeKind::Ignored };
        self.decide_discontinued(&offered, kind, now);
        self.rope = after;
        self.has_unsaved_edits |= !trimmed.is_empty();
        let is_wide = is_many_places(&edits) || edits.iter().any(|edit| edit.removed.trim().contains('\n'));
        let is_reload = around.is_saved && !edits.is_empty();
        self.recent.push_back(RecentChange {
            time: now,
            edits: first..self.edits,
            is_wide,
            is_reload,
            is_acceptance: offered.iter().any(|(_, effect)| matches!(effect, OfferedEdit::Accepts(_))),
            provenance,
        });
        if self.recent.len() > MAX_RECENT {
            self.recent.pop_front();
        }
        true
    }

    /// Returns the edits that change something, each with the text before it, and the text after all of them.
    fn trimmed(&self, edits: Vec<Edit>) -> Option<(Vec<(Document, TrimmedEdit)>, Document)> {
        let mut rope = self.rope.clone();
        let mut trimmed = Vec::with_capacity(edits.len());
        for sent in edits {
            let sent_removed = removed_text(&rope, &sent)?;
            let before = rope.clone();
            rope.apply(&sent)?;
            let Some(edit) = trim(&sent, &sent_removed) else { continue };
            let removed = removed_text(&before, &edit)?;
            trimmed.push((before, TrimmedEdit { edit, sent, removed, sent_removed }));
        }
        Some((trimmed, rope))
    }

    /// Applies one edit to everything that follows the text. Returns what it means for the suggestions that were not decided.
    fn apply(
        &mut self,
        before: &Document,
        edit: &TrimmedEdit,
        provenance: Option<Provenance>,
        now: u64,
    ) -> Vec<(usize, OfferedEdit)> {
        let number = self.edits;
        self.edits += 1;
        let restores = self.removed.is_restored_by(&edit.edit);
        let followed = FollowedEdit { edit: &edit.edit, removed: &edit.removed, number, restores };
        let mut offered = Vec::new();
        let mut arm: Option<Arc<str>> = None;
        for (index, open) in self.open.iter_mut().enumerate() {
            let Some(offer) = open.offer.as_mut() else { continue };
            let was_decided = offer.is_decided();
            let effect = offer.apply(followed, now);
            let is_decided_now = !was_decided && offer.is_decided();
            if let OfferedEdit::Accepts(by) = &effect {
                arm.get_or_insert_with(|| Arc::clone(by));
                open.note_acceptance(now);
            }
            if is_decided_now {
                open.note_change();
            }
            if !was_decided {
                offered.push((index, effect));
            }
        }
        let provenance = match (&arm, provenance) {
            (Some(_), _) => Provenance::Accepted,
            (None, Some(provenance)) => provenance,
            (None, None) => provenance_of_edit(edit, before, restores),
        };
        let origin = EditOrigin { provenance, edit: number, arm };
        self.removed.apply(&edit.edit, &edit.removed);
        let parts = edit_parts(before, edit, provenance);
        let formatted = (provenance == Provenance::Formatter).then(|| text_after(before, &edit.edit));
        for open in &mut self.open {
            let code = formatted.as_ref().map(|_| open.region_code(before));
            for part in &parts {
                open.apply(&part.before, &part.edit, &part.removed, &origin, now);
            }
            // A formatter keeps code. A program that does not, such as a checkout right after a save, is none.
            if formatted.as_ref().map(|after| open.region_code(after)) != code {
                open.lose(LossReason::External);
            }
        }
        if !matches!(provenance, Provenance::Formatter | Provenance::External) {
            self.cursor = edit.edit.inserted_range().end;
        }
        offered
    }

    /// A suggestion that no edit of a change continues is not visible any more.
    fn decide_discontinued(&mut self, offered: &[(usize, OfferedEdit)], kind: OutcomeKind, now: u64) {
        for (index, open) in self.open.iter_mut().enumerate() {
            let effects = || offered.iter().filter(|(at, _)| *at == index).map(|(_, effect)| effect);
            let goes_on =
                effects().any(|effect| matches!(effect, OfferedEdit::Accepts(_) | OfferedEdit::Follows));
            if effects().next().is_some() && !goes_on {
                open.offer.iter_mut().for_each(|offer| offer.decide(kind, now));
                open.note_change();
            }
        }
    }

    /// The file changed on disk. Changes of the document at the same time came from there.
    pub(crate) fn note_disk_change(&mut self, now: u64) {
        let is_near_save = self.saved.is_some_and(|saved| now - saved <= TOGETHER);
        if std::mem::take(&mut self.expects_own_change) && is_near_save {
            return;
        }
        self.changed_on_disk = Some(now);
        self.correct(now, Provenance::External, |change| change.is_wide || change.is_reload);
    }

    /// The document was saved: truths are taken, and programs that ran before saving are recognized.
    pub(crate) fn save(&mut self, now: u64) {
        self.saved = Some(now);
        self.expects_own_change = true;
        self.changed_on_disk = None;
        self.has_unsaved_edits = false;
        self.correct(now, Provenance::Formatter, |change| change.is_wide);
        self.take_all(TruthStage::Save, now);
    }

    /// The client knows how the last change came about. An accepted suggestion stays one: a client may take it for another insertion, but
    /// not for a redo, which may bring back the text of a suggestion that is shown again.
    pub(crate) fn identify_last_change(&mut self, provenance: Provenance, now: u64) {
        let is_redo = provenance == Provenance::Undo;
        let is_known = |change: &RecentChange| {
            change.is_acceptance && !is_redo || change.provenance == Some(Provenance::External)
        };
        let Some(last) = self.recent.back_mut().filter(|last| !is_known(last) && now - last.time <= TOGETHER)
        else {
            return;
        };
        last.provenance = Some(provenance);
        let edits = last.edits.clone();
        if std::mem::take(&mut last.is_acceptance) {
            let is_retracted = |open: &mut OpenOpportunity| open.retract_acceptance(&edits, now);
            if self.open.iter_mut().map(is_retracted).filter(|retracted| *retracted).count() == 0 {
                return;
            }
        }
        self.open.iter_mut().for_each(|open| open.relabel(&edits, provenance, None));
    }

    fn correct(&mut self, now: u64, provenance: Provenance, is_meant: impl Fn(&RecentChange) -> bool) {
        let is_near =
            |change: &&mut RecentChange| now - change.time <= TOGETHER && change.provenance.is_none();
        for change in self.recent.iter_mut().filter(is_near).filter(|change| is_meant(change)) {
            change.provenance = Some(provenance);
            self.open.iter_mut().for_each(|open| open.relabel(&change.edits, provenance, None));
        }
    }

    /// Closes the document. Its opportunities are kept, for the next opening or commit.
    pub(crate) fn close(&mut self, now: u64) {
        for open in &mut self.open {
            open.offer.iter_mut().for_each(|offer| offer.decide(OutcomeKind::Cancelled, now));
        }
        self.take_all(TruthStage::Close, now);
        (self.is_open, self.since) = (false, now);
        self.drop_syntax();
    }

    /// The syntax of a closed document is needed for a commit only. It takes several times the memory of the text.
    fn drop_syntax(&mut self) {
        if !self.is_open {
            self.syntax = SyntaxCache::default();
            self.removed = RemovedTexts::default();
        }
    }

    /// Takes the truths of the regions that are in a commit as they are now, `committed` being the document's text in it. A region that
    /// was staged differently, or not at all, waits for a later commit. The commit was made `commit_age` ms ago.
    pub(crate) fn commit(&mut self, committed: &str, commit_age: u64, now: u64) {
        if !self.open.iter().any(|open| open.awaits_commit(commit_age, now)) {
            return;
        }
        let text = self.rope.text();
        // Git may store other line ends than it checks out.
        let has_crlf = text.contains("\r\n") && !committed.contains("\r\n");
        let committed: Cow<'_, str> =
            if has_crlf { committed.replace('\n', "\r\n").into() } else { committed.into() };
        let is_in = |open: &OpenOpportunity| {
            open.awaits_commit(commit_age, now)
                && unchanged_range(&text, &committed, open.region.range()).is_some()
        };
        let found: Vec<bool> = self.open.iter().map(is_in).collect();
        if !found.contains(&true) {
            return;
        }
        let syntax = document_syntax(self.language, &self.syntax, &self.rope, &self.key);
        let document = parsed(&self.rope, syntax.as_ref());
        for (open, _) in self.open.iter_mut().zip(found).filter(|(_, is_in)| *is_in) {
            open.take_committed(&document, now);
        }
        self.drop_syntax();
    }

    /// Ends all opportunities.
    pub(crate) fn lose_all(&mut self, reason: LossReason) {
        self.open.iter_mut().for_each(|open| open.lose(reason));
    }

    fn take_all(&mut self, stage: TruthStage, now: u64) {
        if !self.open.iter().any(OpenOpportunity::takes_truths) {
            return;
        }
        let syntax = document_syntax(self.language, &self.syntax, &self.rope, &self.key);
        let document = parsed(&self.rope, syntax.as_ref());
        self.open.iter_mut().for_each(|open| open.take(stage, &document, now));
    }

    /// Suggestions that are on the screen for a while count as shown.
    fn mark_visible(&mut self, settings: &RecorderSettings, now: u64) {
        let mut places = Vec::new();
        for open in &mut self.open {
            let Some(offer) = open.offer.as_mut() else { continue };
            if offer.tick(now, settings.shown_after) {
                places.push(offer.place());
                open.note_change();
            }
        }
        places.into_iter().for_each(|place| self.mark_shown(place));
    }

    /// Takes the truths that are due.
    pub(crate) fn tick(&mut self, settings: &RecorderSettings, now: u64) {
        self.mark_visible(settings, now);
        for open in &mut self.open {
            open.measure_survival(&self.rope, now);
            if open.age(now) >= settings.max_age {
                open.finish_or_lose(LossReason::Expired);
            }
        }
        let due: Vec<DueStages> = self.open.iter().map(|open| self.due(open, settings, now)).collect();
        if due.iter().any(|due| due.is_block_unknown || !due.stages.is_empty()) {
            self.take_due(&due, now);
        }
    }

    fn due(&self, open: &OpenOpportunity, settings: &RecorderSettings, now: u64) -> DueStages {
        let mut due = DueStages::default();
        if !self.is_open || !open.takes_truths() || open.awaits_text() {
            return due;
        }
        let quiet = now - open.touched;
        if open.pending.settled && quiet >= settings.settled {
            due.stages.push(TruthStage::Settled);
        }
        if open.pending.leave_block && quiet >= settings.leave_block {
            match open.block.as_ref().filter(|(edits, _)| *edits == self.edits) {
                None => due.is_block_unknown = true,
                Some((_, block)) if has_left(block.as_ref(), self.cursor) => {
                    due.stages.push(TruthStage::LeaveBlock)
                }
                Some(_) => {}
            }
        }
        // The developer may have read for a while before the opportunity was opened.
        if open.pending.idle && quiet.min(now - self.last_edit) >= settings.idle {
            due.stages.push(TruthStage::Idle);
        }
        due
    }

    fn take_due(&mut self, due: &[DueStages], now: u64) {
        let syntax = document_syntax(self.language, &self.syntax, &self.rope, &self.key);
        let document = parsed(&self.rope, syntax.as_ref());
        for (open, due) in self.open.iter_mut().zip(due) {
            let mut stages = due.stages.clone();
            if due.is_block_unknown {
                let block = document
                    .units
                    .as_ref()
                    .and_then(|(_, units)| units.block_around(open.region.range().start));
                let block = block.filter(|(_, has_error)| !has_error).map(|(range, _)| range);
                if has_left(block.as_ref(), self.cursor) {
                    stages.push(TruthStage::LeaveBlock);
                }
                open.block = Some((self.edits, block));
            }
            stages.sort_unstable();
            for stage in stages {
                open.take(stage, &document, now);
                open.pending.mark_taken(stage);
                if stage == TruthStage::Idle {
                    open.close_ends();
                }
            }
        }
    }
}

/// The truths of an opportunity that are due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct DueStages {
    stages: Vec<TruthStage>,
    /// Whether the block around the region must be found first.
    is_block_unknown: bool,
}

fn has_left(block: Option<&Range<usize>>, cursor: usize) -> bool {
    block.is_some_and(|block| cursor < block.start || block.end < cursor)
}

/// Returns the text of a document with its syntax; `None` without a supported language.
fn document_syntax(
    language: Option<Language>,
    syntax: &SyntaxCache,
    rope: &Document,
    key: &DocumentKey,
) -> Option<(SourceFile, Tree)> {
    let text: Arc<str> = rope.text().into();
    let tree = syntax.background_tree(language?, &text);
    Some((SourceFile { path: Arc::clone(key), language: language?, text: text.into() }, tree))
}

fn parsed<'a>(rope: &'a Document, syntax: Option<&'a (SourceFile, Tree)>) -> ParsedDocument<'a> {
    ParsedDocument { rope, units: syntax.map(|(file, tree)| (&*file.text, UnitFinder::new(file, tree))) }
}

/// Returns the text after an edit that fits it.
fn text_after(before: &Document, edit: &Edit) -> Document {
    let mut after = before.clone();
    after.apply(edit).expect("the edit was applied before");
    after
}

/// Returns the parts of an edit that follow each other.
fn edit_parts(before: &Document, edit: &TrimmedEdit, provenance: Provenance) -> Vec<EditPart> {
    let TrimmedEdit { edit, removed, .. } = edit;
    let parts = match provenance {
        Provenance::Formatter => character_hunks(edit, removed),
        _ if removed.contains('\n') && edit.text.contains('\n') => line_hunks(edit, removed),
        _ => vec![edit.clone()],
    };
    let mut rope = before.clone();
    let mut applied = Vec::with_capacity(parts.len());
    for part in parts {
        let (Some(removed), before) = (removed_text(&rope, &part), rope.clone()) else { break };
        if rope.apply(&part).is_none() {
            break;
        }
        applied.push(EditPart { before, edit: part, removed });
    }
    applied
}

impl TrackedDocument {
    /// Returns its text as it was opened, with all edits since.
    pub(crate) fn opened_text(&self) -> OpenedText {
        OpenedText { language: self.language, rope: self.rope.clone(), syntax: self.syntax.clone() }
    }

    /// Returns where the items of an answer are offered: at the cursor of its request. If the document has changed since, at the cursor of
    /// the opportunity or, for a later request, behind the text typed along the earlier suggestion.
    pub(crate) fn cursor_of_offer(&self, index: usize, is_first: bool, cursor: RequestCursor) -> usize {
        if cursor.edits == self.edits {
            // The editor may have closed a bracket behind it.
            return cursor.offset;
        }
        let open = &self.open[index];
        let written = open.region.written(&self.rope).map(|written| written.range);
        match (&open.offer, written) {
            (Some(offer), _) if !is_first => offer.place(),
            (None, Some(written)) if !is_first => written.end,
            (_, Some(written)) => written.start,
            (_, None) => open.region.range().start,
        }
    }

    /// Another opportunity's suggestion was visible at an offset.
    pub(crate) fn mark_shown(&mut self, offset: usize) {
        self.open.iter_mut().for_each(|open| open.mark_shown(offset));
    }

    /// The client reports that an item of the opportunity was accepted.
    pub(crate) fn accept_reported(&mut self, index: usize, item: u64, is_partial: bool, now: u64) {
        let open = &mut self.open[index];
        let Some(offer) = &mut open.offer else { return };
        let corrected = offer.report_accepted(item, is_partial, now);
        let place = offer.place();
        open.note_change();
        if let Some((edits, arm)) = corrected {
            open.note_acceptance(now);
            for edit in edits {
                let edits = edit..edit + 1;
                self.open.iter_mut().for_each(|open| open.relabel(&edits, Provenance::Accepted, Some(&arm)));
                let change = self.recent.iter_mut().rfind(|change| change.edits.contains(&edit));
                change.into_iter().for_each(|change| change.is_acceptance = true);
            }
        }
        self.mark_shown(place);
    }
}
