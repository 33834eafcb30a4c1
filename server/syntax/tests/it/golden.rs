//! Whole repositories: all results for real files, whole, cut off, and while somebody types in them, are consistent.

use std::path::PathBuf;

use syntax::{Language, SyntaxCache, scope};

use crate::invariants::assert_invariants;

/// Number of places of each file where it is cut off.
const CUTS: u64 = 3;

/// Code typed in the files, one of these in turn; empty: the next characters of the file once more.
const TYPED: [&str; 5] =
    ["", "if (a(b) && x", "", "for (int i = 0; i < n; i++) {\n", "}\n\nint f(a *b)\n{\n  return b->"];
/// Number of those next characters.
const TYPED_AGAIN: usize = 12;

#[test]
fn golden_repositories_parse() {
    let files = check_files(|language, text, seed| {
        assert_invariants(language, text);
        for cut in 0..CUTS {
            assert_invariants(language, &text[..any_place(text, seed * CUTS + cut)]);
        }
    });
    match files {
        Some(files) => eprintln!("parsed {files} files, each also cut off in {CUTS} places"),
        None => eprintln!("skipped: GHOSTBENCH_GOLDEN is not set"),
    }
}

#[test]
fn golden_scopes_while_typing_equal_fresh_ones() {
    let files = check_files(|language, text, seed| {
        // The cursor jumps from one place to the next.
        let cache = SyntaxCache::default();
        for cut in 0..CUTS {
            let place = any_place(text, seed * CUTS + cut);
            let again: String = text[place..].chars().take(TYPED_AGAIN).collect();
            let typed = TYPED[(seed + cut) as usize % TYPED.len()];
            type_at(&cache, language, &text[..place], if typed.is_empty() { &again } else { typed });
        }
    });
    match files {
        Some(files) => eprintln!("typed in {CUTS} places of {files} files"),
        None => eprintln!("skipped: GHOSTBENCH_GOLDEN is not set"),
    }
}

/// Checks the scope behind each typed character.
#[track_caller]
fn type_at(cache: &SyntaxCache, language: Language, before: &str, typed: &str) {
    let mut prefix = before.to_owned();
    cache.scope(language, &prefix);
    for key in typed.chars() {
        prefix.push(key);
        let is_same = *cache.scope(language, &prefix) == scope(language, &prefix);
        assert!(is_same, "{language:?} at the end of\n{prefix}");
    }
}

/// Checks the files of all repositories in a language that is supported, with a number for each. Returns their number; `None` if the folder is
/// not set.
fn check_files(mut check: impl FnMut(Language, &str, u64)) -> Option<u64> {
    let folder = PathBuf::from(std::env::var_os("GHOSTBENCH_GOLDEN")?);
    let mut files = 0;
    for (name, field) in [("cceval_repos.jsonl", "files"), ("repoqa_repos.jsonl", "content")] {
        let path = folder.join(name);
        let rows =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for row in rows.lines() {
            let row: serde_json::Value = serde_json::from_str(row).expect("a row is JSON");
            for (path, text) in row[field].as_object().expect("files by their paths") {
                let Some(language) = Language::from_path(path) else { continue };
                check(language, text.as_str().expect("a text"), files);
                files += 1;
            }
        }
    }
    assert!(files > 0, "no file in a supported language");
    Some(files)
}

/// A place in the text. A fixed, odd multiplier spreads consecutive seeds over the whole text.
fn any_place(text: &str, seed: u64) -> usize {
    let place = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    text.floor_char_boundary((place as usize * text.len()) >> 32)
}
