//! Whole repositories: all results for real files, whole and cut off, are consistent.

use std::path::PathBuf;

use syntax::Language;

use crate::invariants::assert_invariants;

/// Number of cut-off versions of each file.
const CUTS: u64 = 3;

#[test]
fn golden_repositories_parse() {
    let Some(folder) = std::env::var_os("GHOSTBENCH_GOLDEN").map(PathBuf::from) else {
        eprintln!("skipped: GHOSTBENCH_GOLDEN is not set");
        return;
    };
    let mut files = 0;
    for (name, field) in [("cceval_repos.jsonl", "files"), ("repoqa_repos.jsonl", "content")] {
        let path = folder.join(name);
        let rows =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for row in rows.lines() {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            for (path, text) in row[field].as_object().unwrap() {
                let Some(language) = Language::from_path(path) else { continue };
                check_file(language, text.as_str().unwrap(), files);
                files += 1;
            }
        }
    }
    assert!(files > 0, "no file in a supported language");
    eprintln!("parsed {files} files, each also cut off in {CUTS} places");
}

fn check_file(language: Language, text: &str, seed: u64) {
    assert_invariants(language, text);
    for cut in 0..CUTS {
        // A fixed, odd multiplier spreads consecutive seeds over the whole file.
        let place = (seed * CUTS + cut).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let place = text.floor_char_boundary((place as usize * text.len()) >> 32);
        assert_invariants(language, &text[..place]);
    }
}
