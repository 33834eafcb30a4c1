//! All metrics of one prediction, of whatever case.
//!
//! Exact match, similarity and identifiers always apply; a silent answer to a case that needed one scores 0. The metrics
//! that judge text which was written (parses, right indentation) do not apply where nothing was.

mod correct_prefix;
mod first_line;
mod indentation;
mod parses;
mod tokens;

use syntax::Language;

use crate::cceval;
use crate::metric::{self, Counts, MetricValue, Metrics};
use crate::similarity::Similarity;
use text::python;
use tokens::Tokens;

/// What was asked, and the right answer.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Language of the file.
    pub language: Language,
    /// The file before the cursor.
    pub prefix: &'a str,
    /// The file after the cursor.
    pub suffix: &'a str,
    /// The right answer; empty where the right answer is nothing.
    pub truth: &'a str,
}

/// The metrics of `answer`; a silent engine's answer is the empty text. Metrics that do not apply are absent.
pub fn score(question: &Question<'_>, answer: &str) -> Metrics {
    let applicable = [
        (metric::EXACT_MATCH, flag(cceval::exact_match(answer, question.truth))),
        (metric::EDIT_SIMILARITY, similarity(Similarity::Indel, answer, question.truth)),
        (metric::EDIT_SIMILARITY_DIFFLIB, similarity(Similarity::Difflib, answer, question.truth)),
    ];
    let optional = [
        (metric::CORRECT_PREFIX, correct_prefix::counts(answer, question.truth).map(ratio)),
        (metric::FIRST_LINE_EXACT, first_line::exact(answer, question.truth).map(flag)),
        (metric::PARSES, parses::with_answer(question, answer).map(flag)),
        (metric::RIGHT_INDENTATION, indentation::is_right(question, answer).map(flag)),
        (metric::RESTRAINT, is_blank(question.truth).then(|| flag(is_blank(answer)))),
    ];
    let optional = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
    applicable
        .into_iter()
        .chain(of_tokens(question, answer))
        .chain(optional)
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn of_tokens(question: &Question<'_>, answer: &str) -> [(&'static str, MetricValue); 5] {
    let answer = Tokens::new(question.language, answer);
    let truth = Tokens::new(question.language, question.truth);
    let matched = cceval::match_identifiers(&answer.identifiers(), &truth.identifiers());
    [
        (metric::TOKEN_EXACT, flag(answer == truth)),
        (metric::IDENTIFIER_EXACT, flag(matched.exact)),
        (metric::IDENTIFIER_PRECISION, ratio(matched.precision_counts())),
        (metric::IDENTIFIER_RECALL, ratio(matched.recall_counts())),
        (metric::IDENTIFIER_F1, ratio(matched.f1_counts())),
    ]
}

fn similarity(variant: Similarity, answer: &str, truth: &str) -> MetricValue {
    MetricValue::Value(variant.ratio(python::strip(answer), python::strip(truth)))
}

fn flag(set: bool) -> MetricValue {
    MetricValue::Value(f64::from(u8::from(set)))
}

fn ratio(counts: Counts) -> MetricValue {
    MetricValue::Ratio { num: counts.num, den: counts.den }
}

fn is_blank(text: &str) -> bool {
    python::strip(text).is_empty()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// `file` with its cursor at `$0`.
    #[track_caller]
    fn check(language: Language, file: &str, truth: &str, answer: &str, expected: Expect) {
        let (prefix, suffix) = file.split_once("$0").expect("a cursor");
        let metrics = score(&Question { language, prefix, suffix, truth }, answer);
        let mut lines = String::new();
        for metric in metric::METRICS {
            let shown = match metrics.get(metric.name) {
                Some(MetricValue::Value(value)) => format!("{value:.3}"),
                Some(MetricValue::Ratio { num, den }) => format!("{num} of {den}"),
                None => "-".to_owned(),
            };
            lines += &format!("{:24} {shown}\n", metric.name);
        }
        expected.assert_eq(&lines);
        assert!(metrics.keys().all(|name| metric::METRICS.iter().any(|metric| metric.name == name)));
    }

    #[test]
    fn the_truth_itself_is_right_in_everything() {
        check(
            Language::Python,
            "def f(a):\n    $0\n",
            "b = a\n    return b",
            "b = a\n    return b",
            expect![[r#"
                exact_match              1.000
                token_exact              1.000
                edit_similarity          1.000
                edit_similarity_difflib  1.000
                identifier_exact         1.000
                identifier_precision     2 of 2
                identifier_recall        2 of 2
                identifier_f1            4 of 4
                correct_prefix           18 of 18
                first_line_exact         1.000
                parses                   1.000
                right_indentation        1.000
                restraint                -
            "#]],
        );
    }

    #[test]
    fn a_near_miss_is_right_in_some() {
        check(
            Language::Rust,
            "fn f() {\n    $0\n}\n",
            "let é = g(1);\n    h(é)",
            "let é = g(2) // two\r\n  h(é)",
            expect![[r#"
                exact_match              0.000
                token_exact              0.000
                edit_similarity          0.776
                edit_similarity_difflib  0.776
                identifier_exact         1.000
                identifier_precision     3 of 3
                identifier_recall        3 of 3
                identifier_f1            6 of 6
                correct_prefix           10 of 22
                first_line_exact         0.000
                parses                   1.000
                right_indentation        0.000
                restraint                -
            "#]],
        );
    }

    #[test]
    fn silence_where_text_was_needed_scores_zero() {
        check(
            Language::Java,
            "class A { int f() { $0 } }",
            "return a;",
            "",
            expect![[r#"
                exact_match              0.000
                token_exact              0.000
                edit_similarity          0.000
                edit_similarity_difflib  0.000
                identifier_exact         0.000
                identifier_precision     0 of 0
                identifier_recall        0 of 1
                identifier_f1            0 of 1
                correct_prefix           0 of 9
                first_line_exact         0.000
                parses                   -
                right_indentation        -
                restraint                -
            "#]],
        );
    }

    #[test]
    fn silence_where_nothing_was_needed_is_right() {
        check(
            Language::Go,
            "func f() { g() $0 }",
            "",
            " ",
            expect![[r#"
                exact_match              1.000
                token_exact              1.000
                edit_similarity          1.000
                edit_similarity_difflib  1.000
                identifier_exact         1.000
                identifier_precision     0 of 0
                identifier_recall        0 of 0
                identifier_f1            0 of 0
                correct_prefix           -
                first_line_exact         -
                parses                   -
                right_indentation        -
                restraint                1.000
            "#]],
        );
    }

    #[test]
    fn text_where_nothing_was_needed_shows_no_restraint() {
        check(
            Language::Go,
            "package p\nfunc f() {\n\tg()\n$0}",
            "",
            "\th()\n",
            expect![[r#"
                exact_match              0.000
                token_exact              0.000
                edit_similarity          0.000
                edit_similarity_difflib  0.000
                identifier_exact         0.000
                identifier_precision     0 of 1
                identifier_recall        0 of 0
                identifier_f1            0 of 1
                correct_prefix           -
                first_line_exact         -
                parses                   1.000
                right_indentation        1.000
                restraint                0.000
            "#]],
        );
    }
}
