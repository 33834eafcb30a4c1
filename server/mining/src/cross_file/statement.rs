//! Cursor and end of a `cross_file` truth. It ends with its statement in the syntax tree and at the end of a line.

use std::ops::Range;

use syntax::{ConditionalGroups, SourceFile, Token, TokenKind, Tree};

use crate::holes::is_at_character_boundaries;
use crate::seeded_random::SeededRandom;
use crate::unanswerable::UnanswerableReason;

/// Tokens and statements of a file.
pub(super) struct Statements<'a> {
    source: &'a SourceFile,
    tree: &'a Tree,
    tokens: Vec<Token>,
    conditionals: ConditionalGroups,
}

impl<'a> Statements<'a> {
    /// `tree` is the syntax tree of the file's text.
    pub(super) fn new(source: &'a SourceFile, tree: &'a Tree) -> Statements<'a> {
        let mut tokens = syntax::lex(source.language, &source.text);
        tokens.retain(|token| token.kind != TokenKind::Newline);
        let conditionals = ConditionalGroups::new(source.language, &source.text, &tokens);
        Statements { source, tree, tokens, conditionals }
    }

    /// Returns the range from a random token of the statement, on the name's line and not after the name, to the statement's
    /// end. The error is the reason if the name would be cut off or no statement ends at the end of a line.
    pub(super) fn hole(
        &self,
        name: &Range<usize>,
        random: &mut SeededRandom,
    ) -> Result<Range<usize>, UnanswerableReason> {
        let statement_end = self.tree.statement_end(name.start);
        let starts = self.starts(name, statement_end);
        let start = starts.get(random.below(starts.len())).copied().unwrap_or(name.start);
        let end = match statement_end {
            Some(end) => self.end_of_line_with(name.start, end).ok_or(UnanswerableReason::MidLine)?,
            None => self.end_of_header(name.end).ok_or(UnanswerableReason::OpenBrace)?,
        };
        let end =
            start + self.source.text.get(start..end).ok_or(UnanswerableReason::MidLine)?.trim_end().len();
        let range = start..end;
        let refusals = [
            (UnanswerableReason::MidLine, end < name.end),
            (UnanswerableReason::AcrossArms, !self.conditionals.allow_removal(&range)),
            (
                UnanswerableReason::InsideSign,
                !is_at_character_boundaries(&self.source.text, self.tree, &range),
            ),
        ];
        let refusal = refusals.into_iter().find_map(|(obstacle, is_there)| is_there.then_some(obstacle));
        refusal.map_or(Ok(range), Err)
    }

    /// Returns the end of the statement at `name`, which ends at `end`. If more code follows on that line, returns the end of
    /// the innermost enclosing statement that ends with that line.
    fn end_of_line_with(&self, name: usize, end: usize) -> Option<usize> {
        let line_end = self.line_end(end);
        if line_end <= end {
            return Some(end);
        }
        self.tree.enclosing_statement_ends(name).into_iter().find(|&around| around == line_end)
    }

    /// Returns the line end of code that is no statement, such as the header of a class. `None` if a `{` ends that line,
    /// because the code after it belongs to the same type or literal.
    fn end_of_header(&self, offset: usize) -> Option<usize> {
        let end = self.line_end(offset);
        (!self.source.text[..end].ends_with('{')).then_some(end)
    }

    /// Returns the tokens on the name's line, up to the name, that belong to the statement with this end; inner statements end
    /// earlier.
    fn starts(&self, name: &Range<usize>, statement_end: Option<usize>) -> Vec<usize> {
        let line = self.source.text[..name.start].rfind('\n').map_or(0, |at| at + 1);
        let on_line = self.tokens_in(line..name.start).iter().map(|token| token.range.start);
        let of_statement = on_line.filter(|&start| self.tree.statement_end(start) == statement_end);
        of_statement.chain([name.start]).collect()
    }

    /// Returns the end of the last token on the line of `offset`.
    fn line_end(&self, offset: usize) -> usize {
        let text = &self.source.text;
        let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
        self.tokens_in(offset..end).last().map_or(offset, |token| token.range.end)
    }

    /// Returns the tokens entirely within `range`.
    fn tokens_in(&self, range: Range<usize>) -> &[Token] {
        let start = self.tokens.partition_point(|token| token.range.start < range.start);
        let end = self.tokens.partition_point(|token| token.range.end <= range.end);
        self.tokens.get(start..end).unwrap_or_default()
    }
}
