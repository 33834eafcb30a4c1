//! The latest suggestions, to identify those that are shown and accepted.
//!
//! An item's id is the argument of its command, the only data of ours that editors send back.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use cases::Exposure;
use tower_lsp_server::gen_lsp_types::Uri;

use crate::documents::{Documents, OpenDocument};
use crate::locks::lock;
use crate::tracked_ranges::TextVersion;

/// Maximum number of suggestions: editors accept the latest one; more are kept for clients that cycle.
const MAX_SUGGESTIONS: usize = 256;

/// The latest suggestions.
#[derive(Default)]
pub(crate) struct Suggestions {
    last: Mutex<VecDeque<Suggestion>>,
    count: AtomicU64,
}

/// A suggestion as sent to the client.
#[derive(Clone)]
struct Suggestion {
    id: String,
    uri: Uri,
    /// First byte that the item replaces.
    start: usize,
    /// Text of the item.
    text: String,
    engine: String,
}

impl Suggestions {
    /// Stores an item that replaces `range` by `text`, and returns its id.
    pub(crate) fn add(
        &self,
        document: &OpenDocument,
        range: &Range<usize>,
        text: &str,
        engine: &str,
    ) -> String {
        let id = self.count.fetch_add(1, Ordering::Relaxed).to_string();
        // Few clients report whether an item was displayed, so every item sent counts as shown.
        let then = TextVersion::of_document(document);
        lock(&document.session.tracked_ranges).record_exposure(
            range.end..range.end,
            &then,
            engine,
            Exposure::Shown,
        );
        let mut last = lock(&self.last);
        if last.len() == MAX_SUGGESTIONS {
            last.pop_front();
        }
        last.push_back(Suggestion {
            id: id.clone(),
            uri: document.uri.clone(),
            start: range.start,
            text: text.to_owned(),
            engine: engine.to_owned(),
        });
        id
    }

    /// Whether an id is stored.
    pub(crate) fn is_known(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    /// Records that an item was accepted: completely, or the given number of UTF-16 units from its start. Returns false for an
    /// unknown id.
    pub(crate) fn accept(&self, id: &str, units: Option<usize>, documents: &Arc<Documents>) -> bool {
        let Some(suggestion) = self.find(id) else { return false };
        let accepted = units.map_or(&*suggestion.text, |units| utf16_prefix(&suggestion.text, units));
        tracing::info!(id, engine = suggestion.engine, bytes = accepted.len(), "accepted");
        if let Some(document) = documents.get(&suggestion.uri).filter(|document| document.is_synchronized())
            && let Some(range) = find_text_at(&document, suggestion.start, accepted)
        {
            let then = TextVersion::of_document(&document);
            lock(&document.session.tracked_ranges).record_exposure(
                range,
                &then,
                &suggestion.engine,
                Exposure::Accepted,
            );
        }
        true
    }

    fn find(&self, id: &str) -> Option<Suggestion> {
        lock(&self.last).iter().find(|suggestion| suggestion.id == id).cloned()
    }
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
    let fits = |c: &char| {
        let fits = c.len_utf16() <= left;
        left = left.saturating_sub(c.len_utf16());
        fits
    };
    let bytes: usize = text.chars().take_while(fits).map(char::len_utf8).sum();
    &text[..bytes]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_counted_in_units_and_cuts_no_character() {
        assert_eq!(utf16_prefix("a🙂b", 1), "a");
        assert_eq!(utf16_prefix("a🙂b", 2), "a");
        assert_eq!(utf16_prefix("a🙂b", 3), "a🙂");
        assert_eq!(utf16_prefix("a🙂b", 9), "a🙂b");
    }
}
