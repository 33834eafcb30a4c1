//! Token streams: text as numbered tokens.

use syntax::{Language, Token, TokenKind};

use crate::code_style::CodeStyle;
use crate::quotes::{self, Quote};
use crate::vocabulary::{END, IndentChange, TokenClass, TokenId};

/// Maximum number of blanks in a side byte; wider gaps are cut.
const MAX_BLANKS: usize = 127;
/// Bit of a side byte for literals in single quotes.
const SINGLE_QUOTES: u8 = 0x80;
/// Maximum number of line ends kept per newline. More than two blank lines are a matter of taste.
const MAX_LINE_ENDS: usize = 3;

/// Numbered tokens, each with one side byte.
#[derive(Debug, Default)]
pub(crate) struct TokenStream {
    pub(crate) tokens: Vec<TokenId>,
    /// Side bytes: [`blanks`] and [`quote`] of each token.
    pub(crate) blanks: Vec<u8>,
}

/// Returns the blanks before a token: spaces, or line ends for a newline.
pub(crate) fn blanks(side: u8) -> u8 {
    side & !SINGLE_QUOTES
}

/// Returns the quote of a literal that may have either quote.
pub(crate) fn quote(side: u8) -> Quote {
    if side & SINGLE_QUOTES == 0 { Quote::Double } else { Quote::Single }
}

/// A borrowed stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenSlice<'a> {
    pub(crate) tokens: &'a [TokenId],
    pub(crate) blanks: &'a [u8],
}

/// A piece of code to be numbered.
pub(crate) struct CodePiece<'a> {
    pub(crate) language: Language,
    pub(crate) text: &'a str,
    pub(crate) layout: CodeStyle,
    /// Indentation of the line on which the piece begins; `None` at the start of a file.
    pub(crate) column: Option<usize>,
}

impl TokenStream {
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn as_tokens(&self) -> TokenSlice<'_> {
        TokenSlice { tokens: &self.tokens, blanks: &self.blanks }
    }

    pub(crate) fn push(&mut self, token: TokenId, blanks: usize) {
        self.push_in(Quote::Double, token, blanks);
    }

    fn push_in(&mut self, quote: Quote, token: TokenId, blanks: usize) {
        let blanks = u8::try_from(blanks.min(MAX_BLANKS)).expect("MAX_BLANKS fits");
        let is_single = quote == Quote::Single;
        self.tokens.push(token);
        self.blanks.push(if is_single { blanks | SINGLE_QUOTES } else { blanks });
    }

    /// Truncates the stream to so many tokens.
    pub(crate) fn truncate(&mut self, tokens: usize) {
        self.tokens.truncate(tokens);
        self.blanks.truncate(tokens);
    }

    /// Appends a separator between unrelated pieces.
    pub(crate) fn end(&mut self) {
        self.push(END, 0);
    }

    /// Appends the lexed `tokens` of `piece`.
    pub(crate) fn extend(
        &mut self,
        piece: &CodePiece,
        tokens: &[Token],
        mut intern: impl FnMut(&str, TokenKind) -> TokenId,
    ) {
        let CodePiece { text, layout, language, .. } = *piece;
        let family = language.family();
        let mut column = piece.column.unwrap_or_else(|| layout.indentation(text));
        let mut is_first = piece.column.is_none();
        let mut last = 0;
        for Token { kind, range } in tokens {
            if *kind == TokenKind::Newline {
                let next = layout.indentation(&text[range.end..]);
                if !is_first {
                    let change = IndentChange::between(column, next, layout.unit);
                    self.push(change.token(), line_ends(&text[range.clone()]));
                }
                column = next;
            } else {
                let written = &text[range.clone()];
                let is_free = *kind == TokenKind::String && family.has_equal_quotes();
                let quote = if is_free { quotes::exchangeable_quote(written) } else { None };
                let token = match quote {
                    Some(Quote::Single) => intern(&quotes::requote(written, Quote::Double), *kind),
                    Some(Quote::Double) | None => intern(written, *kind),
                };
                self.push_in(quote.unwrap_or(Quote::Double), token, leading_blanks(&text[last..range.start]));
                is_first = false;
            }
            last = range.end;
        }
    }
}

/// Counts the line ends in a newline token as needed for rendering: blank lines count, comment lines do not.
fn line_ends(newline: &str) -> usize {
    let blank = newline.lines().skip(1).filter(|line| line.trim().is_empty()).count();
    (blank + 1).min(MAX_LINE_ENDS)
}

fn leading_blanks(gap: &str) -> usize {
    gap.len() - gap.trim_start().len()
}

/// Returns the class of a token with this text.
pub(crate) fn class_of(language: Language, kind: TokenKind, text: &str) -> TokenClass {
    match kind {
        TokenKind::Word if !syntax::is_reserved(language, text) => TokenClass::Identifier,
        TokenKind::Word | TokenKind::Punctuation => TokenClass::Fixed,
        TokenKind::Number => TokenClass::Number,
        TokenKind::String => TokenClass::String,
        TokenKind::Newline => TokenClass::Newline,
    }
}
