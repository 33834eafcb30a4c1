//! Anchors under edits.

use proptest::prelude::*;
use text::{Anchor, Bias, Edit};

use crate::naive_model::{edit_of, texts};

#[track_caller]
fn check(offset: usize, edit: (usize, usize, &str), left: usize, right: usize) {
    let edit = Edit { range: edit.0..edit.1, text: edit.2.to_owned() };
    let moved = |bias| {
        let mut anchor = Anchor { offset, bias };
        anchor.apply(&edit);
        anchor.offset
    };
    assert_eq!((moved(Bias::Left), moved(Bias::Right)), (left, right));
}

#[test]
fn edits_before_and_after() {
    check(5, (0, 2, "xyz"), 6, 6);
    check(5, (7, 9, "xyz"), 5, 5);
}

#[test]
fn insertion_at_the_anchor() {
    check(5, (5, 5, "xyz"), 5, 8);
}

#[test]
fn replacement_up_to_and_from_the_anchor() {
    check(5, (3, 5, "xyz"), 6, 6);
    check(5, (5, 7, "xyz"), 5, 5);
}

#[test]
fn replacement_around_the_anchor() {
    check(5, (3, 8, "xyz"), 3, 6);
    check(5, (3, 8, ""), 3, 3);
}

proptest! {
    /// Text between two anchors that keep apart never comes from outside.
    #[test]
    fn anchors_keep_their_surroundings(
        text in texts(),
        a in any::<usize>(),
        b in any::<usize>(),
        edits in proptest::collection::vec((any::<usize>(), any::<usize>(), "[xy]{0,3}"), 0..8),
    ) {
        let hole = edit_of(&text, a, b, "").range;
        let mut model = text.clone();
        let mut start = Anchor { offset: hole.start, bias: Bias::Left };
        let mut end = Anchor { offset: hole.end, bias: Bias::Right };
        for (a, b, inserted) in edits {
            let edit = edit_of(&model, a, b, &inserted);
            let (before, after) = (start.offset, end.offset);
            start.apply(&edit);
            end.apply(&edit);
            let prefix_is_kept = edit.range.start >= before;
            let suffix_is_kept = edit.range.end <= after;
            let old = model.clone();
            model.replace_range(edit.range.clone(), &edit.text);
            prop_assert!(start.offset <= end.offset && end.offset <= model.len());
            prop_assert!(model.is_char_boundary(start.offset) && model.is_char_boundary(end.offset));
            if prefix_is_kept {
                prop_assert_eq!(&model[..start.offset], &old[..before]);
            }
            if suffix_is_kept {
                prop_assert_eq!(&model[end.offset..], &old[after..]);
            }
        }
    }
}
