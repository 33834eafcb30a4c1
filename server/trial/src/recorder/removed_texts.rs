//! The texts that were removed last, and where: undo and redo insert them again at the same place.

use std::collections::VecDeque;

use text::Edit;

/// Maximum number of removed texts. Undoing more steps is rare, and its text counts as pasted or typed.
const MAX_TEXTS: usize = 128;
/// Maximum bytes of all removed texts.
const MAX_BYTES: usize = 256 << 10;

/// The texts removed from one document, the latest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemovedTexts {
    texts: VecDeque<RemovedText>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct RemovedText {
    /// Offset of the place in the current text.
    at: usize,
    text: String,
}

impl RemovedTexts {
    /// Returns whether an edit inserts a text where it was removed.
    pub(crate) fn is_restored_by(&self, edit: &Edit) -> bool {
        !edit.text.is_empty()
            && self.texts.iter().any(|removed| removed.at == edit.range.start && removed.text == edit.text)
    }

    /// Follows an edit that removes `removed`.
    pub(crate) fn apply(&mut self, edit: &Edit, removed: &str) {
        let joined = self.join(edit, removed);
        self.texts.iter_mut().for_each(|text| text.shift(edit));
        let Some(joined) = joined else { return };
        // What was removed in one edit also comes back in one.
        if joined != removed {
            self.push(RemovedText { at: edit.range.start, text: removed.to_owned() });
        }
        self.push(RemovedText { at: edit.range.start, text: joined });
    }

    /// Returns the removed text, with the text that was removed before at one of its ends: an editor undoes keys in groups.
    fn join(&mut self, edit: &Edit, removed: &str) -> Option<String> {
        if removed.is_empty() {
            return None;
        }
        let last = self.texts.back().filter(|_| edit.text.is_empty());
        let text = match last {
            Some(last) if last.at == edit.range.end => [removed, &last.text].concat(),
            Some(last) if last.at == edit.range.start => [&last.text, removed].concat(),
            _ => return Some(removed.to_owned()),
        };
        Some(text)
    }

    fn push(&mut self, text: RemovedText) {
        self.bytes += text.text.len();
        self.texts.push_back(text);
        while self.texts.len() > MAX_TEXTS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.texts.pop_front() else { return };
            self.bytes -= oldest.text.len();
        }
    }
}

impl RemovedText {
    fn shift(&mut self, edit: &Edit) {
        if edit.range.end <= self.at && !(edit.range.is_empty() && edit.range.start == self.at) {
            self.at = self.at - edit.range.len() + edit.text.len();
        } else if edit.range.start < self.at {
            self.at = edit.range.start;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    fn edit(range: Range<usize>, text: &str) -> Edit {
        Edit { range, text: text.to_owned() }
    }

    #[test]
    fn text_comes_back_where_it_was_removed() {
        let mut removed = RemovedTexts::default();
        removed.apply(&edit(8..9, ""), "c");
        removed.apply(&edit(7..8, ""), "b");
        removed.apply(&edit(6..7, ""), "a");
        assert!(removed.is_restored_by(&edit(6..6, "abc")), "keys are undone in groups");
        assert!(!removed.is_restored_by(&edit(5..5, "abc")));
        removed.apply(&edit(0..0, "top\n"), "");
        assert!(removed.is_restored_by(&edit(10..10, "abc")));
        removed.apply(&edit(0..12, "x"), "whole");
        assert!(removed.is_restored_by(&edit(0..1, "whole")));
    }

    #[test]
    fn a_word_comes_back_where_another_key_was_removed_before() {
        let mut removed = RemovedTexts::default();
        removed.apply(&edit(4..5, ""), "x");
        removed.apply(&edit(4..4, "or "), "");
        removed.apply(&edit(4..7, ""), "or ");
        assert!(removed.is_restored_by(&edit(4..4, "or ")));
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut removed = RemovedTexts::default();
        for _ in 0..3 * MAX_TEXTS {
            removed.apply(&edit(0..4_000, "-"), &"x".repeat(4_000));
        }
        assert!(removed.texts.len() <= MAX_TEXTS && removed.bytes <= MAX_BYTES);
        removed.apply(&edit(0..MAX_BYTES, "-"), &"x".repeat(MAX_BYTES + 1));
        assert_eq!((removed.texts.len(), removed.bytes), (0, 0));
    }
}
