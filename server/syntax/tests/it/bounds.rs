//! No text exhausts the stack, the memory or the time budget of parsing.
//!
//! `GHOSTBENCH_LONG_TESTS` enables the long runs: every form at its full depth, and many more random texts.

use std::env;
use std::thread;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use syntax::Language;

use crate::hostile::{self, texts};

/// The smallest stack of any of our threads.
const STACK_BYTES: usize = 512 << 10;
/// Repetitions of a form.
const DEEP: usize = 100_000;
/// Repetitions in the short run, for all forms except one of each language.
const LESS_DEEP: usize = 300;

fn is_long() -> bool {
    env::var_os("GHOSTBENCH_LONG_TESTS").is_some()
}

fn run_on_small_stack(work: impl FnOnce() + Send + 'static) {
    let running = thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    running.expect("a thread can be started").join().expect("it ends well");
}

/// Calls every query of this crate on a text.
fn run_all_queries(language: Language, text: &str) {
    let tree = syntax::parse(language, text);
    tree.blocks(text);
    tree.functions(text);
    tree.functions_with_body(text);
    tree.identifiers();
    tree.comments(text);
    tree.strings();
    tree.uses(text);
    tree.has_error();
    tree.statement_end(text.len() / 2);
    let outline = tree.outline(text);
    tree.bindings(text, &outline, text.len());
    for definition in outline.definitions.iter().take(100) {
        definition.compact_signature(48);
    }
    syntax::scope(language, text);
    syntax::mentions(language, text, "a");
    syntax::multiline_tokens(language, text);
    syntax::lex(language, text);
    let half = &text[..text.floor_char_boundary(text.len() / 2)];
    tree.update(text, half).update(half, text).has_error();
}

#[test]
fn all_queries_on_deep_texts_fit_a_small_stack() {
    for language in Language::ALL {
        run_on_small_stack(move || {
            let repeats = if is_long() { DEEP } else { LESS_DEEP };
            texts(language, repeats).for_each(|(_, text)| run_all_queries(language, &text));
        });
    }
}

#[test]
fn parsing_very_deep_texts_fits_a_small_stack() {
    for (number, language) in Language::ALL.into_iter().enumerate() {
        run_on_small_stack(move || {
            // A different form for each language.
            let forms: Vec<(String, String)> = texts(language, DEEP).collect();
            let text = &forms[number * 4 % forms.len()].1;
            let tree = syntax::parse(language, text);
            tree.outline(text);
            tree.blocks(text);
            tree.uses(text);
        });
    }
}

#[test]
fn only_texts_that_exceed_the_budget_are_too_complex() {
    let is_too_complex = |language, text: &str| syntax::parse(language, text).is_too_complex();
    // Quadratic memory in one step of the parser.
    assert!(is_too_complex(Language::Java, &"a<".repeat(20_000)));
    assert!(is_too_complex(Language::CSharp, &"a<".repeat(40_000)));
    // Quadratic time: each token is searched for up to the end.
    assert!(is_too_complex(Language::Cpp, &"/* ".repeat(27_000)));
    assert!(is_too_complex(Language::Rust, &"r#\"".repeat(30_000)));
    // Deep, but within the budget.
    for language in Language::ALL {
        assert!(!is_too_complex(language, &"(".repeat(100_000)), "{language:?}");
    }
}

#[test]
fn too_complex_text_has_an_empty_tree_until_it_is_edited() {
    let hostile = "/* ".repeat(27_000);
    let text = format!("int f() {{ return 1; }}\n{hostile}");
    let tree = syntax::parse(Language::Cpp, &text);
    assert!(tree.is_too_complex() && tree.has_error());
    assert!(tree.blocks(&text).is_empty() && tree.identifiers().is_empty());
    assert_eq!(tree.outline(&text).definitions, []);
    let mended = "int f() { return 1; }\n";
    let tree = tree.update(&text, mended);
    assert!(!tree.is_too_complex());
    assert_eq!(tree.functions(mended).len(), 1);
    assert!(tree.update(mended, &text).is_too_complex());
}

/// Random short sequences of a language's signs and words, repeated up to some length.
fn repeated(language: Language) -> impl Strategy<Value = String> {
    let pieces: Vec<&'static str> = hostile::pieces(language).collect();
    let most: usize = if is_long() { 100_000 } else { 20_000 };
    let piece = prop_oneof![4 => select(pieces), 1 => select(vec![" ", "\n", ";", ",", "a", "1", ".", ":"])];
    (prop::collection::vec(piece, 1..5), 100_usize..most).prop_map(|(pieces, length)| {
        let unit = pieces.concat();
        unit.repeat(length / unit.len().max(1) + 1)
    })
}

/// Checks only that parsing ends. How far it exceeds its budget is a matter of time, which is not tested.
#[test]
fn parsing_repeated_random_tokens_terminates() {
    let cases = if is_long() { 2_000 } else { 12 };
    for language in Language::ALL {
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let checked = TestRunner::new_with_rng(config, rng).run(&repeated(language), |text| {
            let tree = syntax::parse(language, &text);
            prop_assert_eq!(tree.is_too_complex(), syntax::parse(language, &text).is_too_complex());
            Ok(())
        });
        checked.expect("a text is parsed always or never");
    }
}
