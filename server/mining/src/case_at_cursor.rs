//! The case at a cursor: the code after the cursor in the current file, hidden.
//!
//! - At the first token of a block, or in the blanks before it on its line, the truth is the whole block. The first token
//!   after a function's annotations counts as a first token, too.
//! - After a header, if no statement of the body is before the cursor, the truth is the body. It includes the opener if nothing
//!   else is left of the header. The cursor may be in the blanks before the first statement, but not at that statement's first
//!   token.
//! - Between the statements of a body, which may be that of an `else`, a `with` or a closure, it is the rest of the body.
//!   After the last statement it is empty; on a blank line in Python, the indentation of the line determines the body.
//! - Anywhere else in a block it is the rest of the innermost statement or header.
//!
//! Outside of functions only statements and control blocks are blocks: members of classes and code between two functions are
//! rejected, and so are comments and docstrings.
//!
//! The prefix ends at the cursor, so the truth may begin with blanks, line ends and comments.
//!
//! The scenario assumes that the truth is not written yet. Without it, the suffix of an `incomplete_suffix` case
//! contains only blanks (`file_tail`), or only blanks and closing brackets up to the end of the enclosing function's body
//! (`function_tail`); so the body after a function's header is such a case. A case with an empty truth is always `inner_block`,
//! because its suffix is complete. Nothing is dropped: prefix, truth and suffix together are the file.

use std::fmt;
use std::ops::Range;

use cases::{BlockKind, Case, CompletionTask, MissingTail, Origin};
use syntax::{SourceFile, Tree};

use crate::cut_case::{CaseDraft, shape_task, tags};
use crate::parsed_file::{CutShape, Hole, MAX_TRUTH_LINES, ParsedFile};

mod hole_at_cursor;
mod sibling_statements;
#[cfg(test)]
mod tests;

pub(crate) use hole_at_cursor::hole_at_cursor;

/// Reason why there is no case at a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCaseReason {
    /// The offset is past the end of the file, inside a character or inside a line end.
    NoSuchPlace,
    /// The cursor is in a comment, or in a string that is not part of code.
    InText,
    /// No statement, header or body contains the cursor.
    NoBlock,
    /// The block that contains the cursor has a syntax error.
    Broken,
    /// The truth would have this many lines.
    TooLong(usize),
}

impl fmt::Display for NoCaseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCaseReason::NoSuchPlace => {
                f.write_str("the position is not in the file; save the file and try again")
            }
            NoCaseReason::InText => f.write_str("the cursor is in a comment or a standalone string; move it to code"),
            NoCaseReason::NoBlock => f.write_str(
                "there is no statement, header or body at the cursor, or the file has a syntax error there; move it to code in a function",
            ),
            NoCaseReason::Broken => {
                f.write_str("the block at the cursor has a syntax error; correct it and record again")
            }
            NoCaseReason::TooLong(lines) => write!(
                f,
                "the rest of the block has {lines} lines, more than {MAX_TRUTH_LINES}; move the cursor down or into an inner block"
            ),
        }
    }
}

impl std::error::Error for NoCaseReason {}

/// Returns the case at the byte `offset`; `tree` is the syntax tree of the file's text. Secrets are not masked yet.
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
    let hole = hole_at_cursor(&parsed, tree, offset)?;
    let task = live_task(text, &hole);
    let question = CaseDraft {
        task,
        block_kind: Some(hole.kind),
        range: hole.range.clone(),
        prefix: prefix.to_owned(),
        suffix: &text[hole.range.end..],
        context: Vec::new(),
        tags: tags(task, &hole),
    };
    Ok(question.into_case(file, origin))
}

/// The code that belongs at a cursor of a written file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitAtCursor {
    /// Range of the code, from the cursor on; empty after a complete body.
    pub range: Range<usize>,
    /// How the code is cut, without regard to the text behind it.
    pub task: CompletionTask,
    /// Kind of the block that the code belongs to.
    pub kind: BlockKind,
    /// End of the last text in the body of the function around the code.
    pub function_end: Option<usize>,
}

/// Finds the code that belongs at cursors of one written file.
pub struct UnitFinder<'a> {
    parsed: ParsedFile<'a>,
    tree: &'a Tree,
}

impl<'a> UnitFinder<'a> {
    /// Creates the finder of a file; `tree` is the syntax tree of its text.
    pub fn new(file: &'a SourceFile, tree: &'a Tree) -> UnitFinder<'a> {
        UnitFinder { parsed: ParsedFile::new(file, tree), tree }
    }

    /// Returns the code that belongs at the byte `offset`.
    ///
    /// # Errors
    ///
    /// There is no such code, or it has a syntax error.
    pub fn unit_at(&self, offset: usize) -> Result<UnitAtCursor, NoCaseReason> {
        if !self.parsed.text.is_char_boundary(offset) {
            return Err(NoCaseReason::NoSuchPlace);
        }
        let Hole { kind, shape, range, function_end, .. } = hole_at_cursor(&self.parsed, self.tree, offset)?;
        Ok(UnitAtCursor { range, task: shape_task(shape), kind, function_end })
    }

    /// Returns the innermost block with a body that contains the byte `offset` or ends there, and whether it has a syntax error.
    pub fn block_around(&self, offset: usize) -> Option<(Range<usize>, bool)> {
        let around = |range: &Range<usize>| range.start <= offset && offset <= range.end;
        let blocks = self.parsed.blocks.iter().rev();
        let block = blocks.filter(|block| block.body.is_some()).find(|block| around(&block.range))?;
        Some((block.range.clone(), block.has_error))
    }
}

/// Returns the task if the text of the hole is not written yet.
pub(crate) fn live_task(text: &str, hole: &Hole) -> CompletionTask {
    let is_closer = |c: char| c.is_whitespace() || ")]};,".contains(c);
    let rest_of_function = hole.function_end.and_then(|end| text.get(hole.range.end..end));
    let complete = shape_task(hole.shape);
    match rest_of_function {
        _ if hole.shape == CutShape::Empty => complete,
        _ if text[hole.range.end..].trim().is_empty() => {
            CompletionTask::IncompleteSuffix(MissingTail::FileTail)
        }
        Some(rest) if rest.chars().all(is_closer) => {
            CompletionTask::IncompleteSuffix(MissingTail::FunctionTail)
        }
        _ => complete,
    }
}
