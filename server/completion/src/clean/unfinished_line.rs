//! Cuts the last line of a truncated answer: half a line after whole ones is useless.

use super::CleaningContext;

pub(super) fn cut(mut answer: String, around: &CleaningContext<'_>) -> String {
    if around.is_cut_off
        && let Some(line_end) = answer.rfind('\n')
        && !answer[..line_end].trim().is_empty()
    {
        answer.truncate(line_end);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::super::tests::cleaned;

    #[test]
    fn unfinished_last_line_of_a_cut_off_answer_is_removed() {
        for (answer, kept) in [
            ("a()\n    b(", "a()"),
            ("a()\n    b()\n", "a()\n    b()"),
            ("a(", "a("),
            ("\n    a(", "\n    a("),
        ] {
            assert_eq!(cleaned("a.py", "def f():\n    $0", answer, true).0, kept);
        }
        assert_eq!(cleaned("a.py", "def f():\n    $0", "a()\n    b(", false).0, "a()\n    b(");
    }
}
