//! Finds a case's truth in the current version of its file.
//!
//! Files are edited after a case was recorded. The truth is located by its own text and the surrounding code; if the truth was
//! edited, by the surrounding lines. If that fails, the search is repeated on text without indentation, trailing blanks and
//! differences between line ends, because files are formatted and converted. If a secret in the case was masked, secrets in the
//! current file are masked too.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::ops::Range;

use secrets::redact;

use crate::Case;

mod normalized_text;

use normalized_text::NormalizedText;

/// Bytes of code compared before and after the truth: some lines.
const WINDOW_BYTES: usize = 512;
/// A truth of at least this many bytes does not occur twice by chance.
const DISTINCTIVE_BYTES: usize = 40;
/// Maximum growth of an edited truth, as a factor of its length.
const MAX_GROWTH: usize = 4;
/// Every mask of a secret contains this.
const MASKED: &str = "xxxx";
const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// Locates the truth of a case: holds the truth and some lines around it, independent of the file's size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruthLocator {
    before: String,
    truth: String,
    after: String,
    /// Offset of the truth in the recorded file, in bytes.
    at: usize,
    /// Hash of the whole text before the truth, as stored.
    prefix_hash: blake3::Hash,
}

/// The current text of a file, for any number of landmarks. Derived texts that only few landmarks need are computed lazily.
pub struct FileText<'a> {
    text: &'a str,
    normalized: OnceCell<NormalizedText>,
    masked: OnceCell<Cow<'a, str>>,
    masked_normalized: OnceCell<NormalizedText>,
}

impl<'a> FileText<'a> {
    /// Wraps this text.
    pub fn new(text: &'a str) -> FileText<'a> {
        FileText {
            text,
            normalized: OnceCell::new(),
            masked: OnceCell::new(),
            masked_normalized: OnceCell::new(),
        }
    }

    fn normalized(&self) -> &NormalizedText {
        self.normalized.get_or_init(|| NormalizedText::new(self.text))
    }

    /// Returns the text with masked secrets; offsets are unchanged.
    fn masked(&self) -> &str {
        self.masked.get_or_init(|| redact(self.text))
    }

    fn masked_normalized(&self) -> &NormalizedText {
        self.masked_normalized.get_or_init(|| NormalizedText::new(self.masked()))
    }
}

impl Case {
    /// Returns the locator of its truth.
    pub fn truth_locator(&self) -> TruthLocator {
        let before = self.before_truth();
        let window = before.ceil_char_boundary(before.len().saturating_sub(WINDOW_BYTES));
        TruthLocator {
            before: before[window..].to_owned(),
            truth: self.truth.clone(),
            after: self.suffix[..self.suffix.floor_char_boundary(WINDOW_BYTES)].to_owned(),
            at: self.byte_range.start,
            prefix_hash: blake3::hash(before.as_bytes()),
        }
    }

    /// Returns the file before the truth. After a complete body, the prefix may end with a new line that is not in the file.
    fn before_truth(&self) -> &str {
        let parts = self.prefix.split_at_checked(self.byte_range.start);
        parts
            .filter(|(_, fresh_line)| fresh_line.trim().is_empty())
            .map_or(&self.prefix, |(before, _)| before)
    }
}

impl TruthLocator {
    /// Returns the range of the truth in the current text of the case's file. The range of an empty truth is its cursor.
    ///
    /// This is the recorded range if nothing before it changed. Otherwise it is the occurrence of the truth's text with the
    /// most similar surroundings, among those next to a line that was next to it before; a long truth needs no such line. If
    /// the text does not occur, it is the text that is now between the lines before and after it.
    pub fn locate_in(&self, file: &FileText<'_>) -> Option<Range<usize>> {
        let place = self.find_in(file.text).or_else(|| self.find_in_normalized(file.normalized()));
        place.or_else(|| {
            // Masking is much slower than searching, and keeps all offsets.
            let masked = self.is_masked().then(|| file.masked())?;
            self.find_in(masked).or_else(|| self.find_in_normalized(file.masked_normalized()))
        })
    }

    /// Whether the text in `range` of the file differs from the recorded truth. Indentation, trailing blanks and the kind of
    /// line ends are ignored; a masked secret is unchanged if there is still a secret of its length.
    pub fn is_edited(&self, file: &FileText<'_>, range: Range<usize>) -> bool {
        let is_truth = |text: &str| {
            let today = text.get(range.clone()).unwrap_or_default();
            today == self.truth
                || NormalizedText::new(today).text() == NormalizedText::new(&self.truth).text()
        };
        let is_as_recorded = is_truth(file.text) || self.truth.contains(MASKED) && is_truth(file.masked());
        !is_as_recorded
    }

    /// Whether the file contains the truth and the lines around it unchanged, except for indentation and line ends. False if
    /// truth and lines are so short that any file could contain them.
    pub fn is_unchanged_in(&self, file: &FileText<'_>) -> bool {
        let recorded = [&*self.before, &self.truth, &self.after].concat();
        // The window begins and ends inside lines.
        let Some((_, lines)) = recorded.split_once('\n') else { return false };
        let lines = if self.at == self.before.len() { &recorded } else { lines };
        let level = NormalizedText::new(lines.rsplit_once('\n').map_or("", |(lines, _)| lines));
        let telling = level.text().split('\n').max_by_key(|line| line.len()).unwrap_or_default();
        level.text().len() >= DISTINCTIVE_BYTES
            && file.text.contains(telling)
            && file.normalized().text().contains(level.text())
    }

    fn is_masked(&self) -> bool {
        [&self.before, &self.truth].iter().any(|text| text.contains(MASKED))
    }

    fn find_in(&self, text: &str) -> Option<Range<usize>> {
        if self.is_at_recorded_offset(text) {
            return Some(self.at..self.at + self.truth.len());
        }
        TruthSurroundings::new(&self.before, &self.after).find_in(text, &self.truth, self.at)
    }

    /// As `find_in`, ignoring indentation.
    fn find_in_normalized(&self, level: &NormalizedText) -> Option<Range<usize>> {
        let recorded = [&*self.before, &self.truth, &self.after].concat();
        let own = NormalizedText::new(&recorded);
        let truth = own.offset(self.before.len())..own.offset(self.before.len() + self.truth.len());
        let around = TruthSurroundings::new(&own.text()[..truth.start], &own.text()[truth.end..]);
        let found = around.find_in(level.text(), &own.text()[truth], level.offset(self.at))?;
        Some(level.original(found.start)..level.original(found.end))
    }

    fn is_at_recorded_offset(&self, text: &str) -> bool {
        let Some((before, rest)) = text.split_at_checked(self.at) else { return false };
        before.ends_with(&self.before)
            && rest.starts_with(&self.truth)
            && blake3::hash(before.as_bytes()) == self.prefix_hash
    }
}

/// The compared code around a truth.
struct TruthSurroundings<'a> {
    before: &'a str,
    after: &'a str,
    /// The end of `before`, from the line end before its last line with a letter or digit.
    distinctive_before: Option<&'a str>,
    /// The beginning of `after`, up to the line end after its first line with a letter or digit.
    distinctive_after: Option<&'a str>,
}

impl<'a> TruthSurroundings<'a> {
    fn new(before: &'a str, after: &'a str) -> TruthSurroundings<'a> {
        let telling_before = before.rfind(char::is_alphanumeric).map(|last| {
            let start = before[..last].rfind(LINE_ENDS).unwrap_or(0);
            &before[start..]
        });
        let telling_after = after.find(char::is_alphanumeric).map(|first| {
            let end = after[first..].find(LINE_ENDS).map_or(after.len(), |end| first + end + 1);
            &after[..end]
        });
        TruthSurroundings {
            before,
            after,
            distinctive_before: telling_before,
            distinctive_after: telling_after,
        }
    }

    /// Returns the range of `truth` in `text` by these surroundings; `at` is its recorded offset.
    fn find_in(&self, text: &str, truth: &str, at: usize) -> Option<Range<usize>> {
        // Blanks occur everywhere, so a truth of blanks is located by the line before it.
        let anchor = if truth.trim().is_empty() { self.distinctive_before? } else { "" };
        let anchor = anchor.trim_start_matches(LINE_ENDS);
        let needle = [anchor, truth].concat();
        occurrences(text, &needle)
            .map(|found| found + anchor.len()..found + needle.len())
            .filter(|place| truth.len() >= DISTINCTIVE_BYTES || self.has_distinctive_neighbor(text, place))
            .max_by_key(|place| (self.similarity(text, place), Reverse(place.start.abs_diff(at))))
            .or_else(|| self.find_edited(text, truth.len(), at))
    }

    /// Whether the nearest line with a letter or digit before or after the truth is still next to `place`.
    fn has_distinctive_neighbor(&self, text: &str, place: &Range<usize>) -> bool {
        let (before, after) = (&text[..place.start], &text[place.end..]);
        self.distinctive_before
            .is_some_and(|line| before.ends_with(line) || line.strip_prefix(LINE_ENDS) == Some(before))
            || self
                .distinctive_after
                .is_some_and(|line| after.starts_with(line) || line.strip_suffix(LINE_ENDS) == Some(after))
    }

    /// Returns the range of an edited truth, recorded with `length` bytes at `at`: the text between the line before it and the
    /// line after it, if these are still near each other.
    fn find_edited(&self, text: &str, length: usize, at: usize) -> Option<Range<usize>> {
        let (before, after) = (self.distinctive_before?, self.distinctive_after?);
        let place = |found: usize| {
            let start = found + before.len();
            let end = text.floor_char_boundary(start + MAX_GROWTH * length + after.len());
            let length = text.get(start..end)?.find(after)?;
            (length > 0).then_some(start..start + length)
        };
        occurrences(text, before).filter_map(place).min_by_key(|place| place.start.abs_diff(at))
    }

    /// Returns the number of unchanged bytes around `place`.
    fn similarity(&self, text: &str, place: &Range<usize>) -> usize {
        let same = |(a, b): &(u8, u8)| a == b;
        let before = text[..place.start].bytes().rev().zip(self.before.bytes().rev()).take_while(same);
        let after = text[place.end..].bytes().zip(self.after.bytes()).take_while(same);
        before.count() + after.count()
    }
}

/// Returns the offsets of `needle` in `text`; occurrences may overlap.
fn occurrences<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    let next = move |from: usize| text.get(from..)?.find(needle).map(|found| from + found);
    std::iter::successors(next(0), move |&found| next(text.ceil_char_boundary(found + 1)))
}

#[cfg(test)]
mod tests;
