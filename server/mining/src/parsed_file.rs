//! A parsed file, and holes: ranges whose text is hidden.

use std::ops::Range;

use cases::BlockKind;
use serde::{Deserialize, Serialize};
use syntax::{Block, Body, ConditionalGroups, Language, SourceFile, Token, TokenKind, Tree};

/// Maximum lines of a truth; longer code is written in several steps.
pub(crate) const MAX_TRUTH_LINES: usize = 60;

/// Maximum bytes of a truth: as many lines with two hundred each. Only generated or deeply nested code is longer; the
/// work per hole grows with its length.
pub(crate) const MAX_TRUTH_BYTES: usize = 200 * MAX_TRUTH_LINES;

/// Minimum number of tokens before the cursor if the text after it is missing: about six lines of code. With less, the purpose
/// of the file is unclear to engines and people.
const MIN_TOKENS_BEFORE_TAIL: usize = 50;

/// How a hole was cut from its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum CutShape {
    /// The whole block.
    BlockStart,
    /// The body after a typed header.
    HeaderEnd,
    /// The rest of a statement.
    MidStatement,
    /// The rest of a body after some statements.
    RestOfBlock,
    /// The empty text after a complete body.
    Empty,
}

/// A hole, in bytes of its file.
#[derive(Clone, Debug)]
pub(crate) struct Hole {
    pub(crate) kind: BlockKind,
    pub(crate) shape: CutShape,
    /// Removed range; empty for [`CutShape::Empty`].
    pub(crate) range: Range<usize>,
    /// End of the last text in the body of the innermost function around the hole; the suffix of `function_tail` starts there.
    pub(crate) function_end: Option<usize>,
    /// Range of that function.
    pub(crate) function: Option<Range<usize>>,
    /// Position of the hole in the innermost body around it; `None` outside of all bodies.
    pub(crate) in_body: Option<BodyPosition>,
    /// Start of the last statement in the block's body, or of a block without one. A new line after it has the same
    /// indentation.
    pub(crate) last_statement: usize,
    /// Whether that statement makes further code unreachable, so that only the end of the body can follow.
    pub(crate) follows_jump: bool,
    /// Whether there is enough code before the hole if the rest is missing.
    pub(crate) has_beginning: bool,
}

/// Position of a hole in a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyPosition {
    /// Whether the body begins with the hole.
    pub(crate) is_first: bool,
    /// Whether the body ends with the hole.
    pub(crate) is_last: bool,
    /// Whether the body belongs to a function, not to a block in a function.
    pub(crate) is_function: bool,
}

/// A parsed file.
pub(crate) struct ParsedFile<'a> {
    pub(crate) text: &'a str,
    /// Blocks, ordered by start, outer before inner.
    pub(crate) blocks: Vec<Block>,
    /// Indices of the functions in them.
    functions: Vec<usize>,
    tokens: Vec<Token>,
    language: Language,
    conditionals: ConditionalGroups,
}

impl<'a> ParsedFile<'a> {
    /// `tree` is the syntax tree of the file's text.
    pub(crate) fn new(file: &'a SourceFile, tree: &Tree) -> ParsedFile<'a> {
        let text = &*file.text;
        let tokens = syntax::lex(file.language, text);
        let conditionals = ConditionalGroups::new(file.language, text, &tokens);
        let blocks = tree.blocks(text);
        let functions =
            (0..blocks.len()).filter(|place| blocks[*place].kind == syntax::BlockKind::Function).collect();
        ParsedFile { text, blocks, functions, tokens, language: file.language, conditionals }
    }

    pub(crate) fn hole(&self, block: &Block, shape: CutShape, range: Range<usize>) -> Hole {
        let hole_start = range.start;
        let function = self.enclosing_function(&range);
        let body = function.and_then(|function| function.body.as_ref()).map(|body| body.inner.clone());
        let in_body = self.in_body(&range);
        let last_statement =
            block.body.as_ref().and_then(|body| body.statements.last()).unwrap_or(&block.range).clone();
        Hole {
            kind: block_kind(block.kind),
            shape,
            range,
            in_body,
            function_end: body.map(|body| body.start + self.text[body].trim_end().len()),
            function: function.map(|function| function.range.clone()),
            follows_jump: syntax::is_jump(self.language, &self.text[last_statement.clone()]),
            last_statement: last_statement.start,
            has_beginning: self.has_tokens_before(hole_start),
        }
    }

    fn in_body(&self, range: &Range<usize>) -> Option<BodyPosition> {
        let body = |block: &Block| block.body.as_ref().map(|body| body.inner.clone());
        let holds = |inner: &Range<usize>| inner.start <= range.start && range.end <= inner.end;
        let block = self
            .begun_before(range)
            .iter()
            .rev()
            .find(|block| block.range != *range && body(block).is_some_and(|inner| holds(&inner)))?;
        let inner = body(block)?;
        let before = self.words_in(inner.start..range.start).next_back();
        let after = self.words_in(range.end..inner.end).next();
        // Braces around the hole may be those of a closure in the body.
        let is = |token: &Token, text: &str| &self.text[token.range.clone()] == text;
        let has_braces = self.language.has_brace_blocks();
        Some(BodyPosition {
            is_first: before.is_none_or(|token| has_braces && is(token, "{")),
            is_last: after.is_none_or(|token| has_braces && is(token, "}")),
            is_function: block.kind == syntax::BlockKind::Function,
        })
    }

    /// Returns the blocks that begin no later than `range`.
    fn begun_before(&self, range: &Range<usize>) -> &[Block] {
        &self.blocks[..self.blocks.partition_point(|block| block.range.start <= range.start)]
    }

    /// Returns the innermost function whose body contains `range`.
    fn enclosing_function(&self, range: &Range<usize>) -> Option<&Block> {
        let holds = |body: &Body| body.inner.start <= range.start && range.end <= body.inner.end;
        let before = self.begun_before(range).len();
        let functions = &self.functions[..self.functions.partition_point(|&place| place < before)];
        let mut functions = functions.iter().rev().map(|&place| &self.blocks[place]);
        functions.find(|function| function.body.as_ref().is_some_and(holds))
    }

    /// Returns the tokens entirely within `range`, including line ends.
    pub(crate) fn tokens_in(&self, range: Range<usize>) -> &[Token] {
        let start = self.tokens.partition_point(|token| token.range.start < range.start);
        let end = self.tokens.partition_point(|token| token.range.end <= range.end);
        self.tokens.get(start..end).unwrap_or_default()
    }

    /// Returns the tokens entirely within `range`, excluding line ends.
    pub(crate) fn words_in(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = &Token> {
        self.tokens_in(range).iter().filter(|token| token.kind != TokenKind::Newline)
    }

    /// Whether [`MIN_TOKENS_BEFORE_TAIL`] tokens end before `offset`.
    fn has_tokens_before(&self, offset: usize) -> bool {
        let words = self.tokens.iter().filter(|token| token.kind != TokenKind::Newline);
        words.take(MIN_TOKENS_BEFORE_TAIL).filter(|token| token.range.end <= offset).count()
            == MIN_TOKENS_BEFORE_TAIL
    }

    /// Whether the text without `range` has balanced brackets for every choice of `#if` arms.
    pub(crate) fn is_whole_without(&self, range: &Range<usize>) -> bool {
        self.conditionals.allow_removal(range)
    }

    /// Returns the blanks at the beginning of the line of `offset`.
    pub(crate) fn indentation(&self, offset: usize) -> &str {
        let line = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let rest = &self.text[line..];
        &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
    }

    /// Returns the token that `offset` is strictly inside.
    pub(crate) fn word_around(&self, offset: usize) -> Option<&Token> {
        let place = self.tokens.partition_point(|token| token.range.end <= offset);
        let around = self.tokens.get(place).filter(|token| token.range.start < offset);
        around.filter(|token| token.kind != TokenKind::Newline)
    }

    /// Whether there are only blanks before `offset` on its line.
    pub(crate) fn starts_line(&self, offset: usize) -> bool {
        let before = self.text[..offset].trim_end_matches(|c: char| c.is_whitespace() && c != '\n');
        before.is_empty() || before.ends_with('\n')
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
        syntax::BlockKind::Import => BlockKind::Import,
    }
}
