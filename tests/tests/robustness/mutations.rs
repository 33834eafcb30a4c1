//! Real files with pieces removed, duplicated and moved.

use std::env;

use syntax::{Language, SourceFile};
use text::SplitMix64;

use crate::histories::check_out;
use crate::pipeline::{on_small_stacks, run_pipeline};

/// Number of changed files of all histories; the long run changes each of them many times.
const FILES: usize = 30;
const LONG_FILES: usize = 4_000;
/// Maximum size; larger files take longer and fail in the same ways.
const MAX_BYTES: usize = 12 << 10;
const LONG_MAX_BYTES: usize = 64 << 10;
/// Successive changes to a file.
const CHANGES: usize = 3;

#[test]
fn pipeline_survives_mutated_real_files() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let Some(trees) = check_out(folder.path()) else { return };
    let is_long = env::var_os("GHOSTBENCH_LONG_TESTS").is_some();
    let (count, max_bytes) = if is_long { (LONG_FILES, LONG_MAX_BYTES) } else { (FILES, MAX_BYTES) };
    let mut files: Vec<SourceFile> = Vec::new();
    for (_, tree) in &trees {
        let snapshot =
            workspace::load(tree, &workspace::ReadLimits::standard(), &|_| {}).expect("a readable tree");
        files.extend(snapshot.files().iter().filter(|file| file.text.len() <= max_bytes).cloned());
    }
    let by_language = Language::ALL
        .map(|language| files.iter().filter(|file| file.language == language).collect::<Vec<_>>());
    on_small_stacks(|| {
        let mut random = SplitMix64::new(1);
        for number in 0..count {
            let of_language = &by_language[number % by_language.len()];
            assert!(!of_language.is_empty(), "every language has small files");
            let file = of_language[random.below(of_language.len())];
            let other = of_language[random.below(of_language.len())];
            let mut text = file.text.to_string();
            let changes: Vec<&str> =
                (0..CHANGES).map(|_| change(&mut text, &other.text, &mut random)).collect();
            if is_long && number % 100 == 0 {
                eprintln!("{number} {} {changes:?}", file.path);
            }
            run_pipeline(file.language, &text);
        }
    });
}

/// Changes `text` randomly, and returns the name of the change.
fn change(text: &mut String, other: &str, random: &mut SplitMix64) -> &'static str {
    let range = random_range(random, text);
    match random.below(6) {
        0 => {
            text.truncate(range.start);
            "cut off"
        }
        1 => {
            text.replace_range(range, "");
            "cut out"
        }
        2 => {
            let piece = text[range.clone()].to_owned();
            text.insert_str(range.start, &piece.repeat(1 + random.below(4)));
            "doubled"
        }
        3 => {
            text.replace_range(range, &other[random_range(random, other)]);
            "spliced"
        }
        4 => {
            let bracket = ['(', ')', '[', ']', '{', '}', '<', '>'][random.below(8)];
            *text = text.replace(bracket, "");
            "without a kind of brackets"
        }
        _ => {
            let sign = ["\"", "'", "`", "/*", "\\", "#", "{", "(", "\u{0}", "\r"][random.below(10)];
            text.insert_str(range.start, sign);
            "with a sign"
        }
    }
}

/// Returns a random range of the text on character boundaries.
fn random_range(random: &mut SplitMix64, text: &str) -> std::ops::Range<usize> {
    let mut ends = [0, 0].map(|_| text.floor_char_boundary(random.below(text.len() + 1)));
    ends.sort_unstable();
    ends[0]..ends[1]
}
