//! The latest suggestions, to identify those that are shown and accepted.
//!
//! An item's id is the argument of its command, the only data of ours that editors send back.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cases::Exposure;
use dashmap::DashMap;
use text::TrackedRange;

use crate::documents::Documents;
use crate::open_document::OpenDocument;
use crate::rejected_suggestions::ENOUGH_REJECTIONS;

/// Maximum number of suggestions: editors accept the latest one; more are kept for clients that cycle.
const MAX_SUGGESTIONS: u64 = 256;

/// The latest suggestions.
#[derive(Default)]
pub struct Suggestions {
    /// By id. Ids are consecutive numbers, so the oldest suggestion is found without a queue.
    last: DashMap<u64, Suggestion>,
    count: AtomicU64,
}

/// A suggestion as sent to the editor.
#[derive(Clone)]
struct Suggestion {
    /// Key of the document.
    document: Arc<str>,
    /// Position of the first byte that the item replaces.
    start: TrackedRange,
    /// Text of the item.
    text: Arc<str>,
    engine: Arc<str>,
}

impl Suggestions {
    /// Stores an item that replaces `range` of the document by `text`, and returns its id.
    pub fn add(&self, document: &OpenDocument, range: &Range<usize>, text: &str, engine: &str) -> String {
        let id = self.count.fetch_add(1, Ordering::Relaxed);
        let revision = document.revision;
        // Few clients report whether an item was displayed, so every item sent counts as shown.
        let mut tracked = document.session.tracked_ranges();
        tracked.record_exposure(range.end..range.end, revision, engine, Exposure::Shown);
        drop(tracked);
        let suggestion = Suggestion {
            document: Arc::clone(&document.key),
            start: TrackedRange::exclusive(range.start..range.start, revision),
            text: text.into(),
            engine: engine.into(),
        };
        self.last.insert(id, suggestion);
        if let Some(oldest) = id.checked_sub(MAX_SUGGESTIONS) {
            self.last.remove(&oldest);
        }
        id.to_string()
    }

    /// Returns whether an id is stored.
    pub fn is_known(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// Records that an item was accepted: completely, or the given number of UTF-16 units from its start. Returns false for an
    /// unknown id.
    pub fn accept(&self, id: &str, units: Option<usize>, documents: &Documents) -> bool {
        let Some(suggestion) = self.find(id) else { return false };
        let accepted = units.map_or(&*suggestion.text, |units| utf16_prefix(&suggestion.text, units));
        tracing::info!(id, engine = &*suggestion.engine, bytes = accepted.len(), "accepted");
        if let Some(document) = documents.get(&suggestion.document).filter(|found| found.is_synchronized()) {
            record_accepted(document, &suggestion, accepted);
        }
        true
    }

    /// Counts a rejection of the item with this id, or else of the latest one in the document: from the second on, it is not suggested there
    /// again.
    pub fn reject(&self, id: Option<&str>, document: &OpenDocument) {
        self.reject_times(id, document, 1);
    }

    /// Withholds the latest item of the document at its place from now on.
    pub fn withhold(&self, document: &OpenDocument) {
        self.reject_times(None, document, ENOUGH_REJECTIONS);
    }

    fn reject_times(&self, id: Option<&str>, document: &OpenDocument, times: usize) {
        let suggestion = match id {
            Some(id) => self.find(id),
            None => self.latest_in(&document.key),
        };
        let Some(Suggestion { mut start, text, .. }) =
            suggestion.filter(|found| found.document == document.key)
        else {
            return;
        };
        let mut tracked = document.session.tracked_ranges();
        if tracked.log().follow(&mut start, document.revision).is_some() {
            tracked.record_rejection(start.range().start, document.revision, &text, times);
        }
    }

    fn latest_in(&self, document: &str) -> Option<Suggestion> {
        let of_document = self.last.iter().filter(|entry| *entry.document == *document);
        of_document.max_by_key(|entry| *entry.key()).map(|entry| entry.value().clone())
    }

    fn find(&self, id: &str) -> Option<Suggestion> {
        self.last.get(&id.parse().ok()?).map(|found| found.clone())
    }
}

/// Records the accepted text if the document contains it where the item was shown.
fn record_accepted(document: &OpenDocument, suggestion: &Suggestion, accepted: &str) -> Option<()> {
    let mut tracked = document.session.tracked_ranges();
    let mut start = suggestion.start.clone();
    tracked.log().follow(&mut start, document.revision)?;
    let range = find_text_at(document, start.range().start, accepted)?;
    tracked.record_exposure(range, document.revision, &suggestion.engine, Exposure::Accepted);
    Some(())
}

/// Returns the range of `text`, with the document's own line ends, at `start`; `None` if the document contains another text
/// there.
fn find_text_at(document: &OpenDocument, start: usize, text: &str) -> Option<Range<usize>> {
    let holds = |text: &str| {
        let range = start..start + text.len();
        document.rope.slice(range.clone()).is_some_and(|held| held == text).then_some(range)
    };
    holds(text).or_else(|| holds(&text.replace('\n', "\r\n")))
}

/// Returns the first `units` UTF-16 units of a text, rounded down to whole characters.
fn utf16_prefix(text: &str, units: usize) -> &str {
    let mut left = units;
    let bytes: usize = text
        .chars()
        .take_while(|c| {
            let fits = c.len_utf16() <= left;
            left = left.saturating_sub(c.len_utf16());
            fits
        })
        .map(char::len_utf8)
        .sum();
    &text[..bytes]
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use text::{Edit, Revision};

    use super::*;
    use crate::documents::NewDocument;

    fn documents(text: &str) -> Documents {
        let mut documents = Documents::default();
        let (key, text) = ("a.py".into(), text.to_owned());
        documents.open(NewDocument { key, path: None, language: None, text }, 1);
        documents
    }

    fn change(documents: &mut Documents, number: u64, edits: &[(Range<usize>, &str)]) {
        let edits = edits.iter().map(|(range, text)| Edit { range: range.clone(), text: (*text).to_owned() });
        let revision = Revision { number, time: Instant::now(), edits: edits.collect() };
        documents.change("a.py", revision, true).expect("it is open");
    }

    #[test]
    fn accepted_text_is_found_after_edits_before_it() {
        let mut documents = documents("x = max\n");
        let suggestions = Suggestions::default();
        let id = suggestions.add(&documents.get("a.py").expect("it is open").clone(), &(4..7), "max(é)", "e");
        // Accepting it also adds an import at the top.
        change(&mut documents, 2, &[(4..7, "max(é)"), (0..0, "import é\r\n")]);
        assert!(suggestions.accept(&id, None, &documents));
        let document = documents.get("a.py").expect("it is open");
        let tracked = document.session.tracked_ranges();
        assert_eq!(tracked.exposure(18..19, 2), (Exposure::Accepted, Some("e")));
        assert_eq!(tracked.exposure(0..3, 2), (Exposure::None, None));
    }

    #[test]
    fn suggestion_rejected_twice_on_its_line_is_withheld_there() {
        let mut documents = documents("x = m\ny = m\n");
        let suggestions = Suggestions::default();
        let withheld = |documents: &Documents, cursor: usize, text: &str| {
            let document = documents.get("a.py").expect("it is open");
            document.session.tracked_ranges().is_rejected(cursor, text)
        };
        let reject = |documents: &Documents, range: Range<usize>, text: &str| {
            let document = documents.get("a.py").expect("it is open");
            let id = suggestions.add(document, &range, text, "e");
            suggestions.reject(Some(&id), document);
        };
        reject(&documents, 5..5, "ax(1)");
        assert!(!withheld(&documents, 5, "ax(1)"), "once is not enough");
        // The same suggestion one key later, and after an edit above it.
        change(&mut documents, 2, &[(5..5, "a"), (0..0, "import m\n")]);
        reject(&documents, 15..15, "x(1)");
        assert!(withheld(&documents, 15, "x(1)"));
        assert!(!withheld(&documents, 15, "x(2)"), "another text");
        assert!(!withheld(&documents, 21, "ax(1)"), "another line");
        let document = documents.get("a.py").expect("it is open");
        suggestions.add(document, &(21..21), "in(2)", "e");
        suggestions.withhold(document);
        assert!(withheld(&documents, 21, "in(2)"));
    }

    #[test]
    fn only_the_latest_suggestions_are_known() {
        let documents = documents("");
        let document = documents.get("a.py").expect("it is open");
        let suggestions = Suggestions::default();
        let ids: Vec<String> =
            (0..=MAX_SUGGESTIONS).map(|_| suggestions.add(document, &(0..0), "a", "e")).collect();
        let known: Vec<bool> = ids.iter().map(|id| suggestions.is_known(id)).collect();
        assert!(!known[0] && known[1..].iter().all(|known| *known));
        assert!(!suggestions.is_known("") && !suggestions.is_known("-1") && !suggestions.is_known("x"));
        assert!(!suggestions.accept("9999", None, &documents));
    }

    #[test]
    fn utf16_prefix_never_splits_a_character() {
        assert_eq!(utf16_prefix("a🙂b", 1), "a");
        assert_eq!(utf16_prefix("a🙂b", 2), "a");
        assert_eq!(utf16_prefix("a🙂b", 3), "a🙂");
        assert_eq!(utf16_prefix("a🙂b", 9), "a🙂b");
    }
}
