//! Mined and imported suites: read and written as a whole, and rejected if any row is invalid.

use std::collections::HashSet;
use std::path::Path;

use cases::{Case, parse_line, to_line};
use rayon::prelude::*;
use syntax::Language;

use crate::ReplayError;
use crate::file_io::{LineBatches, NumberedLine, parse_error, read_error, write_atomically};

/// Reads a suite. Every row must be complete, in a supported language and unique.
pub fn read_suite(path: &Path) -> Result<Vec<Case>, ReplayError> {
    if !path.exists() {
        return Err(ReplayError::NoSuite { path: path.to_owned() });
    }
    let mut lines = LineBatches::open(path).map_err(read_error(path))?;
    let (mut cases, mut ids) = (Vec::new(), HashSet::new());
    loop {
        let batch = lines.next_batch().map_err(read_error(path))?;
        if batch.is_empty() {
            break;
        }
        let parsed: Vec<Result<Case, ReplayError>> =
            batch.par_iter().map(|line| parse_case(path, line)).collect();
        for case in parsed {
            let case = case?;
            if !ids.insert(case.id.clone()) {
                return Err(ReplayError::DuplicateCase { path: path.to_owned(), id: case.id });
            }
            cases.push(case);
        }
    }
    if cases.is_empty() {
        return Err(ReplayError::EmptySuite { path: path.to_owned() });
    }
    Ok(cases)
}

fn parse_case(path: &Path, line: &NumberedLine) -> Result<Case, ReplayError> {
    let case = parse_line(&line.text, line.number).map_err(|error| match line.text.ends_with('\n') {
        true => parse_error(path)(error),
        false => ReplayError::TruncatedRow { path: path.to_owned(), line: line.number },
    })?;
    check_case(path, line.number, &case)?;
    Ok(case)
}

/// Writes a suite atomically.
pub fn write_suite(path: &Path, cases: &[Case]) -> Result<(), ReplayError> {
    write_atomically(path, &cases.iter().map(to_line).collect::<String>())
}

/// Checks that a case is in a supported language and has the id of its content.
pub(crate) fn check_case(path: &Path, line: usize, case: &Case) -> Result<(), ReplayError> {
    let (path, id) = (path.to_owned(), case.id.clone());
    if Language::from_name(&case.language).is_none() {
        let known = Language::ALL.map(Language::name).join(", ");
        return Err(ReplayError::Language { path, id, language: case.language.clone(), known });
    }
    if case.compute_id() != id {
        return Err(ReplayError::IdMismatch { path, line, id });
    }
    Ok(())
}
