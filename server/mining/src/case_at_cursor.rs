//! The case at a cursor: what stands there in the file as it is now, hidden.
//!
//! - At the first token of a block, or in the blanks before it on its line, the truth is the whole block. A function's first token is
//!   also the one behind its annotations.
//! - Behind a header, as long as no statement of the body stands before the cursor, it is the body. The opener goes with the body
//!   where nothing else is left of the header, and the blanks before the first statement do; that statement's first token does not.
//! - Between the statements of a body, which may be that of an `else`, a `with` or a closure, it is the rest of the body. Behind the last
//!   statement it is empty; on a blank line in Python, how far the line is indented tells whose body goes on.
//! - Anywhere else in a block it is the rest of the innermost statement or header.
//!
//! Outside of functions only statements and control blocks are blocks: members of classes and what stands between two functions are
//! refused, and so are comments and docstrings.
//!
//! The prefix ends at the cursor, so the truth may begin with blanks, line ends and comments.
//!
//! The scenario is that of somebody who has yet to write the truth. With it hidden, the suffix of an `incomplete_suffix` case
//! holds nothing but blanks (`file_tail`), or nothing but blanks and closing brackets up to the end of the enclosing function's body
//! (`function_tail`); so the body behind a function's header is one. An empty truth leaves nothing incomplete and is always `inner_block`.
//! Nothing is dropped: prefix, truth and suffix together are the file.

use std::fmt;

use cases::{Case, Origin, Scenario, Variant};
use syntax::{SourceFile, Tree};

use crate::cut_case::{CaseDraft, shape_variant, tags};
use crate::parsed_file::{CutShape, Hole, MAX_TRUTH_LINES, ParsedFile};

mod hole_at_cursor;
mod sibling_statements;
#[cfg(test)]
mod tests;

/// Why there is no case at a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCaseReason {
    /// The offset is past the end of the file, inside a character or inside a line end.
    NoSuchPlace,
    /// The cursor is in a comment, or in a string that is no part of any code.
    InText,
    /// No statement, header or body holds the cursor.
    NoBlock,
    /// The parser found an error in the block that holds the cursor.
    Broken,
    /// The truth would have this many lines.
    TooLong(usize),
}

impl fmt::Display for NoCaseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCaseReason::NoSuchPlace => {
                f.write_str("the file has no such place; save it and put the cursor there again")
            }
            NoCaseReason::InText => f.write_str("the cursor is in a comment or a text of its own; put it on code"),
            NoCaseReason::NoBlock => f.write_str(
                "no statement, header or body stands at the cursor, or the file does not parse there; put it on code within a function",
            ),
            NoCaseReason::Broken => {
                f.write_str("the block at the cursor has a syntax error; record it when the error is gone")
            }
            NoCaseReason::TooLong(lines) => write!(
                f,
                "{lines} lines follow to the end of the block, more than {MAX_TRUTH_LINES}; put the cursor further down or into an inner block"
            ),
        }
    }
}

impl std::error::Error for NoCaseReason {}

/// The case whose cursor is `offset`; `tree` is that of the file's text. Its secrets are still in it.
pub fn case_at_cursor(
    file: &SourceFile,
    tree: &Tree,
    offset: usize,
    origin: &Origin,
) -> Result<Case, NoCaseReason> {
    let text = &*file.text;
    let (Some(prefix), Some(rest)) = (text.get(..offset), text.get(offset..)) else {
        return Err(NoCaseReason::NoSuchPlace);
    };
    if prefix.ends_with('\r') && rest.starts_with('\n') {
        return Err(NoCaseReason::NoSuchPlace);
    }
    let parsed = ParsedFile::new(file, tree);
    let hole = hole_at_cursor::hole_at_cursor(&parsed, tree, offset)?;
    let (scenario, variant) = live_scenario(text, &hole);
    let question = CaseDraft {
        scenario,
        variant: Some(variant),
        block_kind: Some(hole.kind),
        range: hole.range.clone(),
        prefix: prefix.to_owned(),
        suffix: &text[hole.range.end..],
        context: Vec::new(),
        tags: tags(scenario, &hole),
    };
    Ok(question.into_case(file, origin))
}

/// The situation of somebody who has yet to write the hole's text.
fn live_scenario(text: &str, hole: &Hole) -> (Scenario, Variant) {
    let is_closer = |c: char| c.is_whitespace() || ")]};,".contains(c);
    let rest_of_function = hole.function_end.and_then(|end| text.get(hole.range.end..end));
    let scenario_of_shape = match hole.shape {
        CutShape::RestOfBlock | CutShape::Empty => Scenario::InnerBlock,
        CutShape::BlockStart | CutShape::HeaderEnd | CutShape::MidStatement => Scenario::FullBlock,
    };
    match rest_of_function {
        _ if hole.shape == CutShape::Empty => (Scenario::InnerBlock, Variant::Empty),
        _ if text[hole.range.end..].trim().is_empty() => (Scenario::IncompleteSuffix, Variant::FileTail),
        Some(rest) if rest.chars().all(is_closer) => (Scenario::IncompleteSuffix, Variant::FunctionTail),
        _ => (scenario_of_shape, shape_variant(hole.shape)),
    }
}
