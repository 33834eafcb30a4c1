//! The suggestion that is offered at an opportunity, from the answer to the developer's decision.
//!
//! Clients report little: whether the developer accepts, types or ignores a suggestion shows in the edits at its place.

use std::ops::Range;
use std::sync::Arc;

use cases::{AcceptedPart, OfferOutcome, OutcomeKind};
use text::Edit;

use super::event::OfferedItem;

/// Maximum length of a part of a word that counts as typed, in characters: some editors report several keys at once.
const MAX_TYPED: usize = 4;
/// Time between an edit and the client's report that it accepted a suggestion, in ms.
const REPORT_WITHIN: u64 = 2_000;

/// The items offered at one place.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    items: Vec<PlacedItem>,
    /// Offset in the document behind the text that was written along the items.
    at: usize,
    /// The text written along the items, with LF line ends.
    written: String,
    offered_at: u64,
    shown: Option<Shown>,
    /// The suggestions that these items replaced, if they were visible.
    replaced: Option<ReplacedItems>,
    decision: Option<(OutcomeKind, u64)>,
    parts: Vec<AcceptedPart>,
    accepted_chars: usize,
    typed_chars: usize,
    accepted_item: Option<AcceptedItem>,
    is_acceptance_reported: bool,
    /// Id of an item whose acceptance was reported before its edit, and when.
    announced: Option<(u64, u64)>,
    /// The edits that accepted text.
    edits: Vec<u64>,
    /// The last of them, with the number of its characters.
    last_accepted: Option<(u64, usize)>,
    /// The last edit along the items, if it is taken for typing.
    last_typed: Option<(u64, usize)>,
    /// The insertion that contradicted the items: its number and characters.
    contradiction: Option<(u64, usize)>,
}

/// An item with its index in the answer that offered it first.
#[derive(Clone, Debug)]
struct PlacedItem {
    item: OfferedItem,
    index: u32,
}

/// Since when a suggestion is visible.
#[derive(Clone, Copy, Debug)]
struct Shown {
    since: u64,
    /// Whether the client reported it.
    is_reported: bool,
}

/// Suggestions of the same opportunity that were visible before.
#[derive(Clone, Copy, Debug)]
struct ReplacedItems {
    shown: Shown,
    /// How long they were visible, in ms.
    visible: u64,
}

/// The item of which text was accepted.
#[derive(Clone, Debug)]
struct AcceptedItem {
    index: u32,
    arm: Arc<str>,
}

/// What an edit means for an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OfferedEdit {
    /// It accepts text of this arm.
    Accepts(Arc<str>),
    /// It types text of the suggestion, or takes some of it back.
    Follows,
    /// It is at another place.
    Elsewhere,
    /// It contradicts the suggestion.
    Contradicts,
}

/// An edit of the document, for an offer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowedEdit<'a> {
    pub(crate) edit: &'a Edit,
    /// The text that it removes.
    pub(crate) removed: &'a str,
    /// Its number.
    pub(crate) number: u64,
    /// Whether it inserts a text where that text was removed before, as redo does.
    pub(crate) restores: bool,
}

impl Offer {
    /// Creates the offer of these items at the offset `at`; `None` without items that have text.
    pub(crate) fn new(items: Vec<OfferedItem>, at: usize, now: u64) -> Option<Offer> {
        let items = placed(items);
        (!items.is_empty()).then(|| Offer {
            items,
            at,
            written: String::new(),
            offered_at: now,
            shown: None,
            replaced: None,
            decision: None,
            parts: Vec::new(),
            accepted_chars: 0,
            typed_chars: 0,
            accepted_item: None,
            is_acceptance_reported: false,
            announced: None,
            edits: Vec::new(),
            last_accepted: None,
            last_typed: None,
            contradiction: None,
        })
    }

    /// Offers other items instead. What was visible, and what was accepted of it, stays a part of the outcome.
    pub(crate) fn replace(&mut self, items: Vec<OfferedItem>, at: usize, now: u64) {
        let Some(new) = Offer::new(items, at, now) else {
            return self.decide(OutcomeKind::Replaced, now);
        };
        let before = std::mem::replace(self, new);
        self.replaced = before.visible_until(now).map(|(shown, visible)| ReplacedItems { shown, visible });
        if !before.edits.is_empty() {
            self.parts = before.parts;
            self.accepted_chars = before.accepted_chars;
            self.accepted_item = before.accepted_item;
            self.is_acceptance_reported = before.is_acceptance_reported;
            self.edits = before.edits;
        }
        if self.was_shown() {
            self.typed_chars = before.typed_chars;
        }
    }

    /// Returns since when a suggestion of this opportunity is visible, and for how long until `now`.
    fn visible_until(&self, now: u64) -> Option<(Shown, u64)> {
        let own = self.shown.map(|shown| (shown, now - shown.since.min(now)));
        match (self.replaced, own) {
            (Some(before), Some((_, visible))) => Some((before.shown, before.visible + visible)),
            (Some(before), None) => Some((before.shown, before.visible)),
            (None, own) => own,
        }
    }

    /// Returns whether the developer has decided.
    pub(crate) fn is_decided(&self) -> bool {
        self.decision.is_some()
    }

    /// Returns whether a suggestion was visible.
    pub(crate) fn was_shown(&self) -> bool {
        self.shown.is_some() || self.replaced.is_some()
    }

    /// Returns the offset at which it is displayed.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    /// Returns the accepted text's edits.
    pub(crate) fn accepted_edits(&self) -> &[u64] {
        &self.edits
    }

    /// Returns the number of accepted characters.
    pub(crate) fn accepted_chars(&self) -> usize {
        self.accepted_chars
    }

    pub(crate) fn has_item(&self, id: u64) -> bool {
        self.position(id).is_some()
    }

    fn position(&self, id: u64) -> Option<usize> {
        self.items.iter().position(|placed| placed.item.id == id)
    }

    /// Adds the items of a later request that offer the rest of these items. Returns false if they offer another text.
    pub(crate) fn extend(&mut self, items: &[OfferedItem], at: usize) -> bool {
        let is_rest = |item: &OfferedItem| {
            let known = self.items.iter().find(|known| {
                let rest = known.item.text.strip_prefix(&self.written);
                known.item.arm == item.arm && rest == Some(&with_lf(&item.text))
            })?;
            Some(PlacedItem { item: OfferedItem { id: item.id, ..known.item.clone() }, index: known.index })
        };
        let known: Option<Vec<PlacedItem>> = items.iter().map(is_rest).collect();
        let Some(known) = known.filter(|_| at == self.at && !self.is_decided()) else { return false };
        // The items that are offered last come first, so that their ids are found.
        self.items.splice(..0, known.into_iter().filter(|placed| !placed.item.text.is_empty()));
        self.items.truncate(MAX_ITEMS);
        true
    }

    /// The client reports that an item is visible.
    pub(crate) fn report_shown(&mut self, now: u64) {
        if self.is_decided() {
            return;
        }
        let since = self.shown.map_or(now, |shown| shown.since);
        self.shown = Some(Shown { since, is_reported: true });
    }

    /// The client reports that the suggestion was visible until now.
    pub(crate) fn report_seen(&mut self) {
        if self.shown.is_none() {
            self.report_shown(self.offered_at);
        }
        self.shown.iter_mut().for_each(|shown| shown.is_reported = true);
    }

    /// Time passes; an undecided suggestion counts as visible after a while.
    pub(crate) fn tick(&mut self, now: u64, shown_after: u64) -> bool {
        let is_new = self.shown.is_none() && !self.is_decided() && now - self.offered_at >= shown_after;
        if is_new {
            self.infer_shown();
        }
        is_new
    }

    fn infer_shown(&mut self) {
        self.shown.get_or_insert(Shown { since: self.offered_at, is_reported: false });
    }

    /// The client reports that an item, or a part of it, was accepted. Returns the edits that were taken for something else, or for the
    /// text of another arm, and accepted text of this arm.
    pub(crate) fn report_accepted(
        &mut self,
        id: u64,
        is_partial: bool,
        now: u64,
    ) -> Option<(Vec<u64>, Arc<str>)> {
        let index = self.position(id)?;
        if self.last_accepted.is_some() {
            return self.confirm_accepted(index);
        }
        let is_complete = self.rest(index) == Some("");
        if let Some((edit, characters)) = self.last_typed.filter(|_| is_complete || is_partial) {
            self.typed_chars -= characters.min(self.typed_chars);
            let part = if is_complete { AcceptedPart::Full } else { AcceptedPart::Word };
            return Some(self.accept_reported(index, edit, characters, part, now));
        }
        let is_recent = |time: u64| now - time.min(now) <= REPORT_WITHIN;
        let decided = self.decision.filter(|(_, time)| is_recent(*time));
        if let (Some((edit, characters)), Some(_)) = (self.contradiction, decided) {
            // The client inserted more, or less, than the item has: beside a selected item of its popup, or with brackets.
            let part = if is_partial { AcceptedPart::Word } else { AcceptedPart::Full };
            self.decision = Some((OutcomeKind::Accepted, now));
            return Some(self.accept_reported(index, edit, characters, part, now));
        }
        self.announced = (!self.is_decided()).then_some((id, now));
        None
    }

    /// An accepted edit is known. Two items may begin with its text; the client knows which one it was.
    fn confirm_accepted(&mut self, index: usize) -> Option<(Vec<u64>, Arc<str>)> {
        self.is_acceptance_reported = true;
        self.rest(index)?;
        let PlacedItem { item, index } = &self.items[index];
        let accepted = AcceptedItem { index: *index, arm: Arc::clone(&item.arm) };
        let is_other = self.accepted_item.as_ref().is_none_or(|known| known.arm != accepted.arm);
        let (edit, arm) = (self.last_accepted.map(|(edit, _)| edit), Arc::clone(&accepted.arm));
        self.accepted_item = Some(accepted);
        edit.filter(|_| is_other).map(|edit| (vec![edit], arm))
    }

    fn accept_reported(
        &mut self,
        index: usize,
        edit: u64,
        characters: usize,
        part: AcceptedPart,
        now: u64,
    ) -> (Vec<u64>, Arc<str>) {
        self.accept(index, edit, characters, part, now);
        self.is_acceptance_reported = true;
        (vec![edit], Arc::clone(&self.items[index].item.arm))
    }

    /// Follows an edit of the document.
    pub(crate) fn apply(&mut self, followed: FollowedEdit<'_>, now: u64) -> OfferedEdit {
        let FollowedEdit { edit, removed, number, .. } = followed;
        if self.is_decided() {
            self.shift(edit);
            return OfferedEdit::Elsewhere;
        }
        self.announced.take_if(|(_, time)| now - *time > REPORT_WITHIN);
        if edit.range.is_empty() && edit.range.start == self.at {
            return self.insert(followed, now);
        }
        let takes_back = edit.text.is_empty() && edit.range.end == self.at;
        let rest = self.written.strip_suffix(&*with_lf(removed)).map(str::len);
        if let Some(rest) = rest.filter(|_| takes_back) {
            self.written.truncate(rest);
            self.at = edit.range.start;
            (self.last_typed, self.last_accepted) = (None, None);
            return OfferedEdit::Follows;
        }
        let touches = edit.range.start <= self.at && self.at <= edit.range.end;
        self.shift(edit);
        if touches { self.contradict(edit, number) } else { OfferedEdit::Elsewhere }
    }

    fn contradict(&mut self, edit: &Edit, number: u64) -> OfferedEdit {
        let characters = edit.text.chars().count();
        self.contradiction = (characters > 0).then_some((number, characters));
        OfferedEdit::Contradicts
    }

    fn insert(&mut self, followed: FollowedEdit<'_>, now: u64) -> OfferedEdit {
        let FollowedEdit { edit, number, restores, .. } = followed;
        let inserted = &*edit.text;
        let text = with_lf(inserted);
        let (index, text) = match self.matching(&text) {
            Some(index) => (index, &*text),
            // The editor closes a bracket behind the cursor.
            None => match is_pair(&text).then(|| self.matching(&text[..1])).flatten() {
                Some(index) => (index, &text[..1]),
                None => {
                    self.at += inserted.len();
                    return self.contradict(edit, number);
                }
            },
        };
        let rest = self.rest(index).unwrap_or_default();
        let part = match text.chars().count() {
            _ if self.announced.is_some_and(|(id, _)| id == self.items[index].item.id) => {
                Some(part_of(rest, text))
            }
            // Redo brings typed text back. If the suggestion was accepted again, the client reports it.
            _ if restores => None,
            1 => None,
            // The editor closes what the developer opens.
            2 if is_pair(text) => None,
            count if count <= MAX_TYPED && text != rest && text.chars().all(char::is_alphanumeric) => None,
            _ => Some(part_of(rest, text)),
        };
        let characters = text.chars().count();
        let is_complete = text == rest;
        self.written.push_str(text);
        self.at += if text.len() < inserted.len() && is_pair(inserted) { 1 } else { inserted.len() };
        match part {
            Some(part) => {
                self.accept(index, number, characters, part, now);
                OfferedEdit::Accepts(Arc::clone(&self.items[index].item.arm))
            }
            None => {
                self.typed_chars += characters;
                (self.last_typed, self.last_accepted) = (Some((number, characters)), None);
                if is_complete {
                    let kind =
                        if self.edits.is_empty() { OutcomeKind::TypedThrough } else { OutcomeKind::Accepted };
                    self.decide(kind, now);
                }
                OfferedEdit::Follows
            }
        }
    }

    fn accept(&mut self, index: usize, edit: u64, characters: usize, part: AcceptedPart, now: u64) {
        self.is_acceptance_reported |= self.announced.take().is_some();
        self.infer_shown();
        let PlacedItem { item, index: place } = &self.items[index];
        self.accepted_item = Some(AcceptedItem { index: *place, arm: Arc::clone(&item.arm) });
        self.accepted_chars += characters;
        self.parts.push(part);
        self.edits.push(edit);
        self.last_accepted = Some((edit, characters));
        (self.last_typed, self.contradiction) = (None, None);
        if self.rest(index) == Some("") {
            self.decision = Some((OutcomeKind::Accepted, now));
        }
    }

    /// The last edit that was taken for an acceptance was a redo, which brought the suggestion's text back. Returns false if it was not
    /// this offer's, or if the client reported the acceptance.
    pub(crate) fn retract(&mut self, edits: &Range<u64>, now: u64) -> bool {
        let last =
            self.last_accepted.filter(|(edit, _)| edits.contains(edit) && !self.is_acceptance_reported);
        let Some((retracted, characters)) = last else { return false };
        self.last_accepted = None;
        self.accepted_chars -= characters.min(self.accepted_chars);
        self.parts.pop();
        self.edits.retain(|edit| *edit != retracted);
        if self.edits.is_empty() {
            self.accepted_item = None;
        }
        self.decision = None;
        self.decide(OutcomeKind::Ignored, now);
        true
    }

    /// Returns the length in bytes of the text of a suggestion with which an insertion at its place begins.
    pub(crate) fn accepted_length(&self, edit: &Edit) -> Option<usize> {
        let is_here = !self.is_decided() && edit.range.is_empty() && edit.range.start == self.at;
        let rests = (0..self.items.len()).filter(|_| is_here).filter_map(|index| self.rest(index));
        let texts = rests.filter(|rest| !rest.is_empty() && edit.text.starts_with(rest));
        texts.map(str::len).max()
    }

    /// Returns the first item that continues with `text`.
    fn matching(&self, text: &str) -> Option<usize> {
        let continues = |index: &usize| self.rest(*index).is_some_and(|rest| rest.starts_with(text));
        let announced = self.announced.and_then(|(id, _)| self.position(id)).filter(continues);
        let whole = || (0..self.items.len()).find(|index| self.rest(*index) == Some(text));
        announced.or_else(whole).or_else(|| (0..self.items.len()).find(continues))
    }

    /// Returns the part of an item that is not written yet; `None` if something else was written.
    fn rest(&self, index: usize) -> Option<&str> {
        self.items[index].item.text.strip_prefix(&self.written)
    }

    fn shift(&mut self, edit: &Edit) {
        if edit.range.end <= self.at {
            self.at = self.at - edit.range.len() + edit.text.len();
        } else if edit.range.start < self.at {
            self.at = edit.range.start;
        }
    }

    /// Decides the offer, unless it is decided.
    pub(crate) fn decide(&mut self, kind: OutcomeKind, now: u64) {
        if self.is_decided() {
            return;
        }
        let kind = match kind {
            _ if !self.edits.is_empty() => OutcomeKind::Accepted,
            OutcomeKind::TypedThrough => kind,
            // The developer was faster.
            _ if self.shown.is_none() => self.unseen(),
            _ => kind,
        };
        self.decision = Some((kind, now));
    }

    /// The outcome while the items were not visible.
    fn unseen(&self) -> OutcomeKind {
        if self.replaced.is_some() { OutcomeKind::Replaced } else { OutcomeKind::NotShown }
    }

    /// Returns the outcome at `now`. `opened` is the time at which the opportunity was opened.
    pub(crate) fn outcome(&self, opened: u64, now: u64) -> OfferOutcome {
        let undecided = if self.shown.is_some() { OutcomeKind::Shown } else { self.unseen() };
        let partial = (!self.edits.is_empty()).then_some(OutcomeKind::Accepted);
        let kind = self.decision.map_or(partial.unwrap_or(undecided), |(kind, _)| kind);
        let end = self.decision.map_or(now, |(_, time)| time);
        // Text that is typed through counts as seen from the beginning.
        let typed = (kind == OutcomeKind::TypedThrough)
            .then(|| (Shown { since: self.offered_at, is_reported: false }, end - self.offered_at.min(end)));
        let visible = self.visible_until(end).or(typed);
        let is_reported = match kind {
            OutcomeKind::Accepted => self.is_acceptance_reported,
            _ => self.shown.or(self.replaced.map(|before| before.shown)).is_some_and(|it| it.is_reported),
        };
        OfferOutcome {
            kind,
            is_inferred: visible.is_some() && !is_reported,
            shown_at: visible.map(|(shown, _)| (shown.since - opened.min(shown.since)) as f64),
            visible: visible.map(|(_, time)| time as f64),
            item: self.accepted_item.as_ref().map(|accepted| accepted.index),
            arm: self.accepted_item.as_ref().map(|accepted| accepted.arm.to_string()),
            parts: self.parts.clone(),
            accepted_chars: saturated(self.accepted_chars),
            typed_chars: saturated(self.typed_chars),
            ..OfferOutcome::not_shown()
        }
    }
}

/// Returns the items that have text, with LF line ends.
fn placed(items: Vec<OfferedItem>) -> Vec<PlacedItem> {
    let with_lf = |item: OfferedItem| OfferedItem { text: with_lf(&item.text), ..item };
    let items = (0..).zip(items.into_iter().map(with_lf)).filter(|(_, item)| !item.text.is_empty());
    items.map(|(index, item)| PlacedItem { item, index }).collect()
}

/// Maximum number of items of an offer: those of several requests that continue one suggestion.
const MAX_ITEMS: usize = 64;

pub(crate) fn saturated(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns the unit of an acceptance of `text`, the beginning of `rest`. A word at the end of a line cannot be told from the rest of that
/// line.
fn part_of(rest: &str, text: &str) -> AcceptedPart {
    let ends_line = text.ends_with('\n') || rest[text.len()..].starts_with('\n');
    match ends_line {
        _ if text == rest => AcceptedPart::Full,
        true => AcceptedPart::Line,
        false => AcceptedPart::Word,
    }
}

fn is_pair(text: &str) -> bool {
    matches!(text, "()" | "[]" | "{}" | "\"\"" | "''" | "``" | "<>")
}

fn with_lf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests;
