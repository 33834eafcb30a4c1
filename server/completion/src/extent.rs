//! How much code one answer may cover, and where it ends.
//!
//! | the cursor | an answer covers |
//! |---|---|
//! | in a statement | the rest of the statement, or of the head of its block |
//! | on a fresh line, with more of the same block after it | one statement, with all its blocks |
//! | on a fresh line, with the end of the block after it | the rest of the block |
//! | on a fresh line behind the head of a block | the block |
//! | on a fresh line, with nothing of the function or file after it | one statement, with all its blocks |
//!
//! Only the text around the cursor decides the extent, never the answer. Strings, comments, brackets and preprocessor lines are taken
//! from the lexer, never guessed from lines. An answer must not close brackets that the text after the cursor closes.

mod after_cursor;
mod brackets;
mod indentation;

use syntax::{BracketContent, Language, StatementReader, SyntaxCache, Token, TokenKind, lex};

use after_cursor::TextAfter;

/// Maximum length in bytes of the text examined on each side of the cursor: longer files are generated, and each request reads it.
const MAX_TEXT_AROUND: usize = 256 << 10;
/// Maximum length in bytes of the text parsed to recognize a definition.
const MAX_DEFINITION: usize = 4 << 10;
/// Tokens before the cursor that are lexed again with each answer: only the preceding token tells a regular expression from a division.
const RESTART_TOKENS: usize = 2;

/// How much an answer may cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The statement around the cursor, or the next one.
    Statement,
    /// Statements up to the end of the block around the cursor.
    Block {
        /// Minimum indentation of its lines, in bytes.
        column: usize,
    },
}

/// The analyzed text around the cursor.
pub(crate) struct CursorText<'a> {
    language: Language,
    /// Whole lines, except the last one.
    text: &'a str,
    /// Offset at which reading restarts with each answer, and the reader's state there.
    restart: usize,
    reader: StatementReader<'a>,
    /// The reader's state at the cursor.
    reader_at_cursor: StatementReader<'a>,
    /// The last token before the cursor except line ends.
    last: Option<Token>,
    after: TextAfter,
}

impl<'a> CursorText<'a> {
    /// Analyzes the text around the cursor, whose tokens `syntax` keeps.
    pub(crate) fn new(
        syntax: &SyntaxCache,
        language: Language,
        prefix: &'a str,
        suffix: &str,
    ) -> CursorText<'a> {
        let text = whole_lines(prefix);
        let lexed = syntax.lexed(language, text);
        let tokens = lexed.tokens();
        let words = || tokens.iter().rposition(|token| token.kind != TokenKind::Newline);
        let last = words().map(|place| tokens[place].clone());
        let restart_place = tokens.len().saturating_sub(RESTART_TOKENS + 1);
        let restart = tokens.get(restart_place).map_or(0, |token| token.range.start);
        let mut read = StatementReader::new(language);
        tokens[..restart_place].iter().for_each(|token| read.read(text, token, 0));
        let mut at_cursor = read.clone();
        tokens[restart_place..].iter().for_each(|token| at_cursor.read(text, token, 0));
        let suffix = &suffix[..suffix.floor_char_boundary(MAX_TEXT_AROUND)];
        let after = TextAfter::new(suffix, &syntax.lexed(language, suffix), at_cursor.open(), text);
        CursorText { language, text, restart, reader: read, reader_at_cursor: at_cursor, last, after }
    }

    /// Returns the cursor's line up to the cursor.
    pub(crate) fn line(&self) -> &'a str {
        self.text.rsplit('\n').next().unwrap_or_default()
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn extent(&self) -> Extent {
        let line = self.line();
        let is_fresh = self.is_on_fresh_line();
        if self.language.family().is_indented() {
            return self.extent_by_lines(line.trim().is_empty());
        }
        let in_block =
            self.reader_at_cursor.open().last().is_none_or(|open| open.content == BracketContent::Block);
        let block = Extent::Block { column: indentation(line).len() };
        if !is_fresh {
            return if self.opens_block() { block } else { Extent::Statement };
        }
        // The body of a condition without a brace is one statement.
        let takes_more = in_block && !self.reader_at_cursor.awaits_body() && line.trim().is_empty();
        let is_rest = takes_more
            && match self.after.is_tail_missing() {
                true => self.opens_block(),
                false => self.after.begins_with_closer(),
            };
        if is_rest { block } else { Extent::Statement }
    }

    /// Returns whether the cursor's line has no code before the cursor except a `}`: a block may end there.
    pub(crate) fn is_on_fresh_line(&self) -> bool {
        matches!(self.line().trim(), "" | "}")
    }

    /// Returns whether `text` begins with a function with a body.
    pub(crate) fn defines(&self, text: &str) -> bool {
        let text = &text[..text.floor_char_boundary(MAX_DEFINITION)];
        let blanks = text.len() - text.trim_start().len();
        let functions = syntax::parse(self.language, text).functions_with_body(text);
        functions.first().is_some_and(|function| function.start == blanks)
    }

    /// Returns whether the last token opens a block.
    fn opens_block(&self) -> bool {
        let Some(last) = &self.last else { return false };
        match &self.text[last.range.clone()] {
            "{" => {
                let open = self.reader_at_cursor.open().last();
                open.is_some_and(|open| {
                    open.start == last.range.start && open.content == BracketContent::Block
                })
            }
            ":" => self.language.family().is_indented() && self.reader_at_cursor.open().is_empty(),
            _ => false,
        }
    }

    /// Returns whether the answer leaves open the brackets that the text after the cursor closes; true if those are unknown.
    pub(crate) fn leaves_open_what_follows_closes(&self, answer: &str) -> bool {
        let Some(closes) = self.after.closes() else { return true };
        let text = [&self.text[self.restart..], answer].concat();
        let mut reader: StatementReader<'_> = self.reader.clone();
        lex(self.language, &text).iter().for_each(|token| reader.read(&text, token, self.restart));
        reader.open().len() == closes
    }

    /// Returns the re-lexed tokens before the cursor and the answer as one text, the answer's offset in it, and its tokens.
    pub(crate) fn continued(&self, answer: &str) -> (String, usize, Vec<Token>) {
        let text = [&self.text[self.restart..], answer].concat();
        let tokens = lex(self.language, &text);
        (text, self.text.len() - self.restart, tokens)
    }

    /// Returns the last token before the cursor if only blanks follow it on its line: no comment, and no literal around the cursor.
    pub(crate) fn last_on_line(&self) -> Option<&'a str> {
        let code = self.line().trim_end();
        let start = self.text.len() - self.line().len();
        let last = self.last.as_ref().filter(|last| last.range.end == start + code.len())?;
        (!code.is_empty()).then(|| &self.text[last.range.clone()])
    }

    /// Returns the ranges of the answer's multi-line literals and comments, in bytes of the answer.
    pub(crate) fn spanning(&self, answer: &str) -> Vec<std::ops::Range<usize>> {
        let text = [&self.text[self.restart..], answer].concat();
        let cursor = self.text.len() - self.restart;
        let spanning = syntax::multiline_tokens(self.language, &text).into_iter();
        spanning.map(|range| range.start.saturating_sub(cursor)..range.end.saturating_sub(cursor)).collect()
    }

    /// Returns whether offset `at` of the answer is inside brackets.
    pub(crate) fn is_in_brackets(&self, answer: &str, at: usize) -> bool {
        let text = [&self.text[self.restart..], &answer[..at]].concat();
        let mut reader: StatementReader<'_> = self.reader.clone();
        lex(self.language, &text).iter().for_each(|token| reader.read(&text, token, self.restart));
        !reader.open().is_empty()
    }

    /// Returns whether the answer ends with the head of a condition or loop whose statement is missing.
    pub(crate) fn ends_with_head(&self, answer: &str) -> bool {
        let text = [&self.text[self.restart..], answer].concat();
        let mut reader: StatementReader<'_> = self.reader.clone();
        lex(self.language, &text).iter().for_each(|token| reader.read(&text, token, self.restart));
        reader.awaits_body()
    }

    /// Returns the indentation of the line on which the cursor's statement begins.
    pub(crate) fn statement_indentation(&self) -> &'a str {
        let is_indented = self.language.family().is_indented();
        let start = match self.reader_at_cursor.open().first() {
            Some(open) if is_indented => Some(open.start),
            _ if is_indented => None,
            _ => self.reader_at_cursor.block_statement_start(),
        };
        let is_fresh = self.line().trim().is_empty() && !self.reader_at_cursor.awaits_body();
        let in_block = self.reader_at_cursor.open().len() == self.reader_at_cursor.block_depth();
        let start = start.filter(|_| !is_fresh || !in_block).unwrap_or(self.text.len());
        let line = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        indentation(&self.text[line..])
    }

    /// Returns the offset at which an answer at the cursor ends, in bytes of the answer; `None` if it does not end, or if later text
    /// could move the end.
    pub(crate) fn end(&self, extent: Extent, answer: &str) -> Option<usize> {
        let text = [&self.text[self.restart..], answer].concat();
        let cursor = self.text.len() - self.restart;
        let tokens = lex(self.language, &text);
        let first = tokens.partition_point(|token| token.range.end <= cursor);
        let continued = Continuation { before: self, text: &text, tokens: &tokens, first, cursor };
        let end = match self.language.family().is_indented() {
            true => continued.end_by_lines(extent),
            false => continued.end_by_brackets(extent),
        }?;
        // A token that began before the cursor is not part of the answer.
        Some(end.max(cursor) - cursor)
    }
}

/// The last tokens before the cursor and the answer, as one text.
struct Continuation<'c, 'a> {
    before: &'c CursorText<'a>,
    text: &'c str,
    tokens: &'c [Token],
    /// The first token that belongs to the answer at least in part.
    first: usize,
    /// Offset of the answer.
    cursor: usize,
}

impl<'c> Continuation<'c, '_> {
    fn text_of(&self, token: &Token) -> &'c str {
        &self.text[token.range.clone()]
    }

    /// Returns the indentation in bytes of a token that is the first of its line.
    fn column(&self, token: &Token) -> usize {
        let line = self.text[..token.range.start].rfind('\n').map_or(0, |at| at + 1);
        indentation(&self.text[line..]).len()
    }
}

/// Returns the last [`MAX_TEXT_AROUND`] bytes of a text, cut to whole lines except the last one.
fn whole_lines(prefix: &str) -> &str {
    let cut = prefix.len().saturating_sub(MAX_TEXT_AROUND);
    let start = match prefix.as_bytes()[cut..].iter().position(|byte| *byte == b'\n') {
        Some(line_end) if cut > 0 => cut + line_end + 1,
        _ => prefix.ceil_char_boundary(cut),
    };
    &prefix[start..]
}

/// Returns the blanks at the start of a line.
pub(crate) fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_extent(path: &str, document: &str, expected: Extent) {
        let language = Language::from_path(path).unwrap();
        let (prefix, suffix) = document.split_once("$0").unwrap_or((document, ""));
        assert_eq!(
            CursorText::new(&SyntaxCache::default(), language, prefix, suffix).extent(),
            expected,
            "{document:?}"
        );
    }

    #[test]
    fn extent_depends_on_the_lines_around_the_cursor() {
        check_extent("a.py", "def f(x):\n    ", Extent::Block { column: 4 });
        check_extent("a.py", "def f(x):\n    g()\n    ", Extent::Statement);
        check_extent("a.py", "def f(x):\n    g()\n    $0\nh()\n", Extent::Block { column: 4 });
        check_extent("a.py", "def f(x):", Extent::Block { column: 1 });
        check_extent("a.py", "    x = {1:", Extent::Statement);
        check_extent("a.py", "x = f(", Extent::Statement);
        check_extent("a.go", "\tif x {", Extent::Block { column: 1 });
        check_extent("a.go", "", Extent::Statement);
        check_extent("a.go", "func f() {\n\tg()\n\t$0\n}\n", Extent::Block { column: 1 });
        check_extent("a.go", "func f() {\n\t$0\n\tg()\n}\n", Extent::Statement);
        check_extent("a.go", "func f() {\n\tg()\n\t", Extent::Statement);
        check_extent("a.ts", "return '{", Extent::Statement);
        check_extent("a.java", "    try {\n        f();\n    } ", Extent::Statement);
    }

    /// Checks a fixture with `$0` at the cursor and `$1` at the end of the statement.
    #[track_caller]
    fn check(path: &str, fixture: &str) {
        let (prefix, rest) = fixture.split_once("$0").unwrap();
        let (kept, cut) = rest.split_once("$1").unwrap_or((rest, ""));
        let answer = [kept, cut].concat();
        let language = Language::from_path(path).unwrap();
        let cursor = CursorText::new(&SyntaxCache::default(), language, prefix, "");
        let end = cursor.end(Extent::Statement, &answer).unwrap_or(answer.len());
        assert_eq!(&answer[..end], kept, "{fixture}");
    }

    #[test]
    fn statement_ends_at_line_end_or_terminator() {
        check("a.py", "x = $0f(1)$1\ny = 2\n");
        check("a.py", "x = $0f(\n    1,\n)$1\ny = 2\n");
        check("a.py", "x = f($01,\n    2)$1\ny = 2\n");
        check("a.py", "x = $01 + \\\n    2$1\ny");
        check("a.java", "int x = $0f(1);$1\nint y;");
        check("a.java", "int x = list$0\n    .stream()\n    .count();$1\ny();");
        check("a.java", "for (int i = $00; i < n; i++) {$1\n    f();");
        check("a.go", "x := $0f(1)$1\ny := 2");
        check("a.go", "x := f(1) +$0\n\t2$1\ny := 2");
        check("a.ts", "const x = $0f(1)$1\nconst y = 2");
        check("a.rs", "let x = $0f(1)?;$1\nlet y = 2;");
    }

    #[test]
    fn block_header_ends_at_opening_brace() {
        check("a.ts", "function f($0a: string) {$1\n  return a\n}");
        check("a.go", "for i := $00; i < n; i++ {$1\n\tf()\n");
        check("a.cs", "var x = new List<int>$0 { 1, 2 };$1\ny();");
        check("a.rs", "pub use self::$0{\n    a,\n    b,\n};$1\nmod c;");
        check("a.ts", "const x = $0{\n  a: 1,\n};$1\ny()");
    }

    #[test]
    fn statement_ends_before_an_enclosing_closing_bracket() {
        check("a.py", "f(g($0x))$1)");
    }

    #[test]
    fn string_opened_before_the_cursor_is_one_token() {
        check("a.ts", "router.post('$0/me', protect);$1\n\nexport default router;");
        check("a.py", "x = 'a$0(b'$1\ny = 1\n");
    }

    #[test]
    fn no_end_is_found_while_the_statement_may_continue() {
        for answer in ["f(1)", "f(1)\n", "f(1,\n  2", "list\n  .map(f)"] {
            let before = CursorText::new(&SyntaxCache::default(), Language::TypeScript, "x = ", "");
            assert_eq!(before.end(Extent::Statement, answer), None, "{answer}");
        }
    }
}
