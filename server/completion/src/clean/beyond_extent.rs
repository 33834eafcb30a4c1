//! Cuts an answer at the end of its extent: the statement or block that it may cover.

use super::CleaningContext;

pub(super) fn cut(mut answer: String, around: &CleaningContext<'_>) -> String {
    if let Some(end) = around.before.end(around.extent, &answer) {
        answer.truncate(end);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn answer_is_cut_after_the_statement() {
        check("a.py", "def f():\n    x = $0\n", "1\n    y = 2\n", "1");
        check("a.ts", "const x = $0", "f(a)\nconst y = 2\n", "f(a)");
    }

    #[test]
    fn answer_is_cut_where_the_block_dedents() {
        check(
            "a.py",
            "def f():\n    $0\n",
            "x = 1\n    return x\n\n\ndef g():\n    pass\n",
            "x = 1\n    return x",
        );
        check("a.py", "def f():$0", "\n    return 1\n\ndef g():", "\n    return 1");
        // With nothing after the cursor, the extent is one statement.
        check("a.py", "$0", "import a\n\nx = 1", "import a");
    }

    #[test]
    fn catch_clause_after_a_block_is_kept() {
        let after = "    try {\n        f();\n    } $0\n}\n";
        check(
            "a.java",
            after,
            "catch (E e) {\n        g();\n    }\n}\n",
            "catch (E e) {\n        g();\n    }",
        );
    }

    #[test]
    fn existing_closing_brace_is_not_repeated() {
        check("a.go", "\tif x {$0\n", "\n\t\tf()\n\t}\n\tg()\n", "\n\t\tf()\n\t}");
        check("a.go", "\tif x {$0\n\t}\n", "\n\t\tf()\n\t}\n\tg()\n", "\n\t\tf()");
        check("a.go", "\tif x {\n\t\t$0\n\t}\n", "f()\n\t}\n\tg()\n", "f()");
    }
}
