//! Tracked ranges under single edits.

use proptest::prelude::*;
use text::{Edit, TrackedRange};

use crate::naive_model::{edit_of, texts};

#[track_caller]
fn check(offset: usize, edit: (usize, usize, &str), left: usize, right: usize) {
    let edit = Edit { range: edit.0..edit.1, text: edit.2.to_owned() };
    let mut range = TrackedRange::inclusive(offset..offset, 0);
    range.apply(&edit);
    assert_eq!(range.range(), left..right);
}

#[test]
fn only_edits_before_the_anchor_shift_it() {
    check(5, (0, 2, "xyz"), 6, 6);
    check(5, (7, 9, "xyz"), 5, 5);
}

#[test]
fn insertion_at_the_position() {
    check(5, (5, 5, "xyz"), 5, 8);
}

#[test]
fn replacement_up_to_and_from_the_position() {
    check(5, (3, 5, "xyz"), 6, 6);
    check(5, (5, 7, "xyz"), 5, 5);
}

#[test]
fn replacement_around_the_position() {
    check(5, (3, 8, "xyz"), 3, 6);
    check(5, (3, 8, ""), 3, 3);
}

#[test]
fn text_at_the_ends_belongs_to_inclusive_ranges_only() {
    let insert = |at: usize| Edit { range: at..at, text: "xyz".to_owned() };
    let moved = |mut range: TrackedRange, at| {
        range.apply(&insert(at));
        range.range()
    };
    let (exclusive, inclusive) = (TrackedRange::exclusive(2..4, 0), TrackedRange::inclusive(2..4, 0));
    assert_eq!([moved(exclusive.clone(), 2), moved(exclusive.clone(), 4)], [5..7, 2..4]);
    assert_eq!([moved(inclusive.clone(), 2), moved(inclusive.clone(), 4)], [2..7, 2..7]);
    assert_eq!([moved(exclusive, 3), moved(inclusive.clone(), 3)], [2..7, 2..7]);
    let mut ended = inclusive;
    ended.exclude_ends();
    assert_eq!([moved(ended.clone(), 2), moved(ended, 4)], [5..7, 2..4]);
    assert_eq!(moved(TrackedRange::exclusive(2..2, 0), 2), 2..2);
}

#[test]
fn deleted_text_does_not_come_back() {
    let mut range = TrackedRange::exclusive(2..4, 0);
    range.apply(&Edit { range: 1..5, text: String::new() });
    assert!(range.is_deleted());
    range.apply(&Edit { range: 1..1, text: "abcd".to_owned() });
    assert!(range.is_deleted());
    assert!(!TrackedRange::exclusive(2..2, 0).is_deleted());
}

proptest! {
    /// Text in an inclusive range never comes from outside.
    #[test]
    fn ranges_keep_their_surroundings(
        text in texts(),
        a in any::<usize>(),
        b in any::<usize>(),
        edits in proptest::collection::vec((any::<usize>(), any::<usize>(), "[xy]{0,3}"), 0..8),
    ) {
        let hole = edit_of(&text, a, b, "").range;
        let mut model = text.clone();
        let mut range = TrackedRange::inclusive(hole, 0);
        for (a, b, inserted) in edits {
            let edit = edit_of(&model, a, b, &inserted);
            let before = range.range();
            range.apply(&edit);
            let after = range.range();
            let prefix_is_kept = edit.range.start >= before.start;
            let suffix_is_kept = edit.range.end <= before.end;
            let old = model.clone();
            model.replace_range(edit.range.clone(), &edit.text);
            prop_assert!(after.end <= model.len());
            prop_assert!(model.is_char_boundary(after.start) && model.is_char_boundary(after.end));
            if prefix_is_kept {
                prop_assert_eq!(&model[..after.start], &old[..before.start]);
            }
            if suffix_is_kept {
                prop_assert_eq!(&model[after.end..], &old[before.end..]);
            }
        }
    }
}
