//! Where a file could be cut: every hole that a recipe of the four Codev-Bench scenarios allows.

use std::ops::Range;

use cases::BlockKind;
use syntax::{Block, Body, Function, SourceFile, Token, TokenKind};

use crate::random::Random;

#[cfg(test)]
mod tests;

/// Longest truth, in lines: what is longer is written in many steps, not completed in one.
const MAX_TRUTH_LINES: usize = 60;
/// Tokens that must be left of a begun statement.
const MIN_TOKENS_LEFT: usize = 2;
/// Tokens that only end what was begun: an editor types them by itself.
const CLOSERS: [&str; 6] = [")", "]", "}", ">", ",", ";"];
/// Statements that a body must have before its completeness can be asked about.
const MIN_STATEMENTS: usize = 2;
/// Characters of an identifier that are typed when the cursor stands inside it.
const MAX_TYPED_OF_IDENTIFIER: usize = 3;

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
    /// What is removed; for [`Shape::Empty`] the end of the last statement's line.
    pub(crate) range: Range<usize>,
    /// End of the last text in the innermost function body that holds the hole: where `function_tail` starts again.
    pub(crate) function_end: Option<usize>,
    /// That function, whole.
    pub(crate) function: Option<Range<usize>>,
    /// Start of the last statement in the block's body, or of the block where it has none: what a fresh line behind it is aligned with.
    pub(crate) last_statement: usize,
}

/// All holes of a file in order of their start.
pub(crate) fn holes(file: &SourceFile, seed: u64) -> Vec<Hole> {
    let text = &*file.text;
    let tree = syntax::parse(file.language, text);
    let blocks = tree.blocks(text);
    let functions = tree.functions(text);
    let cutter = Cutter { text, functions: &functions, tokens: syntax::lex(file.language, text) };
    let mut random = Random::new(seed, &file.path);
    let mut holes: Vec<Hole> = blocks
        .iter()
        .enumerate()
        .filter(|(_, block)| !block.has_error)
        .flat_map(|(place, block)| cutter.cut(block, &blocks[place + 1..], &mut random))
        .collect();
    holes.sort_by_key(|hole| (hole.range.start, hole.range.end));
    holes
}

struct Cutter<'a> {
    text: &'a str,
    functions: &'a [Function],
    tokens: Vec<Token>,
}

impl Cutter<'_> {
    /// The holes of a block, which the blocks `following` it in the file may be inside of.
    fn cut(&self, block: &Block, following: &[Block], random: &mut Random) -> Vec<Hole> {
        let mut cuts = vec![(Shape::BlockStart, self.block_start(block))];
        match &block.body {
            Some(body) => {
                cuts.push((Shape::HeaderEnd, self.statements_from(body, 0)));
                cuts.push((Shape::RestOfBlock, self.rest_of_block(body, random)));
                cuts.push((Shape::Empty, self.after_body(body)));
            }
            None if block.kind == syntax::BlockKind::Statement => {
                cuts.push((Shape::MidStatement, self.mid_statement(block, following, random)));
            }
            None => {}
        }
        let holes = cuts.into_iter().filter_map(|(shape, range)| Some(self.hole(block, shape, range?)));
        holes.filter(|hole| self.has_allowed_length(hole)).collect()
    }

    fn hole(&self, block: &Block, shape: Shape, range: Range<usize>) -> Hole {
        let function = self.enclosing_function(&range);
        let body = function.and_then(|function| function.body.clone());
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

    /// Functions are ordered outer before inner, so the last that fits is the innermost.
    fn enclosing_function(&self, range: &Range<usize>) -> Option<&Function> {
        let holds = |body: &Range<usize>| body.start <= range.start && range.end <= body.end;
        self.functions.iter().rev().find(|function| function.body.as_ref().is_some_and(holds))
    }

    fn has_allowed_length(&self, hole: &Hole) -> bool {
        let truth = &self.text[hole.range.clone()];
        match hole.shape {
            Shape::Empty => true,
            _ => !truth.trim().is_empty() && truth.lines().count() <= MAX_TRUTH_LINES,
        }
    }

    /// The whole block, where it starts its line (a `catch` may follow the `}` of its `try`).
    fn block_start(&self, block: &Block) -> Option<Range<usize>> {
        let follows_closer = block.kind == syntax::BlockKind::Catch;
        (follows_closer || self.starts_line(block.range.start)).then(|| block.range.clone())
    }

    /// From statement `first` of a body to its last one.
    fn statements_from(&self, body: &Body, first: usize) -> Option<Range<usize>> {
        let start = body.statements.get(first)?.start;
        let end = body.statements.last()?.end;
        self.starts_line(start).then_some(start..end)
    }

    fn rest_of_block(&self, body: &Body, random: &mut Random) -> Option<Range<usize>> {
        let typed = 1 + random.below(body.statements.len().checked_sub(1).filter(|&rest| rest > 0)?);
        self.statements_from(body, typed)
    }

    /// The end of the line on which the body's last statement ends, where nothing but blanks or a comment follows it there.
    fn after_body(&self, body: &Body) -> Option<Range<usize>> {
        let last = body.statements.last().filter(|_| body.statements.len() >= MIN_STATEMENTS)?;
        let rest = &self.text[last.end..];
        let line_end = last.end + rest.find('\n')?;
        let line_end = if self.text[..line_end].ends_with('\r') { line_end - 1 } else { line_end };
        let next_token = self.tokens_in(last.end..line_end).first();
        (next_token.is_none() && self.starts_line(last.start)).then_some(line_end..line_end)
    }

    /// From a token of the statement, or from inside an identifier, to its end.
    fn mid_statement(&self, block: &Block, following: &[Block], random: &mut Random) -> Option<Range<usize>> {
        let mut starts = self.starts_in_statement(&block.range);
        // What stands in a group of declarations ends by itself, not with the group.
        let inner = following.iter().take_while(|inner| inner.range.start < block.range.end);
        for inner in inner.filter(|inner| inner.kind == syntax::BlockKind::Statement) {
            starts.retain(|start| !inner.range.contains(&start.range.start));
        }
        let token = starts.get(random.below(starts.len()))?;
        let typed = if random.below(2) == 0 { self.typed_part(token, random) } else { 0 };
        Some(token.range.start + typed..block.range.end)
    }

    /// The tokens at which the rest of a statement may begin: not the first one, not so late that nothing is left to say, and not
    /// between braces, since what stands there (a closure's body, a macro's items) is code with an end of its own.
    fn starts_in_statement(&self, statement: &Range<usize>) -> Vec<&Token> {
        let tokens: Vec<&Token> = self
            .tokens_in(statement.clone())
            .iter()
            .filter(|token| token.kind != TokenKind::Newline)
            .collect();
        let last = tokens.iter().rposition(|token| !CLOSERS.contains(&&self.text[token.range.clone()]));
        let end = last.map_or(0, |last| last + 1).min((tokens.len() + 1).saturating_sub(MIN_TOKENS_LEFT));
        let mut depth = 0;
        let mut starts = Vec::new();
        for (place, token) in tokens[..end].iter().enumerate() {
            if place > 0 && depth == 0 {
                starts.push(*token);
            }
            match &self.text[token.range.clone()] {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
        }
        starts
    }

    /// Bytes of an identifier that are already typed: at least two characters stay to be guessed.
    fn typed_part(&self, token: &Token, random: &mut Random) -> usize {
        let word = &self.text[token.range.clone()];
        let longest = word.len().saturating_sub(2).min(MAX_TYPED_OF_IDENTIFIER);
        let can_split = token.kind == TokenKind::Word && word.is_ascii() && longest > 0;
        if can_split { 1 + random.below(longest) } else { 0 }
    }

    fn tokens_in(&self, range: Range<usize>) -> &[Token] {
        let start = self.tokens.partition_point(|token| token.range.start < range.start);
        let end = self.tokens.partition_point(|token| token.range.end <= range.end);
        self.tokens.get(start..end).unwrap_or_default()
    }

    fn starts_line(&self, offset: usize) -> bool {
        let line_start = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
        self.text[line_start..offset].trim().is_empty()
    }
}

fn block_kind(kind: syntax::BlockKind) -> BlockKind {
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
