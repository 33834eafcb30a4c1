//! Adapts the blanks that lines of an answer begin with to the document.

use std::borrow::Cow;

use super::Surroundings;
use crate::extent::indentation;

/// Columns of a tab where an answer is indented by blanks and the document by tabs, or the other way round, and nothing shows more.
const TAB: usize = 4;

/// Removes an indentation that stands before the cursor already, and writes the others as the document's lines do.
pub(super) fn adapt(mut answer: String, around: &Surroundings<'_>) -> String {
    let line = around.before.line();
    if line.trim().is_empty() {
        // On a blank line the answer's first line begins where the cursor stands; an engine may count from the line's start.
        let doubled =
            answer.len() - answer.strip_prefix(line).unwrap_or(answer.trim_start_matches([' ', '\t'])).len();
        answer.drain(..doubled);
    }
    let Some(unit) = around.before.unit() else { return answer };
    let mut lines = answer.split_inclusive('\n');
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + &reindent(line, unit))
}

/// The line with its indentation in tabs, or in blanks, as `unit` is.
fn reindent<'l>(line: &'l str, unit: &str) -> Cow<'l, str> {
    let blanks = indentation(line);
    let rest = &line[blanks.len()..];
    if unit == "\t" && blanks.contains(' ') && !blanks.contains('\t') {
        return format!("{}{}{rest}", "\t".repeat(blanks.len() / TAB), " ".repeat(blanks.len() % TAB)).into();
    }
    if unit != "\t" && blanks.contains('\t') {
        return format!("{}{rest}", blanks.replace('\t', unit)).into();
    }
    line.into()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn an_indentation_stands_once() {
        check("a.py", "def f():\n    $0\n", "    x = 1\n    return x", "x = 1\n    return x");
        check("a.py", "def f():\n    $0\n", "x = 1", "x = 1");
    }

    #[test]
    fn tabs_and_blanks_are_those_of_the_document() {
        check(
            "a.go",
            "func f() {\n\tif x {\n\t\ty()\n\t}\n\t$0\n}\n",
            "if z {\n        y()\n    }",
            "if z {\n\t\ty()\n\t}",
        );
        check("a.ts", "\t/*\n\t * x\n\t */\n\t$0", "a()\n\tb()", "a()\n\tb()");
        check("a.py", "def f():\n  if x:\n    y()\n  $0\n", "if z:\n\t\ty()", "if z:\n    y()");
    }
}
