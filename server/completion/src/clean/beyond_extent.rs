//! Cuts an answer that goes beyond the statement or block that it was asked for.

use super::Surroundings;
use crate::extent::{Extent, indentation};

pub(super) fn cut(mut answer: String, around: &Surroundings<'_>) -> String {
    let end = match around.extent {
        Extent::Statement => around.before.statement_end(&answer),
        Extent::Block { column } => block_end(&answer, column, around),
    };
    answer.truncate(end.unwrap_or(answer.len()));
    answer
}

/// Where the first line starts, behind the one that the cursor is in, that is indented less than the block. Lines without an own
/// indentation, as of texts over several lines, are not told apart.
fn block_end(answer: &str, column: usize, around: &Surroundings<'_>) -> Option<usize> {
    let mut start = 0;
    for line in answer.split_inclusive('\n') {
        let is_first = start == 0;
        let end = start + line.len();
        if !is_first && !line.trim().is_empty() && indentation(line).len() < column {
            let closes = closes_block(line, column, around);
            return Some(if closes { end } else { answer[..start].trim_end().len() });
        }
        start = end;
    }
    None
}

/// Whether `line` closes the block that the cursor's line opens, which nothing after the cursor does.
fn closes_block(line: &str, column: usize, around: &Surroundings<'_>) -> bool {
    let own = indentation(around.before.line());
    let opens = own.len() + 1 == column;
    let is_closer = |line: &str| line.trim_start().starts_with(['}', ')', ']']) && indentation(line) == own;
    let next = around.suffix.split('\n').skip(1).find(|line| !line.trim().is_empty());
    opens && is_closer(line) && !next.is_some_and(is_closer)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn a_statement_ends_with_it() {
        check("a.py", "def f():\n    x = $0\n", "1\n    y = 2\n", "1");
        check("a.ts", "const x = $0", "f(a)\nconst y = 2\n", "f(a)");
    }

    #[test]
    fn a_block_ends_where_the_indentation_does() {
        check(
            "a.py",
            "def f():\n    $0\n",
            "x = 1\n    return x\n\n\ndef g():\n    pass\n",
            "x = 1\n    return x",
        );
        check("a.py", "def f():$0", "\n    return 1\n\ndef g():", "\n    return 1");
        check("a.py", "$0", "import a\n\nx = 1", "import a\n\nx = 1");
    }

    #[test]
    fn behind_a_block_another_one_may_follow() {
        let after = "    try {\n        f();\n    } $0\n}\n";
        check(
            "a.java",
            after,
            "catch (E e) {\n        g();\n    }\n}\n",
            "catch (E e) {\n        g();\n    }",
        );
    }

    #[test]
    fn the_brace_of_a_block_is_closed_once() {
        check("a.go", "\tif x {$0\n", "\n\t\tf()\n\t}\n\tg()\n", "\n\t\tf()\n\t}");
        check("a.go", "\tif x {$0\n\t}\n", "\n\t\tf()\n\t}\n\tg()\n", "\n\t\tf()");
        check("a.go", "\tif x {\n\t\t$0\n\t}\n", "f()\n\t}\n\tg()\n", "f()");
    }
}
