//! Compares the window search with a textbook implementation of BM25.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use syntax::{Language, SourceFile};

use super::*;
use crate::{Index, identifiers};

fn index(texts: &[String]) -> Index {
    Index::build(
        &texts
            .iter()
            .enumerate()
            .map(|(number, text)| SourceFile {
                path: format!("{number}.py").into(),
                language: Language::Python,
                text: text.as_str().into(),
            })
            .collect::<Vec<_>>(),
    )
}

/// All terms of each window of a text.
fn windows_of(text: &str) -> Vec<Vec<Term>> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.len().div_ceil(3).saturating_sub(1).max(1);
    let starts = (0..last).map(|window| window * 3).filter(|start| *start < lines.len());
    starts
        .map(|start| {
            let names = lines[start..].iter().take(6).flat_map(|line| identifiers(Language::Python, line));
            names.flat_map(|name| std::iter::once(Term::identifier(name)).chain(Term::parts(name))).collect()
        })
        .collect()
}

fn textbook(texts: &[String], query: &[(Term, f32)]) -> Vec<(String, u32, f64)> {
    let windows: Vec<(String, u32, Vec<Term>)> = texts
        .iter()
        .enumerate()
        .flat_map(|(file, text)| {
            let numbered = (0..).zip(windows_of(text));
            numbered.map(move |(window, terms)| (format!("{file}.py"), window, terms))
        })
        .collect();
    let count = |terms: &[Term], term: Term| terms.iter().filter(|other| **other == term).count() as f64;
    let all = windows.len() as f64;
    let mean = windows.iter().map(|(_, _, terms)| terms.len()).sum::<usize>() as f64 / all;
    let score = |terms: &[Term]| -> f64 {
        let gain = |&(term, weight): &(Term, f32)| {
            let having = windows.iter().filter(|(_, _, terms)| count(terms, term) > 0.0).count() as f64;
            let inverse = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
            let length = terms.len() as f64 / mean;
            let count = count(terms, term);
            f64::from(weight) * inverse * count * 2.2 / (count + 1.2 * (1.0 - 0.75 + 0.75 * length))
        };
        query.iter().map(gain).sum()
    };
    let mut hits: Vec<(String, u32, f64)> =
        windows.iter().map(|(path, window, terms)| (path.clone(), *window, score(terms))).collect();
    hits.retain(|(_, _, score)| *score > 0.0);
    hits.sort_by(|(path, window, score), other| {
        other.2.total_cmp(score).then_with(|| (path, window).cmp(&(&other.0, &other.1)))
    });
    hits
}

fn query(names: &[&str]) -> Vec<(Term, f32)> {
    let terms =
        names.iter().flat_map(|name| std::iter::once(Term::identifier(name)).chain(Term::parts(name)));
    let mut terms: Vec<Term> = terms.collect();
    terms.sort_unstable();
    terms.dedup();
    terms.into_iter().zip([1.0, 0.5, 0.25].into_iter().cycle()).collect()
}

fn text() -> impl Strategy<Value = String> {
    let line = prop::collection::vec(
        prop::sample::select(&["readUser", "user", "write", "total", " ", "7"][..]),
        0..5,
    );
    prop::collection::vec(line.prop_map(|words| words.join(" ")), 0..25).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn window_scores_equal_textbook_bm25(texts in prop::collection::vec(text(), 0..6), limit in 1_usize..9) {
        let query = query(&["readUser", "write", "total", "nowhere"]);
        let index = index(&texts);
        let searcher = index.hide(&[]);
        let found = searcher.windows(&query, limit);
        let expected = textbook(&texts, &query);
        prop_assert_eq!(found.len(), expected.len().min(limit));
        for (hit, (_, _, score)) in found.iter().zip(&expected) {
            prop_assert!((hit.score - score).abs() < 1e-4, "{} {score}", hit.score);
            let (_, _, own) = expected.iter().find(|(path, window, _)| path == hit.file.path() && *window == hit.window).unwrap();
            prop_assert!((hit.score - own).abs() < 1e-4);
        }
    }

    #[test]
    fn limited_search_ranks_hits_by_full_scores(texts in prop::collection::vec(text(), 0..6), budget in 0_u64..30) {
        let terms = query(&["readUser", "write", "total"]);
        let index = index(&texts);
        let searcher = index.hide(&[]);
        let all = searcher.windows(&terms, usize::MAX);
        let found = search(searcher.layers(), &WindowQuery { terms: &terms, limit: 5, budget }, searcher.cancel());
        prop_assert!(found.is_sorted_by(|one, other| one > other));
        for hit in found {
            prop_assert!(all.iter().any(|other| (*other).eq(&hit)));
        }
    }
}

#[track_caller]
fn check(texts: &[&str], names: &[&str], expected: Expect) {
    let texts: Vec<String> = texts.iter().map(|text| text.replace(' ', "\n")).collect();
    let index = index(&texts);
    let searcher = index.hide(&[]);
    let hits = searcher.windows(&query(names), 3);
    expected.assert_eq(
        &hits
            .iter()
            .map(|hit| format!("{}:{} {:.3}\n", hit.file.path(), hit.window, hit.score))
            .collect::<String>(),
    );
}

#[test]
fn rare_terms_and_short_windows_count_more() {
    check(
        &["common rare common", "common other common", "common", "common rare"],
        &["rare", "common"],
        expect![[r#"
            3.py:0 0.765
            0.py:0 0.722
            2.py:0 0.273
        "#]],
    );
}

#[test]
fn terms_in_both_blocks_of_a_window_count_twice() {
    check(
        &["a b rare c rare e f g h", "h i j"],
        &["rare"],
        expect![[r#"
            0.py:0 0.886
            0.py:1 0.660
        "#]],
    );
}

#[test]
fn empty_or_unknown_query_has_no_hits() {
    check(&["one two"], &[], expect![[""]]);
    check(&["one two"], &["three"], expect![[""]]);
    check(&[], &["three"], expect![[""]]);
}
