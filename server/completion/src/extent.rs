//! How much one answer may cover: the rest of a statement, or a block.
//!
//! Whoever stops in the middle of a line wants that statement, and reads no further; whoever stops on a fresh line, or behind the head of
//! a block, may want several. What is written up to the cursor decides, and nothing that the answer says.

use std::ops::Range;

use syntax::{Language, Token, TokenKind, lex};

/// How much of the text before the cursor is looked at, in bytes: some two hundred lines.
const MAX_BEFORE: usize = 8 << 10;

/// How much an answer may cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The rest of the statement that the cursor stands in.
    Statement,
    /// Lines that are indented at least as far: `column` bytes of blanks.
    Block {
        /// The least indentation.
        column: usize,
    },
}

/// What stands before the cursor, as far as it is looked at.
pub(crate) struct Before<'a> {
    language: Language,
    /// Whole lines, but for the last one.
    text: &'a str,
}

impl<'a> Before<'a> {
    pub(crate) fn new(language: Language, prefix: &'a str) -> Before<'a> {
        let cut = prefix.len().saturating_sub(MAX_BEFORE);
        let start = match prefix.as_bytes()[cut..].iter().position(|byte| *byte == b'\n') {
            Some(line_end) if cut > 0 => cut + line_end + 1,
            _ => prefix.ceil_char_boundary(cut),
        };
        Before { language, text: &prefix[start..] }
    }

    /// The cursor's line up to the cursor.
    pub(crate) fn line(&self) -> &'a str {
        self.text.rsplit('\n').next().unwrap_or_default()
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// What lines are indented by here, as far as a line that is indented more than the one before it shows it.
    pub(crate) fn unit(&self) -> Option<&'a str> {
        let code = self.text.lines().filter(|line| !line.trim().is_empty()).map(indentation);
        let deeper = code.clone().zip(code.skip(1)).filter_map(|(line, next)| next.strip_prefix(line));
        // A single blank is that of a comment over several lines.
        deeper.filter(|more| *more == "\t" || more.len() > 1).last()
    }

    pub(crate) fn extent(&self) -> Extent {
        let line = self.line();
        if line.trim().is_empty() {
            return Extent::Block { column: line.len() };
        }
        // `else`, `catch` or `while` and a block of its own may follow.
        if line.trim() == "}" {
            return Extent::Block { column: indentation(line).len() };
        }
        if self.opens_block() {
            return Extent::Block { column: indentation(line).len() + 1 };
        }
        Extent::Statement
    }

    /// Whether the last token is the one that a block begins with.
    fn opens_block(&self) -> bool {
        let tokens = lex(self.language, self.text);
        let last = tokens.last().map(|token| &self.text[token.range.clone()]);
        let opener = if self.language.has_brace_blocks() { "{" } else { ":" };
        last == Some(opener) && self.open_brackets(&tokens).is_empty()
    }

    /// The brackets of the cursor's statement that are open there: those after the last brace that ends a line, since what stands in a
    /// block is a statement of its own.
    fn open_brackets(&self, tokens: &[Token]) -> Vec<&'a str> {
        let mut open = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match &self.text[token.range.clone()] {
                bracket @ ("(" | "[") => open.push(bracket),
                bracket @ "{" => {
                    let ends_line = tokens.get(at + 1).is_none_or(|next| next.kind == TokenKind::Newline);
                    if ends_line && self.language.has_brace_blocks() {
                        open.clear()
                    } else {
                        open.push(bracket)
                    }
                }
                ")" | "]" | "}" => {
                    open.pop();
                }
                _ => {}
            }
        }
        open
    }

    /// Where the statement ends that the cursor stands in and `answer` goes on with, in bytes of the answer; `None` if it does not end
    /// there, or if that cannot be told before more is known.
    pub(crate) fn statement_end(&self, answer: &str) -> Option<usize> {
        let text = [self.text, answer].concat();
        let cursor = self.text.len();
        let tokens = lex(self.language, &text);
        let first = tokens.partition_point(|token| token.range.end <= cursor);
        let mut statement = Statement {
            language: self.language,
            text: &text,
            depth: self.open_brackets(&lex(self.language, self.text)).len(),
        };
        let end = (first..tokens.len()).find_map(|at| statement.end_at(&tokens, at))?;
        // What a token began before the cursor is not the answer's to end.
        Some(end.max(cursor) - cursor)
    }
}

/// A statement that is read token by token.
struct Statement<'a> {
    language: Language,
    text: &'a str,
    /// How many of its brackets are open.
    depth: usize,
}

impl Statement<'_> {
    /// Where it ends, if the token at `at` ends it.
    fn end_at(&mut self, tokens: &[Token], at: usize) -> Option<usize> {
        let Range { start, end } = tokens[at].range;
        match &self.text[start..end] {
            "{" if self.depth == 0 && self.opens_block(tokens, at) => return Some(end),
            "(" | "[" | "{" => self.depth += 1,
            // It closes what stands around the statement.
            ")" | "]" | "}" if self.depth == 0 => return Some(start),
            ")" | "]" | "}" => self.depth -= 1,
            ";" if self.depth == 0 && self.language.ends_statements() == Some(";") => return Some(end),
            _ if tokens[at].kind == TokenKind::Newline && self.depth == 0 => {
                return self.ends_at_line(tokens, at).then(|| tokens[at - 1].range.end);
            }
            _ => {}
        }
        None
    }

    /// Whether the brace at `at` is the last token of its line and no part of an expression or path.
    fn opens_block(&self, tokens: &[Token], at: usize) -> bool {
        let is_last = tokens.get(at + 1).is_some_and(|next| next.kind == TokenKind::Newline);
        let is_part = |last: &Token| {
            let last_text = &self.text[last.range.clone()];
            last.kind == TokenKind::Punctuation
                && !matches!(last_text, ")" | "]" | ">" | "=>" | "->" | ";" | "++" | "--")
        };
        self.language.has_brace_blocks() && is_last && !tokens[..at].last().is_some_and(is_part)
    }

    /// Whether the line end at `at`, outside of brackets, ends it.
    fn ends_at_line(&self, tokens: &[Token], at: usize) -> bool {
        let Some(last) = at.checked_sub(1).map(|last| &tokens[last]) else { return false };
        let written = |token: &Token| &self.text[token.range.clone()];
        if !self.language.has_brace_blocks() {
            return written(last) != "\\";
        }
        // The next line may go on; before it is there, nothing is known.
        let Some(next) = tokens.get(at + 1) else { return false };
        !(is_open(last.kind, written(last)) || next.kind == TokenKind::Punctuation && goes_on(written(next)))
    }
}

/// Whether something has to follow on what a line ends with.
fn is_open(kind: TokenKind, last: &str) -> bool {
    kind == TokenKind::Punctuation
        && !matches!(last, ")" | "]" | "}" | ";" | ":" | ">" | "++" | "--" | "!" | "?" | "*")
}

/// Whether a line that starts with this goes on with the statement of the line before it.
fn goes_on(first: &str) -> bool {
    !matches!(first, "}" | ")" | "]" | "@" | "#" | "!" | "++" | "--" | "~" | "/" | "<" | "*" | "&")
}

/// The blanks that a line begins with.
pub(crate) fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_extent(path: &str, prefix: &str, expected: Extent) {
        let language = Language::from_path(path).unwrap();
        assert_eq!(Before::new(language, prefix).extent(), expected, "{prefix:?}");
    }

    #[test]
    fn the_line_before_the_cursor_decides() {
        check_extent("a.py", "def f(x):\n    ", Extent::Block { column: 4 });
        check_extent("a.py", "def f(x):", Extent::Block { column: 1 });
        check_extent("a.py", "    x = {1:", Extent::Statement);
        check_extent("a.py", "x = f(", Extent::Statement);
        check_extent("a.go", "\tif x {", Extent::Block { column: 2 });
        check_extent("a.go", "", Extent::Block { column: 0 });
        check_extent("a.ts", "return '{", Extent::Statement);
        check_extent("a.java", "    try {\n        f();\n    } ", Extent::Block { column: 4 });
    }

    /// `fixture` has `$0` at the cursor, and `$1` where the statement ends.
    #[track_caller]
    fn check(path: &str, fixture: &str) {
        let (prefix, rest) = fixture.split_once("$0").unwrap();
        let (kept, cut) = rest.split_once("$1").unwrap_or((rest, ""));
        let answer = [kept, cut].concat();
        let language = Language::from_path(path).unwrap();
        let end = Before::new(language, prefix).statement_end(&answer).unwrap_or(answer.len());
        assert_eq!(&answer[..end], kept, "{fixture}");
    }

    #[test]
    fn statements_end_with_their_line_or_terminator() {
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
    fn the_head_of_a_block_ends_with_its_brace() {
        check("a.ts", "function f($0a: string) {$1\n  return a\n}");
        check("a.go", "for i := $00; i < n; i++ {$1\n\tf()\n");
        check("a.cs", "var x = new List<int>$0 { 1, 2 };$1\ny();");
        check("a.rs", "pub use self::$0{\n    a,\n    b,\n};$1\nmod c;");
        check("a.ts", "const x = $0{\n  a: 1,\n};$1\ny()");
    }

    #[test]
    fn what_closes_brackets_around_the_statement_is_left() {
        check("a.py", "f(g($0x))$1)");
    }

    #[test]
    fn literals_that_began_before_the_cursor_are_one_token() {
        check("a.ts", "router.post('$0/me', protect);$1\n\nexport default router;");
        check("a.py", "x = 'a$0(b'$1\ny = 1\n");
    }

    #[test]
    fn an_end_that_more_text_may_move_is_none() {
        for answer in ["f(1)", "f(1)\n", "f(1,\n  2", "list\n  .map(f)"] {
            assert_eq!(Before::new(Language::TypeScript, "x = ").statement_end(answer), None, "{answer}");
        }
    }
}
