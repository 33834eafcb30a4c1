//! Finds the end of an answer in languages with bracketed blocks.

use syntax::{StatementReader, Token, TokenKind};

use super::{Continuation, Extent, indentation};

impl<'c> Continuation<'c, '_> {
    pub(super) fn end_by_brackets(&self, extent: Extent) -> Option<usize> {
        let mut reader: StatementReader<'c> = self.before.reader.clone();
        let (known, new) = self.tokens.split_at(self.first);
        known.iter().for_each(|token| reader.read(self.text, token, self.before.restart));
        let level = match extent {
            Extent::Statement => reader.block_depth(),
            Extent::Block { .. } => reader.open().len(),
        };
        let is_fresh = self.before.is_on_fresh_line();
        for (place, token) in new.iter().enumerate() {
            let is_new = token.range.start >= self.cursor;
            if is_new && let Some(end) = self.ends_at(&reader, token, extent, level) {
                return Some(end);
            }
            let opens = self.opens_body(&reader, token, extent, level);
            // On a fresh line, the block after the cursor may be a separate statement.
            if opens && !is_fresh && self.before.after.begins_block() {
                return Some(self.end_before(token));
            }
            let is_head = !is_fresh && opens;
            reader.read(self.text, token, self.before.restart);
            let is_last = new.get(place + 1).is_some_and(|next| next.kind == TokenKind::Newline);
            if is_head && is_last {
                return Some(token.range.end);
            }
        }
        self.over(&reader, extent, level)
    }

    /// Returns the end of the answer if it ends before or with `token`.
    fn ends_at(
        &self,
        reader: &StatementReader<'_>,
        token: &Token,
        extent: Extent,
        level: usize,
    ) -> Option<usize> {
        if token.kind == TokenKind::Newline || reader.is_directive(self.text, token) {
            return None;
        }
        let depth = reader.open().len();
        let written = self.text_of(token);
        if token.kind == TokenKind::Punctuation && matches!(written, ")" | "]" | "}") {
            let is_kept = self.before.after.closes().is_some_and(|closes| depth <= closes);
            if depth > level && !is_kept || depth > 0 && !self.fits(reader, written) {
                return None;
            }
            let closes_own = self.closes_own(extent, is_kept);
            return Some(if closes_own { token.range.end } else { self.end_before(token) });
        }
        if depth != level {
            return None;
        }
        let end = reader.last_end().unwrap_or_default().saturating_sub(self.before.restart);
        match extent {
            Extent::Statement => {
                (end > self.cursor && reader.ends_before(written, token.kind)).then_some(end)
            }
            Extent::Block { .. } => {
                let is_end = self.begins_another_level(token) && !self.is_annotated(reader, token);
                is_end.then(|| self.end_before(token))
            }
        }
    }

    /// Returns whether a closer matches the innermost open bracket.
    pub(super) fn fits(&self, reader: &StatementReader<'_>, written: &str) -> bool {
        reader.open().last().is_some_and(|open| open.closer() == written.as_bytes()[0])
    }

    /// Returns whether the answer closes the block: the cursor's line opens it, and nothing after the cursor closes it.
    fn closes_own(&self, extent: Extent, is_kept: bool) -> bool {
        extent != Extent::Statement && !is_kept && !self.before.is_on_fresh_line()
    }

    fn begins_line(&self, token: &Token) -> bool {
        self.text[..token.range.start].trim_end_matches([' ', '\t']).ends_with('\n')
    }

    /// Returns whether `token` begins a function definition further out, which no formatter would put in this block.
    fn begins_another_level(&self, token: &Token) -> bool {
        let is_outside = self.column(token) < indentation(self.before.line()).len();
        self.begins_line(token) && is_outside && self.before.defines(&self.text[token.range.start..])
    }

    /// Returns whether `token` continues a statement that begins with an annotation.
    fn is_annotated(&self, reader: &StatementReader<'_>, token: &Token) -> bool {
        let start = reader.statement_start().and_then(|start| start.checked_sub(self.before.restart));
        let is_annotation = start.is_some_and(|start| self.text[start..].starts_with(['@', '[', '#']));
        is_annotation && !reader.ends_before(self.text_of(token), token.kind)
    }

    /// Returns whether `token` opens the body of the cursor's statement.
    fn opens_body(&self, reader: &StatementReader<'_>, token: &Token, extent: Extent, level: usize) -> bool {
        extent == Extent::Statement
            && token.range.start >= self.cursor
            && self.text_of(token) == "{"
            && reader.open().len() == level
            && reader.next_brace_opens_body()
    }

    /// Returns the end of a statement that no later text can continue.
    fn over(&self, reader: &StatementReader<'_>, extent: Extent, level: usize) -> Option<usize> {
        let is_line_over = self.tokens.last().is_some_and(|last| last.kind == TokenKind::Newline);
        let end = reader.last_end()?.saturating_sub(self.before.restart);
        let is_over = extent == Extent::Statement && reader.open().len() == level && end > self.cursor;
        (is_over && reader.is_over(is_line_over)).then_some(end)
    }
}
