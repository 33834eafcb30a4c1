//! Statements, read token by token from a beginning on: which brackets are open, what they hold, and where a statement ends.
//!
//! It reads what a lexer gives, so it works on code that is still being written, in one pass and in time that the length bounds. A tree
//! of such code says little: the parser guesses what the missing half is. It never reads ahead: whether a statement ended shows at the
//! token that follows it, or at once where no token could go on with it.
//!
//! ```text
//! tokens ─► Reader: open brackets (block, literal, group) ─┬─► does the statement end before this token?
//!                   the statement in the innermost of them ┘
//! ```

use std::ops::Range;

use crate::{Language, Token, TokenKind};

mod directives;
mod ends;
mod words;

use directives::Directives;
use words::Role;

/// What an open bracket holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Statements.
    Block,
    /// Items between commas in braces: of a literal, a pattern or an import.
    Items,
    /// What stands between parentheses or square brackets.
    Group,
}

/// A bracket that is open.
#[derive(Clone, Copy, Debug)]
pub struct Open<'a> {
    /// The bracket: `(`, `[` or `{`.
    pub bracket: u8,
    /// What it holds.
    pub holds: Holds,
    /// Where it stands in the text.
    pub start: usize,
    /// The statement or item that it is a part of, as it was before the bracket.
    outer: Statement<'a>,
    /// Whether its items are the accessors of a property, which may be without bodies.
    has_accessors: bool,
}

impl Open<'_> {
    /// The bracket that closes it.
    pub fn closer(&self) -> u8 {
        closer(self.bracket)
    }
}

/// The bracket that closes an opening one.
fn closer(bracket: u8) -> u8 {
    match bracket {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

/// A statement, or an item between commas, as far as it was read.
#[derive(Clone, Copy, Debug, Default)]
struct Statement<'a> {
    /// Where it begins, and its first token.
    start: usize,
    first: &'a str,
    /// Its last token so far.
    last: Option<Last<'a>>,
    /// What stands before its last group.
    before_group: &'a str,
    role: Role,
    /// Whether a word was read that takes a block.
    takes_block: bool,
    /// Whether a group was closed in it: what follows may be the body of a function.
    has_group: bool,
    /// Whether its last token closed a block.
    closed_block: bool,
    /// Whether a statement has to follow: behind `if (...)`.
    awaits_body: bool,
    /// Whether all so far are annotations.
    is_annotation: bool,
    /// Whether an `else` may follow a `;`.
    has_if: bool,
    /// Whether it makes a new object: braces behind it may hold what that begins with.
    has_new: bool,
    /// Whether it ends with `as const` so far.
    is_as_const: bool,
    /// Elements of JSX that are open in a statement which begins with one.
    open_elements: usize,
}

#[derive(Clone, Copy, Debug)]
struct Last<'a> {
    kind: TokenKind,
    text: &'a str,
    end: usize,
}

/// Reads the statements of a language with brackets, or its brackets alone where lines make statements.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    language: Language,
    open: Vec<Open<'a>>,
    statement: Statement<'a>,
    /// Whether a line ended since the last token.
    newline: bool,
    directives: Directives<'a>,
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of a text.
    pub fn new(language: Language) -> Reader<'a> {
        Reader {
            language,
            open: Vec::new(),
            statement: Statement::default(),
            newline: true,
            directives: Directives::default(),
        }
    }

    /// The brackets that are open, outermost first.
    pub fn open(&self) -> &[Open<'a>] {
        &self.open
    }

    /// How many brackets are open up to the innermost block, that one included: what is read there is a statement.
    pub fn block_depth(&self) -> usize {
        self.open.iter().rposition(|open| open.holds == Holds::Block).map_or(0, |place| place + 1)
    }

    /// Where the statement, or the item, begins that is being read; `None` between two of them.
    pub fn statement_start(&self) -> Option<usize> {
        self.statement.last.map(|_| self.statement.start)
    }

    /// Whether a statement has to follow, or a block: behind the head of a condition or loop.
    pub fn awaits_body(&self) -> bool {
        self.statement.awaits_body
    }

    /// Where the statement of the innermost block begins that is being read.
    pub fn block_statement_start(&self) -> Option<usize> {
        match self.open.get(self.block_depth()) {
            Some(open) => Some(open.outer.start),
            None => self.statement_start(),
        }
    }

    /// Where the last token of the statement ends.
    pub fn last_end(&self) -> Option<usize> {
        self.statement.last.map(|last| last.end)
    }

    /// Whether the token belongs to a line for the preprocessor, which is part of no statement.
    pub fn is_directive(&self, text: &str, token: &Token) -> bool {
        self.directives.takes(self.language, &text[token.range.clone()], token.kind, self.newline)
    }

    /// Whether a `{` that comes next would open the body of what the statement heads: of a condition, a loop, a function or a type.
    pub fn heads_block(&self) -> bool {
        let statement = &self.statement;
        statement.role != Role::Expression
            && (statement.takes_block || statement.has_group || statement.awaits_body)
            && self.holds(b'{', None) == Holds::Block
    }

    /// Takes in the next token of `text`, which is `by` bytes further on in the whole text.
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

    /// Whether statements, not items, stand in the innermost bracket.
    fn is_in_list(&self) -> bool {
        self.open.last().is_none_or(|open| open.holds == Holds::Block)
    }

    fn push(&mut self, written: &'a str, range: Range<usize>) {
        let bracket = written.as_bytes()[0];
        let holds = self.holds(bracket, Some(range.start));
        let start = range.start;
        self.add(written, TokenKind::Punctuation, range);
        let outer = std::mem::take(&mut self.statement);
        self.open.push(Open { bracket, holds, start, outer, has_accessors: false });
    }

    fn pop(&mut self, written: &'a str, range: Range<usize>) {
        // A closer of another kind closes nothing: the code is broken, or the lexer took a quote of a text for that of a string.
        let fits = self.open.last().is_some_and(|open| open.closer() == written.as_bytes()[0]);
        let Some(open) = fits.then(|| self.open.pop()).flatten() else { return };
        self.statement = open.outer;
        let before = self.statement.before_group;
        self.add(written, TokenKind::Punctuation, range);
        self.statement.closed_block = open.holds == Holds::Block || open.has_accessors;
        if open.bracket == b'(' {
            self.statement.has_group = true;
            self.statement.awaits_body = words::takes_condition(before);
        }
    }

    fn add(&mut self, written: &'a str, kind: TokenKind, range: Range<usize>) {
        if self.statement.last.is_none() {
            self.statement.start = range.start;
            self.statement.first = written;
            self.statement.is_annotation = written == "@";
        }
        if self.separates(written) {
            self.statement = Statement::default();
            return;
        }
        let is_word = kind == TokenKind::Word;
        let statement = &mut self.statement;
        if is_word {
            statement.see_word(self.language, written);
        } else if words::assigns(written)
            && statement.role != Role::Control
            && !statement.follows(&["operator"])
        {
            statement.role = Role::Expression;
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
        statement.last = Some(Last { kind, text: written, end: range.end });
    }

    /// Whether a token stands between two items. Finds out on the way that braces hold statements.
    fn separates(&mut self, written: &str) -> bool {
        let Some(open) = self.open.last_mut().filter(|open| open.holds != Holds::Block) else { return false };
        let is_braced = open.holds == Holds::Items;
        open.has_accessors |= is_braced
            && self.statement.before_sign().is_some_and(|word| words::is_accessor(self.language, word))
            && matches!(written, "{" | ";" | "=>");
        if written == ";" && is_braced && !open.has_accessors {
            open.holds = Holds::Block;
        }
        open.holds != Holds::Block && matches!(written, "," | ";")
    }
}

impl Statement<'_> {
    /// The last word, if it is the last token.
    fn before_sign(&self) -> Option<&str> {
        self.last.filter(|last| last.kind == TokenKind::Word).map(|last| last.text)
    }

    fn follows(&self, texts: &[&str]) -> bool {
        self.last.is_some_and(|last| texts.contains(&last.text))
    }

    /// Counts the elements of JSX in a statement that begins with one.
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

    fn see_word(&mut self, language: Language, word: &str) {
        self.takes_block |= words::takes_block(language, word);
        self.has_if |= word == "if";
        self.has_new |= word == "new";
        if self.role == Role::Other {
            self.role = words::role(language, word, self.last.is_none());
        } else if (self.role == Role::Declaration || self.follows(&["await"]))
            && words::role(language, word, false) == Role::Control
        {
            self.role = Role::Control;
        }
    }
}
