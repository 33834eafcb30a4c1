//! Ranges in an open document that follow its edits: recorded cases, and suggestions that were shown or accepted.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use cases::Exposure;
use replay::RecordedCase;
use text::{Anchor, Bias, Document as Rope, Edit, PositionEncoding};
use tower_lsp_server::gen_lsp_types as lsp;

use crate::documents::OpenDocument;
use crate::to_proto;

/// Maximum number of suggestions per document: the last hour of fast typing.
const MAX_SUGGESTIONS: usize = 1000;

/// The tracked ranges of one document.
pub(crate) struct TrackedRanges {
    rope: Rope,
    revision: u64,
    /// Ranges of the cases, by their ids.
    cases: HashMap<String, TrackedRange>,
    /// The revision in which a case was last checked, and whether it was edited then.
    checked: HashMap<String, (u64, bool)>,
    suggestions: VecDeque<SuggestionExposure>,
}

/// Location of a case.
#[derive(Clone, Copy)]
pub(crate) struct CaseLocation {
    /// In the editor's encoding.
    pub(crate) range: lsp::Range,
    /// Whether the text there differs from the recorded text.
    pub(crate) is_edited: bool,
}

/// A case to check, and its tracked range, if there is one.
pub(crate) type CaseLookup<'a> = (&'a RecordedCase, Option<Range<usize>>);

/// Where a case was found in a text.
pub(crate) struct CaseMatch {
    /// In bytes.
    pub(crate) range: Range<usize>,
    /// Whether the text there differs from the recorded text.
    pub(crate) is_edited: bool,
}

/// Version of a document's text.
pub(crate) struct TextVersion {
    rope: Rope,
    revision: u64,
}

/// A suggestion and its range.
struct SuggestionExposure {
    span: TrackedRange,
    engine: String,
    exposure: Exposure,
}

impl TrackedRanges {
    /// For a document whose text was set by message `revision`.
    pub(crate) fn new(rope: Rope, revision: u64) -> TrackedRanges {
        TrackedRanges {
            rope,
            revision,
            cases: HashMap::new(),
            checked: HashMap::new(),
            suggestions: VecDeque::new(),
        }
    }

    /// Moves all ranges along with the edits of message `revision`, after which the text is `rope`.
    pub(crate) fn apply_edits(&mut self, edits: &[Edit], rope: &Rope, revision: u64) {
        self.rope = rope.clone();
        self.revision = revision;
        let suggested = self.suggestions.iter_mut().map(|exposed| &mut exposed.span);
        for span in self.cases.values_mut().chain(suggested) {
            edits.iter().for_each(|edit| span.apply_edit(edit));
        }
        // Deleted text may come back.
        self.cases.retain(|_, span| !span.is_deleted());
    }

    /// Returns the current text, and the `cases` that were not checked in it with their tracked ranges.
    pub(crate) fn cases_to_locate<'a>(
        &self,
        cases: &'a [Arc<RecordedCase>],
    ) -> (TextVersion, Vec<CaseLookup<'a>>) {
        let is_new = |case: &&Arc<RecordedCase>| {
            self.checked.get(&case.id).is_none_or(|(revision, _)| *revision != self.revision)
        };
        let wanted = cases
            .iter()
            .filter(is_new)
            .map(|case| (&**case, self.cases.get(&case.id).map(TrackedRange::range)));
        (TextVersion { rope: self.rope.clone(), revision: self.revision }, wanted.collect())
    }

    /// Records the result of checking a case in `then`.
    pub(crate) fn record_match(&mut self, id: &str, found: Option<CaseMatch>, then: &TextVersion) {
        let is_edited = found.as_ref().is_some_and(|found| found.is_edited);
        if let Some(found) = found {
            let range = self.current_range(found.range, then);
            self.cases.insert(id.to_owned(), TrackedRange::new(range));
        }
        self.checked.insert(id.to_owned(), (then.revision, is_edited));
    }

    /// Returns the location of a case in the editor's encoding, and whether its truth was edited.
    pub(crate) fn case_location(&self, id: &str, encoding: PositionEncoding) -> Option<CaseLocation> {
        let range = to_proto::range(&self.rope, self.cases.get(id)?.range(), encoding)?;
        let is_edited = self.checked.get(id).is_some_and(|(_, is_edited)| *is_edited);
        Some(CaseLocation { range, is_edited })
    }

    /// Records a suggestion of `engine`, at a cursor or as accepted text. `range` is a range of `then`.
    pub(crate) fn record_exposure(
        &mut self,
        range: Range<usize>,
        then: &TextVersion,
        engine: &str,
        exposure: Exposure,
    ) {
        if self.suggestions.len() == MAX_SUGGESTIONS {
            self.suggestions.pop_front();
        }
        let span = TrackedRange::new(self.current_range(range, then));
        self.suggestions.push_back(SuggestionExposure { span, engine: engine.to_owned(), exposure });
    }

    /// Returns the exposure of the text in `range` of `then`, and the engine that suggested it: accepted before shown, late
    /// before early.
    pub(crate) fn exposure(&self, range: Range<usize>, then: &TextVersion) -> (Exposure, Option<&str>) {
        let range = self.current_range(range, then);
        let touches = |exposed: &&SuggestionExposure| {
            let span = exposed.span.range();
            span.start <= range.end && range.start <= span.end
        };
        let suggested = self.suggestions.iter().filter(touches).max_by_key(|exposed| exposed.exposure);
        suggested.map_or((Exposure::None, None), |exposed| (exposed.exposure, Some(&*exposed.engine)))
    }

    /// Returns the current position of a range of an earlier text. All changes since then count as one edit.
    fn current_range(&self, range: Range<usize>, then: &TextVersion) -> Range<usize> {
        if then.revision == self.revision {
            return range;
        }
        let mut span = TrackedRange::new(range);
        if let Some(edit) = Edit::between(&then.rope.text(), &self.rope.text()) {
            span.apply_edit(&edit);
        }
        span.range()
    }
}

impl TextVersion {
    /// The version of `document`.
    pub(crate) fn of_document(document: &OpenDocument) -> TextVersion {
        TextVersion { rope: document.rope.clone(), revision: document.revision }
    }

    /// The text.
    pub(crate) fn text(&self) -> String {
        self.rope.text()
    }
}

/// A range of the text that follows edits.
struct TrackedRange {
    start: Anchor,
    end: Anchor,
    was_empty: bool,
}

impl TrackedRange {
    /// A new range. Insertions directly before or after it do not extend it.
    fn new(range: Range<usize>) -> TrackedRange {
        let was_empty = range.is_empty();
        let start = if was_empty { Bias::Left } else { Bias::Right };
        TrackedRange {
            start: Anchor { offset: range.start, bias: start },
            end: Anchor { offset: range.end, bias: Bias::Left },
            was_empty,
        }
    }

    fn apply_edit(&mut self, edit: &Edit) {
        self.start.apply(edit);
        self.end.apply(edit);
    }

    fn range(&self) -> Range<usize> {
        self.start.offset..self.end.offset.max(self.start.offset)
    }

    /// Whether all of the text was deleted.
    fn is_deleted(&self) -> bool {
        !self.was_empty && self.range().is_empty()
    }
}
