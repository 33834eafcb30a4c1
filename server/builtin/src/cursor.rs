//! Where the cursor is: the tokens before it, what is typed of the token at it, and what has to be written there.

use syntax::{Token, TokenKind};

use crate::family::Family;
use crate::layout::{Layout, last_line};
use crate::stream::Piece;
use crate::view::Builder;
use crate::vocabulary::{Change, TokenId, is_newline};

/// Tokens before the cursor that are looked at: the longest alignment (160 tokens, feasibility study, section 8.4) and some
/// room for what is skipped.
const CONTEXT_TOKENS: usize = 200;

/// What is to be written (feasibility study, section 8.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The rest of the statement on the cursor's line.
    Statement,
    /// Everything up to the end of the block: the cursor's line is blank and the block ends after it.
    RestOfBlock,
    /// One statement or control block: the cursor's line is blank and the block goes on after it.
    OneStatement,
    /// The body of a block whose header ends at the cursor.
    Body,
    /// Nothing: the cursor is in a comment.
    Nothing,
}

/// What is typed of the token at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Nothing: the cursor is between two tokens.
    None,
    /// A word that may or may not go on.
    Word {
        text: String,
        /// The word's number, if it is taken to be complete.
        token: TokenId,
    },
    /// A string literal that is not closed.
    String { text: String },
}

/// The place of completion.
#[derive(Debug)]
pub(crate) struct Cursor {
    pub(crate) mode: Mode,
    /// The last tokens before the cursor, without what is typed of the one at it.
    pub(crate) context: Vec<TokenId>,
    pub(crate) typed: Typed,
    /// Indentation of the cursor's line.
    pub(crate) column: usize,
    /// Whether a blank, or the start of the file, is before the cursor.
    pub(crate) after_blank: bool,
    /// Brackets of this statement that were opened before the cursor and are not closed after it.
    pub(crate) open_brackets: usize,
    /// Whether a `;` follows on the cursor's line.
    pub(crate) before_semicolon: bool,
    /// Whether a closing bracket is next after the cursor, on its line.
    pub(crate) before_closer: bool,
    /// The first line after the cursor that is more than closing brackets.
    pub(crate) next_line: Vec<TokenId>,
}

/// A word that is appended to the text before the cursor, to see what the lexer makes of a cursor there.
const PROBE: &str = "x";

impl Cursor {
    /// Finds the cursor, and adds the open file to the stream: what is before and what is after never touch.
    pub(crate) fn find(builder: &mut Builder, layout: Layout) -> Cursor {
        let open = builder.open;
        let (tokens, typed, in_comment) = lex_before(builder);
        let column = layout.indentation(last_line(open.before));
        let piece = Piece { language: open.language, text: open.before, layout, column: None };
        builder.add(&piece, &tokens);
        let before = builder.stream.tokens.clone();
        builder.stream.end();

        let after_tokens = syntax::lex(open.language, open.after);
        let after_start = builder.stream.len();
        let piece = Piece { text: open.after, column: Some(column), ..piece };
        builder.add(&piece, &after_tokens);
        builder.stream.end();

        let after_end = builder.stream.len() - 1;
        let after = Following::new(open.after, &after_tokens, &builder.stream.tokens[after_start..after_end]);
        let family = Family::of(open.language);
        let brackets = open_brackets(open.before, &tokens, family);
        Cursor {
            mode: mode(open.before, &tokens, &typed, in_comment, family, &after),
            typed,
            column,
            after_blank: open.before.chars().next_back().is_none_or(char::is_whitespace),
            open_brackets: brackets.saturating_sub(after.closers_on_line()),
            before_semicolon: after.semicolon_on_line(),
            before_closer: after.closers_on_line() > 0 && after.first_is_closer(),
            next_line: after.first_line(),
            context: before[before.len().saturating_sub(CONTEXT_TOKENS)..].to_vec(),
        }
    }
}

/// The whole tokens before the cursor, what is typed of the next one, and whether the cursor is in a comment.
fn lex_before(builder: &mut Builder) -> (Vec<Token>, Typed, bool) {
    let (language, before) = (builder.open.language, builder.open.before);
    let probed = format!("{before}{PROBE}");
    let mut tokens = syntax::lex(language, &probed);
    let Some(last) = tokens.pop_if(|token| token.range.end > before.len()) else {
        return (tokens, Typed::None, true);
    };
    let text = &before[last.range.start.min(before.len())..];
    let typed = match last.kind {
        _ if text.is_empty() => Typed::None,
        TokenKind::Word => {
            Typed::Word { text: text.to_owned(), token: builder.intern(text, TokenKind::Word) }
        }
        TokenKind::String => Typed::String { text: text.to_owned() },
        kind => {
            tokens.push(Token { kind, range: last.range.start..before.len() });
            Typed::None
        }
    };
    (tokens, typed, false)
}

fn mode(
    before: &str,
    tokens: &[Token],
    typed: &Typed,
    in_comment: bool,
    family: Family,
    after: &Following,
) -> Mode {
    if in_comment {
        return Mode::Nothing;
    }
    let on_blank_line = tokens.last().is_none_or(|token| token.kind == TokenKind::Newline);
    if on_blank_line && *typed == Typed::None {
        return if after.block_ends() { Mode::RestOfBlock } else { Mode::OneStatement };
    }
    let last = tokens.last().map_or("", |token| &before[token.range.clone()]);
    let opener = if family.is_indented() { ":" } else { "{" };
    let opens = last == opener && *typed == Typed::None && after.is_line_done();
    if opens && (!family.is_indented() || !inside_brackets(before, tokens)) {
        Mode::Body
    } else {
        Mode::Statement
    }
}

/// Whether the last token is inside brackets that were opened on its line: a slice or a dictionary is no block.
fn inside_brackets(before: &str, tokens: &[Token]) -> bool {
    let line = tokens.iter().rev().take_while(|token| token.kind != TokenKind::Newline);
    let depth = line.fold(0i32, |depth, token| match &before[token.range.clone()] {
        "(" | "[" | "{" => depth + 1,
        ")" | "]" | "}" => depth - 1,
        _ => depth,
    });
    depth > 0
}

/// Brackets that are open at the end of `tokens` and belong to the statement there: a brace at the end of a line starts a
/// block, and with it a new statement.
fn open_brackets(before: &str, tokens: &[Token], family: Family) -> usize {
    let mut open: Vec<(bool, usize)> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match &before[token.range.clone()] {
            bracket @ ("(" | "[" | "{") => open.push((bracket == "{", index)),
            ")" | "]" | "}" => {
                open.pop();
            }
            _ => {}
        }
    }
    let is_block = |&(brace, index): &(bool, usize)| {
        let ends_line = tokens.get(index + 1).is_some_and(|next| next.kind == TokenKind::Newline);
        brace && ends_line && !family.is_indented()
    };
    open.iter().rev().take_while(|bracket| !is_block(bracket)).count()
}

/// What follows the cursor.
struct Following<'a> {
    texts: Vec<&'a str>,
    tokens: &'a [TokenId],
}

impl<'a> Following<'a> {
    fn new(text: &'a str, lexed: &[Token], tokens: &'a [TokenId]) -> Following<'a> {
        let texts = lexed.iter().map(|token| &text[token.range.clone()]).collect();
        Following { texts, tokens }
    }

    fn is_newline(&self, index: usize) -> bool {
        self.tokens.get(index).is_none_or(|&token| is_newline(token))
    }

    /// Texts of the rest of the cursor's line.
    fn line(&self) -> impl Iterator<Item = &'a str> {
        let length = (0..self.tokens.len()).take_while(|&index| !self.is_newline(index)).count();
        self.texts.iter().copied().take(length)
    }

    fn first_is_closer(&self) -> bool {
        self.texts.first().is_some_and(|text| is_closer(text))
    }

    /// Closing brackets on the cursor's line that were opened before it.
    fn closers_on_line(&self) -> usize {
        let (mut depth, mut closers) = (0usize, 0);
        for text in self.line() {
            match text {
                "(" | "[" | "{" => depth += 1,
                _ if is_closer(text) && depth > 0 => depth -= 1,
                _ if is_closer(text) => closers += 1,
                _ => {}
            }
        }
        closers
    }

    fn semicolon_on_line(&self) -> bool {
        self.line().any(|text| text == ";")
    }

    /// Whether nothing but closing brackets follows on the cursor's line.
    fn is_line_done(&self) -> bool {
        self.line().all(is_closer)
    }

    /// Whether the cursor's block ends here: nothing follows, or less indented code, or a closing bracket.
    fn block_ends(&self) -> bool {
        match self.tokens.first().map(|&token| Change::of(token)) {
            None => true,
            Some(None) => self.first_is_closer(),
            Some(Some(Change::Units(change) | Change::Columns(change))) => {
                change < 0 || self.texts.get(1).is_none_or(|text| is_closer(text))
            }
        }
    }

    fn first_line(&self) -> Vec<TokenId> {
        let is_filler = |&index: &usize| {
            self.is_newline(index) || self.texts[index] == ";" || is_closer(self.texts[index])
        };
        let start = (0..self.tokens.len()).find(|index| !is_filler(index)).unwrap_or(self.tokens.len());
        let length = (start..self.tokens.len()).take_while(|&index| !self.is_newline(index)).count();
        self.tokens[start..start + length].to_vec()
    }
}

fn is_closer(text: &str) -> bool {
    matches!(text, ")" | "]" | "}")
}
