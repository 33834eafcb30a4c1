//! Whether the lines of an answer are indented as the context requires.
//!
//! The required indentation is that of the truth's least indented line after its first; if the truth has one line, it is that of
//! the cursor's line. Every later line of the answer must start with the same characters: tabs and spaces differ. Lines may be
//! deeper because of blocks; blank lines may have any indentation because editors strip it. The text before the cursor determines
//! the indentation of the first line.
//!
//! Codev-Bench's judge differs: it takes the indentation of the block's first line, compares lengths only, and fails
//! blank lines that are too short.

use super::{ScoringInput, is_blank};

/// Whether every non-blank line of `answer` after the first has the required indentation; `None` for an empty answer.
pub(super) fn is_right(question: &ScoringInput<'_>, answer: &str) -> Option<bool> {
    if is_blank(answer) {
        return None;
    }
    let required = required_indentation(question);
    Some(continuation(answer).all(|line| line.starts_with(required)))
}

fn required_indentation<'a>(question: &ScoringInput<'a>) -> &'a str {
    let of_cursor = question.prefix.rsplit('\n').next().unwrap_or_default();
    continuation(question.truth)
        .map(indentation)
        .min_by_key(|indentation| indentation.len())
        .unwrap_or_else(|| indentation(of_cursor))
}

/// Returns the non-blank lines after the first.
fn continuation(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').skip(1).filter(|line| !is_blank(line))
}

fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

#[cfg(test)]
mod tests {
    use syntax::Language;

    use super::*;

    #[track_caller]
    fn check(prefix: &str, truth: &str, answer: &str, expected: Option<bool>) {
        let question = ScoringInput { language: Language::Python, prefix, suffix: "", truth };
        assert_eq!(is_right(&question, answer), expected, "{answer:?} for {truth:?}");
    }

    #[test]
    fn least_indented_truth_line_is_the_required_indentation() {
        let truth = "if a:\n        b\n    c";
        check("    ", truth, "x\n    y\n      z", Some(true));
        check("    ", truth, "x\n   y", Some(false));
        check("    ", truth, "x\n\ty", Some(false));
        check("    ", truth, "x\n\n  \r\n    y\r\n", Some(true));
    }

    #[test]
    fn first_line_indentation_is_ignored() {
        check("", "\n    a", "b\n    c", Some(true));
        check("    ", "a\n    b", "x", Some(true));
        check("    ", "a\n    b", "", None);
    }

    #[test]
    fn one_line_truth_requires_the_cursor_line_indentation() {
        check("def f():\n    x = ", "1", "1\n    y = 2", Some(true));
        check("def f():\n    x = ", "1", "1\ny = 2", Some(false));
        check("", "", "a\nb", Some(true));
    }
}
