//! The edits of an open document, and the ranges that follow them: recorded cases, and suggestions that were shown or accepted.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use cases::Exposure;
use text::{Document as Rope, EditLog, Position, PositionEncoding, Revision, TrackedRange};

use crate::rejected_suggestions::RejectedSuggestions;

/// Maximum number of suggestions per document: the last hour of fast typing.
const MAX_SUGGESTIONS: usize = 1000;

/// The current text of one document, its edits and its tracked ranges.
pub struct TrackedRanges {
    rope: Rope,
    log: EditLog,
    /// Ranges of the cases, by their ids.
    cases: HashMap<String, TrackedRange>,
    /// The revision in which a case was last checked, and whether it was edited then.
    checked: HashMap<String, (u64, bool)>,
    suggestions: VecDeque<SuggestionExposure>,
    rejected: RejectedSuggestions,
}

/// Location of a case in the current text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseLocation {
    /// In the given encoding.
    pub range: Range<Position>,
    /// Whether the text there differs from the recorded text.
    pub is_edited: bool,
}

/// Where a case was found in a text.
pub struct CaseMatch {
    /// In bytes.
    pub range: Range<usize>,
    /// Whether the text there differs from the recorded text.
    pub is_edited: bool,
}

/// A suggestion and its range.
struct SuggestionExposure {
    span: TrackedRange,
    engine: String,
    exposure: Exposure,
}

impl TrackedRanges {
    /// For a document whose text was set by `revision`.
    pub(crate) fn new(rope: Rope, revision: u64) -> TrackedRanges {
        TrackedRanges {
            rope,
            log: EditLog::new(revision),
            cases: HashMap::new(),
            checked: HashMap::new(),
            suggestions: VecDeque::new(),
            rejected: RejectedSuggestions::default(),
        }
    }

    /// Adds a revision, after which the text is `rope`, and moves all ranges along.
    pub(crate) fn push(&mut self, revision: Revision, rope: &Rope) {
        self.rope = rope.clone();
        self.log.push(revision);
        let (log, number) = (&self.log, self.log.revision());
        self.suggestions.retain_mut(|exposed| log.follow(&mut exposed.span, number).is_some());
        self.rejected.follow_edits(log);
        // Deleted text may come back, and is then searched again.
        self.cases.retain(|_, span| log.follow(span, number).is_some() && !span.is_deleted());
    }

    /// Returns the edits of the document.
    pub fn log(&self) -> &EditLog {
        &self.log
    }

    /// Returns the current text.
    pub fn text(&self) -> &Rope {
        &self.rope
    }

    /// Returns whether a case was checked in the current text.
    pub fn is_checked(&self, id: &str) -> bool {
        self.checked.get(id).is_some_and(|(revision, _)| *revision == self.log.revision())
    }

    /// Returns the tracked range of a case, if there is one.
    pub fn case_range(&self, id: &str) -> Option<Range<usize>> {
        self.cases.get(id).map(TrackedRange::range)
    }

    /// Records the result of checking a case in the text of `revision`.
    pub fn record_match(&mut self, id: &str, found: Option<CaseMatch>, revision: u64) {
        let is_edited = found.as_ref().is_some_and(|found| found.is_edited);
        if let Some(span) = found.and_then(|found| self.current(found.range, revision)) {
            self.cases.insert(id.to_owned(), span);
        }
        self.checked.insert(id.to_owned(), (revision, is_edited));
    }

    /// Returns the location of a case, and whether its truth was edited.
    pub fn case_location(&self, id: &str, encoding: PositionEncoding) -> Option<CaseLocation> {
        let range = self.case_range(id)?;
        let position = |offset| self.rope.position(offset, encoding);
        let is_edited = self.checked.get(id).is_some_and(|(_, is_edited)| *is_edited);
        Some(CaseLocation { range: position(range.start)?..position(range.end)?, is_edited })
    }

    /// Counts rejections of a suggestion whose text begins at `start` in the text of `revision`.
    pub(crate) fn record_rejection(&mut self, start: usize, revision: u64, text: &str, times: usize) {
        let Some(cursor) = self.current(start..start, revision) else { return };
        let Some(line) = self.line_with(cursor.range().start, text) else { return };
        let (rope, at) = (&self.rope, cursor.range().start);
        self.rejected.add(cursor, line, times, |other| is_same_line(rope, at, other));
    }

    /// Returns whether a suggestion whose text begins at `start` in the current text was rejected there often enough to be withheld.
    pub fn is_rejected(&self, start: usize, text: &str) -> bool {
        let Some(line) = self.line_with(start, text) else { return false };
        self.rejected.withholds(&line, |other| is_same_line(&self.rope, start, other))
    }

    /// Returns the text of the line before `start`, and `text`.
    fn line_with(&self, start: usize, text: &str) -> Option<String> {
        let before = self.rope.slice(line_start(&self.rope, start)?..start)?;
        Some(before.into_owned() + text)
    }

    /// Records a suggestion of `engine`, at a cursor or as accepted text. `range` is a range of the text of `revision`.
    pub(crate) fn record_exposure(
        &mut self,
        range: Range<usize>,
        revision: u64,
        engine: &str,
        exposure: Exposure,
    ) {
        let Some(span) = self.current(range, revision) else { return };
        if self.suggestions.len() == MAX_SUGGESTIONS {
            self.suggestions.pop_front();
        }
        self.suggestions.push_back(SuggestionExposure { span, engine: engine.to_owned(), exposure });
    }

    /// Returns the exposure of the text in `range` of `revision`, and the engine that suggested it: accepted before shown, late
    /// before early.
    pub fn exposure(&self, range: Range<usize>, revision: u64) -> (Exposure, Option<&str>) {
        let Some(range) = self.current(range, revision).map(|span| span.range()) else {
            return (Exposure::None, None);
        };
        let suggested = self
            .suggestions
            .iter()
            .filter(|exposed| {
                let span = exposed.span.range();
                span.start <= range.end && range.start <= span.end
            })
            .max_by_key(|exposed| exposed.exposure);
        suggested.map_or((Exposure::None, None), |exposed| (exposed.exposure, Some(&*exposed.engine)))
    }

    /// Returns a range of the text of `revision` in the current text; `None` if an edit since then is forgotten.
    fn current(&self, range: Range<usize>, revision: u64) -> Option<TrackedRange> {
        let mut span = TrackedRange::exclusive(range, revision);
        self.log.follow(&mut span, self.log.revision())?;
        Some(span)
    }
}

/// Returns the start of the line of a position.
fn line_start(rope: &Rope, offset: usize) -> Option<usize> {
    let position = rope.position(offset, PositionEncoding::Utf8)?;
    rope.offset(Position { character: 0, ..position }, PositionEncoding::Utf8)
}

fn is_same_line(rope: &Rope, one: usize, other: usize) -> bool {
    let line = line_start(rope, one);
    line.is_some() && line == line_start(rope, other)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use text::Edit;

    use super::*;

    fn push(ranges: &mut TrackedRanges, number: u64, range: Range<usize>, text: &str) {
        let (mut rope, edit) = (ranges.rope.clone(), Edit { range, text: text.to_owned() });
        rope.apply(&edit).expect("it fits");
        ranges.push(Revision { number, time: Instant::now(), edits: vec![edit] }, &rope);
    }

    /// One diff of both texts would put the range of an earlier revision between the two edits.
    #[test]
    fn a_range_of_an_earlier_revision_follows_every_edit_since() {
        let mut ranges = TrackedRanges::new(Rope::new("a = 1\nb = 2\nc = 3\n"), 1);
        push(&mut ranges, 2, 0..0, "# é\r\n");
        push(&mut ranges, 3, 24..24, "# end\n");
        let line = 6..11;
        ranges.record_exposure(line.clone(), 1, "shown", Exposure::Accepted);
        ranges.record_match("case", Some(CaseMatch { range: line, is_edited: false }), 1);
        let now = ranges.case_range("case").expect("it is tracked");
        assert_eq!(ranges.rope.slice(now.clone()).as_deref(), Some("b = 2"));
        assert_eq!(ranges.exposure(now, 3), (Exposure::Accepted, Some("shown")));
        assert_eq!(ranges.exposure(0..1, 3), (Exposure::None, None));
        assert!(!ranges.is_checked("case"), "it was checked in an earlier text");
    }

    #[test]
    fn a_deleted_case_is_not_tracked_any_more() {
        let mut ranges = TrackedRanges::new(Rope::new("a = 1\nb = 2\n"), 1);
        ranges.record_match("case", Some(CaseMatch { range: 6..11, is_edited: false }), 1);
        push(&mut ranges, 2, 5..12, "");
        assert_eq!(ranges.case_range("case"), None);
    }
}
