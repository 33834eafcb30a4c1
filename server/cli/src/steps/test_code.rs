//! Code of tests, which no test judges.

use std::collections::HashMap;
use std::ops::Range;

use cases::Case;
use syntax::SourceFile;

/// Whether a file holds tests.
pub(crate) fn is_test_file(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_folder = |part: &str| ["test", "tests", "__tests__", "spec", "testing"].contains(&part);
    let stem = name.split('.').next().unwrap_or(name);
    folders.split('/').any(is_folder)
        || ["test", "tests"].contains(&stem)
        || stem.starts_with("test_")
        || ["_test", "_tests", "Test", "Tests"].iter().any(|ending| stem.ends_with(ending))
        || [".test.", ".spec."].iter().any(|part| name.contains(part))
        || name == "conftest.py"
}

/// The tests beside the code of files that were looked at.
#[derive(Default)]
pub(crate) struct TestCode(HashMap<String, Vec<Range<usize>>>);

impl TestCode {
    /// Whether a case is in a test, or has one in its truth.
    pub(crate) fn contains(&mut self, file: Option<&SourceFile>, case: &Case) -> bool {
        let Some(file) = file else { return false };
        let ranges = self
            .0
            .entry(case.path.clone())
            .or_insert_with(|| syntax::parse(file.language, &file.text).test_ranges(&file.text));
        let range = &case.byte_range;
        ranges.iter().any(|test| test.start < range.end.max(range.start + 1) && range.start < test.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_tests_are_known_by_their_names() {
        for path in
            ["tests/a.py", "test_a.py", "a_test.go", "src/tests.rs", "src/a.test.ts", "ATest.java", "test.js"]
        {
            assert!(is_test_file(path), "{path}");
        }
        for path in ["latest.py", "src/contest.rs", "attest.go", "src/testing_tools.py"] {
            assert!(!is_test_file(path), "{path}");
        }
    }
}
