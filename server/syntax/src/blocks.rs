//! The block tree: Codev-Bench's seven kinds and imports, with exact ranges.
//!
//! - An `elif` or `else if` is an `if` block inside the first one; the body of an `else` belongs to the construct that it ends. A
//!   `finally` is a `try` block and a `catch` a `catch` block, both inside the whole `try`.
//! - A function is a block if it has a body. Lambdas and closures are parts of expressions, not blocks; their statements are
//!   blocks.
//! - A simple statement is in a function or at module level. Variables are statements; members of classes and declarations of
//!   types are not. A block of another kind is never a statement as well.
//! - An import is a kind of its own: its ground truth is a list of names, not code. Re-exports are imports too, and in JavaScript
//!   a variable that is initialized with `require`. `#include` and C++'s `using` are not: the first is no block, the second a
//!   statement.
//! - In Rust, a construct in statement position has the range of the statement.

use std::cmp::Reverse;
use std::ops::Range;

use crate::body::{Body, measure_body};
use crate::constructs::{Construct, Structure, structure, structure_within};
use crate::language::{Language, LanguageSpec};
use crate::queries::ConstructKind;
use crate::tree::Tree;

/// Codev-Bench's seven block kinds, and the import, which it counts as a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockKind {
    /// A function or method.
    Function,
    /// `if`, `switch` or `match`.
    If,
    /// `for` or `foreach`.
    For,
    /// `while` or `loop`.
    While,
    /// `try`, and `finally`.
    Try,
    /// `catch` or `except`.
    Catch,
    /// A simple statement.
    Statement,
    /// An import of names from elsewhere.
    Import,
}

impl BlockKind {
    /// Whether blocks of this kind consist of a header only and contain no blocks except their own kind.
    pub fn is_simple(self) -> bool {
        matches!(self, BlockKind::Statement | BlockKind::Import)
    }
}

/// One block of the block tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Kind of the block.
    pub kind: BlockKind,
    /// The whole construct, without surrounding blanks; includes a function's decorators, annotations, attributes and `export`.
    pub range: Range<usize>,
    /// From the start of the construct to just past the opener of its body (`:`, `{` or `=>`), or to the end of its condition if
    /// the body has no opener. For a statement or an import: the whole range.
    pub header: Range<usize>,
    /// The body; `None` for statements and imports (`if (a) return;` has a body of one statement).
    pub body: Option<Body>,
    /// Index of the innermost enclosing block in the same list.
    pub parent: Option<usize>,
    /// Whether the parser found an error or a missing token inside.
    pub has_error: bool,
}

impl Tree {
    /// Returns all blocks in order of their start, outer before inner.
    pub fn blocks(&self, text: &str) -> Vec<Block> {
        let pieces = self.measured_constructs(&structure(self));
        let mut blocks: Vec<Block> = pieces.into_iter().filter_map(MeasuredConstruct::into_block).collect();
        blocks.iter_mut().for_each(|block| block.trim(text));
        blocks.iter_mut().for_each(|block| block.recognize_import_call(self.language, text));
        blocks.sort_by_key(|block| (block.range.start, Reverse(block.range.end)));
        set_parents(&mut blocks);
        blocks
    }

    /// Returns the end of the innermost statement that contains `offset` (its `;` included), or `None` outside of statements.
    ///
    /// In a block's header, returns the end of the header. Members of types, annotations and the values of match arms end like
    /// statements. A range contains its start, but not its end.
    pub fn statement_end(&self, offset: usize) -> Option<usize> {
        self.measured_constructs(&structure_within(self, offset..offset.saturating_add(1)))
            .into_iter()
            .filter(|piece| piece.kind != ConstructKind::Other)
            .map(|piece| piece.header)
            .filter(|header| header.contains(&offset))
            .min_by_key(|header| header.len())
            .map(|header| header.end)
    }

    /// Returns the ends of all enclosing constructs that end like a statement, innermost first: statements and headers, and whole
    /// blocks around them. The first end is at most [`Tree::statement_end`].
    pub fn enclosing_statement_ends(&self, offset: usize) -> Vec<usize> {
        let pieces = self.measured_constructs(&structure_within(self, offset..offset.saturating_add(1)));
        let around = pieces
            .into_iter()
            .filter(|piece| piece.kind != ConstructKind::Other && piece.range.contains(&offset));
        let mut ends: Vec<usize> = around
            .flat_map(|piece| [piece.header, piece.range])
            .filter(|part| part.contains(&offset))
            .map(|part| part.end)
            .collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// Returns all constructs in order of their start, outer before inner, one for each range.
    fn measured_constructs(&self, structure: &Structure) -> Vec<MeasuredConstruct> {
        let row = self.language.spec();
        let mut pieces: Vec<MeasuredConstruct> =
            structure.constructs.iter().map(|construct| MeasuredConstruct::new(construct, row)).collect();
        pieces.sort_by_key(|piece| (piece.range.start, Reverse(piece.range.end), piece.kind.rank()));
        pieces.dedup_by(|later, kept| later.range == kept.range);
        pieces
    }
}

impl Block {
    /// Recognizes an import in the form of a call, which has no node type of its own.
    fn recognize_import_call(&mut self, language: Language, text: &str) {
        let call = language.spec().import_call;
        if self.kind != BlockKind::Statement || call.is_empty() {
            return;
        }
        let statement = text.get(self.range.clone()).unwrap_or_default();
        let value = statement.split_once('=').map_or(statement, |(_, value)| value.trim_start());
        if value.starts_with(call) {
            self.kind = BlockKind::Import;
        }
    }

    /// Trims the blanks that some grammars include in a case, and that all of them include in broken code.
    fn trim(&mut self, text: &str) {
        trim(&mut self.range, text);
        let Range { start, end } = self.range;
        self.header = start..self.header.end.clamp(start, end);
        if let Some(body) = &mut self.body {
            body.inner = body.inner.start.clamp(start, end)..body.inner.end.clamp(start, end);
            body.statements.iter_mut().for_each(|statement| trim(statement, text));
        }
    }
}

fn trim(range: &mut Range<usize>, text: &str) {
    let written = text.get(range.clone()).unwrap_or_default().trim_end();
    range.end = range.start + written.len();
    range.start = range.end - written.trim_start().len();
}

/// A construct with its body measured.
struct MeasuredConstruct {
    kind: ConstructKind,
    range: Range<usize>,
    header: Range<usize>,
    body: Option<Body>,
    has_error: bool,
}

impl MeasuredConstruct {
    fn new(construct: &Construct, row: &LanguageSpec) -> MeasuredConstruct {
        let range = construct.range.clone();
        let body = measure_body(construct, row);
        let header = range.start..body.as_ref().map_or(range.end, |body| body.inner.start);
        MeasuredConstruct { kind: construct.kind, range, header, body, has_error: construct.has_error }
    }

    fn into_block(self) -> Option<Block> {
        let ConstructKind::Block(kind) = self.kind else { return None };
        // A function without a body is a declaration.
        if self.body.is_none() && !kind.is_simple() {
            return None;
        }
        let MeasuredConstruct { range, header, body, has_error, .. } = self;
        Some(Block { kind, range, header, body, parent: None, has_error })
    }
}

/// Sets every block's parent; `blocks` must be in order and properly nested.
fn set_parents(blocks: &mut [Block]) {
    let mut open: Vec<usize> = Vec::new();
    for index in 0..blocks.len() {
        let start = blocks[index].range.start;
        while open.last().is_some_and(|&outer| blocks[outer].range.end <= start) {
            open.pop();
        }
        blocks[index].parent = open.last().copied();
        open.push(index);
    }
}
