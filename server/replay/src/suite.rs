//! Mined and imported suites: read and written as a whole, and rejected if any row is invalid.

use std::collections::HashSet;
use std::path::Path;

use cases::{Case, ParsedLines, parse_lines, to_line};
use syntax::Language;

use crate::ReplayError;
use crate::file_io::{parse_error, read_text, write_atomically};

/// Reads a suite. Every row must be complete, in a supported language and unique.
pub fn read_suite(path: &Path) -> Result<Vec<Case>, ReplayError> {
    if !path.exists() {
        return Err(ReplayError::NoSuite { path: path.to_owned() });
    }
    let text = read_text(path)?;
    let lines: ParsedLines<Case> = parse_lines(&text).map_err(parse_error(path))?;
    if lines.complete_bytes < text.len() {
        let line = text[..lines.complete_bytes].matches('\n').count() + 1;
        return Err(ReplayError::TruncatedRow { path: path.to_owned(), line });
    }
    if lines.rows.is_empty() {
        return Err(ReplayError::EmptySuite { path: path.to_owned() });
    }
    let mut ids = HashSet::new();
    // One row per line; blank lines are skipped.
    let numbers =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(|(index, _)| index + 1);
    for (case, line) in lines.rows.iter().zip(numbers) {
        check_case(path, line, case, &mut ids)?;
    }
    Ok(lines.rows)
}

/// Writes a suite atomically.
pub fn write_suite(path: &Path, cases: &[Case]) -> Result<(), ReplayError> {
    write_atomically(path, &cases.iter().map(to_line).collect::<String>())
}

/// Checks that a case is valid and unique in its suite; `ids` contains the ids of the cases before it.
pub(crate) fn check_case(
    path: &Path,
    line: usize,
    case: &Case,
    ids: &mut HashSet<String>,
) -> Result<(), ReplayError> {
    let (path, id) = (path.to_owned(), case.id.clone());
    if Language::from_name(&case.language).is_none() {
        let known = Language::ALL.map(Language::name).join(", ");
        return Err(ReplayError::Language { path, id, language: case.language.clone(), known });
    }
    if case.compute_id() != id {
        return Err(ReplayError::IdMismatch { path, line, id });
    }
    if ids.insert(id.clone()) { Ok(()) } else { Err(ReplayError::DuplicateCase { path, id }) }
}
