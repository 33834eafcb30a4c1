//! Where the cursor of a `cross_file` case may stand, and where its truth ends.

use std::ops::Range;

use syntax::{SourceFile, Token, TokenKind, Tree};

use crate::random::Random;

/// A file's tokens and statements.
pub(super) struct Statements<'a> {
    source: &'a SourceFile,
    tree: &'a Tree,
    tokens: Vec<Token>,
}

impl<'a> Statements<'a> {
    /// `tree` is that of the file's text.
    pub(super) fn new(source: &'a SourceFile, tree: &'a Tree) -> Statements<'a> {
        let mut tokens = syntax::lex(source.language, &source.text);
        tokens.retain(|token| token.kind != TokenKind::Newline);
        Statements { source, tree, tokens }
    }

    /// From a random token of the statement, on the name's own line and no later than the name, to the statement's end; `None` where
    /// the name is cut off. What is no statement, as the header of a class is none, ends with its line.
    pub(super) fn hole(&self, name: &Range<usize>, random: &mut Random) -> Option<Range<usize>> {
        let statement_end = self.tree.statement_end(name.start);
        let starts = self.starts(name, statement_end);
        let &start = starts.get(random.below(starts.len()))?;
        let end = statement_end.unwrap_or_else(|| self.line_end(name.end));
        let is_indented = self.source.language.family().is_indented();
        let end = if is_indented { end } else { self.first_break(start, end) };
        let end = start + self.source.text.get(start..end)?.trim_end().len();
        (name.end <= end).then_some(start..end)
    }

    /// The tokens on the name's line, up to the name, that belong to the statement which ends there: an inner one ends before.
    fn starts(&self, name: &Range<usize>, statement_end: Option<usize>) -> Vec<usize> {
        let line = self.source.text[..name.start].rfind('\n').map_or(0, |at| at + 1);
        let on_line = self.tokens_in(line..name.start).iter().map(|token| token.range.start);
        let of_statement = on_line.filter(|&start| self.tree.statement_end(start) == statement_end);
        of_statement.chain([name.start]).collect()
    }

    /// The end of the last token on the line of `offset`.
    fn line_end(&self, offset: usize) -> usize {
        let text = &self.source.text;
        let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
        self.tokens_in(offset..end).last().map_or(offset, |token| token.range.end)
    }

    /// The end of the first `;`, `{` or `}` after the token at `start`, where CrossCodeEval cuts off.
    fn first_break(&self, start: usize, end: usize) -> usize {
        let is_break = |token: &&Token| matches!(&self.source.text[token.range.clone()], ";" | "{" | "}");
        let found = self.tokens_in(start..end).iter().skip(1).find(is_break);
        found.map_or(end, |token| token.range.end)
    }

    /// The tokens that lie wholly in `range`.
    fn tokens_in(&self, range: Range<usize>) -> &[Token] {
        let start = self.tokens.partition_point(|token| token.range.start < range.start);
        let end = self.tokens.partition_point(|token| token.range.end <= range.end);
        self.tokens.get(start..end).unwrap_or_default()
    }
}
