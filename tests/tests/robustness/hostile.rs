//! Texts with unlimited nesting or chaining, in the whole pipeline.

use std::env;

use syntax::Language;

use crate::forms::texts;
use crate::pipeline::{on_small_stacks, run_pipeline};

/// Repetitions of a form in the long run.
const DEEP: usize = 100_000;
/// Repetitions in the short run, of one form per language. An unlimited recursion overflows any stack of our size: it needs
/// more than 30 bytes per level.
const QUITE_DEEP: usize = 16_000;
/// Repetitions in the short run, of all other forms.
const LESS_DEEP: usize = 200;
/// One of this many forms is tested in the short run; a different one in each language.
const EACH: usize = 5;

fn is_long() -> bool {
    env::var_os("GHOSTBENCH_LONG_TESTS").is_some()
}

#[test]
fn pipeline_survives_nested_and_long_texts() {
    on_small_stacks(|| {
        for (number, language) in Language::ALL.into_iter().enumerate() {
            let (each, repeats) = if is_long() { (1, DEEP) } else { (EACH, LESS_DEEP) };
            for (name, text) in
                texts(language, repeats).skip(if each == 1 { 0 } else { number % each }).step_by(each)
            {
                if is_long() {
                    eprintln!("{name}");
                }
                run_pipeline(language, &text);
            }
        }
    });
}

#[test]
fn pipeline_survives_very_deeply_nested_texts() {
    on_small_stacks(|| {
        for (number, language) in Language::ALL.into_iter().enumerate() {
            let repeats = if is_long() { DEEP } else { QUITE_DEEP };
            let forms: Vec<(String, String)> = texts(language, repeats).collect();
            // A different form for each language.
            let (name, text) = &forms[(number * 4 + 1) % forms.len()];
            eprintln!("{name}");
            run_pipeline(language, text);
        }
    });
}
