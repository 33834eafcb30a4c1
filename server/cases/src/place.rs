//! Where a case's truth stands in its file as it is today.
//!
//! Files are edited after a case was recorded. A place is told by the truth itself and the code around it; where the truth was
//! edited, by the lines that stood around it.

use std::cmp::Reverse;
use std::ops::Range;

use crate::{Case, redact};

/// How much of the code before and after the truth is compared, in bytes: some lines.
const WINDOW: usize = 512;
/// A longer truth does not stand in two places by chance.
const TELLING_BYTES: usize = 40;
/// An edited truth may have grown to so many times its length.
const GROWTH: usize = 4;
/// Any mask of a secret holds this.
const MASKED: &str = "xxxx";
const LINE_ENDS: [char; 2] = ['\n', '\r'];

impl Case {
    /// Where the truth stands in `text`, today's text of the case's file. An empty truth stands at its cursor.
    ///
    /// That is the recorded place as long as nothing before it changed. Otherwise it is, of all places where the truth's text stands beside
    /// a line that it stood beside, the one whose surroundings fit best. The text of a long truth is enough. Where that text is
    /// nowhere, it is what stands now between the lines before and after it.
    pub fn place_in(&self, text: &str) -> Option<Range<usize>> {
        let around = Surroundings::new(self.before_truth(), &self.suffix);
        self.find_in(text, &around).or_else(|| {
            // Redacting takes far longer than finding, and moves nothing.
            let is_masked = self.truth.contains(MASKED) || around.before.contains(MASKED);
            is_masked.then(|| self.find_in(&redact(text), &around)).flatten()
        })
    }

    fn find_in(&self, text: &str, around: &Surroundings<'_>) -> Option<Range<usize>> {
        let at = self.byte_range.start;
        if text.get(..at) == Some(self.before_truth()) && text[at..].starts_with(&self.truth) {
            return Some(at..at + self.truth.len());
        }
        // Blanks are everywhere; what tells a place without a text is the line before it.
        let anchor = if self.truth.trim().is_empty() { around.telling_before? } else { "" };
        let anchor = anchor.trim_start_matches(LINE_ENDS);
        let needle = [anchor, &self.truth].concat();
        occurrences(text, &needle)
            .map(|found| found + anchor.len()..found + needle.len())
            .filter(|place| self.truth.len() >= TELLING_BYTES || around.tell(text, place))
            .max_by_key(|place| (around.likeness(text, place), Reverse(place.start.abs_diff(at))))
            .or_else(|| around.edited(text, self.truth.len(), at))
    }

    /// The file before the truth. Behind a complete body the prefix may go on with a fresh line that no file holds.
    fn before_truth(&self) -> &str {
        let parts = self.prefix.split_at_checked(self.byte_range.start);
        parts
            .filter(|(_, fresh_line)| fresh_line.trim().is_empty())
            .map_or(&self.prefix, |(before, _)| before)
    }
}

/// The code around a truth, as far as it is compared.
struct Surroundings<'a> {
    before: &'a str,
    after: &'a str,
    /// The end of `before` from the line end before its last line that tells anything.
    telling_before: Option<&'a str>,
    /// The beginning of `after` up to the line end after its first line that tells anything.
    telling_after: Option<&'a str>,
}

impl<'a> Surroundings<'a> {
    fn new(before: &'a str, after: &'a str) -> Surroundings<'a> {
        let before = &before[before.ceil_char_boundary(before.len().saturating_sub(WINDOW))..];
        let after = &after[..after.floor_char_boundary(WINDOW)];
        let telling_before = before.rfind(char::is_alphanumeric).map(|last| {
            let start = before[..last].rfind(LINE_ENDS).unwrap_or(0);
            &before[start..]
        });
        let telling_after = after.find(char::is_alphanumeric).map(|first| {
            let end = after[first..].find(LINE_ENDS).map_or(after.len(), |end| first + end + 1);
            &after[..end]
        });
        Surroundings { before, after, telling_before, telling_after }
    }

    /// Whether the nearest line that tells anything still stands before `place`, or after it.
    fn tell(&self, text: &str, place: &Range<usize>) -> bool {
        let (before, after) = (&text[..place.start], &text[place.end..]);
        let ends = |line: &str| before.ends_with(line) || line.strip_prefix(LINE_ENDS) == Some(before);
        let starts = |line: &str| after.starts_with(line) || line.strip_suffix(LINE_ENDS) == Some(after);
        self.telling_before.is_some_and(ends) || self.telling_after.is_some_and(starts)
    }

    /// What stands where a truth of `length` bytes at `at` was edited: between the line before it and the line after it, if both still
    /// stand near each other.
    fn edited(&self, text: &str, length: usize, at: usize) -> Option<Range<usize>> {
        let (before, after) = (self.telling_before?, self.telling_after?);
        let place = |found: usize| {
            let start = found + before.len();
            let end = text.floor_char_boundary(start + GROWTH * length + after.len());
            let length = text.get(start..end)?.find(after)?;
            (length > 0).then_some(start..start + length)
        };
        occurrences(text, before).filter_map(place).min_by_key(|place| place.start.abs_diff(at))
    }

    /// Bytes around `place` that are as they were.
    fn likeness(&self, text: &str, place: &Range<usize>) -> usize {
        let same = |(a, b): &(u8, u8)| a == b;
        let before = text[..place.start].bytes().rev().zip(self.before.bytes().rev()).take_while(same);
        let after = text[place.end..].bytes().zip(self.after.bytes()).take_while(same);
        before.count() + after.count()
    }
}

/// Where `needle` begins in `text`; occurrences may overlap.
fn occurrences<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    let next = move |from: usize| text.get(from..)?.find(needle).map(|found| from + found);
    std::iter::successors(next(0), move |&found| next(text.ceil_char_boundary(found + 1)))
}

#[cfg(test)]
mod tests;
