//! Whether the file still parses with the answer inserted.
//!
//! A missing token that the parser can supply, such as a semicolon, is not an error.

use super::is_blank;

/// Size limit of judged answers, bytes. Recovery from the errors of an endless answer can take seconds, and such answers are
/// never accepted.
const MAX_BYTES: usize = 64 * 1024;

/// Whether the metric applies to the answer: it is neither empty nor too long.
pub(super) fn is_judged(answer: &str) -> bool {
    !is_blank(answer) && answer.len() <= MAX_BYTES
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use syntax::Language;

    use super::*;
    use crate::score::{CaseScorer, RightFiles, ScoringInput};

    fn with_answer(question: &ScoringInput<'_>, answer: &str) -> Option<bool> {
        CaseScorer::new(*question, &RightFiles::default()).parses_with(answer)
    }

    #[track_caller]
    fn check(file: &str, truth: &str, answer: &str, expected: Option<bool>) {
        let (prefix, suffix) = test_fixture::split_at_cursor(file);
        let question = ScoringInput { language: Language::Python, prefix, suffix, truth };
        assert_eq!(with_answer(&question, answer), expected, "{answer:?} in {file:?}");
    }

    #[test]
    fn file_with_the_answer_is_parsed() {
        check("x = f($0)\n", "a, b", "c", Some(true));
        check("x = f($0)\n", "a, b", "c)", Some(false));
        check("x = f($0)\n", "a, b", "a, b", Some(true));
        check("x = f($0)\r\ny = 😀\n", "a", "b", None);
    }

    #[test]
    fn inapplicable_to_empty_answers_and_broken_files() {
        check("x = f($0)\n", "a", "", None);
        check("x = f($0\n", "a", "b)", None);
        check("x = f(a)$0\n", "", ")", Some(false));
    }

    #[test]
    fn inapplicable_to_very_long_answers() {
        check("x = f($0)\n", "a", &"a".repeat(MAX_BYTES), Some(true));
        check("x = f($0)\n", "a", &"a".repeat(MAX_BYTES + 1), None);
    }

    const RUST: &str = "fn f(a: u32) -> u32 {\n    let b = g(a, $0);\n    if b > 1 { b } else { h(\"é\") }\n}\n\nstruct S;\n";
    const ANSWER: &str = r#"(\(|\)|\{|\}|\[|\]|;|,|"|'|//|/\*|a|1|\+|let |fn |if |é|\n| ){1,12}"#;

    proptest! {
        /// Reuse of the truth's tree must not change the result.
        #[test]
        fn updated_tree_gives_the_same_result_as_a_fresh_parse(answer in ANSWER) {
            let (prefix, suffix) = test_fixture::split_at_cursor(RUST);
            let question = ScoringInput { language: Language::Rust, prefix, suffix, truth: "1" };
            let anew = !syntax::parse(Language::Rust, &[prefix, &answer, suffix].concat()).has_error();
            prop_assert_eq!(with_answer(&question, &answer), (!is_blank(&answer)).then_some(anew));
        }
    }
}
