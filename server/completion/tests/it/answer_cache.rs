//! Typing through cached answers.

use std::sync::Arc;

use completion::{AnswerCache, CacheKey, CursorSnapshot};
use proptest::prelude::*;

/// A cache key of an engine in a workspace.
pub(crate) fn sample_cache_key() -> CacheKey {
    CacheKey {
        engine: "e1".to_owned(),
        fingerprint: "f1".to_owned(),
        settings: 1,
        workspace: 1,
        documents: 1,
    }
}

/// Returns the place of a fixture's cursor.
pub(crate) fn snapshot_at_cursor(fixture: &str) -> CursorSnapshot {
    let (text, cursor) = test_fixture::take_cursor(fixture);
    at(&text, cursor)
}

fn at(text: &str, offset: usize) -> CursorSnapshot {
    CursorSnapshot { text: text.into(), offset, cache_key: sample_cache_key() }
}

fn after_answer(fixture: &str, answer: &str) -> AnswerCache {
    let mut recent = AnswerCache::default();
    recent.insert(snapshot_at_cursor(fixture), answer);
    recent
}

/// Checks the rest of `answer`, given at the first cursor, at the second one.
#[track_caller]
fn check(first: &str, answer: &str, second: &str, rest: Option<&str>) {
    assert_eq!(after_answer(first, answer).remaining_text(&snapshot_at_cursor(second)).as_deref(), rest);
}

#[test]
fn remaining_text_after_typing_part_of_an_answer() {
    check("x = $0\n", "f(a)", "x = $0\n", Some("f(a)"));
    check("x = $0\n", "f(a)", "x = f(a$0\n", Some(")"));
    check("x = $0\n", "größe", "x = grö$0\n", Some("ße"));
}

#[test]
fn completely_typed_answer_has_no_remaining_text() {
    check("x = $0\n", "f(a)", "x = f(a)$0\n", None);
    check("x = $0\n", "", "x = $0\n", None);
}

#[test]
fn diverging_text_invalidates_the_answer() {
    check("x = $0\n", "f(a)", "x = g$0\n", None);
    check("x = $0\n", "f(a)", "x =$0\n", None);
    check("x = $0\n", "f(a)", "y = f$0\n", None);
    check("x = $0\n", "f(a)", "x = f$0\ny", None);
    check("x = $0\n", "f(a)", "x = f$0b\n", None);
    check("x = $0y\n", "f(a)", "x = f$0z\n", None);
    check("x = $0y\n", "f(a)", "x = f$0\n", None);
}

#[test]
fn line_endings_are_equivalent_but_indentation_is_not() {
    check("if x:$0\r\n", "\n    y()", "if x:\r\n    $0\r\n", Some("y()"));
    check("if x:$0\r\n", "\r\n    y()", "if x:\n  $0\r\n", Some("  y()"));
    check("if x:$0\r\n", "\r\n    y()\r\n    z()", "if x:$0\r\n", Some("\n    y()\n    z()"));
    check("if x:$0\n", "\n    y()", "if x:\n\t$0\n", None);
    check("if x:$0\n", "\n    y()", "if x:\n      $0\n", None);
    check("if x:$0\r\n", "\n    y()", "if x:\n    $0\n", None);
}

#[test]
fn auto_closed_brackets_are_left_out_of_the_remaining_text() {
    check("x = $0\n", "f(a)", "x = f($0)\n", Some("a"));
    check("x = $0\n", "f(\"a\")", "x = f(\"$0\")\n", Some("a"));
    check("x = $0\n", "f(a).g()", "x = f($0)\n", Some("a).g("));
    check("fn f() $0\r\n", "{\n    1\n}", "fn f() {\r\n    $0\r\n}\r\n", Some("1"));
    check("x = $0\n", "f()", "x = f($0)\n", None);
    check("x = $0\n", "f(a", "x = f($0)\n", None);
}

#[test]
fn other_engine_or_settings_do_not_match() {
    let recent = after_answer("x = $0\n", "f(a)");
    for today in ["x = $0\n", "x = f$0\n"].map(snapshot_at_cursor) {
        let other_engine = CacheKey { engine: "e2".to_owned(), ..sample_cache_key() };
        let other_settings = CacheKey { settings: 2, ..sample_cache_key() };
        let other_fingerprint = CacheKey { fingerprint: "f2".to_owned(), ..sample_cache_key() };
        for basis in [other_engine, other_settings, other_fingerprint] {
            assert_eq!(recent.remaining_text(&CursorSnapshot { cache_key: basis, ..today.clone() }), None);
        }
    }
}

#[test]
fn newest_matching_answer_is_used_and_oldest_are_evicted() {
    let mut recent = after_answer("x = $0\n", "old()");
    recent.insert(snapshot_at_cursor("x = $0\n"), "other()");
    assert_eq!(recent.remaining_text(&snapshot_at_cursor("x = $0\n")).as_deref(), Some("other()"));
    assert_eq!(recent.remaining_text(&snapshot_at_cursor("x = ol$0\n")).as_deref(), Some("d()"));
    for _ in 0..63 {
        recent.insert(snapshot_at_cursor("x = $0\n"), "other()");
    }
    assert_eq!(recent.remaining_text(&snapshot_at_cursor("x = ol$0\n")), None);
}

#[test]
fn displayed_answer_stays_first_among_alternatives() {
    let mut recent = after_answer("x = $0\n", "f(a)");
    recent.insert_alternatives(snapshot_at_cursor("x = $0\n"), ["f(a, b)", "g()", "f(a)", "g()"]);
    assert_eq!(recent.remaining_text(&snapshot_at_cursor("x = $0\n")).as_deref(), Some("f(a)"));
    // Either of them can be typed through.
    assert_eq!(recent.remaining_text(&snapshot_at_cursor("x = g$0\n")).as_deref(), Some("()"));
    assert_eq!(recent.remaining_text(&snapshot_at_cursor("x = f(a,$0\n")).as_deref(), Some(" b)"));
    assert_eq!(recent.remaining_text(&snapshot_at_cursor("x = h$0\n")), None);
}

#[test]
fn returning_to_an_earlier_cursor_finds_its_answer() {
    let mut recent = AnswerCache::default();
    let text: Arc<str> = "a = \nb = \nc = \n".into();
    let places = [4, 9, 14].map(|offset| CursorSnapshot {
        text: Arc::clone(&text),
        offset,
        cache_key: sample_cache_key(),
    });
    for (place, answer) in places.iter().zip(["1", "2", "3"]) {
        recent.insert(place.clone(), answer);
    }
    for (place, answer) in places.iter().zip(["1", "2", "3"]) {
        assert_eq!(recent.remaining_text(place).as_deref(), Some(answer));
    }
}

#[test]
fn large_documents_evict_answers_by_size_and_share_texts() {
    let large = |end: &str| at(&format!("{}\n{end}", "x".repeat(1 << 20)), 0);
    let mut recent = AnswerCache::default();
    let places: Vec<CursorSnapshot> = (0..5).map(|number| large(&number.to_string())).collect();
    for place in &places {
        recent.insert(place.clone(), "f()");
    }
    let known = |recent: &AnswerCache| {
        places.iter().map(|place| recent.remaining_text(place).is_some()).collect::<Vec<_>>()
    };
    assert_eq!(known(&recent), [false, false, true, true, true]);
    for _ in 0..20 {
        recent.insert(places[4].clone(), "g()");
    }
    assert_eq!(known(&recent), [false, false, true, true, true]);
    recent.insert(at(&"y".repeat(8 << 20), 0), "f()");
    assert!(recent.remaining_text(&at(&"y".repeat(8 << 20), 0)).is_some(), "the newest is always kept");
    assert_eq!(known(&recent), [false; 5]);
}

#[test]
fn invalid_offsets_have_no_remaining_text() {
    let recent = after_answer("é$0", "x");
    for offset in [0, 1, 3, usize::MAX] {
        assert_eq!(recent.remaining_text(&at("é", offset)), None);
    }
}

/// The rest by definition: every text that completes the document as accepting the answer would have.
fn naive<'a>(first: (&str, usize), answer: &'a str, second: (&str, usize)) -> Vec<&'a str> {
    let (before, after) = first.0.split_at(first.1);
    let (today_before, today_after) = second.0.split_at(second.1);
    let lf = |text: &str| text.replace("\r\n", "\n");
    let is_closed = |text: &str| text.chars().all(|c| ")\"} \n".contains(c));
    let starts = (0..=answer.len()).filter(|&start| answer.is_char_boundary(start));
    let parts = starts.flat_map(|start| (start + 1..=answer.len()).map(move |end| (start, end)));
    parts
        .filter(|&(_, end)| answer.is_char_boundary(end) && is_closed(&answer[end..]))
        .filter(|&(start, end)| {
            let typed = today_before.strip_prefix(before).map(lf);
            let closed = today_after.strip_suffix(after).map(lf);
            typed.as_deref() == Some(&answer[..start]) && closed.as_deref() == Some(&answer[end..])
        })
        .map(|(start, end)| &answer[start..end])
        .collect()
}

fn texts(longest: usize) -> impl Strategy<Value = String> {
    let pieces = ["a", "b", "é", "(", ")", "\"", "\n", "\r\n", "  ", "}"];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..longest)
        .prop_map(|pieces| pieces.concat())
}

/// A document in which a part of an answer, or something else, was typed.
fn edited_document(
    before: String,
    answer: &str,
    after: String,
) -> impl Strategy<Value = (String, usize)> + use<> {
    let boundaries: Vec<usize> = (0..=answer.len()).filter(|&at| answer.is_char_boundary(at)).collect();
    let at = proptest::sample::select(boundaries);
    let (answer, is_crlf) = (answer.to_owned(), any::<bool>());
    (at.clone(), at, is_crlf, texts(2), texts(2)).prop_map(move |(start, end, is_crlf, typed, closed)| {
        let typed_part = [&answer[..start], &typed].concat();
        let closed_part = [&*closed, answer.get(start.max(end)..).unwrap_or_default()].concat();
        let line_end = if is_crlf { "\r\n" } else { "\n" };
        let parts = [typed_part, closed_part].map(|part| part.replace('\n', line_end));
        (format!("{before}{}{}{after}", parts[0], parts[1]), before.len() + parts[0].len())
    })
}

fn situations() -> impl Strategy<Value = ((String, usize), String, (String, usize))> {
    let answer = texts(8).prop_map(|answer| answer.replace('\r', ""));
    (texts(4), answer, texts(4)).prop_flat_map(|(before, answer, after)| {
        let first = (format!("{before}{after}"), before.len());
        (Just(first), Just(answer.clone()), edited_document(before, &answer, after))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn remaining_text_equals_the_naive_model((first, answer, second) in situations()) {
        let mut recent = AnswerCache::default();
        recent.insert(at(&first.0, first.1), &answer);
        let rest = recent.remaining_text(&at(&second.0, second.1));
        let expected = naive((&first.0, first.1), &answer, (&second.0, second.1));
        prop_assert!(expected.len() <= 1);
        prop_assert_eq!(rest.as_deref(), expected.first().copied());
    }
}

#[test]
fn changed_workspace_matters_only_before_typing() {
    let recent = after_answer("x = $0\n", "f(a)");
    for changed in
        [CacheKey { workspace: 2, ..sample_cache_key() }, CacheKey { documents: 2, ..sample_cache_key() }]
    {
        let today = |fixture| CursorSnapshot { cache_key: changed.clone(), ..snapshot_at_cursor(fixture) };
        assert_eq!(recent.remaining_text(&today("x = $0\n")), None);
        assert_eq!(recent.remaining_text(&today("x = f$0\n")).as_deref(), Some("(a)"));
    }
}
