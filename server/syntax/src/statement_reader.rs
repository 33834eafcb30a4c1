//! Reads statements token by token from the start of a text: the open brackets, their content, and the ends of statements.
//!
//! It works on the tokens of a lexer, so it accepts code that is still being written, in one pass and linear time. A tree of such
//! code is of little use: the parser guesses the missing half. It never looks ahead: whether a statement has ended shows at the
//! token after it, or at once if no token could continue it.
//!
//! ```text
//! tokens ─► StatementReader: open brackets (block, literal, group) ─┬─► does the statement end before this token?
//!                   the statement in the innermost of them ┘
//! ```

use std::ops::Range;

use crate::{Language, Token, TokenKind};

mod closers;
mod directives;
mod statement_ends;
mod statement_words;

pub(crate) use closers::unopened_closers;
use directives::Directives;
use statement_words::StatementRole;

/// Content of an open bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BracketContent {
    /// Statements.
    Block,
    /// Items between commas in braces: of a literal, a pattern or an import.
    Items,
    /// Content of parentheses or square brackets.
    Group,
}

/// An open bracket.
#[derive(Clone, Copy, Debug)]
pub struct OpenBracket<'a> {
    /// The bracket: `(`, `[` or `{`.
    pub bracket: u8,
    /// Content of the bracket.
    pub content: BracketContent,
    /// Position in the text.
    pub start: usize,
    /// The statement or item around the bracket, as read up to it.
    outer: Statement<'a>,
    /// Whether its items are the accessors of a property, whose bodies are optional.
    has_accessors: bool,
}

impl OpenBracket<'_> {
    /// Returns the closing bracket.
    pub fn closer(&self) -> u8 {
        closer(self.bracket)
    }
}

/// Returns the closing bracket for an opening one.
fn closer(bracket: u8) -> u8 {
    match bracket {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

/// A statement, or an item between commas, as read so far.
#[derive(Clone, Copy, Debug, Default)]
struct Statement<'a> {
    /// Start of the statement; `first` is its first token.
    start: usize,
    first: &'a str,
    /// Last token so far.
    last: Option<LastToken<'a>>,
    /// Token before its last group.
    before_group: &'a str,
    role: StatementRole,
    /// Whether it contains a word that is followed by a block.
    takes_block: bool,
    /// Whether it contains a closed group: the body of a function may follow.
    has_group: bool,
    /// Whether its last token closed a block.
    closed_block: bool,
    /// Whether a statement must follow: after `if (...)`.
    awaits_body: bool,
    /// Whether it consists of annotations so far.
    is_annotation: bool,
    /// Whether an `else` may follow a `;`.
    has_if: bool,
    /// Whether it contains `new`: braces after it may contain an initializer.
    has_new: bool,
    /// Whether it ends with `as const` so far.
    is_as_const: bool,
    /// Number of open JSX elements in a statement that begins with one.
    open_elements: usize,
}

#[derive(Clone, Copy, Debug)]
struct LastToken<'a> {
    kind: TokenKind,
    text: &'a str,
    end: usize,
}

/// Reads the statements of a language with brackets, or only the brackets if lines end its statements.
#[derive(Clone, Debug)]
pub struct StatementReader<'a> {
    language: Language,
    open: Vec<OpenBracket<'a>>,
    statement: Statement<'a>,
    /// Whether a line ended after the last token.
    newline: bool,
    directives: Directives<'a>,
}

impl<'a> StatementReader<'a> {
    /// Creates a reader at the start of a text.
    pub fn new(language: Language) -> StatementReader<'a> {
        StatementReader {
            language,
            open: Vec::new(),
            statement: Statement::default(),
            newline: true,
            directives: Directives::default(),
        }
    }

    /// Returns the open brackets, outermost first.
    pub fn open(&self) -> &[OpenBracket<'a>] {
        &self.open
    }

    /// Returns the number of open brackets up to and including the innermost block; a statement is being read there.
    pub fn block_depth(&self) -> usize {
        self.open.iter().rposition(|open| open.content == BracketContent::Block).map_or(0, |place| place + 1)
    }

    /// Returns the start of the statement or item being read; `None` between two of them.
    pub fn statement_start(&self) -> Option<usize> {
        self.statement.last.map(|_| self.statement.start)
    }

    /// Whether a statement or a block must follow: after the head of a condition or loop.
    pub fn awaits_body(&self) -> bool {
        self.statement.awaits_body
    }

    /// Returns the start of the statement being read in the innermost block.
    pub fn block_statement_start(&self) -> Option<usize> {
        match self.open.get(self.block_depth()) {
            Some(open) => Some(open.outer.start),
            None => self.statement_start(),
        }
    }

    /// Returns the end of the statement's last token.
    pub fn last_end(&self) -> Option<usize> {
        self.statement.last.map(|last| last.end)
    }

    /// Whether the token belongs to a preprocessor line, which is part of no statement.
    pub fn is_directive(&self, text: &str, token: &Token) -> bool {
        self.directives.accepts(self.language, &text[token.range.clone()], token.kind, self.newline)
    }

    /// Whether a following `{` would open the body of the statement: of a condition, a loop, a function or a type.
    pub fn next_brace_opens_body(&self) -> bool {
        let statement = &self.statement;
        statement.role != StatementRole::Expression
            && (statement.takes_block || statement.has_group || statement.awaits_body)
            && self.holds(b'{', None) == BracketContent::Block
    }

    /// Reads the next token of `text`; `by` is the offset of `text` in the whole text.
    pub fn read(&mut self, text: &'a str, token: &Token, by: usize) {
        let written = &text[token.range.clone()];
        let range = token.range.start + by..token.range.end + by;
        if self.take_directive(written, token.kind) {
            return;
        }
        if token.kind == TokenKind::Newline {
            self.newline = true;
            return;
        }
        if self.is_in_list() && self.ends_before(written, token.kind) {
            self.statement = Statement::default();
        }
        match written {
            "(" | "[" | "{" if token.kind == TokenKind::Punctuation => self.push(written, range),
            ")" | "]" | "}" if token.kind == TokenKind::Punctuation => self.pop(written, range),
            _ => self.add(written, token.kind, range),
        }
        self.newline = false;
    }

    fn take_directive(&mut self, written: &'a str, kind: TokenKind) -> bool {
        let is_taken = self.directives.read(self.language, written, kind, self.newline, &mut self.open);
        if kind == TokenKind::Newline {
            self.newline = true;
        } else if is_taken {
            self.newline = false;
        }
        is_taken
    }

    /// Whether the innermost bracket contains statements, not items.
    fn is_in_list(&self) -> bool {
        self.open.last().is_none_or(|open| open.content == BracketContent::Block)
    }

    fn push(&mut self, written: &'a str, range: Range<usize>) {
        let bracket = written.as_bytes()[0];
        let holds = self.holds(bracket, Some(range.start));
        let start = range.start;
        self.add(written, TokenKind::Punctuation, range);
        let outer = std::mem::take(&mut self.statement);
        self.open.push(OpenBracket { bracket, content: holds, start, outer, has_accessors: false });
    }

    fn pop(&mut self, written: &'a str, range: Range<usize>) {
        // Ignores a closer of another kind: the code is broken, or the lexer took a quote in plain text for that of a string.
        let fits = self.open.last().is_some_and(|open| open.closer() == written.as_bytes()[0]);
        let Some(open) = fits.then(|| self.open.pop()).flatten() else { return };
        self.statement = open.outer;
        let before = self.statement.before_group;
        self.add(written, TokenKind::Punctuation, range);
        self.statement.closed_block = open.content == BracketContent::Block || open.has_accessors;
        if open.bracket == b'(' {
            self.statement.has_group = true;
            self.statement.awaits_body = statement_words::takes_condition(before);
        }
    }

    fn add(&mut self, written: &'a str, kind: TokenKind, range: Range<usize>) {
        if self.statement.last.is_none() {
            self.statement.start = range.start;
            self.statement.first = written;
            self.statement.is_annotation = written == "@";
        }
        if self.separates_items(written) {
            self.statement = Statement::default();
            return;
        }
        let is_word = kind == TokenKind::Word;
        let statement = &mut self.statement;
        if is_word {
            statement.note_word(self.language, written);
        } else if statement_words::assigns(written)
            && statement.role != StatementRole::Control
            && !statement.follows(&["operator"])
        {
            statement.role = StatementRole::Expression;
        }
        statement.is_annotation &=
            is_word && statement.follows(&["@", "."]) || matches!(written, "@" | "." | "(" | ")");
        statement.closed_block = false;
        statement.awaits_body = matches!(written, "else" | "do" | "=>");
        if written == "(" {
            statement.before_group = statement.last.map_or("", |last| last.text);
        }
        statement.is_as_const = written == "const" && statement.follows(&["as"]);
        statement.see_element(written, kind);
        statement.last = Some(LastToken { kind, text: written, end: range.end });
    }

    /// Whether a token separates two items. Also detects braces that contain statements.
    fn separates_items(&mut self, written: &str) -> bool {
        let Some(open) = self.open.last_mut().filter(|open| open.content != BracketContent::Block) else {
            return false;
        };
        let is_braced = open.content == BracketContent::Items;
        open.has_accessors |= is_braced
            && self
                .statement
                .before_sign()
                .is_some_and(|word| statement_words::is_accessor(self.language, word))
            && matches!(written, "{" | ";" | "=>");
        if written == ";" && is_braced && !open.has_accessors {
            open.content = BracketContent::Block;
        }
        open.content != BracketContent::Block && matches!(written, "," | ";")
    }
}

impl Statement<'_> {
    /// Returns the last word, if it is the last token.
    fn before_sign(&self) -> Option<&str> {
        self.last.filter(|last| last.kind == TokenKind::Word).map(|last| last.text)
    }

    fn follows(&self, texts: &[&str]) -> bool {
        self.last.is_some_and(|last| texts.contains(&last.text))
    }

    /// Counts the JSX elements in a statement that begins with one.
    fn see_element(&mut self, written: &str, kind: TokenKind) {
        if self.first != "<" {
            return;
        }
        let is_behind = |sign: &str| self.last.is_some_and(|last| last.text == sign);
        let opens = is_behind("<") && (kind == TokenKind::Word || written == ">");
        let closes = matches!(written, "</" | "/>")
            || written == "/" && is_behind("<")
            || written == ">" && is_behind("/");
        self.open_elements = (self.open_elements + usize::from(opens)).saturating_sub(usize::from(closes));
    }

    fn note_word(&mut self, language: Language, word: &str) {
        self.takes_block |= statement_words::takes_block(language, word);
        self.has_if |= word == "if";
        self.has_new |= word == "new";
        if self.role == StatementRole::Other {
            self.role = statement_words::role(language, word, self.last.is_none());
        } else if (self.role == StatementRole::Declaration || self.follows(&["await"]))
            && statement_words::role(language, word, false) == StatementRole::Control
        {
            self.role = StatementRole::Control;
        }
    }
}
