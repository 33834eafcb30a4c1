//! The block tree: Codev-Bench's seven kinds, with exact ranges.
//!
//! - An `elif` or `else if` is an `if` block of its own inside the first one; the body of an `else` belongs to the construct that it
//!   ends. A `finally` is a `try` block and a `catch` a `catch` block, both inside the whole `try`.
//! - A function is a block if it has a body. Lambdas and closures are parts of expressions and no blocks; their statements are.
//! - A simple statement stands in a function or at module level. Imports and variables are statements; members of classes and
//!   declarations of types are none. What is a block of another kind is not a statement too.
//! - In Rust, a construct in the place of a statement has the range of that statement.

use std::cmp::Reverse;
use std::ops::Range;

use crate::body::{Body, measure_body};
use crate::constructs::{Construct, Structure, structure, structure_within};
use crate::language::Row;
use crate::queries::Kind;
use crate::tree::Tree;

/// Codev-Bench's seven block kinds.
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
}

/// One block of the block tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Which of the seven kinds.
    pub kind: BlockKind,
    /// The whole construct, without surrounding blanks; a function's decorators, annotations, attributes and `export` included.
    pub range: Range<usize>,
    /// From the start of the construct to just past the opener of its body (`:`, `{` or `=>`), or of its condition where the body
    /// has no opener; a statement's header is its whole range.
    pub header: Range<usize>,
    /// The body; `None` for statements (`if (a) return;` has a body of one statement).
    pub body: Option<Body>,
    /// Index of the innermost enclosing block in the same list.
    pub parent: Option<usize>,
    /// Whether the parser found an error inside, or missed a token.
    pub has_error: bool,
}

impl Tree {
    /// All blocks in order of their start, outer before inner.
    pub fn blocks(&self, text: &str) -> Vec<Block> {
        let pieces = self.pieces(&structure(self));
        let mut blocks: Vec<Block> = pieces.into_iter().filter_map(Piece::into_block).collect();
        blocks.iter_mut().for_each(|block| block.trim(text));
        blocks.sort_by_key(|block| (block.range.start, Reverse(block.range.end)));
        set_parents(&mut blocks);
        blocks
    }

    /// The end of the innermost statement that contains `offset` (its `;` included), `None` outside of statements.
    ///
    /// In the header of a block that is the end of the header. Members of types, annotations and the values of match arms end like
    /// statements. A range contains its start, but not its end.
    pub fn statement_end(&self, offset: usize) -> Option<usize> {
        self.pieces(&structure_within(self, offset..offset.saturating_add(1)))
            .into_iter()
            .filter(|piece| piece.kind != Kind::Other)
            .map(|piece| piece.header)
            .filter(|header| header.contains(&offset))
            .min_by_key(|header| header.len())
            .map(|header| header.end)
    }

    /// All constructs in order of their start, outer before inner, one for each range.
    fn pieces(&self, structure: &Structure) -> Vec<Piece> {
        let row = self.language.row();
        let mut pieces: Vec<Piece> =
            structure.constructs.iter().map(|construct| Piece::new(construct, row)).collect();
        pieces.sort_by_key(|piece| (piece.range.start, Reverse(piece.range.end), piece.kind.rank()));
        pieces.dedup_by(|later, kept| later.range == kept.range);
        pieces
    }
}

impl Block {
    /// Cuts off the blanks that some grammars count as part of a case, and all of them as part of broken code.
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
struct Piece {
    kind: Kind,
    range: Range<usize>,
    header: Range<usize>,
    body: Option<Body>,
    has_error: bool,
}

impl Piece {
    fn new(construct: &Construct, row: &Row) -> Piece {
        let range = construct.range.clone();
        let body = measure_body(construct, row);
        let header = range.start..body.as_ref().map_or(range.end, |body| body.inner.start);
        Piece { kind: construct.kind, range, header, body, has_error: construct.has_error }
    }

    fn into_block(self) -> Option<Block> {
        let Kind::Block(kind) = self.kind else { return None };
        // A function without a body is a declaration.
        if self.body.is_none() && kind != BlockKind::Statement {
            return None;
        }
        let Piece { range, header, body, has_error, .. } = self;
        Some(Block { kind, range, header, body, parent: None, has_error })
    }
}

/// Sets every block's parent; `blocks` are in order and properly nested.
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
