//! Finds the end of an answer in languages with indented blocks.

use syntax::{StatementReader, Token, TokenKind};

use super::{Continuation, CursorText, Extent, indentation};

/// Keywords that continue a compound statement on the same level.
const CLAUSES: [&str; 4] = ["else", "elif", "except", "finally"];

impl CursorText<'_> {
    pub(super) fn extent_by_lines(&self, is_fresh: bool) -> Extent {
        let line = self.line();
        if !self.reader_at_cursor.open().is_empty() {
            return Extent::Statement;
        }
        let opens = self.opens_block();
        // A block is indented more than its head.
        let least = if opens { self.head_column() + 1 } else { 0 };
        let column = if is_fresh { line.len().max(least) } else { least };
        let is_rest = match (is_fresh, self.after.column()) {
            (false, _) => opens,
            (true, Some(next)) => next < column,
            (true, None) => opens,
        };
        if is_rest { Extent::Block { column } } else { Extent::Statement }
    }

    /// Returns the indentation of the line with the last token.
    fn head_column(&self) -> usize {
        let at = self.last.as_ref().map_or(0, |last| last.range.start);
        let line = self.text[..at].rfind('\n').map_or(0, |at| at + 1);
        indentation(&self.text[line..]).len()
    }
}

/// State of a statement that is read line by line.
#[derive(Default)]
struct CompoundStatement {
    /// Whether it began with a keyword that allows clauses.
    has_clauses: bool,
    /// Whether the last line on its level was an annotation.
    is_annotation: bool,
    has_begun: bool,
}

impl CompoundStatement {
    /// Processes the first token of a line on its level.
    fn begin(&mut self, first: &str) {
        let is_head = !self.has_begun || self.is_annotation;
        self.is_annotation = first == "@";
        self.has_begun = true;
        if is_head {
            self.has_clauses = matches!(first, "if" | "for" | "while" | "try" | "async");
        }
    }

    fn continues(&self, first: &str) -> bool {
        self.is_annotation || self.has_clauses && CLAUSES.contains(&first)
    }
}

impl<'c> Continuation<'c, '_> {
    pub(super) fn end_by_lines(&self, extent: Extent) -> Option<usize> {
        let line = self.before.line();
        let is_one = extent == Extent::Statement;
        let (is_fresh, column) = match extent {
            Extent::Block { column } => (true, column),
            Extent::Statement => (line.trim().is_empty(), indentation(line).len()),
        };
        let mut reader: StatementReader<'c> = self.before.reader.clone();
        let (known, new) = self.tokens.split_at(self.first);
        known.iter().for_each(|token| reader.read(self.text, token, self.before.restart));
        let mut last = known.iter().rfind(|token| token.kind != TokenKind::Newline);
        let mut compound = CompoundStatement::default();
        for (place, token) in new.iter().enumerate() {
            if token.kind != TokenKind::Newline {
                if self.closes_suffix_bracket(&reader, token) {
                    return Some(self.end_before(token));
                }
                if !compound.has_begun {
                    compound.begin(self.text_of(token));
                }
                reader.read(self.text, token, self.before.restart);
                last = Some(token);
                continue;
            }
            let goes_on = last.is_some_and(|last| self.text_of(last) == "\\");
            if goes_on || !reader.open().is_empty() {
                continue;
            }
            let end = last.map_or(0, |last| last.range.end);
            if is_one && !is_fresh {
                return Some(end);
            }
            let next = new.get(place + 1)?;
            let level = self.column(next);
            let is_next = is_one && level == column && compound.has_begun;
            if level < column || is_next && !compound.continues(self.text_of(next)) {
                return Some(end);
            }
            if is_next {
                compound.begin(self.text_of(next));
            }
        }
        None
    }

    /// Returns whether a closer duplicates one of the text after the cursor, or closes nothing.
    fn closes_suffix_bracket(&self, reader: &StatementReader<'_>, token: &Token) -> bool {
        let written = self.text_of(token);
        let is_closer = token.kind == TokenKind::Punctuation && matches!(written, ")" | "]" | "}");
        let depth = reader.open().len();
        let is_kept = self.before.after.closes().is_some_and(|closes| depth <= closes);
        is_closer && token.range.start >= self.cursor && is_kept && (depth == 0 || self.fits(reader, written))
    }

    /// Returns the end of the text before a token, without blanks.
    pub(super) fn end_before(&self, token: &Token) -> usize {
        self.text[..token.range.start].trim_end().len().max(self.cursor)
    }
}
