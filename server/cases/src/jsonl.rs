//! JSON Lines: one row per line; parse errors contain the line.

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// A row that cannot be parsed.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("line {line}, column {column}: {message}")]
pub struct ParseError {
    /// 1-based line in the file.
    pub line: usize,
    /// 1-based column, in bytes.
    pub column: usize,
    /// Description of the problem.
    pub message: String,
}

/// Rows of a file whose last line may be incomplete because its writer was killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedLines<T> {
    /// All complete rows.
    pub rows: Vec<T>,
    /// Length of the complete rows in bytes; anything after it is an incomplete last line.
    pub complete_bytes: usize,
}

/// Parses all rows of `text`. Blank lines are skipped. Every complete line must be a valid row; a last line without a line end
/// that is invalid counts as incomplete and is ignored.
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

/// Parses the row on line `number` (1-based).
pub fn parse_line<T: DeserializeOwned>(line: &str, number: usize) -> Result<T, ParseError> {
    serde_json::from_str(line).map_err(|error| ParseError { line: number, ..parse_error(&error) })
}

/// Parses a file that contains one value, such as `run.json`.
pub fn parse_document<T: DeserializeOwned>(text: &str) -> Result<T, ParseError> {
    serde_json::from_str(text).map_err(|error| parse_error(&error))
}

impl From<serde_json::Error> for ParseError {
    fn from(error: serde_json::Error) -> ParseError {
        parse_error(&error)
    }
}

fn parse_error(error: &serde_json::Error) -> ParseError {
    let full = error.to_string();
    let message = full.rsplit_once(" at line ").map_or(full.as_str(), |(message, _)| message);
    ParseError { line: error.line().max(1), column: error.column().max(1), message: message.to_owned() }
}

/// Formats a row as a line, including its line end.
pub fn to_line<T: Serialize>(row: &T) -> String {
    let mut line = serde_json::to_string(row).expect("rows have string keys and finite numbers");
    line.push('\n');
    line
}

/// Formats a value as an indented, human-readable file.
pub fn to_document<T: Serialize>(value: &T) -> String {
    let mut text =
        serde_json::to_string_pretty(value).expect("documents have string keys and finite numbers");
    text.push('\n');
    text
}
