//! The end of a statement: before a token, or at once.

use super::statement_words::{self, StatementRole};
use super::{BracketContent, LastToken, StatementReader};
use crate::{LanguageFamily, TokenKind};

impl StatementReader<'_> {
    /// Whether the statement being read ends before the next token. Only for statements, not items.
    pub fn ends_before(&self, next: &str, kind: TokenKind) -> bool {
        let statement = &self.statement;
        let Some(last) = &statement.last else { return false };
        if matches!(next, ")" | "]" | "}") && kind == TokenKind::Punctuation {
            return false;
        }
        if self.goes_on_with(next) {
            return false;
        }
        match last.text {
            ";" => !self.separates_clauses(),
            "}" if statement.closed_block => !self.goes_on_behind_block(next, kind),
            _ => self.newline && self.ends_with_line(last, next, kind),
        }
    }

    /// Whether the statement is complete whatever follows. `is_line_over`: whether the line ended after it.
    pub fn is_over(&self, is_line_over: bool) -> bool {
        let statement = &self.statement;
        let Some(last) = &statement.last else { return false };
        match last.text {
            ";" => !statement.has_if && statement.first != "do" && !self.separates_clauses(),
            _ => is_line_over && self.language.family() == LanguageFamily::Go && ends_line_in_go(last),
        }
    }

    /// Whether `next` is the other half of a statement.
    fn goes_on_with(&self, next: &str) -> bool {
        let statement = &self.statement;
        statement.has_if && next == "else" || statement.first == "do" && next == "while"
    }

    /// Whether a `;` is a separator in a header: Go has no parentheses around it.
    fn separates_clauses(&self) -> bool {
        self.language.family() == LanguageFamily::Go && self.statement.role == StatementRole::Control
    }

    /// Returns the content of an opening bracket at `start`.
    pub(super) fn holds(&self, bracket: u8, start: Option<usize>) -> BracketContent {
        if bracket != b'{' {
            return BracketContent::Group;
        }
        if self.language.family().is_indented() {
            return BracketContent::Items;
        }
        let statement = &self.statement;
        let Some(last) = &statement.last else {
            // A brace without a head is a block among statements, and a literal among arguments.
            let is_block = self.open.last().is_none_or(|open| open.content == BracketContent::Block);
            return if is_block { BracketContent::Block } else { BracketContent::Items };
        };
        // Go's formatter puts the brace of a literal directly after its type, and that of a block after a blank.
        let is_attached = start == Some(last.end) && (last.kind == TokenKind::Word || last.text == "]");
        if self.language.family() == LanguageFamily::Go && is_attached {
            return BracketContent::Items;
        }
        let is_body = match last.text {
            ")" if statement.has_new && self.language.family() == LanguageFamily::CSharp => false,
            ")" | "=>" | "->" | "|" | "else" | "try" | "finally" | "do" => true,
            ":" if matches!(statement.first, "case" | "default") => true,
            "}" => statement.role == StatementRole::Control,
            // A closure without parameters.
            "||" => self.language.family() == LanguageFamily::Rust,
            "," => statement.takes_block,
            "import" | "export" | "use" | "return" | "default" => false,
            _ if last.kind == TokenKind::Punctuation
                && !matches!(last.text, ">" | "]" | "?" | "*" | "&" | "++" | "--") =>
            {
                false
            }
            _ => statement.takes_block || statement.role != StatementRole::Expression && statement.has_group,
        };
        if is_body { BracketContent::Block } else { BracketContent::Items }
    }

    /// Whether `next` continues the statement after the block that it ends with so far.
    fn goes_on_behind_block(&self, next: &str, kind: TokenKind) -> bool {
        let statement = &self.statement;
        let is_value = statement.role == StatementRole::Expression;
        if statement_words::continues_block(next) {
            return true;
        }
        if kind != TokenKind::Punctuation {
            return match self.newline {
                true => is_value && (!self.has_line_ends() || statement_words::continues_expression(next)),
                // `struct { } name;`, but not another statement on the line.
                false => statement.role != StatementRole::Control,
            };
        }
        match next {
            ";" => !self.newline,
            // The body of a constructor after initializers in braces.
            "{" if statement.role == StatementRole::Other => true,
            "(" | "[" | "{" | "*" | "&" | "-" | "+" | "<" | "!" | "~" | "++" | "--" | "::" | "/" | "|" => {
                is_value || !self.newline && statement.role != StatementRole::Control
            }
            "@" | "#" => false,
            _ => true,
        }
    }

    /// Whether lines may end statements.
    fn has_line_ends(&self) -> bool {
        matches!(self.language.family(), LanguageFamily::Go | LanguageFamily::Script)
    }

    /// Whether the end of the line after `last` ends the statement.
    fn ends_with_line(&self, last: &LastToken<'_>, next: &str, kind: TokenKind) -> bool {
        match self.language.family() {
            LanguageFamily::Go => ends_line_in_go(last),
            LanguageFamily::Script => self.ends_line_in_script(last, next, kind),
            LanguageFamily::Rust => self.ends_line_in_rust(last, next, kind),
            _ => false,
        }
    }

    /// Whether a call without a semicolon ends the statement: no word continues it.
    fn ends_line_in_rust(&self, last: &LastToken<'_>, next: &str, kind: TokenKind) -> bool {
        let is_value = matches!(self.statement.role, StatementRole::Other | StatementRole::Expression);
        let goes_on = matches!(next, "where" | "as" | "else" | "in" | "if");
        kind == TokenKind::Word && is_value && self.statement.first != "#" && last.text == ")" && !goes_on
    }

    fn ends_line_in_script(&self, last: &LastToken<'_>, next: &str, kind: TokenKind) -> bool {
        let statement = &self.statement;
        if statement.awaits_body || statement.is_annotation || statement.open_elements > 0 {
            return false;
        }
        let is_open = match last.kind {
            TokenKind::Punctuation => {
                let is_label = last.text == ":" && matches!(statement.first, "case" | "default");
                !(is_label || matches!(last.text, ")" | "]" | "}" | ";" | ">" | "++" | "--" | "!"))
            }
            TokenKind::Word => statement_words::requires_continuation(last.text) && !statement.is_as_const,
            _ => false,
        };
        let goes_on = match kind {
            TokenKind::Punctuation if next == "{" => {
                statement.role == StatementRole::Declaration || statement.takes_block
            }
            TokenKind::Punctuation => !matches!(next, "@" | "#" | "!" | "++" | "--" | "~" | "<"),
            TokenKind::Word => statement_words::continues_expression(next),
            _ => next.starts_with('`'),
        };
        !(is_open || goes_on)
    }
}

/// Go's own rule: a line end ends the statement after a name, a literal, or a closing token.
fn ends_line_in_go(last: &LastToken<'_>) -> bool {
    last.kind != TokenKind::Punctuation || matches!(last.text, ")" | "]" | "}" | "++" | "--")
}
