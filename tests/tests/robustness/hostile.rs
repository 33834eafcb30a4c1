//! Texts that nest or chain without end, through everything that is done with a file.

use std::env;

use syntax::Language;

use crate::forms::texts;
use crate::pipeline::{on_small_stacks, take_through};

/// How often a form is repeated in the long run.
const DEEP: usize = 100_000;
/// The same in the short run, of one form of each language. A recursion without a limit ends any stack of this size: it needs more than 30
/// bytes a level.
const QUITE_DEEP: usize = 16_000;
/// The same for the short run, of all forms but one of each language.
const LESS_DEEP: usize = 200;
/// Of the forms, every so many-th is taken in the short run; another one in each language.
const EACH: usize = 5;

fn is_long() -> bool {
    env::var_os("GHOSTBENCH_LONG_TESTS").is_some()
}

#[test]
fn deep_and_long_texts_go_through_everything() {
    on_small_stacks(|| {
        for (number, language) in Language::ALL.into_iter().enumerate() {
            let (each, repeats) = if is_long() { (1, DEEP) } else { (EACH, LESS_DEEP) };
            for (name, text) in
                texts(language, repeats).skip(if each == 1 { 0 } else { number % each }).step_by(each)
            {
                if is_long() {
                    eprintln!("{name}");
                }
                take_through(language, &text);
            }
        }
    });
}

#[test]
fn very_deep_texts_go_through_everything() {
    on_small_stacks(|| {
        for (number, language) in Language::ALL.into_iter().enumerate() {
            let repeats = if is_long() { DEEP } else { QUITE_DEEP };
            let forms: Vec<(String, String)> = texts(language, repeats).collect();
            // Another form for each language.
            let (name, text) = &forms[(number * 4 + 1) % forms.len()];
            eprintln!("{name}");
            take_through(language, text);
        }
    });
}
