//! Analyses the cursor position: the tokens before it, the partial token at it, and the kind of text to generate.

use std::borrow::Cow;

use syntax::LanguageFamily;

use crate::code_style::{CodeStyle, last_line};
use crate::corpus_view::ViewBuilder;
use crate::quotes::{Quote, requote};
use crate::token_origin::TokenSource;
use crate::token_stream::CodePiece;
use crate::vocabulary::TokenId;

mod after;
mod before;

use after::TextAfter;
use before::TextBefore;

/// Number of tokens before the cursor that are used: the longest alignment (160 tokens, feasibility study, section 8.4) and some
/// margin for skipped ones.
const CONTEXT_TOKENS: usize = 200;

/// Kind of text to generate (feasibility study, section 8.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GenerationMode {
    /// The rest of the statement on the cursor's line.
    Statement,
    /// Everything up to the end of the block: the cursor's line is blank and the block ends after it.
    RestOfBlock,
    /// One statement or control block: the cursor's line is blank and the block continues after it.
    OneStatement,
    /// The body of a block whose header ends at the cursor.
    Body,
    /// Nothing: the cursor is in a comment.
    Nothing,
}

/// The partial token at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartialToken {
    /// Nothing: the cursor is between two tokens.
    None,
    /// A word that may or may not continue.
    Word {
        text: String,
        /// Number of the word, if it is treated as complete.
        token: TokenId,
    },
    /// A string literal.
    String {
        text: String,
        /// Its quote, if both quotes are possible.
        quote: Option<Quote>,
        /// The rest of the literal if it is closed after the cursor, on its line; else empty.
        rest: String,
    },
}

impl PartialToken {
    pub(crate) fn text(&self) -> &str {
        match self {
            PartialToken::None => "",
            PartialToken::Word { text, .. } | PartialToken::String { text, .. } => text,
        }
    }

    /// Returns the rest of the token behind the cursor.
    pub(crate) fn rest(&self) -> &str {
        match self {
            PartialToken::String { rest, .. } => rest,
            PartialToken::None | PartialToken::Word { .. } => "",
        }
    }

    /// Returns the text that completes the partial token to `token`, or `None` if `token` does not fit.
    pub(crate) fn missing<'t>(&self, token: &'t str) -> Option<Cow<'t, str>> {
        match self.quote().map_or(token.into(), |quote| requote(token, quote)) {
            Cow::Borrowed(token) => strip(token, self.text(), self.rest()).map(Cow::Borrowed),
            Cow::Owned(token) => {
                strip(&token, self.text(), self.rest()).map(|missing| missing.to_owned().into())
            }
        }
    }

    /// Returns the quote of a partial literal that may have either quote.
    pub(crate) fn quote(&self) -> Option<Quote> {
        match self {
            PartialToken::String { quote, .. } => *quote,
            PartialToken::None | PartialToken::Word { .. } => None,
        }
    }
}

fn strip<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    text.strip_prefix(before)?.strip_suffix(after)
}

/// The cursor position.
#[derive(Debug)]
pub(crate) struct Cursor {
    pub(crate) mode: GenerationMode,
    /// Position in the overlay's stream.
    pub(crate) cut: usize,
    /// The last tokens before the cursor, without the partial one.
    pub(crate) context: Vec<TokenId>,
    pub(crate) partial_token: PartialToken,
    /// Indentation of the cursor's line.
    pub(crate) column: usize,
    /// Whether a blank, or the start of the file, is before the cursor.
    pub(crate) after_blank: bool,
    /// Number of brackets of this statement that were opened before the cursor and are not closed after it.
    pub(crate) open_brackets: usize,
    /// Whether a `;` follows on the cursor's line.
    pub(crate) before_semicolon: bool,
    /// Whether the next token is a closing bracket on the cursor's line.
    pub(crate) before_closer: bool,
    /// The first line after the cursor that consists of more than closing brackets.
    pub(crate) next_line: Vec<TokenId>,
    /// Indentation of the next line relative to the cursor's, in columns; `None` without a next line.
    pub(crate) next_change: Option<i64>,
}

impl Cursor {
    /// Analyses the cursor, and adds the open file to the stream; the parts before and after the cursor stay separate. Returns
    /// `None` if the caller cancels.
    pub(crate) fn find(builder: &mut ViewBuilder, layout: CodeStyle) -> Option<Cursor> {
        let open = builder.open;
        let family = open.language.family();
        let before = TextBefore::lex(builder);
        builder.check_cancelled()?;
        let after_text = &open.after[before.partial_token.rest().len()..];
        let column = layout.indentation(last_line(open.before));
        let piece = CodePiece { language: open.language, text: open.before, layout, column: None };
        builder.add_open_file(TokenSource::Before, &piece, &before.tokens, 0);
        let cut = builder.stream.len();
        builder.end();
        builder.check_cancelled()?;

        let lexed = open.lexed(after_text);
        builder.check_cancelled()?;
        let piece = CodePiece { text: after_text, column: Some(column), ..piece };
        let skipped = before.partial_token.rest().len();
        builder.add_open_file(
            TokenSource::After { skipped },
            &piece,
            lexed.tokens(),
            open.before.len() + skipped,
        );
        let (before_tokens, after_tokens) = builder.stream.tokens.split_at(cut);
        let after = TextAfter::new(after_text, lexed.tokens(), &after_tokens[1..]);
        let cursor = Cursor {
            mode: mode(&before, &after, family),
            cut,
            column,
            after_blank: open.before.chars().next_back().is_none_or(char::is_whitespace),
            open_brackets: before.open_brackets(family).saturating_sub(after.closers_on_line()),
            before_semicolon: after.semicolon_on_line(),
            before_closer: after.first_is_closer(),
            next_line: after.first_line(),
            next_change: after.first_change().map(|change| change.columns(layout.unit)),
            context: before_tokens[cut.saturating_sub(CONTEXT_TOKENS)..].to_vec(),
            partial_token: before.partial_token,
        };
        builder.end();
        builder.check_cancelled()?;
        Some(cursor)
    }
}

fn mode(before: &TextBefore, after: &TextAfter, family: LanguageFamily) -> GenerationMode {
    if before.in_comment {
        return GenerationMode::Nothing;
    }
    if before.is_blank_line() {
        return if after.block_ends() { GenerationMode::RestOfBlock } else { GenerationMode::OneStatement };
    }
    if before.opens_block(family) && after.is_line_done() {
        GenerationMode::Body
    } else {
        GenerationMode::Statement
    }
}
