//! Whether the file still parses with the answer in it.
//!
//! A single token that the parser can supply, such as a missing semicolon, is no error.

use super::{Question, is_blank};

/// Whether the file with `answer` in place of the truth parses without error. `None` where nothing was written and where
/// the file does not parse with the truth either: then its errors are not the answer's.
pub(super) fn with_answer(question: &Question<'_>, answer: &str) -> Option<bool> {
    if is_blank(answer) || !parses(question, question.truth) {
        return None;
    }
    Some(answer == question.truth || parses(question, answer))
}

fn parses(question: &Question<'_>, middle: &str) -> bool {
    let text = [question.prefix, middle, question.suffix].concat();
    !syntax::parse(question.language, &text).has_error()
}

#[cfg(test)]
mod tests {
    use syntax::Language;

    use super::*;

    #[track_caller]
    fn check(file: &str, truth: &str, answer: &str, expected: Option<bool>) {
        let (prefix, suffix) = file.split_once("$0").expect("a cursor");
        let question = Question { language: Language::Python, prefix, suffix, truth };
        assert_eq!(with_answer(&question, answer), expected, "{answer:?} in {file:?}");
    }

    #[test]
    fn judges_the_whole_file() {
        check("x = f($0)\n", "a, b", "c", Some(true));
        check("x = f($0)\n", "a, b", "c)", Some(false));
        check("x = f($0)\n", "a, b", "a, b", Some(true));
        check("x = f($0)\r\ny = 😀\n", "a", "b", None);
    }

    #[test]
    fn does_not_apply_to_silence_nor_to_files_that_are_broken_anyway() {
        check("x = f($0)\n", "a", "", None);
        check("x = f($0\n", "a", "b)", None);
        check("x = f(a)$0\n", "", ")", Some(false));
    }
}
