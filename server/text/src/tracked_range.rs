//! Ranges of a text that follow its edits.

use std::ops::Range;

use crate::Edit;

/// A range of one revision of a text. [`EditLog`](crate::EditLog) moves it to later revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedRange {
    start: Anchor,
    end: Anchor,
    had_text: bool,
    pub(crate) revision: u64,
}

/// A position that is updated with each edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Anchor {
    /// Offset in UTF-8 bytes of the current text.
    offset: usize,
    bias: Bias,
}

/// Side on which an anchor stays when text is inserted at its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bias {
    /// Stays before the inserted text.
    Left,
    /// Moves behind the inserted text.
    Right,
}

impl TrackedRange {
    /// Creates a range of the text of `revision`. Text inserted at one of its ends stays outside; an empty range stays before it.
    pub fn exclusive(range: Range<usize>, revision: u64) -> TrackedRange {
        let start = if range.is_empty() { Bias::Left } else { Bias::Right };
        TrackedRange::new(range, start, Bias::Left, revision)
    }

    /// Creates a range of the text of `revision`. Text inserted at one of its ends becomes a part of it.
    pub fn inclusive(range: Range<usize>, revision: u64) -> TrackedRange {
        TrackedRange::new(range, Bias::Left, Bias::Right, revision)
    }

    fn new(range: Range<usize>, start: Bias, end: Bias, revision: u64) -> TrackedRange {
        TrackedRange {
            had_text: !range.is_empty(),
            start: Anchor { offset: range.start, bias: start },
            end: Anchor { offset: range.end, bias: end },
            revision,
        }
    }

    /// From now on, text inserted at one of its ends stays outside.
    pub fn exclude_ends(&mut self) {
        (self.start.bias, self.end.bias) = (Bias::Right, Bias::Left);
    }

    /// Moves the range along with an edit of its text.
    pub fn apply(&mut self, edit: &Edit) {
        self.start.apply(edit);
        self.end.apply(edit);
    }

    /// Returns the current range: half-open, in UTF-8 bytes.
    pub fn range(&self) -> Range<usize> {
        self.start.offset..self.end.offset.max(self.start.offset)
    }

    /// Returns whether `other` is in the range; both ends of the range count as inside.
    pub fn contains(&self, other: &Range<usize>) -> bool {
        self.start.offset <= other.start && other.end <= self.end.offset
    }

    /// Returns whether the range had text that was deleted since. Deleted text does not come back.
    pub fn is_deleted(&self) -> bool {
        self.had_text && self.range().is_empty()
    }
}

impl Anchor {
    /// Removing text before the anchor moves it forward. If the text around it is replaced, it moves to the start or the end of the
    /// new text, depending on its bias.
    fn apply(&mut self, edit: &Edit) {
        let removed = &edit.range;
        if self.offset < removed.start {
            return;
        }
        if self.offset > removed.end {
            self.offset = self.offset - removed.len() + edit.text.len();
            return;
        }
        self.offset = self.offset_within_edit(edit);
    }

    /// Returns the offset after `edit` for an anchor within the removed range or at one of its ends.
    fn offset_within_edit(self, edit: &Edit) -> usize {
        let (before, after) = (edit.range.start, edit.inserted_range().end);
        let is_pure_insertion = edit.range.is_empty();
        match self.bias {
            _ if !is_pure_insertion && self.offset == edit.range.start => before,
            _ if !is_pure_insertion && self.offset == edit.range.end => after,
            Bias::Left => before,
            Bias::Right => after,
        }
    }
}
