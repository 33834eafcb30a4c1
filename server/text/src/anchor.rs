//! Anchors: places in a text that survive its edits.

use crate::Edit;

/// To which side an anchor keeps when text is put in at its very place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bias {
    /// It stays before the new text.
    Left,
    /// It moves behind the new text.
    Right,
}

/// A place in a text that edits elsewhere do not move away from its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// The place, in UTF-8 bytes of the text as it is now.
    pub offset: usize,
    /// The side it keeps to.
    pub bias: Bias,
}

impl Anchor {
    /// Moves the anchor along with an edit of its text.
    ///
    /// Text removed before it pulls it forward. If the text around it is replaced, it goes to the start or the end of the new text, as
    /// its bias says.
    pub fn apply(&mut self, edit: &Edit) {
        let removed = &edit.range;
        if self.offset < removed.start {
            return;
        }
        if self.offset > removed.end {
            self.offset = self.offset - removed.len() + edit.text.len();
            return;
        }
        self.offset = self.place_in(edit);
    }

    /// Where the anchor goes if it stands within the removed range or at one of its ends.
    fn place_in(self, edit: &Edit) -> usize {
        let (before, after) = (edit.range.start, edit.inserted().end);
        let is_pure_insertion = edit.range.is_empty();
        match self.bias {
            _ if !is_pure_insertion && self.offset == edit.range.start => before,
            _ if !is_pure_insertion && self.offset == edit.range.end => after,
            Bias::Left => before,
            Bias::Right => after,
        }
    }
}
