//! A file with everything that a hole is decided by, and the hole: a place whose text is hidden.

use std::ops::Range;

use cases::BlockKind;
use syntax::{Block, Body, SourceFile, Token, TokenKind, Tree};

/// Longest truth, in lines: what is longer is written in many steps, not completed in one.
pub(crate) const MAX_TRUTH_LINES: usize = 60;

/// How the hole was cut into its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Shape {
    /// The whole block.
    BlockStart,
    /// The body after a typed header.
    HeaderEnd,
    /// The rest of a statement.
    MidStatement,
    /// The rest of a body after some statements.
    RestOfBlock,
    /// Nothing, after a complete body.
    Empty,
}

/// A place that can be cut, in bytes of its file.
#[derive(Clone, Debug)]
pub(crate) struct Hole {
    pub(crate) kind: BlockKind,
    pub(crate) shape: Shape,
    /// What is removed; nothing for [`Shape::Empty`].
    pub(crate) range: Range<usize>,
    /// End of the last text in the innermost function body that holds the hole: where `function_tail` starts again.
    pub(crate) function_end: Option<usize>,
    /// That function, whole.
    pub(crate) function: Option<Range<usize>>,
    /// Start of the last statement in the block's body, or of the block where it has none: what a fresh line behind it is aligned with.
    pub(crate) last_statement: usize,
}

/// A file taken apart.
pub(crate) struct Parsed<'a> {
    pub(crate) text: &'a str,
    /// In order of their start, outer before inner.
    pub(crate) blocks: Vec<Block>,
    tokens: Vec<Token>,
}

impl<'a> Parsed<'a> {
    /// `tree` is that of the file's text.
    pub(crate) fn new(file: &'a SourceFile, tree: &Tree) -> Parsed<'a> {
        let text = &*file.text;
        Parsed { text, blocks: tree.blocks(text), tokens: syntax::lex(file.language, text) }
    }

    pub(crate) fn hole(&self, block: &Block, shape: Shape, range: Range<usize>) -> Hole {
        let function = self.enclosing_function(&range);
        let body = function.and_then(|function| function.body.as_ref()).map(|body| body.inner.clone());
        let last_statement = block.body.as_ref().and_then(|body| body.statements.last());
        Hole {
            kind: block_kind(block.kind),
            shape,
            range,
            function_end: body.map(|body| body.start + self.text[body].trim_end().len()),
            function: function.map(|function| function.range.clone()),
            last_statement: last_statement.unwrap_or(&block.range).start,
        }
    }

    /// The innermost function whose body holds `range`.
    fn enclosing_function(&self, range: &Range<usize>) -> Option<&Block> {
        let holds = |body: &Body| body.inner.start <= range.start && range.end <= body.inner.end;
        let functions = self.blocks.iter().rev().filter(|block| block.kind == syntax::BlockKind::Function);
        functions.into_iter().find(|function| function.body.as_ref().is_some_and(holds))
    }

    /// The tokens that lie wholly in `range`, line ends among them.
    pub(crate) fn tokens_in(&self, range: Range<usize>) -> &[Token] {
        let start = self.tokens.partition_point(|token| token.range.start < range.start);
        let end = self.tokens.partition_point(|token| token.range.end <= range.end);
        self.tokens.get(start..end).unwrap_or_default()
    }

    /// The same without the line ends.
    pub(crate) fn words_in(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = &Token> {
        self.tokens_in(range).iter().filter(|token| token.kind != TokenKind::Newline)
    }

    /// The token that `offset` is inside of, not at its ends.
    pub(crate) fn word_around(&self, offset: usize) -> Option<&Token> {
        let place = self.tokens.partition_point(|token| token.range.end <= offset);
        let around = self.tokens.get(place).filter(|token| token.range.start < offset);
        around.filter(|token| token.kind != TokenKind::Newline)
    }

    /// Whether nothing but blanks stands before `offset` on its line.
    pub(crate) fn starts_line(&self, offset: usize) -> bool {
        let line_start = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
        self.text[line_start..offset].trim().is_empty()
    }
}

pub(crate) fn block_kind(kind: syntax::BlockKind) -> BlockKind {
    match kind {
        syntax::BlockKind::Function => BlockKind::Function,
        syntax::BlockKind::If => BlockKind::If,
        syntax::BlockKind::For => BlockKind::For,
        syntax::BlockKind::While => BlockKind::While,
        syntax::BlockKind::Try => BlockKind::Try,
        syntax::BlockKind::Catch => BlockKind::Catch,
        syntax::BlockKind::Statement => BlockKind::Statement,
    }
}
