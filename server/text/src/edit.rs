//! Edits: one range of a text replaced by another text.

use std::ops::Range;

/// The replacement of one range of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is removed: half-open, UTF-8 bytes of the text before the edit.
    pub range: Range<usize>,
    /// What is put in its place.
    pub text: String,
}

impl Edit {
    /// Where the new text stands after the edit.
    pub fn inserted(&self) -> Range<usize> {
        self.range.start..self.range.start + self.text.len()
    }
}
