//! Ranges that follow the log against ranges that get every edit at once.

use std::time::Instant;

use proptest::prelude::*;
use proptest::sample::Index;
use text::{Document, Edit, EditLog, Revision, TrackedRange};

use crate::naive_model::{edit_of, texts};

/// A change as an editor sends it.
#[derive(Clone, Debug)]
enum Change {
    /// Two random numbers choose the range.
    Replace(usize, usize, String),
    /// The whole text is sent, as by editors that know no ranges.
    Whole(String),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => (any::<usize>(), any::<usize>(), texts()).prop_map(|(a, b, text)| Change::Replace(a, b, text)),
        4 => (any::<usize>(), texts()).prop_map(|(at, text)| Change::Replace(at, at, text)),
        1 => texts().prop_map(Change::Whole),
    ]
}

/// Applies the changes of a revision to `text` and returns its edits.
fn edits(text: &mut String, changes: &[Change]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for change in changes {
        let edit = match change {
            Change::Replace(a, b, inserted) => Some(edit_of(text, *a, *b, inserted)),
            Change::Whole(new) => Edit::between(text, new),
        };
        if let Some(edit) = edit {
            text.replace_range(edit.range.clone(), &edit.text);
            edits.push(edit);
        }
    }
    edits
}

fn typed(number: u64, at: usize, text: &str) -> Revision {
    Revision { number, time: Instant::now(), edits: vec![Edit { range: at..at, text: text.to_owned() }] }
}

proptest! {
    /// A range may be of any revision and may be moved in any steps.
    #[test]
    fn a_range_that_follows_the_log_is_the_range_that_follows_every_edit(
        start in texts(),
        revisions in proptest::collection::vec(proptest::collection::vec(change(), 0..4), 1..12),
        hole in (any::<usize>(), any::<usize>()),
        (born, stop) in (any::<Index>(), any::<Index>()),
        is_inclusive in any::<bool>(),
    ) {
        let born = born.index(revisions.len());
        let stop = born + stop.index(revisions.len() - born + 1);
        let (mut text, mut document) = (start.clone(), Document::new(&start));
        let mut log = EditLog::new(100);
        // The range that gets every edit, and the one that follows the log.
        let mut ranges: Option<[TrackedRange; 2]> = None;
        for (index, changes) in revisions.iter().enumerate() {
            if index == born {
                let hole = edit_of(&text, hole.0, hole.1, "").range;
                let revision = log.revision();
                let range = match is_inclusive {
                    true => TrackedRange::inclusive(hole, revision),
                    false => TrackedRange::exclusive(hole, revision),
                };
                ranges = Some([range.clone(), range]);
            }
            let edits = edits(&mut text, changes);
            for edit in &edits {
                document.apply(edit).expect("it fits");
                ranges.iter_mut().for_each(|[eager, _]| eager.apply(edit));
            }
            log.push(Revision { number: 110 + index as u64, time: Instant::now(), edits });
            if let Some([eager, lazy]) = ranges.as_mut().filter(|_| index == stop) {
                log.follow(lazy, log.revision()).expect("it is in the log");
                prop_assert_eq!(eager.range(), lazy.range());
            }
        }
        let [eager, mut lazy] = ranges.expect("every index is in range");
        log.follow(&mut lazy, log.revision()).expect("it is in the log");
        prop_assert_eq!(eager.range(), lazy.range());
        prop_assert_eq!(document.slice(lazy.range()).expect("it is in the text"), &text[lazy.range()]);
    }

    /// The edits since a revision turn its text into the current one.
    #[test]
    fn the_edits_since_a_revision_lead_to_the_current_text(
        start in texts(),
        revisions in proptest::collection::vec(proptest::collection::vec(change(), 0..4), 0..12),
        since in any::<Index>(),
    ) {
        let mut text = start;
        let mut log = EditLog::new(0);
        let mut known = vec![(0, text.clone())];
        for (index, changes) in revisions.iter().enumerate() {
            let number = 10 * (index as u64 + 1);
            log.push(Revision { number, time: Instant::now(), edits: edits(&mut text, changes) });
            known.push((number, text.clone()));
        }
        let (number, mut old) = known.swap_remove(since.index(known.len()));
        for edit in log.since(number).expect("nothing is forgotten").flat_map(|revision| &revision.edits) {
            old.replace_range(edit.range.clone(), &edit.text);
        }
        prop_assert_eq!(old, text);
    }
}

#[test]
fn a_range_follows_up_to_a_revision_and_not_back() {
    let mut log = EditLog::new(1);
    (2..=4).for_each(|number| log.push(typed(number, 0, "ab")));
    let mut range = TrackedRange::exclusive(5..6, 1);
    assert_eq!(log.follow(&mut range, 3), Some(()));
    assert_eq!(range.range(), 9..10);
    assert_eq!(log.follow(&mut range, 2), None);
    assert_eq!(log.follow(&mut range, 9), Some(()), "that is the latest");
    log.push(typed(5, 0, "c"));
    assert_eq!(log.follow(&mut range, 5), Some(()));
    assert_eq!(range.range(), 12..13);
}

#[test]
fn a_range_follows_while_the_edits_fit() {
    let mut log = EditLog::new(0);
    log.push(typed(1, 5, "ab"));
    log.push(typed(2, 7, "c"));
    let at_end = |range: &TrackedRange, edit: &Edit| edit.range == (range.range().end..range.range().end);
    let mut range = TrackedRange::inclusive(5..5, 0);
    assert!(log.follow_while(&mut range, at_end));
    assert_eq!(range.range(), 5..8);
    log.push(typed(3, 8, "d"));
    log.push(typed(4, 0, "e"));
    assert!(!log.follow_while(&mut range, at_end));
    assert_eq!(range.range(), 5..8, "it is still of the revision that it was of");
    assert!(!log.follow_while(&mut range, at_end));
}

#[test]
fn the_last_edit_is_that_of_the_revision() {
    let mut log = EditLog::new(1);
    assert_eq!(log.last_edit(1), None);
    log.push(typed(2, 7, "a"));
    log.push(Revision { number: 3, time: Instant::now(), edits: Vec::new() });
    log.push(typed(4, 9, "b"));
    let last = |number| log.last_edit(number).map(|edit| edit.range.start);
    assert_eq!([last(1), last(2), last(3), last(4)], [None, Some(7), Some(7), Some(9)]);
}

#[test]
fn old_revisions_are_forgotten_as_a_whole_and_reported() {
    let mut log = EditLog::new(0);
    let mega = "x".repeat(1 << 20);
    (1..=2).for_each(|number| log.push(typed(number, 0, &mega)));
    assert_eq!(log.since(0).map(Iterator::count), None, "two megabytes and the entries are too much");
    assert_eq!(log.since(1).map(Iterator::count), Some(1));
    let mut range = TrackedRange::exclusive(0..1, 0);
    assert_eq!((log.follow(&mut range, 2), range.range()), (None, 0..1));
    assert!(!log.follow_while(&mut range, |_, _| true));
    // The latest revision is kept, however large it is.
    log.push(typed(3, 0, &mega.repeat(4)));
    assert_eq!((log.since(1).map(Iterator::count), log.since(2).map(Iterator::count)), (None, Some(1)));
    log.push(typed(4, 0, "y"));
    assert_eq!((log.revision(), log.since(3).map(Iterator::count)), (4, Some(1)));
}

#[test]
fn an_hour_of_typing_is_remembered() {
    let mut log = EditLog::new(0);
    (1..=20_000).for_each(|number| log.push(typed(number, 0, "x")));
    assert_eq!(log.since(0).map(Iterator::count), Some(20_000));
    (20_001..=40_000).for_each(|number| log.push(typed(number, 0, "x")));
    assert_eq!(log.since(0).map(Iterator::count), None);
}
