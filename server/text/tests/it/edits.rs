//! `Edit::between`.

use proptest::prelude::*;
use text::{Document, Edit, PositionEncoding};

use crate::naive_model::{edit_of, texts};

#[track_caller]
fn check(old: &str, new: &str, expected: Option<(usize, usize, &str)>) {
    let expected = expected.map(|(start, end, text)| Edit { range: start..end, text: text.to_owned() });
    assert_eq!(Edit::between(old, new), expected);
}

#[test]
fn insertions_removals_and_replacements() {
    check("", "", None);
    check("abc", "abc", None);
    check("", "abc", Some((0, 0, "abc")));
    check("abc", "", Some((0, 3, "")));
    check("foo(a)", "foo(a, b)", Some((5, 5, ", b")));
    check("foo(a, b)", "foo(a)", Some((5, 8, "")));
    check("let x = 1;", "let y = 1;", Some((4, 5, "y")));
}

#[test]
fn overlapping_common_prefix_and_suffix_count_once() {
    check("aaa", "aa", Some((2, 3, "")));
    check("aa", "aaaa", Some((2, 2, "aa")));
}

#[test]
fn edits_do_not_split_characters() {
    check("é", "è", Some((0, 2, "è")));
    check("x😀y", "x😁y", Some((1, 5, "😁")));
    // Both characters end in the same byte.
    check("é", "ĩ", Some((0, 2, "ĩ")));
}

#[test]
fn edits_do_not_split_line_ends() {
    check("a\r\nb", "a\nb", Some((1, 3, "\n")));
    check("a\nb", "a\r\nb", Some((1, 2, "\r\n")));
    check("a\r\nb", "a\rb", Some((1, 3, "\r")));
    check("a\rb", "a\r\nb", Some((1, 2, "\r\n")));
    check("\r\n", "\r\r\n", Some((0, 0, "\r")));
}

/// The characters of `text`; a CRLF counts as one.
fn units(text: &str) -> Vec<&str> {
    let mut units = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("\r\n") { 2 } else { first.len_utf8() };
        let (unit, tail) = rest.split_at(length);
        units.push(unit);
        rest = tail;
    }
    units
}

/// The same edit, computed unit by unit.
fn naive(old: &str, new: &str) -> Option<Edit> {
    let (mut a, mut b) = (&units(old)[..], &units(new)[..]);
    let mut start = 0;
    while let ([first, a_rest @ ..], [same, b_rest @ ..]) = (a, b)
        && first == same
    {
        (a, b, start) = (a_rest, b_rest, start + first.len());
    }
    while let ([a_rest @ .., last], [b_rest @ .., same]) = (a, b)
        && last == same
    {
        (a, b) = (a_rest, b_rest);
    }
    let edit = Edit { range: start..start + a.concat().len(), text: b.concat() };
    (old != new).then_some(edit)
}

/// Pairs of texts with long common parts, some of which differ by one edit.
fn pairs() -> impl Strategy<Value = (String, String)> {
    let edited = (texts(), any::<usize>(), any::<usize>(), texts()).prop_map(|(old, a, b, inserted)| {
        let edit = edit_of(&old, a, b, &inserted);
        let mut new = old.clone();
        new.replace_range(edit.range, &edit.text);
        (old, new)
    });
    let middle = prop_oneof![edited, (texts(), texts())];
    let around = (0..600_usize).prop_map(|length| "0123456é".repeat(length / 8));
    (around.clone(), middle, around)
        .prop_map(|(head, (old, new), tail)| (format!("{head}{old}{tail}"), format!("{head}{new}{tail}")))
}

proptest! {
    #[test]
    fn edit_is_minimal_and_produces_the_new_text((old, new) in pairs()) {
        let edit = Edit::between(&old, &new);
        prop_assert_eq!(&edit, &naive(&old, &new));
        let mut document = Document::new(&old);
        if let Some(edit) = edit {
            let (removed, inserted) = (edit.range.clone(), edit.inserted_range());
            prop_assert_eq!(document.apply(&edit), Some(()));
            let has_position = |text: &str, offset| Document::new(text).position(offset, PositionEncoding::Utf16).is_some();
            prop_assert!(has_position(&old, removed.start) && has_position(&old, removed.end));
            prop_assert!(has_position(&new, inserted.start) && has_position(&new, inserted.end));
        }
        prop_assert_eq!(document.text(), new);
    }
}
