//! Sharing of an answer in flight with later requests.

use completion::{AnswerCache, CacheKey, CursorSnapshot, ReuseDecision, reuse_decision};
use proptest::prelude::*;

use crate::answer_cache::{sample_cache_key, snapshot_at_cursor};

/// Compares an answer requested at the first cursor, which begins like `streamed`, with a request at the second cursor.
#[track_caller]
fn check(first: &str, streamed: &str, second: &str, verdict: ReuseDecision) {
    assert_eq!(
        reuse_decision(&snapshot_at_cursor(first), streamed, &snapshot_at_cursor(second)),
        verdict,
        "{streamed:?} at {second:?}"
    );
}

#[test]
fn typed_text_within_the_stream_is_adopted() {
    check("x = $0\n", "f(a)", "x = f(a$0\n", ReuseDecision::Adopt);
    check("x = $0\n", "f(a)", "x = f(a)$0\n", ReuseDecision::Adopt);
    check("x = $0\n", "größe", "x = grö$0\n", ReuseDecision::Adopt);
    check("if x:$0\r\n", "\n    y()", "if x:\r\n    $0\r\n", ReuseDecision::Adopt);
}

#[test]
fn request_at_the_same_offset_is_adopted() {
    check("x = $0\n", "", "x = $0\n", ReuseDecision::Adopt);
    check("x = $0\n", "f(a)", "x = $0\n", ReuseDecision::Adopt);
}

#[test]
fn typed_text_ahead_of_the_stream_waits() {
    check("x = $0\n", "", "x = f$0\n", ReuseDecision::Wait);
    check("x = $0\n", "f", "x = f(a$0\n", ReuseDecision::Wait);
    check("x = $0\n", "f(", "x = f(a$0)\n", ReuseDecision::Wait);
    check("fn f() $0\n", "", "fn f() {\n    $0\n}\n", ReuseDecision::Wait);
}

#[test]
fn diverging_request_is_cancelled() {
    check("x = $0\n", "f(a)", "x = g$0\n", ReuseDecision::Cancel);
    check("x = $0\n", "f(a)", "x = f(b$0)\n", ReuseDecision::Cancel);
    check("x = $0\n", "f(a)", "x =$0\n", ReuseDecision::Cancel);
    check("x = $0\n", "", "y = $0\n", ReuseDecision::Cancel);
    check("x = $0\n", "", "x = f$0\ny", ReuseDecision::Cancel);
    check("x = $0\ny", "", "x = f$0\nz", ReuseDecision::Cancel);
    check("x = $0\ny = ", "", "x = \ny = $0", ReuseDecision::Cancel);
}

#[test]
fn new_engine_always_cancels_new_workspace_only_before_typing() {
    let asked = snapshot_at_cursor("x = $0\n");
    let at = |fixture: &str, changed: &CacheKey| {
        reuse_decision(
            &asked,
            "f(a)",
            &CursorSnapshot { cache_key: changed.clone(), ..snapshot_at_cursor(fixture) },
        )
    };
    for other in [
        CacheKey { engine: "e2".to_owned(), ..sample_cache_key() },
        CacheKey { fingerprint: "f2".to_owned(), ..sample_cache_key() },
        CacheKey { settings: 2, ..sample_cache_key() },
    ] {
        assert_eq!(at("x = $0\n", &other), ReuseDecision::Cancel);
        assert_eq!(at("x = f$0\n", &other), ReuseDecision::Cancel);
    }
    for newer in
        [CacheKey { workspace: 2, ..sample_cache_key() }, CacheKey { documents: 2, ..sample_cache_key() }]
    {
        assert_eq!(at("x = $0\n", &newer), ReuseDecision::Cancel);
        assert_eq!(at("x = f$0\n", &newer), ReuseDecision::Adopt);
    }
}

fn texts() -> impl Strategy<Value = String> {
    let pieces = ["a", "b", "é", "(", ")", "\n", "  ", "}"];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..8)
        .prop_map(|pieces| pieces.concat())
}

fn cut(text: &str, at: &prop::sample::Index) -> usize {
    text.floor_char_boundary(at.index(text.len() + 1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// At every moment of an answer: while it begins with the typed text, it is adopted or waited for, and the rest of an
    /// adopted answer gives the document that accepting it would have given.
    #[test]
    fn adopted_answer_gives_the_accepted_document(
        before in texts(),
        after in texts(),
        answer in texts(),
        other in texts(),
        place in any::<prop::sample::Index>(),
        pressed in any::<prop::sample::Index>(),
        is_other in any::<bool>(),
    ) {
        let streamed = &answer[..cut(&answer, &place)];
        let typed = if is_other { other.as_str() } else { &answer[..cut(&answer, &pressed)] };
        let asked = snapshot_at_cursor(&format!("{before}$0{after}"));
        let today = snapshot_at_cursor(&format!("{before}{typed}$0{after}"));
        let verdict = reuse_decision(&asked, streamed, &today);
        if answer.starts_with(typed) {
            prop_assert_ne!(verdict, ReuseDecision::Cancel, "the answer continues the typed text");
        }
        if verdict == ReuseDecision::Cancel {
            prop_assert!(!answer.starts_with(typed));
        }
        let mut recent = AnswerCache::default();
        recent.insert(asked, &answer);
        match recent.remaining_text(&today) {
            Some(rest) => {
                prop_assert_ne!(verdict, ReuseDecision::Cancel);
                prop_assert_eq!(format!("{before}{typed}{rest}{after}"), format!("{before}{answer}{after}"));
            }
            None => prop_assert!(!answer.starts_with(typed) || answer.len() == typed.len()),
        }
    }
}
