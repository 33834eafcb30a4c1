//! Adapts the indentation of an answer's lines to the document.
//!
//! Only a consistently different indentation is adapted: if any line is indented in the document's own way, all lines are kept.

mod relative;
mod tabs_and_spaces;

use super::CleaningContext;
use crate::extent::indentation;

/// Tokens after which code may continue on the next line, even if a blank follows them.
const GOES_ON_BELOW: [&str; 11] = ["{", "(", "[", ",", ";", ":", "}", "=>", "->", "\\", ">"];

/// Removes indentation that already precedes the cursor, and converts the rest to the document's.
pub(super) fn adapt(mut answer: String, around: &CleaningContext<'_>) -> String {
    let line = around.before.line();
    if line.trim().is_empty() {
        // On a blank line the answer's first line starts at the cursor; an engine may count from the line's start.
        let doubled =
            answer.len() - answer.strip_prefix(line).unwrap_or(answer.trim_start_matches([' ', '\t'])).len();
        answer.drain(..doubled);
    } else if line.ends_with([' ', '\t'])
        && let Some(last) = around.before.last_on_line()
    {
        // The blank already precedes the cursor; code that may continue on the next line did not need it.
        let blanks: &[char] =
            if GOES_ON_BELOW.contains(&last) { &[' ', '\t'] } else { &[' ', '\t', '\r', '\n'] };
        answer.drain(..answer.len() - answer.trim_start_matches(blanks).len());
    }
    if !answer.contains('\n') {
        return answer;
    }
    relative::adapt(tabs_and_spaces::adapt(answer, around), around)
}

/// A line of an answer with code.
struct AnswerLine<'a> {
    /// Offset in the answer.
    start: usize,
    blanks: &'a str,
    code: &'a str,
}

impl AnswerLine<'_> {
    fn closes(&self) -> bool {
        self.code.starts_with(['}', ')', ']'])
    }
}

/// Returns the code lines after the first one, without comments, preprocessor lines and lines that begin inside a literal or comment.
fn code_lines<'a>(answer: &'a str, around: &CleaningContext<'_>) -> Vec<AnswerLine<'a>> {
    let spanning = around.before.spanning(answer);
    let mut start = 0;
    let mut lines = Vec::new();
    for line in answer.split_inclusive('\n') {
        let blanks = indentation(line);
        let code = line[blanks.len()..].trim_end();
        let is_inside = spanning.iter().any(|range| range.start < start && start < range.end);
        let is_directive = around.language.has_brace_blocks() && code.starts_with('#');
        let is_other = code.is_empty() || is_inside || is_directive;
        let is_code = !is_other && !around.language.is_comment_line(code);
        if is_code && start > 0 {
            lines.push(AnswerLine { start, blanks, code });
        }
        start += line.len();
    }
    lines
}

/// Replaces the indentation of each line after the first one by the result of `indent`.
fn reindent(answer: &str, indent: impl Fn(usize, &str) -> String) -> String {
    let mut start = 0;
    let mut written = String::with_capacity(answer.len());
    for line in answer.split_inclusive('\n') {
        let blanks = indentation(line);
        if start == 0 || blanks.is_empty() && line.trim().is_empty() {
            written += line;
        } else {
            written += &indent(start, blanks);
            written += &line[blanks.len()..];
        }
        start += line.len();
    }
    written
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn indentation_before_the_cursor_is_not_repeated() {
        check("a.py", "def f():\n    $0\n", "    x = 1\n    return x", "x = 1\n    return x");
        check("a.py", "def f():\n    $0\n", "x = 1", "x = 1");
    }

    #[test]
    fn space_before_the_cursor_is_not_repeated() {
        check("a.cs", "public $0 { get; set; }\n", "\n    Kernel Kernel { get; set; }", "Kernel Kernel");
        check("a.py", "x = $0\n", "  f(1)", "f(1)");
        check("a.ts", "f(a, $0)\n", "\n  b", "\n  b");
        check("a.py", "x = f( # $0\n", "\n  y)", "\n  y)");
        check("a.py", "x = 'a $0'\n", " b", " b");
    }

    #[test]
    fn relative_lines_are_indented_to_the_cursor() {
        let function = |by: &str| format!("@Override\n{by}public int f() {{\n{by}  return 1;\n{by}}}");
        check("a.java", "class A {\n  $0\n}\n", &function(""), &function("  "));
        let clause = |by: &str| format!("elif y:\n{by}    # Why.\n{by}    g()");
        check("a.py", "def f():\n    if x:\n        h()\n    $0\n", &clause(""), &clause("    "));
    }

    #[test]
    fn indentation_uses_tabs_or_spaces_of_the_document() {
        check(
            "a.go",
            "func f() {\n\tif x {\n\t\ty()\n\t}\n\t$0\n}\n",
            "if z {\n        y()\n    }",
            "if z {\n\t\ty()\n\t}",
        );
        check("a.ts", "{\n\t/*\n\t * x\n\t */\n\t$0\n}\n", "a()\n\tb()", "a()\n\tb()");
        check("a.py", "def f():\n  if x:\n    y()\n  $0\n", "if z:\n\t\ty()", "if z:\n    y()");
    }
}
