//! Golden files: inputs of the public benchmarks with the originals' own outputs.

#![expect(clippy::print_stderr, reason = "says how many rows were read, or why none")]

use std::path::PathBuf;

use serde_json::Value;

/// Returns all rows of a golden file; `None`, with a note, if `GHOSTBENCH_GOLDEN` does not name their folder.
///
/// # Panics
///
/// If the file cannot be read, has no rows, or has a line that is not JSON.
#[track_caller]
pub fn golden_rows(file: &str) -> Option<Vec<Value>> {
    let Some(folder) = std::env::var_os("GHOSTBENCH_GOLDEN") else {
        eprintln!("{file}: skipped, GHOSTBENCH_GOLDEN is not set");
        return None;
    };
    let path = PathBuf::from(folder).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a row of JSON")).collect();
    assert!(!rows.is_empty(), "{file} has no rows");
    eprintln!("{file}: {} rows", rows.len());
    Some(rows)
}
