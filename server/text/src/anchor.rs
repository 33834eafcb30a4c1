//! Anchors: text positions that are updated with each edit.

use crate::Edit;

/// Side on which an anchor stays when text is inserted at its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bias {
    /// Stays before the inserted text.
    Left,
    /// Moves behind the inserted text.
    Right,
}

/// Position in a text that is updated with each edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// Offset in UTF-8 bytes of the current text.
    pub offset: usize,
    /// Side on which the anchor stays when text is inserted at its offset.
    pub bias: Bias,
}

impl Anchor {
    /// Updates the anchor for an edit of its text.
    ///
    /// Removing text before the anchor moves it forward. If the text around it is replaced, it moves to the start or the end of the
    /// new text, depending on its bias.
    pub fn apply(&mut self, edit: &Edit) {
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
