//! The functions of a workspace and the words in them, and what of it resembles a piece of code.
//!
//! An [`Index`] is built from source files it is given; it reads none itself. A [`Searcher`] looks at it as if some files were
//! not there: hits, scores and reasons are those of an index built without them. An index that lacks files, or is behind
//! them, gives fewer hits, never an error.
#![deny(clippy::disallowed_methods)]

use std::sync::Arc;

mod build;
mod search;
mod similar_lines;
mod words;

#[cfg(test)]
mod tests;

pub use build::Index;
pub use search::{FUNCTIONS, FunctionQuery, Searcher};

/// A piece of code that a strategy found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// File, relative to the workspace root.
    pub path: Arc<str>,
    /// First line, 0-based.
    pub start_line: u32,
    /// Line after the last one.
    pub end_line: u32,
    /// These lines, without the last line end.
    pub text: String,
    /// The strategy's score; higher is nearer.
    pub score: f64,
    /// Name of the strategy.
    pub strategy: &'static str,
    /// Why it was found, for people.
    pub reason: String,
}
