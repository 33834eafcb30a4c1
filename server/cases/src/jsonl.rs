//! JSON Lines: one row a line, errors that name the line and the remedy.

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// A row that could not be read.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("line {line}, column {column}: {message}")]
pub struct ParseError {
    /// 1-based line in the file.
    pub line: usize,
    /// 1-based column in the line, in bytes.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// The rows of a file that a writer may have been torn away from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedLines<T> {
    /// All complete rows.
    pub rows: Vec<T>,
    /// Length of the complete rows in bytes; what follows is a torn last line.
    pub complete_bytes: usize,
}

/// Reads all rows of `text`. Blank lines are skipped. Every complete line must hold a row; a last line without a line end that is
/// no row counts as torn, and is left out.
pub fn parse_lines<T: DeserializeOwned>(text: &str) -> Result<ParsedLines<T>, ParseError> {
    let mut lines = ParsedLines { rows: Vec::new(), complete_bytes: 0 };
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_whole = line.ends_with('\n');
        if !line.trim().is_empty() {
            match parse_line(line, number + 1) {
                Ok(row) => lines.rows.push(row),
                Err(_) if !is_whole => break,
                Err(error) => return Err(error),
            }
        }
        lines.complete_bytes += line.len();
    }
    Ok(lines)
}

/// Reads the row that stands in line `number` (1-based).
pub fn parse_line<T: DeserializeOwned>(line: &str, number: usize) -> Result<T, ParseError> {
    serde_json::from_str(line).map_err(|error| ParseError { line: number, ..parse_error(&error) })
}

/// Reads a file that is one value, such as `run.json`.
pub fn parse_document<T: DeserializeOwned>(text: &str) -> Result<T, ParseError> {
    serde_json::from_str(text).map_err(|error| parse_error(&error))
}

fn parse_error(error: &serde_json::Error) -> ParseError {
    let full = error.to_string();
    let message = full.rsplit_once(" at line ").map_or(full.as_str(), |(message, _)| message);
    ParseError { line: error.line().max(1), column: error.column().max(1), message: message.to_owned() }
}

/// One row as a line, its line end included.
pub fn to_line<T: Serialize>(row: &T) -> String {
    let mut line = serde_json::to_string(row).expect("rows have string keys and finite numbers");
    line.push('\n');
    line
}

/// One value as a file for people to read too.
pub fn to_document<T: Serialize>(value: &T) -> String {
    let mut text =
        serde_json::to_string_pretty(value).expect("documents have string keys and finite numbers");
    text.push('\n');
    text
}
