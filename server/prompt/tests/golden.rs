//! The estimate against the tokenizers that it stands in for, on whole repositories.
//!
//! `GHOSTBENCH_GOLDEN` names the folder with their files; without it this says so and checks nothing.

use std::path::PathBuf;

use prompt::{SAMPLE, estimate, estimate_by};
use serde_json::Value;
use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

/// How far an estimate may be below the truth.
const LOW: f64 = 0.10;

/// Files with fewer tokens are rounded too much to tell.
const LEAST_TOKENS: usize = 100;

fn tokens(bpe: &CoreBPE, text: &str) -> usize {
    bpe.encode_ordinary(text).len()
}

fn dearest(text: &str) -> usize {
    tokens(o200k_base_singleton(), text).max(tokens(cl100k_base_singleton(), text))
}

#[test]
fn the_sample_has_the_tokens_that_estimates_are_scaled_by() {
    let text = "fn main() {}\n";
    assert_eq!(estimate_by(dearest(SAMPLE))(text), estimate(text));
}

#[test]
fn golden_no_estimate_is_far_too_low() {
    let Some(folder) = std::env::var_os("GHOSTBENCH_GOLDEN").map(PathBuf::from) else {
        eprintln!("skipped: GHOSTBENCH_GOLDEN is not set");
        return;
    };
    let (mut files, mut low, mut shares) = (0, Vec::new(), Vec::new());
    for (name, field) in [("cceval_repos.jsonl", "files"), ("repoqa_repos.jsonl", "content")] {
        let path = folder.join(name);
        let rows =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for row in rows.lines() {
            let row: Value = serde_json::from_str(row).expect("a row of JSON");
            let (mut estimated, mut counted) = (0, 0);
            for (path, text) in row[field].as_object().expect("files by path") {
                let text = text.as_str().expect("a file is text");
                let (estimate, truth) = (estimate(text), dearest(text));
                (estimated, counted, files) = (estimated + estimate, counted + truth, files + 1);
                if truth >= LEAST_TOKENS && (estimate as f64) < truth as f64 * (1.0 - LOW) {
                    low.push(format!("{path}: {estimate} of {truth}"));
                }
            }
            shares.push(estimated as f64 / counted as f64);
        }
    }
    assert!(files > 0, "there are no files");
    eprintln!("{files} files, estimates of repositories over the truth: {shares:.2?}");
    assert!(low.is_empty(), "{low:#?}");
}
