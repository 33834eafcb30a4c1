//! Lone surrogates in a document: text of an editor that UTF-8 cannot encode.
//!
//! JavaScript counts and edits UTF-16, so an editor may insert the two halves of a character in separate changes, or replace one
//! of them. Each half is U+FFFD in our text, which has the same length in UTF-16; its offset and original surrogate are stored
//! here, and two halves that become adjacent are joined to the character. Performs no IO.

use serde::Deserialize;
use text::Edit;

/// Replacement of a lone surrogate.
pub(crate) const REPLACEMENT: char = '\u{fffd}';
const REPLACEMENT_BYTES: usize = REPLACEMENT.len_utf8();

/// The lone surrogates of a text: byte offsets of U+FFFD, ascending, with the original surrogate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct LoneSurrogates(Vec<(usize, u16)>);

impl LoneSurrogates {
    /// The two halves of `character` at byte `at`; `None` if it is a single UTF-16 unit.
    pub(crate) fn from_char(character: char, at: usize) -> Option<LoneSurrogates> {
        match *character.encode_utf16(&mut [0; 2]) {
            [first, second] => Some(LoneSurrogates(vec![(at, first), (at + REPLACEMENT_BYTES, second)])),
            _ => None,
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns these surrogates if they are valid for `text`, otherwise none.
    pub(crate) fn validated(self, text: &str) -> LoneSurrogates {
        let is_ascending = self.0.is_sorted_by(|one, other| one.0 < other.0);
        if is_ascending
            && self.0.iter().all(|&(at, surrogate)| {
                let replaced = text.get(at..).is_some_and(|rest| rest.starts_with(REPLACEMENT));
                replaced && (0xD800..0xE000).contains(&surrogate)
            })
        {
            self
        } else {
            LoneSurrogates::default()
        }
    }

    /// Joins adjacent halves to characters; returns the text and the remaining surrogates.
    pub(crate) fn joined(self, text: String) -> (String, LoneSurrogates) {
        if self.0.is_empty() {
            return (text, self);
        }
        let mut joined = String::with_capacity(text.len());
        let mut left = Vec::new();
        let (mut copied, mut halves) = (0, self.0.into_iter().peekable());
        while let Some(half) = halves.next() {
            joined.push_str(&text[copied..half.0]);
            copied = half.0 + REPLACEMENT_BYTES;
            if let Some(character) = halves.peek().and_then(|&other| character(half, other)) {
                joined.push(character);
                copied += REPLACEMENT_BYTES;
                halves.next();
            } else {
                left.push((joined.len(), half.1));
                joined.push(REPLACEMENT);
            }
        }
        joined.push_str(&text[copied..]);
        (joined, LoneSurrogates(left))
    }

    /// Returns the edit that joins the halves on both sides of byte `at`.
    pub(crate) fn join_at(&self, at: usize) -> Option<Edit> {
        let second = self.0.binary_search_by_key(&at, |half| half.0).ok()?;
        let first = second.checked_sub(1)?;
        let character = character(self.0[first], self.0[second])?;
        let range = at - REPLACEMENT_BYTES..at + REPLACEMENT_BYTES;
        Some(Edit { range, text: character.into() })
    }

    /// Applies an edit whose text has the lone surrogates `new`.
    pub(crate) fn apply_edit(&mut self, edit: &Edit, new: LoneSurrogates) {
        let first = self.0.partition_point(|half| half.0 < edit.range.start);
        let behind = self.0.partition_point(|half| half.0 < edit.range.end);
        for half in &mut self.0[behind..] {
            half.0 = half.0 - edit.range.len() + edit.text.len();
        }
        let new = new.0.into_iter().map(|(at, surrogate)| (edit.range.start + at, surrogate));
        self.0.splice(first..behind, new);
    }
}

/// The character of two adjacent halves.
fn character(first: (usize, u16), second: (usize, u16)) -> Option<char> {
    let are_neighbours = first.0 + REPLACEMENT_BYTES == second.0;
    char::decode_utf16([first.1, second.1]).next().filter(|_| are_neighbours)?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_surrogates_join_into_a_character() {
        let (text, left) = LoneSurrogates(vec![(1, 0xD83D), (4, 0xDE00), (8, 0xDE00), (11, 0xD83D)])
            .joined("a\u{fffd}\u{fffd}b\u{fffd}\u{fffd}c".to_owned());
        assert_eq!(text, "a😀b\u{fffd}\u{fffd}c");
        assert_eq!(left, LoneSurrogates(vec![(6, 0xDE00), (9, 0xD83D)]));
    }

    #[test]
    fn surrogate_lists_that_do_not_match_the_text_are_dropped() {
        let text = "a\u{fffd}b";
        let checked = |halves: &[(usize, u16)]| LoneSurrogates(halves.to_vec()).validated(text).0;
        assert_eq!(checked(&[(1, 0xD800)]), [(1, 0xD800)]);
        for wrong in
            [&[(0, 0xD800)][..], &[(2, 0xD800)], &[(1, 0x41)], &[(1, 0xD800), (1, 0xD800)], &[(9, 0xD800)]]
        {
            assert_eq!(checked(wrong), []);
        }
    }
}
