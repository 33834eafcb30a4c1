//! Speed of the secret search in real code, compared to one pass of a single regular expression over the same text.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use regex::Regex;

/// Maximum file size in bytes; longer files are bundles, from which no cases are cut.
const LONGEST: u64 = 1 << 20;

/// Number of passes over all texts; the fastest counts.
const ROUNDS: usize = 5;

/// Minimal pattern of a line-based scanner: a name followed by a string.
const PLAIN: &str = r#"(?i)(?:password|passwd|secret|token|api_?key)\w*\s*[:=]+\s*["'][^"']{6,}["']"#;

/// Measures and returns the Markdown of the section.
pub(crate) fn measure() -> Result<String> {
    let folder = std::env::temp_dir().join(format!("ghostbench-findings-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let trees =
        tests::check_out_histories(&folder).context("set GHOSTBENCH_HISTORIES to the folder of histories");
    let texts: Vec<String> = trees
        .iter()
        .flatten()
        .flat_map(|(_, tree)| files(tree))
        .filter_map(|path| fs::read_to_string(path).ok())
        .collect();
    fs::remove_dir_all(&folder)?;
    trees?;
    section(&texts)
}

/// Returns the files below a folder, without those of git.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let below =
        entries.filter(|entry| entry.file_name() != ".git").flat_map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => files(&entry.path()),
            Ok(metadata) if metadata.is_file() && metadata.len() <= LONGEST => vec![entry.path()],
            _ => Vec::new(),
        });
    below.collect()
}

fn section(texts: &[String]) -> Result<String> {
    let plain = Regex::new(PLAIN)?;
    let bytes: usize = texts.iter().map(String::len).sum();
    let megabytes = bytes as f64 / 1e6;
    // Compilation on first use is excluded.
    let first = fastest(1, || count(texts, |text| secrets::find_secrets(text).len())).0;
    let (plain_time, matches) = fastest(ROUNDS, || count(texts, |text| plain.find_iter(text).count()));
    let (time, findings) = fastest(ROUNDS, || count(texts, |text| secrets::find_secrets(text).len()));
    let row = |what: &str, time: Duration, found: usize| {
        let seconds = time.as_secs_f64();
        format!(
            "| {what} | {:.0} | {:.1} | {found} |\n",
            megabytes / seconds,
            seconds / plain_time.as_secs_f64()
        )
    };
    Ok(format!(
        "{} files with {megabytes:.1} MB from the eight histories of the tests (GHOSTBENCH_HISTORIES), on one core, the fastest of {ROUNDS} \
         passes. The plain pass is one regular expression for a name with a string behind it. The first pass compiles the rules that it needs.\n\n\
         | pass | MB/s | times the plain one | found |\n|---|---|---|---|\n{}{}{}",
        texts.len(),
        row("plain", plain_time, matches),
        row("secrets", time, findings),
        row("secrets, the first pass", first, findings),
    ))
}

fn count(texts: &[String], of: impl Fn(&str) -> usize) -> usize {
    texts.iter().map(|text| black_box(of(text))).sum()
}

fn fastest(rounds: usize, pass: impl Fn() -> usize) -> (Duration, usize) {
    let mut best = (Duration::MAX, 0);
    for _ in 0..rounds {
        let start = Instant::now();
        let found = pass();
        best = best.min((start.elapsed(), found));
    }
    best
}
