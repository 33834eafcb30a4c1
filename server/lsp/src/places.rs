//! Places in an open document that follow its edits: where cases were recorded, and where suggestions were shown or accepted.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use cases::{Case, Exposure};
use text::{Anchor, Bias, Document as Rope, Edit};

/// Suggestions remembered per document: those of the last hour of fast typing.
const MAX_SUGGESTIONS: usize = 1000;

/// The places of one document.
pub(crate) struct Places {
    rope: Rope,
    cases: Vec<(String, Span)>,
    known: HashSet<String>,
    suggestions: VecDeque<Suggestion>,
}

/// A suggestion and where it stood.
struct Suggestion {
    span: Span,
    engine: String,
    exposure: Exposure,
}

impl Places {
    pub(crate) fn new(rope: Rope) -> Places {
        Places { rope, cases: Vec::new(), known: HashSet::new(), suggestions: VecDeque::new() }
    }

    /// Moves all places along with an edit, after which the text is `rope`.
    pub(crate) fn follow(&mut self, edit: &Edit, rope: &Rope) {
        self.rope = rope.clone();
        self.cases.iter_mut().for_each(|(_, span)| span.follow(edit));
        self.cases.retain(|(_, span)| !span.is_lost());
        self.suggestions.iter_mut().for_each(|suggestion| suggestion.span.follow(edit));
    }

    /// Finds the place of each case that is not known here yet.
    pub(crate) fn add<'a>(&mut self, cases: impl IntoIterator<Item = &'a Case>) {
        let mut text = None;
        for case in cases {
            if self.known.insert(case.id.clone()) {
                let text = text.get_or_insert_with(|| self.rope.text());
                let span = case.place_in(text).map(Span::new);
                self.cases.extend(span.map(|span| (case.id.clone(), span)));
            }
        }
    }

    /// Where the cases stand, by their ids.
    pub(crate) fn cases(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.cases.iter().map(|(id, span)| (id.as_str(), span.range()))
    }

    /// Remembers a suggestion of `engine`: at a cursor, or as text that was accepted.
    pub(crate) fn expose(&mut self, range: Range<usize>, engine: &str, exposure: Exposure) {
        if self.suggestions.len() == MAX_SUGGESTIONS {
            self.suggestions.pop_front();
        }
        self.suggestions.push_back(Suggestion {
            span: Span::new(range),
            engine: engine.to_owned(),
            exposure,
        });
    }

    /// What was suggested where the text in `range` stands now, and by whom: acceptance before showing, late before early.
    pub(crate) fn exposure(&self, range: &Range<usize>) -> (Exposure, Option<&str>) {
        let touches = |suggestion: &&Suggestion| {
            let span = suggestion.span.range();
            span.start <= range.end && range.start <= span.end
        };
        let suggested = self.suggestions.iter().filter(touches).max_by_key(|suggestion| suggestion.exposure);
        suggested
            .map_or((Exposure::None, None), |suggestion| (suggestion.exposure, Some(&*suggestion.engine)))
    }
}

/// A range of the text that follows edits.
struct Span {
    start: Anchor,
    end: Anchor,
    was_empty: bool,
}

impl Span {
    /// What is put in right before or right behind the text does not become part of it.
    fn new(range: Range<usize>) -> Span {
        let was_empty = range.is_empty();
        let start = if was_empty { Bias::Left } else { Bias::Right };
        Span {
            start: Anchor { offset: range.start, bias: start },
            end: Anchor { offset: range.end, bias: Bias::Left },
            was_empty,
        }
    }

    fn follow(&mut self, edit: &Edit) {
        self.start.apply(edit);
        self.end.apply(edit);
    }

    fn range(&self) -> Range<usize> {
        self.start.offset..self.end.offset.max(self.start.offset)
    }

    /// Whether all of the text was deleted.
    fn is_lost(&self) -> bool {
        !self.was_empty && self.range().is_empty()
    }
}
