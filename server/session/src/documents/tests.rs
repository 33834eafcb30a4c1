//! Random edits of open documents against plain strings.

use std::ops::Range;
use std::time::Instant;

use cases::Exposure;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use text::Edit;

use super::*;
use crate::suggestions::Suggestions;
use crate::tracked_ranges::CaseMatch;

const KEY: &str = "a.py";

fn opened(text: &str) -> Documents {
    let mut documents = Documents::default();
    let text = text.to_owned();
    documents.open(NewDocument { key: KEY.into(), path: None, language: None, text }, 1);
    documents
}

fn document(documents: &Documents) -> Arc<OpenDocument> {
    Arc::clone(documents.get(KEY).expect("it is open"))
}

fn change(documents: &mut Documents, edits: Vec<Edit>) -> SyncOutcome {
    let number = document(documents).revision + 1;
    documents.change(KEY, Revision { number, time: Instant::now(), edits }, true).expect("it is open")
}

fn texts() -> impl Strategy<Value = String> {
    let pieces = ["a", "bc", " ", "\n", "\r\n", "é", "😀", "()"];
    vec(select(pieces.to_vec()), 0..16).prop_map(|pieces| pieces.concat())
}

/// A range on character boundaries.
fn range(text: &str, a: Index, b: Index) -> Range<usize> {
    let boundary = |at: Index| text.floor_char_boundary(at.index(text.len() + 1));
    let (a, b) = (boundary(a), boundary(b));
    a.min(b)..a.max(b)
}

proptest! {
    /// A snapshot keeps its text, whatever is edited later, and a range of it is found in any later text.
    #[test]
    fn snapshots_stay_as_they_were_and_their_ranges_follow(
        start in texts(),
        revisions in vec(vec((any::<Index>(), any::<Index>(), texts(), any::<bool>()), 0..3), 1..8),
        (seen, a, b) in (any::<Index>(), any::<Index>(), any::<Index>()),
    ) {
        let mut documents = opened(&start);
        let mut text = start;
        let seen = seen.index(revisions.len());
        // A snapshot, its text, and a range of it that gets every edit.
        let mut snapshot = None;
        for (index, changes) in revisions.into_iter().enumerate() {
            if index == seen {
                let shown = range(&text, a, b);
                let tracked = text::TrackedRange::exclusive(shown.clone(), 0);
                snapshot = Some((documents.clone(), text.clone(), shown, tracked));
            }
            let mut edits = Vec::new();
            for (a, b, new, is_whole) in changes {
                let edit = if is_whole { Edit::between(&text, &new) } else {
                    Some(Edit { range: range(&text, a, b), text: new })
                };
                if let Some(edit) = edit {
                    text.replace_range(edit.range.clone(), &edit.text);
                    snapshot.iter_mut().for_each(|(.., tracked)| tracked.apply(&edit));
                    edits.push(edit);
                }
            }
            prop_assert_eq!(change(&mut documents, edits), SyncOutcome::Unchanged);
            prop_assert_eq!(&*document(&documents).text(), &*text);
        }
        let (snapshot, then, shown, tracked) = snapshot.expect("every index is in range");
        let (old, new) = (document(&snapshot), document(&documents));
        prop_assert_eq!(&*old.text(), &*then);
        // What a late request records for its own text is found in the current one.
        let mut ranges = new.session.tracked_ranges();
        ranges.record_match("case", Some(CaseMatch { range: shown, is_edited: false }), old.revision);
        prop_assert_eq!(ranges.case_range("case"), Some(tracked.range()));
    }

    /// Accepting an item marks its text, wherever later edits of the same message moved it.
    #[test]
    fn an_accepted_item_is_found_after_edits_around_it(
        (before, typed, after) in (texts(), "[a-z]{0,3}", texts()),
        (top, end) in (texts(), texts()),
    ) {
        let text = [&*before, &typed, &after].concat();
        let mut documents = opened(&text);
        let suggestions = Suggestions::default();
        let replaced = before.len()..before.len() + typed.len();
        let id = suggestions.add(&document(&documents), &replaced, "item", "engine");
        let length = text.len() - replaced.len() + 4;
        change(&mut documents, vec![
            Edit { range: replaced, text: "item".to_owned() },
            Edit { range: length..length, text: end },
            Edit { range: 0..0, text: top.clone() },
        ]);
        // Text inserted exactly at the item is before or behind it.
        prop_assume!(!before.is_empty());
        prop_assert!(suggestions.accept(&id, None, &documents));
        let document = document(&documents);
        let item = top.len() + before.len()..top.len() + before.len() + 4;
        let exposure = document.session.tracked_ranges().exposure(item, document.revision).0;
        prop_assert_eq!(exposure, Exposure::Accepted);
    }
}

#[test]
fn an_edit_that_does_not_fit_desynchronizes_the_document() {
    let mut documents = opened("é");
    let edit = |range, text: &str| Edit { range, text: text.to_owned() };
    let edits = vec![edit(0..0, "a"), edit(2..2, "x"), edit(0..0, "b")];
    assert_eq!(change(&mut documents, edits), SyncOutcome::Lost);
    let lost = document(&documents);
    assert_eq!((&*lost.text(), lost.is_synchronized()), ("aé", false));
    assert_eq!(lost.session.tracked_ranges().log().last_edit(2), Some(&edit(0..0, "a")));
    assert_eq!(change(&mut documents, Vec::new()), SyncOutcome::Unchanged);
    assert!(document(&documents).is_synchronized(), "the caller says that the text is complete again");
    assert_eq!(documents.mark_desynchronized(KEY), SyncOutcome::Lost);
    assert_eq!(documents.mark_desynchronized(KEY), SyncOutcome::Unchanged);
    assert_eq!(documents.mark_desynchronized("other"), SyncOutcome::Unchanged);
}

#[test]
fn a_closed_or_replaced_document_accepts_no_requests() {
    let mut documents = opened("");
    let first = document(&documents);
    let request = first.session.begin_request(1, 0, 1).expect("there is no other request");
    documents.open(NewDocument { key: KEY.into(), path: None, language: None, text: String::new() }, 2);
    assert!(request.is_cancelled() && first.session.begin_request(2, 0, 1).is_none());
    let second = document(&documents);
    assert!(second.session.begin_request(3, 0, 2).is_some());
    assert!(documents.close(KEY) && !documents.close(KEY));
    assert!(second.session.begin_request(4, 0, 2).is_none());
}

#[test]
fn the_line_of_the_last_edit_is_that_of_the_snapshot() {
    let mut documents = opened("a\r\nb\nc");
    assert_eq!(document(&documents).edited_line(), None);
    change(&mut documents, vec![Edit { range: 3..3, text: "x".to_owned() }]);
    let snapshot = document(&documents);
    change(&mut documents, vec![Edit { range: 6..6, text: "y".to_owned() }]);
    assert_eq!((snapshot.edited_line(), document(&documents).edited_line()), (Some(1), Some(2)));
}
