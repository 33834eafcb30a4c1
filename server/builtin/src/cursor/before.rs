//! Analyses the text before the cursor: complete tokens, the partial one, and open brackets.

use syntax::{Language, LanguageFamily, Token, TokenKind};

use super::PartialToken;
use crate::corpus_view::ViewBuilder;
use crate::quotes::Quote;

/// Word appended to the text before the cursor, to see how the lexer treats a word there.
const PROBE: &str = "x";

/// The lexed text before the cursor.
pub(super) struct TextBefore<'a> {
    text: &'a str,
    /// The complete tokens.
    pub(super) tokens: Vec<Token>,
    pub(super) partial_token: PartialToken,
    pub(super) in_comment: bool,
}

impl<'a> TextBefore<'a> {
    pub(super) fn lex(builder: &mut ViewBuilder<'a>) -> TextBefore<'a> {
        let (language, text) = (builder.open.language, builder.open.before);
        let mut tokens = builder.open.lexed(&format!("{text}{PROBE}")).tokens().to_vec();
        let probed = tokens.pop_if(|token| token.range.end > text.len());
        let in_comment = probed.is_none();
        let start = probed.as_ref().map_or(text.len(), |token| token.range.start);
        let typed_text = &text[start.min(text.len())..];
        let typed = match probed.map(|token| token.kind).filter(|_| !typed_text.is_empty()) {
            None => PartialToken::None,
            Some(TokenKind::Word) => {
                let token = builder.intern(typed_text, TokenKind::Word);
                PartialToken::Word { text: typed_text.to_owned(), token }
            }
            Some(TokenKind::String) => {
                let rest = rest_of_string(language, typed_text, builder.open.after);
                let is_free = language.family().has_equal_quotes();
                let quote = if is_free { Quote::opening(typed_text) } else { None };
                PartialToken::String { text: typed_text.to_owned(), quote, rest: rest.to_owned() }
            }
            Some(kind) => {
                tokens.push(Token { kind, range: start..text.len() });
                PartialToken::None
            }
        };
        TextBefore { text, tokens, partial_token: typed, in_comment }
    }

    fn text(&self, token: &Token) -> &str {
        &self.text[token.range.clone()]
    }

    pub(super) fn is_blank_line(&self) -> bool {
        let starts_line = self.tokens.last().is_none_or(|token| token.kind == TokenKind::Newline);
        starts_line && self.partial_token == PartialToken::None
    }

    /// Returns whether the last token opens a block. A colon inside brackets opened on its line does not: it belongs to a slice, a
    /// dictionary or an annotation.
    pub(super) fn opens_block(&self, family: LanguageFamily) -> bool {
        let last = self.tokens.last().map_or("", |token| self.text(token));
        let opens = if family.is_indented() { last == ":" && !self.is_in_brackets() } else { last == "{" };
        opens && self.partial_token == PartialToken::None
    }

    fn is_in_brackets(&self) -> bool {
        let line = self.tokens.iter().rev().take_while(|token| token.kind != TokenKind::Newline);
        let depth = line.fold(0i32, |depth, token| match self.text(token) {
            "(" | "[" | "{" => depth + 1,
            ")" | "]" | "}" => depth - 1,
            _ => depth,
        });
        depth > 0
    }

    /// Returns the number of open brackets of the last statement. A brace at the end of a line starts a block with new statements.
    pub(super) fn open_brackets(&self, family: LanguageFamily) -> usize {
        let mut open: Vec<(bool, usize)> = Vec::new();
        for (index, token) in self.tokens.iter().enumerate() {
            match self.text(token) {
                bracket @ ("(" | "[" | "{") => open.push((bracket == "{", index)),
                ")" | "]" | "}" => {
                    open.pop();
                }
                _ => {}
            }
        }
        let is_block = |&(brace, index): &(bool, usize)| {
            let ends_line = self.tokens.get(index + 1).is_some_and(|next| next.kind == TokenKind::Newline);
            brace && ends_line && !family.is_indented()
        };
        open.iter().rev().take_while(|bracket| !is_block(bracket)).count()
    }
}

/// Returns the part of `after` that belongs to the string literal starting with `typed`, if it is closed on the cursor's line.
fn rest_of_string<'a>(language: Language, typed: &str, after: &'a str) -> &'a str {
    let line = after.split(['\n', '\r']).next().unwrap_or_default();
    let probed = format!("{typed}{line}{PROBE}");
    let end = syntax::lex(language, &probed).first().map_or(0, |literal| literal.range.end);
    let rest = line.get(..end.saturating_sub(typed.len())).filter(|_| end < probed.len());
    rest.unwrap_or_default()
}
