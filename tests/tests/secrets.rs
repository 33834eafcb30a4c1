//! False findings of secrets in real repositories: there should be hardly any, because the repositories publish none.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use secrets::find_secrets;
use tests::check_out_histories;

/// Maximum findings in 10,000 lines. Measured: 0.10, all three of them keys of search services that are published on purpose,
/// or bundled with a tool.
const MAX_FINDINGS: f64 = 0.2;

/// Minimum number of searched lines.
const MIN_LINES: usize = 300_000;

/// Returns all files below a folder except git's own.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is ours").map(|entry| entry.expect("it is ours"));
    let files = entries.filter(|entry| entry.file_name() != ".git").flat_map(|entry| {
        let kind = entry.file_type().expect("it is there");
        if kind.is_dir() { files(&entry.path()) } else { vec![entry.path()] }
    });
    files.collect()
}

#[test]
fn real_repositories_have_few_false_positives() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let Some(repositories) = check_out_histories(folder.path()) else { return };
    let texts: Vec<(PathBuf, String)> = repositories
        .iter()
        .flat_map(|(_, root)| files(root))
        .filter_map(|path| Some((path.clone(), fs::read_to_string(path).ok()?)))
        .collect();
    let lines: usize = texts.iter().map(|(_, text)| text.lines().count()).sum();
    let findings: Vec<String> = texts
        .par_iter()
        .flat_map_iter(|(path, text)| {
            let findings = find_secrets(text).into_iter();
            findings
                .map(move |finding| format!("{}: {} {}", path.display(), finding.rule, &text[finding.range]))
        })
        .collect();
    let share = findings.len() as f64 * 1e4 / lines as f64;
    eprintln!("{share:.2} findings in 10,000 of {lines} lines\n{}", findings.join("\n"));
    assert!(lines >= MIN_LINES && share <= MAX_FINDINGS, "{share:.2} in 10,000 of {lines} lines");
}
