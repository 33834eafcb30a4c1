//! Places in an open document that follow its edits: where cases were recorded, and where suggestions were shown or accepted.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use cases::Exposure;
use replay::RecordedCase;
use text::{Anchor, Bias, Document as Rope, Edit, PositionEncoding};
use tower_lsp_server::gen_lsp_types as lsp;

use crate::documents::OpenDocument;
use crate::to_proto;

/// Suggestions remembered per document: those of the last hour of fast typing.
const MAX_SUGGESTIONS: usize = 1000;

/// The places of one document.
pub(crate) struct TrackedRanges {
    rope: Rope,
    revision: u64,
    /// Where cases stand, by their ids.
    cases: HashMap<String, TrackedRange>,
    /// The revision in which a case was last looked at, and whether it was edited then.
    checked: HashMap<String, (u64, bool)>,
    suggestions: VecDeque<SuggestionExposure>,
}

/// Where a case stands.
#[derive(Clone, Copy)]
pub(crate) struct CaseLocation {
    /// In an editor's terms.
    pub(crate) range: lsp::Range,
    /// Whether what stands there is not what was recorded.
    pub(crate) is_edited: bool,
}

/// A case that is to be looked at, and the place that has followed the edits, if there is one.
pub(crate) type CaseLookup<'a> = (&'a RecordedCase, Option<Range<usize>>);

/// Where a case was found in a text.
pub(crate) struct CaseMatch {
    /// In bytes.
    pub(crate) range: Range<usize>,
    /// Whether what stands there is not what was recorded.
    pub(crate) is_edited: bool,
}

/// A document's text at one moment.
pub(crate) struct TextVersion {
    rope: Rope,
    revision: u64,
}

/// A suggestion and where it stood.
struct SuggestionExposure {
    span: TrackedRange,
    engine: String,
    exposure: Exposure,
}

impl TrackedRanges {
    /// Of a document whose text message `revision` made.
    pub(crate) fn new(rope: Rope, revision: u64) -> TrackedRanges {
        TrackedRanges {
            rope,
            revision,
            cases: HashMap::new(),
            checked: HashMap::new(),
            suggestions: VecDeque::new(),
        }
    }

    /// Moves all places along with the edits of message `revision`, after which the text is `rope`.
    pub(crate) fn apply_edits(&mut self, edits: &[Edit], rope: &Rope, revision: u64) {
        self.rope = rope.clone();
        self.revision = revision;
        let suggested = self.suggestions.iter_mut().map(|exposed| &mut exposed.span);
        for span in self.cases.values_mut().chain(suggested) {
            edits.iter().for_each(|edit| span.apply_edit(edit));
        }
        // What is deleted may come back.
        self.cases.retain(|_, span| !span.is_deleted());
    }

    /// The text as it is now, and those of `cases` that were not looked at in it, with the places that have followed its edits.
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

    /// Takes in what a look at `then` found of a case.
    pub(crate) fn record_match(&mut self, id: &str, found: Option<CaseMatch>, then: &TextVersion) {
        let is_edited = found.as_ref().is_some_and(|found| found.is_edited);
        if let Some(found) = found {
            let range = self.current_range(found.range, then);
            self.cases.insert(id.to_owned(), TrackedRange::new(range));
        }
        self.checked.insert(id.to_owned(), (then.revision, is_edited));
    }

    /// Where a case stands in an editor's terms, and whether its truth was edited.
    pub(crate) fn case_location(&self, id: &str, encoding: PositionEncoding) -> Option<CaseLocation> {
        let range = to_proto::range(&self.rope, self.cases.get(id)?.range(), encoding)?;
        let is_edited = self.checked.get(id).is_some_and(|(_, is_edited)| *is_edited);
        Some(CaseLocation { range, is_edited })
    }

    /// Remembers a suggestion of `engine`: at a cursor, or as text that was accepted; `range` is one of `then`.
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

    /// What was suggested where the text in `range` of `then` stands now, and by whom: acceptance before showing, late before early.
    pub(crate) fn exposure(&self, range: Range<usize>, then: &TextVersion) -> (Exposure, Option<&str>) {
        let range = self.current_range(range, then);
        let touches = |exposed: &&SuggestionExposure| {
            let span = exposed.span.range();
            span.start <= range.end && range.start <= span.end
        };
        let suggested = self.suggestions.iter().filter(touches).max_by_key(|exposed| exposed.exposure);
        suggested.map_or((Exposure::None, None), |exposed| (exposed.exposure, Some(&*exposed.engine)))
    }

    /// Where a range of an earlier text is now. What was changed since counts as one edit.
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
    /// Of the moment that `document` is from.
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
    /// What is put in right before or right behind the text does not become part of it.
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
