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

/// The items offered at one place.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    items: Vec<OfferedItem>,
    /// Offset in the document behind the text that was written along the items.
    at: usize,
    /// The text written along the items, with LF line ends.
    written: String,
    offered_at: u64,
    /// Whether the client reported that it is visible.
    is_reported: bool,
    /// Whether it is taken for visible.
    is_shown: bool,
    decision: Option<(OutcomeKind, u64)>,
    parts: Vec<AcceptedPart>,
    accepted_chars: usize,
    typed_chars: usize,
    /// Index of the item that was accepted.
    accepted_item: Option<usize>,
    is_acceptance_reported: bool,
    /// An item whose acceptance was reported before its edit.
    announced: Option<usize>,
    /// The edits that accepted text.
    edits: Vec<u64>,
    /// The last of them, with the number of its characters.
    last_accepted: Option<(u64, usize)>,
    /// The last edit along the items, if it is taken for typing.
    last_typed: Option<(u64, usize)>,
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

impl Offer {
    /// Creates the offer of these items at the offset `at`; `None` without items that have text.
    pub(crate) fn new(items: Vec<OfferedItem>, at: usize, now: u64) -> Option<Offer> {
        let with_lf = |item: OfferedItem| OfferedItem { text: with_lf(&item.text), ..item };
        let items: Vec<OfferedItem> =
            items.into_iter().map(with_lf).filter(|item| !item.text.is_empty()).collect();
        (!items.is_empty()).then(|| Offer {
            items,
            at,
            written: String::new(),
            offered_at: now,
            is_reported: false,
            is_shown: false,
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
        })
    }

    /// Returns whether the developer has decided.
    pub(crate) fn is_decided(&self) -> bool {
        self.decision.is_some()
    }

    /// Returns whether the suggestion was visible.
    pub(crate) fn was_shown(&self) -> bool {
        self.is_shown
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
        self.items.iter().any(|item| item.id == id)
    }

    /// Adds the items of a later request that offer the rest of these items. Returns false if they offer another text.
    pub(crate) fn extend(&mut self, items: &[OfferedItem], at: usize) -> bool {
        let is_rest = |item: &OfferedItem| {
            let known = self.items.iter().find(|known| {
                let rest = known.text.strip_prefix(&self.written);
                known.arm == item.arm && rest == Some(&with_lf(&item.text))
            })?;
            Some(OfferedItem { id: item.id, ..known.clone() })
        };
        let known: Option<Vec<OfferedItem>> = items.iter().map(is_rest).collect();
        let Some(known) = known.filter(|_| at == self.at && !self.is_decided()) else { return false };
        // The items that are offered last come first, so that their ids are found.
        self.items.splice(..0, known.into_iter().filter(|item| !item.text.is_empty()));
        self.items.truncate(MAX_ITEMS);
        true
    }

    /// The client reports that an item is visible.
    pub(crate) fn report_shown(&mut self) {
        self.is_reported = true;
        self.is_shown |= !self.is_decided();
    }

    /// Time passes; an undecided suggestion counts as visible after a while.
    pub(crate) fn tick(&mut self, now: u64, shown_after: u64) -> bool {
        let is_new = !self.is_shown && !self.is_decided() && now - self.offered_at >= shown_after;
        self.is_shown |= is_new;
        is_new
    }

    /// The client reports that an item, or a part of it, was accepted. Returns the edits that were taken for typing and accepted text
    /// instead, with the arm.
    pub(crate) fn report_accepted(&mut self, id: u64, is_partial: bool, now: u64) -> Option<(u64, Arc<str>)> {
        let index = self.items.iter().position(|item| item.id == id)?;
        let arm = Arc::clone(&self.items[index].arm);
        self.is_shown = true;
        if self.accepted_item.is_some() {
            // Two items may begin with the accepted text; the client knows which one it was.
            if self.rest(index).is_some() {
                self.accepted_item = Some(index);
            }
            self.is_acceptance_reported = true;
            return None;
        }
        let is_complete = self.rest(index) == Some("");
        if let Some((edit, characters)) = self.last_typed.filter(|_| is_complete || is_partial) {
            self.typed_chars -= characters.min(self.typed_chars);
            let part = if is_complete { AcceptedPart::Full } else { AcceptedPart::Word };
            self.accept(index, edit, characters, part, now);
            self.is_acceptance_reported = true;
            return Some((edit, arm));
        }
        self.announced = (!self.is_decided()).then_some(index);
        None
    }

    /// Follows an edit of the document.
    pub(crate) fn apply(&mut self, edit: &Edit, removed: &str, number: u64, now: u64) -> OfferedEdit {
        if self.is_decided() {
            self.shift(edit);
            return OfferedEdit::Elsewhere;
        }
        if edit.range.is_empty() && edit.range.start == self.at {
            return self.insert(&edit.text, number, now);
        }
        let takes_back = edit.text.is_empty() && edit.range.end == self.at;
        let rest = self.written.strip_suffix(&*with_lf(removed)).map(str::len);
        if let Some(rest) = rest.filter(|_| takes_back) {
            self.written.truncate(rest);
            self.at = edit.range.start;
            self.last_typed = None;
            return OfferedEdit::Follows;
        }
        let touches = edit.range.start <= self.at && self.at <= edit.range.end;
        self.shift(edit);
        if touches { OfferedEdit::Contradicts } else { OfferedEdit::Elsewhere }
    }

    fn insert(&mut self, inserted: &str, number: u64, now: u64) -> OfferedEdit {
        let text = with_lf(inserted);
        let (index, text) = match self.matching(&text) {
            Some(index) => (index, &*text),
            // The editor closes a bracket behind the cursor.
            None => match is_pair(&text).then(|| self.matching(&text[..1])).flatten() {
                Some(index) => (index, &text[..1]),
                None => {
                    self.at += inserted.len();
                    return OfferedEdit::Contradicts;
                }
            },
        };
        let rest = self.rest(index).unwrap_or_default();
        let part = match text.chars().count() {
            _ if self.announced == Some(index) => Some(part_of(rest, text)),
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
                OfferedEdit::Accepts(Arc::clone(&self.items[index].arm))
            }
            None => {
                self.typed_chars += characters;
                self.last_typed = Some((number, characters));
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
        self.is_shown = true;
        self.accepted_item = Some(index);
        self.accepted_chars += characters;
        self.parts.push(part);
        self.edits.push(edit);
        self.last_accepted = Some((edit, characters));
        self.last_typed = None;
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

    /// Returns the first item that continues with `text`.
    fn matching(&self, text: &str) -> Option<usize> {
        let continues = |index: &usize| self.rest(*index).is_some_and(|rest| rest.starts_with(text));
        let announced = self.announced.filter(continues);
        let whole = || (0..self.items.len()).find(|index| self.rest(*index) == Some(text));
        announced.or_else(whole).or_else(|| (0..self.items.len()).find(continues))
    }

    /// Returns the part of an item that is not written yet; `None` if something else was written.
    fn rest(&self, index: usize) -> Option<&str> {
        self.items[index].text.strip_prefix(&self.written)
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
            _ if !self.is_shown => OutcomeKind::NotShown,
            _ => kind,
        };
        self.decision = Some((kind, now));
    }

    /// Returns the outcome at `now`. `opened` is the time at which the opportunity was opened.
    pub(crate) fn outcome(&self, opened: u64, now: u64) -> OfferOutcome {
        let undecided = if self.is_shown { OutcomeKind::Shown } else { OutcomeKind::NotShown };
        let partial = (!self.edits.is_empty()).then_some(OutcomeKind::Accepted);
        let kind = self.decision.map_or(partial.unwrap_or(undecided), |(kind, _)| kind);
        let end = self.decision.map_or(now, |(_, time)| time);
        let is_reported =
            if kind == OutcomeKind::Accepted { self.is_acceptance_reported } else { self.is_reported };
        let accepted = self.accepted_item.and_then(|index| self.items.get(index));
        let shown = self.is_shown || kind == OutcomeKind::TypedThrough;
        OfferOutcome {
            kind,
            is_inferred: shown && !is_reported,
            shown_at: shown.then(|| (self.offered_at - opened.min(self.offered_at)) as f64),
            visible: shown.then(|| (end - self.offered_at.min(end)) as f64),
            item: self.accepted_item.and_then(|index| u32::try_from(index).ok()),
            arm: accepted.map(|item| item.arm.to_string()),
            parts: self.parts.clone(),
            accepted_chars: saturated(self.accepted_chars),
            typed_chars: saturated(self.typed_chars),
            ..OfferOutcome::not_shown()
        }
    }
}

/// Maximum number of items of an offer: those of several requests that continue one suggestion.
const MAX_ITEMS: usize = 64;

pub(crate) fn saturated(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns the unit of an acceptance of `text`, the beginning of `rest`.
fn part_of(rest: &str, text: &str) -> AcceptedPart {
    let ends_line = text.contains('\n') || rest[text.len()..].starts_with('\n');
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
mod tests {
    use super::*;

    const SHOWN_AFTER: u64 = 750;

    fn offer(texts: &[&str]) -> Offer {
        let item = |(id, text): (usize, &&str)| OfferedItem {
            id: id as u64,
            arm: "a".into(),
            text: (*text).to_owned(),
        };
        Offer::new(texts.iter().enumerate().map(item).collect(), 10, 100).expect("there is a text")
    }

    fn insertion(at: usize, text: &str) -> Edit {
        Edit { range: at..at, text: text.to_owned() }
    }

    fn accepts() -> OfferedEdit {
        OfferedEdit::Accepts("a".into())
    }

    #[test]
    fn parts_of_a_suggestion_are_accepted() {
        let mut offer = offer(&["total = price * 2\nreturn total"]);
        assert!(offer.tick(900, SHOWN_AFTER) && !offer.tick(901, SHOWN_AFTER));
        assert_eq!(offer.apply(&insertion(10, "total "), "", 1, 1_000), accepts());
        assert_eq!(offer.apply(&insertion(16, "="), "", 2, 1_100), OfferedEdit::Follows);
        assert_eq!(offer.apply(&insertion(17, " price * 2"), "", 3, 1_200), accepts());
        assert_eq!(offer.apply(&insertion(27, "\r\nreturn total"), "", 4, 1_300), accepts());
        let outcome = offer.outcome(50, 5_000);
        assert_eq!(outcome.kind, OutcomeKind::Accepted);
        assert_eq!(outcome.parts, [AcceptedPart::Word, AcceptedPart::Line, AcceptedPart::Full]);
        assert_eq!((outcome.accepted_chars, outcome.typed_chars), (29, 1));
        assert_eq!(
            (outcome.shown_at, outcome.visible, outcome.is_inferred),
            (Some(50.0), Some(1_200.0), true)
        );
        assert_eq!(offer.accepted_edits(), [1, 3, 4]);
    }

    #[test]
    fn a_report_counts_before_and_after_its_edit() {
        let mut before = offer(&["ab"]);
        assert_eq!(before.report_accepted(0, false, 200), None);
        assert_eq!(before.apply(&insertion(10, "ab"), "", 1, 201), accepts());
        let mut after = offer(&["b", "abc"]);
        assert_eq!(after.apply(&insertion(10, "abc"), "", 1, 200), accepts());
        assert_eq!(after.report_accepted(1, false, 201), None);
        let mut typed = offer(&["a"]);
        assert_eq!(typed.apply(&insertion(10, "a"), "", 7, 200), OfferedEdit::Follows);
        assert_eq!(typed.outcome(0, 300).kind, OutcomeKind::TypedThrough);
        assert_eq!(typed.report_accepted(0, false, 201), Some((7, "a".into())));
        for offer in [before, after, typed] {
            let outcome = offer.outcome(0, 300);
            assert_eq!((outcome.kind, outcome.is_inferred), (OutcomeKind::Accepted, false));
        }
    }

    #[test]
    fn typing_along_is_not_acceptance() {
        let mut offer = offer(&["f(x)"]);
        assert_eq!(offer.apply(&insertion(10, "f"), "", 1, 200), OfferedEdit::Follows);
        assert_eq!(offer.apply(&insertion(11, "()"), "", 2, 300), OfferedEdit::Follows);
        assert_eq!(offer.apply(&insertion(12, "y"), "", 3, 400), OfferedEdit::Contradicts);
        offer.decide(OutcomeKind::Ignored, 400);
        assert_eq!(offer.outcome(0, 500).kind, OutcomeKind::NotShown, "the developer was faster");
    }

    #[test]
    fn a_bracket_that_the_editor_closes_is_typed() {
        let mut offer = offer(&["()"]);
        assert_eq!(offer.apply(&insertion(10, "()"), "", 1, 200), OfferedEdit::Follows);
        assert_eq!(offer.outcome(0, 300).kind, OutcomeKind::TypedThrough);
        assert_eq!(
            offer.report_accepted(0, false, 201),
            Some((1, "a".into())),
            "unless the client knows better"
        );
    }

    #[test]
    fn deleting_typed_characters_keeps_the_suggestion() {
        let mut offer = offer(&["value"]);
        offer.apply(&insertion(10, "v"), "", 1, 200);
        assert_eq!(
            offer.apply(&Edit { range: 10..11, text: String::new() }, "v", 2, 300),
            OfferedEdit::Follows
        );
        assert_eq!(offer.apply(&insertion(0, "\n"), "", 3, 350), OfferedEdit::Elsewhere);
        assert_eq!(offer.place(), 11);
        assert_eq!(
            offer.apply(&Edit { range: 9..11, text: String::new() }, "xy", 4, 400),
            OfferedEdit::Contradicts
        );
    }

    #[test]
    fn the_rest_of_a_suggestion_is_the_same_offer() {
        let mut offer = offer(&["value"]);
        offer.apply(&insertion(10, "v"), "", 1, 200);
        let rest = |text: &str| [OfferedItem { id: 9, arm: "a".into(), text: text.to_owned() }];
        assert!(!offer.extend(&rest("alue2"), 11) && !offer.extend(&rest("alue"), 10));
        assert!(offer.extend(&rest("alue"), 11) && offer.has_item(9));
        assert_eq!(offer.apply(&insertion(11, "alue"), "", 2, 300), accepts());
        assert_eq!(offer.report_accepted(9, false, 310), None);
        assert!(!offer.outcome(0, 400).is_inferred);
    }
}
