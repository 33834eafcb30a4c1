//! The region of an opportunity: the text written at its cursor since, with the provenance of every part.
//!
//! ```text
//! before the request   ...prefix|suffix...
//! now                  ...pre REGION fix...     lost prefix "fix", lost suffix "suf"
//! ```
//!
//! A region grows by each edit that touches it. The text that such an edit removes around it is kept, so the region always knows
//! the difference between the text at the request and the current one. It must never contain text from before the request.

use std::ops::Range;
use std::sync::Arc;

use cases::Provenance;
use text::{Document, Edit};

/// Maximum bytes of a region and of the removed text around it: several times the longest truth. Beyond that it is another text.
const MAX_BYTES: usize = 64 << 10;

/// Number of spans from which on typed text is joined.
const MAX_SPANS: usize = 64;
/// Number of the last edits whose origin may still be corrected.
const MAX_RECENT_EDITS: u64 = 64;

/// How a piece of text came into the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditOrigin {
    /// The provenance.
    pub(crate) provenance: Provenance,
    /// Number of the edit.
    pub(crate) edit: u64,
    /// The arm whose text was accepted.
    pub(crate) arm: Option<Arc<str>>,
}

/// A part of a region with one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    len: usize,
    origin: EditOrigin,
}

/// What an edit did to a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EditEffect {
    /// Nothing but a shift.
    Moved,
    /// It changed the region.
    Changed,
    /// The region is not tracked any more: it is too large.
    Lost,
}

/// The text at the cursor of an opportunity, written since its request.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    range: Range<usize>,
    spans: Vec<Span>,
    lost_prefix: String,
    lost_suffix: String,
    /// Whether text added at one of the ends stays outside: it belongs to a later thought.
    has_fixed_ends: bool,
    /// What the last edits deleted here, if nothing else was edited since.
    deleted: Option<DeletedText>,
}

/// A text deleted in and around a region, which may come back as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DeletedText {
    at: usize,
    text: String,
    /// Bytes of it that were before the region, and behind it.
    before: usize,
    after: usize,
}

/// The text that was written at a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenText {
    /// Its range in the document.
    pub(crate) range: Range<usize>,
    /// Text before the cursor that the developer removed. Then no insertion at the cursor gives the current text.
    pub(crate) removed_before: String,
    /// Text after the cursor that the developer removed.
    pub(crate) removed_after: String,
}

impl Region {
    /// Creates the empty region at a cursor.
    pub(crate) fn new(cursor: usize) -> Region {
        Region {
            range: cursor..cursor,
            spans: Vec::new(),
            lost_prefix: String::new(),
            lost_suffix: String::new(),
            has_fixed_ends: false,
            deleted: None,
        }
    }

    /// Creates the region of a text that was written earlier and is now at `range`. It still grows at its ends.
    pub(crate) fn restored(range: Range<usize>, spans: &[(usize, Provenance, Option<Arc<str>>)]) -> Region {
        let span = |(len, provenance, arm): &(usize, Provenance, Option<Arc<str>>)| Span {
            len: *len,
            origin: EditOrigin { provenance: *provenance, edit: 0, arm: arm.clone() },
        };
        let spans: Vec<Span> = spans.iter().map(span).filter(|span| span.len > 0).collect();
        debug_assert_eq!(spans.iter().map(|span| span.len).sum::<usize>(), range.len());
        let start = range.start;
        Region { spans, range, ..Region::new(start) }
    }

    /// Returns its range in the document.
    pub(crate) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// From now on, text added at one of its ends stays outside.
    pub(crate) fn fix_ends(&mut self) {
        self.has_fixed_ends = true;
    }

    /// Returns the number of bytes that the region keeps in memory.
    pub(crate) fn bytes(&self) -> usize {
        let deleted = self.deleted.as_ref().map_or(0, |deleted| deleted.text.len());
        self.spans.len() * size_of::<Span>() + self.lost_prefix.len() + self.lost_suffix.len() + deleted
    }

    /// Returns whether an edit changes the region or one of its ends.
    pub(crate) fn is_touched_by(&self, edit: &Edit) -> bool {
        let Range { start, end } = self.range;
        if self.has_fixed_ends && edit.range.is_empty() {
            return start < edit.range.start && edit.range.start < end;
        }
        if self.has_fixed_ends {
            return edit.range.start < end && start < edit.range.end;
        }
        edit.range.start <= end && start <= edit.range.end
    }

    /// Follows an edit of `before`, the text before it. The edit must be trimmed.
    pub(crate) fn apply(&mut self, before: &Document, edit: &Edit, origin: &EditOrigin) -> EditEffect {
        let deleted = self.deleted.take();
        if !self.is_touched_by(edit) {
            self.shift(edit);
            return EditEffect::Moved;
        }
        let Range { start, end } = self.range;
        let text = |range: Range<usize>| before.slice(range).unwrap_or_default();
        if edit.range.start < start {
            self.lost_prefix.insert_str(0, &text(edit.range.start..start));
        }
        if edit.range.end > end {
            self.lost_suffix.push_str(&text(end..edit.range.end));
        }
        let inner = edit.range.start.clamp(start, end) - start..edit.range.end.clamp(start, end) - start;
        self.splice(inner, edit.text.len(), origin);
        let new_start = start.min(edit.range.start);
        let removed_inside = end.min(edit.range.end).saturating_sub(start.max(edit.range.start));
        self.range = new_start..new_start + (end - start) - removed_inside + edit.text.len();
        match deleted {
            _ if edit.text.is_empty() => {
                let now = DeletedText {
                    at: edit.range.start,
                    text: text(edit.range.clone()).into_owned(),
                    before: start.saturating_sub(edit.range.start),
                    after: edit.range.end.saturating_sub(end),
                };
                self.deleted = Some(now.joined_with(deleted));
            }
            Some(deleted) if deleted.is_restored_by(edit) => self.give_back(&deleted),
            _ => {}
        }
        self.effect()
    }

    /// A text that was deleted came back: what was outside of the region is outside again.
    fn give_back(&mut self, restored: &DeletedText) {
        let DeletedText { before, after, .. } = *restored;
        let prefix = self.lost_prefix.get(before..).map(str::to_owned);
        let suffix = self.lost_suffix.len().checked_sub(after);
        let inner = self.range.len().checked_sub(before + after);
        let (Some(prefix), Some(suffix), Some(inner)) = (prefix, suffix, inner) else { return };
        self.lost_prefix = prefix;
        self.lost_suffix.truncate(suffix);
        self.cut_spans(before, inner);
        self.range = self.range.start + before..self.range.end - after;
    }

    /// Follows an edit of a formatter, which changes the region only between its ends. Text around it stays outside.
    pub(crate) fn apply_format(&mut self, edit: &Edit, origin: &EditOrigin) -> EditEffect {
        self.deleted = None;
        let Range { start, end } = self.range;
        let is_outside = edit.range.end <= start || edit.range.start >= end;
        if is_outside {
            // At an end, new blanks and brackets belong to the code around.
            self.shift_outside(edit);
            return EditEffect::Moved;
        }
        let inside = edit.range.start.max(start)..edit.range.end.min(end);
        let removed_before = start.saturating_sub(edit.range.start);
        self.splice(inside.start - start..inside.end - start, edit.text.len(), origin);
        let start = start - removed_before;
        self.range = start..start + (end - self.range.start) - inside.len() + edit.text.len();
        self.effect()
    }

    fn effect(&self) -> EditEffect {
        let is_too_large = [self.range.len(), self.lost_prefix.len(), self.lost_suffix.len()]
            .into_iter()
            .any(|len| len > MAX_BYTES);
        if is_too_large { EditEffect::Lost } else { EditEffect::Changed }
    }

    fn shift(&mut self, edit: &Edit) {
        let is_before =
            edit.range.end <= self.range.start && !(edit.range.is_empty() && self.stays_before(edit));
        if is_before {
            self.shift_by(edit);
        }
    }

    /// An insertion at both ends of an empty region goes behind it.
    fn stays_before(&self, edit: &Edit) -> bool {
        self.range.is_empty() && edit.range.start == self.range.start
    }

    fn shift_outside(&mut self, edit: &Edit) {
        if edit.range.end <= self.range.start {
            self.shift_by(edit);
        }
    }

    fn shift_by(&mut self, edit: &Edit) {
        let shifted = |offset: usize| offset - edit.range.len() + edit.text.len();
        self.range = shifted(self.range.start)..shifted(self.range.end);
    }

    /// Replaces the spans of `removed`, relative to the start of the region.
    fn splice(&mut self, removed: Range<usize>, inserted: usize, origin: &EditOrigin) {
        let mut spans: Vec<Span> = Vec::with_capacity(self.spans.len() + 2);
        let mut push = |len: usize, origin: &EditOrigin| match spans.last_mut() {
            _ if len == 0 => {}
            Some(last) if last.origin == *origin => last.len += len,
            _ => spans.push(Span { len, origin: origin.clone() }),
        };
        let mut at = 0;
        let mut is_inserted = false;
        for span in &self.spans {
            let range = at..at + span.len;
            at = range.end;
            push(range.end.min(removed.start).saturating_sub(range.start), &span.origin);
            if range.end >= removed.start && !is_inserted {
                push(inserted, origin);
                is_inserted = true;
            }
            push(range.end.saturating_sub(range.start.max(removed.end)), &span.origin);
        }
        if !is_inserted {
            push(inserted, origin);
        }
        self.spans = spans;
        if self.spans.len() > MAX_SPANS {
            self.join_typed(origin.edit.saturating_sub(MAX_RECENT_EDITS));
        }
    }

    /// Joins text that was typed before an edit.
    fn join_typed(&mut self, edit: u64) {
        for span in self.spans.iter_mut().filter(|span| span.origin.provenance == Provenance::Typed) {
            span.origin.edit = if span.origin.edit < edit { 0 } else { span.origin.edit };
        }
        self.spans.dedup_by(|next, kept| {
            let is_same = next.origin == kept.origin;
            kept.len += if is_same { next.len } else { 0 };
            is_same
        });
    }

    /// Ends the region at `end`, an offset of the document within it: the text behind belongs to other regions.
    pub(crate) fn truncate(&mut self, end: usize) {
        if end >= self.range.end || end < self.range.start {
            return;
        }
        self.cut_spans(0, end - self.range.start);
        self.range.end = end;
        self.lost_suffix.clear();
        self.deleted = None;
    }

    /// Keeps the spans of `len` bytes after the first `start` bytes.
    fn cut_spans(&mut self, start: usize, len: usize) {
        let (mut skipped, mut left) = (start, len);
        self.spans.retain_mut(|span| {
            let outside = span.len.min(skipped);
            skipped -= outside;
            span.len = (span.len - outside).min(left);
            left -= span.len;
            span.len > 0
        });
    }

    /// Gives the text of these edits another origin.
    pub(crate) fn relabel(
        &mut self,
        edits: &Range<u64>,
        provenance: Provenance,
        arm: Option<&Arc<str>>,
    ) -> bool {
        let relabelled = self.spans.iter_mut().filter(|span| edits.contains(&span.origin.edit));
        relabelled
            .map(|span| {
                span.origin.provenance = provenance;
                span.origin.arm = arm.cloned();
            })
            .count()
            > 0
    }

    /// Returns the text that was written at the cursor, in the current `text` of the document.
    pub(crate) fn written(&self, text: &Document) -> Option<WrittenText> {
        let region = text.slice(self.range.clone())?;
        if !region.starts_with(&self.lost_prefix) {
            let kept = common_prefix(&region, &self.lost_prefix);
            return Some(WrittenText {
                range: self.range.clone(),
                removed_before: self.lost_prefix[kept..].to_owned(),
                removed_after: self.lost_suffix.clone(),
            });
        }
        let written = &region[self.lost_prefix.len()..];
        let kept = common_suffix(written, &self.lost_suffix);
        Some(WrittenText {
            range: self.range.start + self.lost_prefix.len()..self.range.end - kept,
            removed_before: String::new(),
            removed_after: self.lost_suffix[..self.lost_suffix.len() - kept].to_owned(),
        })
    }

    /// Returns the origins of the text in `range` of the document, in order and without gaps, as ranges relative to its start.
    pub(crate) fn origins(&self, range: &Range<usize>) -> Vec<(Range<usize>, &EditOrigin)> {
        let mut at = self.range.start;
        let mut origins: Vec<(Range<usize>, &EditOrigin)> = Vec::new();
        for span in &self.spans {
            let part = at.max(range.start)..(at + span.len).min(range.end);
            at += span.len;
            if part.start < part.end {
                origins.push((part.start - range.start..part.end - range.start, &span.origin));
            }
        }
        origins
    }
}

impl DeletedText {
    /// Whether an edit inserts the text again. One character is rather a new key.
    fn is_restored_by(&self, edit: &Edit) -> bool {
        edit.range.is_empty()
            && edit.range.start == self.at
            && edit.text == self.text
            && self.text.chars().nth(1).is_some()
    }

    /// Returns the text that this deletion and an earlier one next to it deleted: editors undo keys in groups.
    fn joined_with(self, earlier: Option<DeletedText>) -> DeletedText {
        let Some(earlier) = earlier else { return self };
        let text = match earlier.at {
            at if at == self.at + self.text.len() => [&*self.text, &earlier.text].concat(),
            at if at == self.at => [&*earlier.text, &self.text].concat(),
            _ => return self,
        };
        let (before, after) = (self.before + earlier.before, self.after + earlier.after);
        DeletedText { at: self.at, text, before, after }
    }
}

fn common_prefix(a: &str, b: &str) -> usize {
    a.char_indices().zip(b.chars()).find(|((_, a), b)| a != b).map_or(a.len().min(b.len()), |((at, _), _)| at)
}

/// Returns the length of the common end of two texts, in bytes.
fn common_suffix(a: &str, b: &str) -> usize {
    a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}
