//! A lexer that needs little per language: identifiers, numbers, whole string literals, longest-match operators, newlines.
//!
//! It accepts any fragment of code, broken or cut off, and never fails: an unclosed token ends at the end of its line or of the
//! text. It is for callers that need tokens but no tree: the built-in engine, the lexical index and token-exact comparison.
//! Comments give no tokens. Between two tokens there are only blanks and comments.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Language;

mod lexed_prefix;
mod lexed_text;
mod reserved_words;

pub use lexed_prefix::LexedPrefix;
pub use lexed_text::LexedText;
pub use reserved_words::{has_syntactic_meaning, is_reserved};

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// An identifier or a keyword; in Rust also a lifetime.
    Word,
    /// A number.
    Number,
    /// A whole string, character or regular-expression literal with its prefix and quotes.
    String,
    /// An operator or a piece of punctuation.
    Punctuation,
    /// A run of line ends: from the first one up to the start of the next line that has a token (or of the last line).
    Newline,
}

/// One token with its byte range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Kind of the token.
    pub kind: TokenKind,
    /// Position in bytes of the lexed text.
    pub range: Range<usize>,
}

/// Returns the tokens of `text` in order.
pub fn lex(language: Language, text: &str) -> Vec<Token> {
    let tokens = Vec::with_capacity(text.len() / EXPECTED_BYTES_PER_TOKEN);
    Lexer { tokens, ..Lexer::new(language, text) }.rest_of_tokens()
}

/// Returns the ranges of literals and comments in `text` that span a line end, in order.
pub fn multiline_tokens(language: Language, text: &str) -> Vec<Range<usize>> {
    multiline_tokens_before(language, text, text.len())
}

/// Returns those of [`multiline_tokens`] that begin before the offset `end`.
pub fn multiline_tokens_before(language: Language, text: &str, end: usize) -> Vec<Range<usize>> {
    let mut lexer = Lexer::new(language, text);
    let mut found = Vec::new();
    while lexer.at < text.len().min(end) {
        let start = lexer.at;
        lexer.forget_all_but_last();
        lexer.step();
        let is_blank = lexer.bytes[start].is_ascii_whitespace();
        if !is_blank && lexer.bytes[start..lexer.at].contains(&b'\n') {
            found.push(start..lexer.at);
        }
    }
    found
}

/// Returns the end of the comments at the start of `text`: the start of its first token.
pub fn header_comments_end(language: Language, text: &str) -> usize {
    let mut lexer = Lexer::new(language, text);
    let is_code = |token: &&Token| token.kind != TokenKind::Newline;
    while lexer.at < text.len() {
        lexer.step();
        if let Some(first) = lexer.tokens.iter().find(is_code) {
            return first.range.start;
        }
    }
    text.len()
}

/// Bytes that this process has lexed.
static LEXED_BYTES: AtomicU64 = AtomicU64::new(0);

/// Returns the number of bytes that this process has lexed so far: for tests and measurements, which count work instead of taking its time.
pub fn lexed_bytes() -> u64 {
    LEXED_BYTES.load(Ordering::Relaxed)
}

/// Only sizes the first allocation.
const EXPECTED_BYTES_PER_TOKEN: usize = 5;
/// Template literals nested deeper than this are read as plain text, so that hostile input cannot exhaust the stack.
const MAX_NESTING: usize = 16;

struct Lexer<'a> {
    language: Language,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// The line ends seen since the last token.
    newline: Option<Range<usize>>,
    tokens: Vec<Token>,
}

/// Content and closing of a literal.
struct LiteralRules {
    quote: u8,
    /// Number of quotes that close the literal.
    quotes: usize,
    /// Number of `#` after the closing quotes (Rust).
    hashes: usize,
    multiline: bool,
    escape: EscapeStyle,
    /// Opener of an embedded expression that `}` closes.
    interpolation: Option<&'static [u8]>,
}

#[derive(PartialEq)]
enum EscapeStyle {
    Backslash,
    /// A doubled quote is an escaped quote (C#).
    Doubled,
    None,
}

impl LiteralRules {
    fn line(quote: u8) -> LiteralRules {
        let escape = EscapeStyle::Backslash;
        LiteralRules { quote, quotes: 1, hashes: 0, multiline: false, escape, interpolation: None }
    }

    fn raw(quote: u8, quotes: usize, hashes: usize) -> LiteralRules {
        LiteralRules {
            quotes,
            hashes,
            multiline: true,
            escape: EscapeStyle::None,
            ..LiteralRules::line(quote)
        }
    }
}

impl<'a> Lexer<'a> {
    /// Creates a lexer at the start of `text`.
    fn new(language: Language, text: &'a str) -> Lexer<'a> {
        Lexer { language, text, bytes: text.as_bytes(), at: 0, newline: None, tokens: Vec::new() }
    }
}

impl Lexer<'_> {
    /// Reads the rest of the text and returns all tokens.
    fn rest_of_tokens(mut self) -> Vec<Token> {
        LEXED_BYTES.fetch_add((self.bytes.len() - self.at) as u64, Ordering::Relaxed);
        while self.at < self.bytes.len() {
            self.step();
        }
        self.flush_newline();
        self.tokens
    }

    /// Drops the tokens that the next one does not depend on.
    fn forget_all_but_last(&mut self) {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.drain(..last);
    }

    /// Reads one token, blank, line end or comment.
    fn step(&mut self) {
        let byte = self.bytes[self.at];
        if byte == b'\n' || byte == b'\r' {
            self.line_end();
        } else if matches!(byte, b' ' | b'\t') {
            self.at += 1;
        } else if let Some(end) = self.plain_word_end() {
            self.push(TokenKind::Word, end);
        } else if let Some(end) = self.comment_end() {
            self.at = end;
        } else if let Some(end) = self.literal_end() {
            self.push(TokenKind::String, end);
        } else if self.starts_number() {
            self.push(TokenKind::Number, self.number_end());
        } else {
            self.word_or_other();
        }
    }

    /// Returns the end of the word that starts here, unless the word could be a literal's prefix. A fast path for most tokens.
    fn plain_word_end(&self) -> Option<usize> {
        let byte = self.bytes[self.at];
        let end = (byte.is_ascii_alphabetic() || byte == b'_').then(|| self.word_end(self.at))?;
        (!matches!(self.byte(end), b'"' | b'\'' | b'`' | b'#')).then_some(end)
    }

    fn word_or_other(&mut self) {
        let end = self.word_end(self.at);
        if end > self.at {
            return self.push(TokenKind::Word, end);
        }
        match self.text[self.at..].chars().next().expect("`at` is on a boundary before the end") {
            c if c.is_whitespace() || c == '\u{feff}' => self.at += c.len_utf8(),
            '\'' if self.language == Language::Rust => {
                self.push(TokenKind::Word, self.word_end(self.at + 1));
            }
            c => self.push(TokenKind::Punctuation, self.at + self.operator_len().max(c.len_utf8())),
        }
    }

    fn push(&mut self, kind: TokenKind, end: usize) {
        self.flush_newline();
        self.tokens.push(Token { kind, range: self.at..end });
        self.at = end;
    }

    fn line_end(&mut self) {
        let end = line_end_after(self.bytes, self.at);
        let start = self.newline.as_ref().map_or(self.at, |newline| newline.start);
        self.newline = Some(start..end);
        self.at = end;
    }

    fn flush_newline(&mut self) {
        let newline = self.newline.take();
        self.tokens.extend(newline.map(|range| Token { kind: TokenKind::Newline, range }));
    }

    fn rest(&self, at: usize) -> &[u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or_default()
    }

    /// Returns the end of the comment that starts here.
    fn comment_end(&self) -> Option<usize> {
        let is_python = self.language == Language::Python;
        match (self.byte(self.at), self.byte(self.at + 1)) {
            (b'#', _) if is_python => Some(self.end_of_line(self.at)),
            (b'/', b'/') if !is_python => Some(self.end_of_line(self.at)),
            (b'/', b'*') if !is_python => Some(self.block_comment_end()),
            _ => None,
        }
    }

    fn end_of_line(&self, from: usize) -> usize {
        let length = self.rest(from).iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        length.map_or(self.bytes.len(), |length| from + length)
    }

    fn block_comment_end(&self) -> usize {
        let nests = self.language == Language::Rust;
        let (mut at, mut depth) = (self.at + 2, 1);
        while at < self.bytes.len() {
            let rest = self.rest(at);
            if rest.starts_with(b"*/") {
                depth -= 1;
                at += 2;
            } else if nests && rest.starts_with(b"/*") {
                depth += 1;
                at += 2;
            } else {
                at += 1;
            }
            if depth == 0 {
                return at;
            }
        }
        self.bytes.len()
    }

    /// Returns the end of the string-like literal that starts here, prefix included.
    fn literal_end(&self) -> Option<usize> {
        let prefix_end = self.prefix_end();
        let prefix = &self.text[self.at..prefix_end];
        match self.byte(prefix_end) {
            b'"' | b'\'' | b'`' => self.quoted_end(prefix, prefix_end),
            b'#' if self.language == Language::Rust && prefix.ends_with('r') => {
                self.rust_raw_end(prefix, prefix_end)
            }
            b'/' if prefix.is_empty() && is_script(self.language) => self.regex_end(),
            _ => None,
        }
    }

    /// Returns the end of the letters, `$` and `@` here that could be a literal's prefix.
    fn prefix_end(&self) -> usize {
        let is_prefix = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'$' | b'@');
        self.at + self.rest(self.at).iter().take(LONGEST_PREFIX).take_while(|byte| is_prefix(byte)).count()
    }

    /// Returns the end of the literal whose opening quote is at `open`; `None` if the language has no such literal.
    fn quoted_end(&self, prefix: &str, open: usize) -> Option<usize> {
        let quote = self.byte(open);
        if !has_prefix(self.language, prefix) || (quote == b'`' && !self.has_backtick()) {
            return None;
        }
        if self.language == Language::Rust && quote == b'\'' {
            return self.rust_char_end(open);
        }
        if self.language == Language::Cpp && prefix.ends_with('R') && quote == b'"' {
            return Some(self.cpp_raw_end(open));
        }
        let most_quotes = if self.language == Language::CSharp { usize::MAX } else { 3 };
        let quotes = self.rest(open).iter().take(most_quotes).take_while(|&&byte| byte == quote).count();
        let literal = self.literal(prefix, quote, quotes);
        Some(self.closed_at(&literal, open + literal.quotes, 0))
    }

    fn has_backtick(&self) -> bool {
        self.language == Language::Go || is_script(self.language)
    }

    /// Returns the rules of the literal that opens with this prefix and `quotes` quotes in a row.
    fn literal(&self, prefix: &str, quote: u8, quotes: usize) -> LiteralRules {
        let line = LiteralRules::line(quote);
        match self.language {
            Language::Python if quotes >= 3 => LiteralRules { quotes: 3, multiline: true, ..line },
            Language::Python if prefix.contains(['f', 'F', 't', 'T']) => {
                LiteralRules { interpolation: Some(b"{"), ..line }
            }
            Language::Java if quote == b'"' && quotes >= 3 => {
                LiteralRules { quotes: 3, multiline: true, ..line }
            }
            Language::CSharp if quote == b'"' && quotes >= 3 => LiteralRules::raw(quote, quotes, 0),
            Language::CSharp => {
                let verbatim = prefix.contains('@');
                let escape = if verbatim { EscapeStyle::Doubled } else { EscapeStyle::Backslash };
                let interpolation: Option<&[u8]> = prefix.contains('$').then_some(b"{");
                LiteralRules { multiline: verbatim, escape, interpolation, ..line }
            }
            Language::Rust if prefix.ends_with('r') => LiteralRules::raw(quote, 1, 0),
            Language::Rust => LiteralRules { multiline: true, ..line },
            Language::Go if quote == b'`' => LiteralRules::raw(quote, 1, 0),
            language if quote == b'`' && is_script(language) => {
                LiteralRules { multiline: true, interpolation: Some(b"${"), ..line }
            }
            _ => line,
        }
    }

    /// Returns the end of a literal whose content starts at `from`.
    fn closed_at(&self, literal: &LiteralRules, from: usize, nesting: usize) -> usize {
        let mut at = from;
        while at < self.bytes.len() {
            let byte = self.bytes[at];
            if byte == literal.quote {
                match self.closing_len(literal, at) {
                    Some(length) => return at + length,
                    None if literal.escape == EscapeStyle::Doubled => at += 2,
                    None => at += 1,
                }
            } else if byte == b'\\' && literal.escape == EscapeStyle::Backslash {
                at = self.after_escape(at);
            } else if matches!(byte, b'\n' | b'\r') && !literal.multiline {
                return at;
            } else if let Some(open) = literal.interpolation.filter(|open| self.rest(at).starts_with(open)) {
                at = self.after_interpolation(at, open, literal.multiline, nesting);
            } else {
                at += 1;
            }
        }
        self.bytes.len()
    }

    fn closing_len(&self, literal: &LiteralRules, at: usize) -> Option<usize> {
        let run = |at: usize, byte: u8, count: usize| (at..at + count).all(|at| self.byte(at) == byte);
        let doubled = literal.escape == EscapeStyle::Doubled && self.byte(at + 1) == literal.quote;
        let closes = run(at, literal.quote, literal.quotes) && run(at + literal.quotes, b'#', literal.hashes);
        (closes && !doubled).then_some(literal.quotes + literal.hashes)
    }

    /// Returns the offset after a backslash and the character, or line end, that it escapes.
    fn after_escape(&self, backslash: usize) -> usize {
        match self.text[backslash + 1..].chars().next() {
            Some('\n' | '\r') => line_end_after(self.bytes, backslash + 1),
            escaped => backslash + 1 + escaped.map_or(0, char::len_utf8),
        }
    }

    /// Returns the offset after the embedded expression that starts at `at` with `open`, including its strings and braces.
    fn after_interpolation(&self, at: usize, open: &[u8], multiline: bool, nesting: usize) -> usize {
        if open == b"{" && self.byte(at + 1) == b'{' {
            return at + 2;
        }
        let (mut at, mut depth) = (at + open.len(), 1);
        while at < self.bytes.len() && depth > 0 {
            match self.bytes[at] {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b'\n' | b'\r' if !multiline => return at,
                b'\\' => {
                    at = self.after_escape(at);
                    continue;
                }
                b'`' if is_script(self.language) && nesting < MAX_NESTING => {
                    at = self.closed_at(&self.literal("", b'`', 1), at + 1, nesting + 1);
                    continue;
                }
                quote @ (b'"' | b'\'') => {
                    at = self.after_line_string(at, quote);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// Returns the offset after the string that starts at `open` if it is closed on its line, else the offset after its quote.
    fn after_line_string(&self, open: usize, quote: u8) -> usize {
        let end = self.closed_at(&LiteralRules::line(quote), open + 1, 0);
        if end > open + 1 && self.byte(end - 1) == quote { end } else { open + 1 }
    }

    /// `r#"…"#`; `None` for a raw identifier.
    fn rust_raw_end(&self, prefix: &str, hash: usize) -> Option<usize> {
        let hashes = self.rest(hash).iter().take_while(|&&byte| byte == b'#').count();
        let open = hash + hashes;
        let is_raw = has_prefix(Language::Rust, prefix) && self.byte(open) == b'"';
        is_raw.then(|| self.closed_at(&LiteralRules::raw(b'"', 1, hashes), open + 1, 0))
    }

    /// A character literal; `None` for a lifetime. A line end in it must be escaped, since it may be one character or two.
    fn rust_char_end(&self, open: usize) -> Option<usize> {
        if self.byte(open + 1) == b'\\' {
            return Some(self.closed_at(&LiteralRules::line(b'\''), open + 1, 0));
        }
        let c = self.text[open + 1..].chars().next()?;
        let close = open + 1 + c.len_utf8();
        (!matches!(c, '\'' | '\n' | '\r') && self.byte(close) == b'\'').then_some(close + 1)
    }

    /// `R"delimiter(…)delimiter"`.
    fn cpp_raw_end(&self, open: usize) -> usize {
        let content = &self.text[open + 1..];
        let Some(paren) = content.bytes().take(LONGEST_RAW_DELIMITER + 1).position(|byte| byte == b'(')
        else {
            return self.closed_at(&LiteralRules::line(b'"'), open + 1, 0);
        };
        let close = format!("){}\"", &content[..paren]);
        content.find(&close).map_or(self.text.len(), |at| open + 1 + at + close.len())
    }

    /// A regular expression of JavaScript; `None` if the slash is a division or closes a tag.
    fn regex_end(&self) -> Option<usize> {
        let at_operand = match self.tokens.last() {
            Some(Token { kind: TokenKind::Punctuation, range }) => {
                matches!(
                    &self.text[range.clone()],
                    "(" | "," | "=" | ":" | "[" | "!" | "&&" | "||" | "?" | "{" | "=>" | ";"
                )
            }
            Some(Token { kind: TokenKind::Word, range }) => {
                matches!(&self.text[range.clone()], "return" | "case" | "typeof")
            }
            _ => false,
        };
        if !at_operand {
            return None;
        }
        let mut in_class = false;
        let mut at = self.at + 1;
        loop {
            match self.byte(at) {
                0 | b'\n' | b'\r' => return None,
                b'\\' => at = self.after_escape(at) - 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => return Some(self.word_end(at + 1)),
                _ => {}
            }
            at += 1;
        }
    }

    fn starts_number(&self) -> bool {
        let byte = self.byte(self.at);
        if byte != b'.' {
            return byte.is_ascii_digit();
        }
        let previous = self.at.checked_sub(1).map_or(b' ', |before| self.byte(before));
        let is_access = is_ascii_word(previous) || previous >= 0x80 || matches!(previous, b')' | b']' | b'.');
        self.byte(self.at + 1).is_ascii_digit() && !is_access
    }

    fn number_end(&self) -> usize {
        let is_hex = matches!(self.byte(self.at + 1), b'x' | b'X');
        let mut at = self.at + 1;
        loop {
            let next_is = |test: fn(&u8) -> bool| test(&self.byte(at + 1));
            let previous = self.byte(at - 1).to_ascii_lowercase();
            let joins = match self.byte(at) {
                b'.' => next_is(u8::is_ascii_digit),
                b'+' | b'-' => previous == (if is_hex { b'p' } else { b'e' }) && next_is(u8::is_ascii_digit),
                b'\'' => {
                    matches!(self.language, Language::C | Language::Cpp) && next_is(u8::is_ascii_alphanumeric)
                }
                byte => is_ascii_word(byte),
            };
            if !joins {
                return at;
            }
            at += 1;
        }
    }

    /// Returns the end of the identifier that starts at `from`; `from` if there is none.
    fn word_end(&self, from: usize) -> usize {
        let mut at = from;
        if self.language == Language::Rust
            && self.rest(at).starts_with(b"r#")
            && is_ascii_word(self.byte(at + 2))
        {
            at += 2;
        }
        loop {
            at += self.rest(at).iter().take_while(|&&byte| is_ascii_word(byte)).count();
            if self.byte(at).is_ascii() {
                return at;
            }
            match self.text[at..].chars().next() {
                Some(c) if c.is_alphanumeric() => at += c.len_utf8(),
                _ => return at,
            }
        }
    }

    /// Returns the length of the longest operator here, at least 1. `>>` is no operator, since it closes two generics.
    fn operator_len(&self) -> usize {
        let rest = self.rest(self.at);
        let starts = |length: usize| rest.get(..length).unwrap_or_default();
        if matches!(starts(4), b">>>=") {
            return 4;
        }
        match starts(3) {
            b"===" | b"!==" | b"..." | b"..=" | b">>=" | b"<<=" | b"**=" | b"//=" | b"??=" | b"&&="
            | b"||=" | b"<=>" | b"->*" | b"&^=" => return 3,
            _ => {}
        }
        match starts(2) {
            b"==" | b"!=" | b"<=" | b">=" | b"&&" | b"||" | b"->" | b"=>" | b"::" | b":=" | b"+=" | b"-="
            | b"*=" | b"/=" | b"%=" | b"|=" | b"&=" | b"^=" | b"@=" | b"++" | b"--" | b"?." | b"??"
            | b".." | b"<<" | b"**" | b"//" | b"##" => 2,
            b"<-" | b"&^" if self.language == Language::Go => 2,
            _ => 1,
        }
    }
}

/// Fits `u8R`, `$@` and a Python prefix of two letters; a longer word is an identifier.
const LONGEST_PREFIX: usize = 4;

/// The C++ standard's limit, in characters.
const LONGEST_RAW_DELIMITER: usize = 16;

/// Whether a string literal may have this prefix.
fn has_prefix(language: Language, prefix: &str) -> bool {
    match language {
        _ if prefix.is_empty() => true,
        Language::Python => prefix.len() <= 2 && prefix.bytes().all(|byte| b"rRbBfFuUtT".contains(&byte)),
        Language::Rust => matches!(prefix, "b" | "c" | "r" | "br" | "cr"),
        Language::CSharp => prefix.bytes().all(|byte| matches!(byte, b'$' | b'@')),
        Language::C => matches!(prefix, "L" | "u" | "U" | "u8"),
        Language::Cpp => matches!(prefix, "L" | "u" | "U" | "u8" | "R" | "LR" | "uR" | "UR" | "u8R"),
        _ => false,
    }
}

fn is_script(language: Language) -> bool {
    matches!(language, Language::TypeScript | Language::Tsx | Language::JavaScript)
}

fn is_ascii_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

/// Returns the offset after the line end that starts at `at`: `\n`, `\r\n` or `\r`.
fn line_end_after(bytes: &[u8], at: usize) -> usize {
    if bytes[at..].starts_with(b"\r\n") { at + 2 } else { at + 1 }
}

#[cfg(test)]
mod tests;
