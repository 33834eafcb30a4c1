//! All metrics of one prediction.
//!
//! Exact match, similarity and identifiers always apply; an empty answer to a case with a non-empty truth scores 0. Metrics of
//! the inserted text (parses, right indentation) do not apply to empty answers.

mod correct_prefix;
mod first_line;
mod indentation;
mod parses;
mod stopping;
mod tokens;

use syntax::Language;

use crate::cceval;
use crate::metric::{self, Counts, MetricValue, Metrics};
use crate::similarity::Similarity;
use stopping::Ending;
use text::python;
use tokens::Tokens;

/// The context of a completion request and its right answer.
#[derive(Clone, Copy, Debug)]
pub struct ScoringInput<'a> {
    /// Language of the file.
    pub language: Language,
    /// The file before the cursor.
    pub prefix: &'a str,
    /// The file after the cursor.
    pub suffix: &'a str,
    /// The right answer; may be empty.
    pub truth: &'a str,
}

/// An answer that was complete before the deadline.
#[derive(Clone, Copy, Debug)]
pub struct AnswerText<'a> {
    /// The text that is shown; empty if there is nothing to suggest.
    pub text: &'a str,
    /// The engine's own text, before anything was cut from it.
    pub raw: &'a str,
    /// Whether the engine ended `raw`: reading was not stopped, and no token limit was reached.
    pub has_ended: bool,
}

/// Outcome of a request to an engine.
#[derive(Clone, Copy, Debug)]
pub enum AnswerOutcome<'a> {
    /// It finished before the deadline.
    InTime(AnswerText<'a>),
    /// It had written this text when the deadline passed.
    Late(&'a str),
    /// No answer: an error, no text at the deadline, or a cancelled request.
    Failed,
}

/// Returns the metrics of a response. [`score`] applies to the text however late it is. For the metrics of answers in time
/// ([`metric::IN_TIME`], [`metric::EXACT_IN_TIME`]), a late answer counts as none. A failure scores the worst value of every
/// metric that applies to the truth as an answer, also if the truth is empty: a broken engine shows no restraint. The metrics of
/// stopping ([`metric::STOPPING`] and the related ones) apply only to answers that were complete before the deadline.
pub fn score_response(question: &ScoringInput<'_>, response: AnswerOutcome<'_>) -> Metrics {
    let mut metrics = match response {
        AnswerOutcome::InTime(AnswerText { text, .. }) | AnswerOutcome::Late(text) => score(question, text),
        AnswerOutcome::Failed => score(question, question.truth)
            .into_iter()
            .map(|(name, value)| (name, worst_value(value)))
            .collect(),
    };
    let is_in_time = matches!(response, AnswerOutcome::InTime(_));
    let exact = metrics.get(metric::EXACT_MATCH).copied().unwrap_or(flag(false));
    let exact_in_time = if is_in_time { exact } else { worst_value(exact) };
    metrics.insert(metric::IN_TIME.to_owned(), flag(is_in_time));
    metrics.insert(metric::EXACT_IN_TIME.to_owned(), exact_in_time);
    if let AnswerOutcome::InTime(answer) = response {
        metrics.extend(stopping(question, answer));
    }
    metrics
}

/// Returns the metrics of stopping for the shown text and the engine's own text. If the engine did not end its text, the
/// continuation is unknown: the text counts neither as ending with the truth nor as ending before it.
fn stopping(
    question: &ScoringInput<'_>,
    answer: AnswerText<'_>,
) -> impl Iterator<Item = (String, MetricValue)> {
    let shown = stopping::ending(question, answer.text);
    let raw = stopping::ending(question, answer.raw);
    let is_whole = |ending: Option<Ending>| ending.is_some_and(|ending| ending != Ending::Short);
    let (exact, beyond, short) = (Some(Ending::Exact), Some(Ending::Beyond), Some(Ending::Short));
    let ended = answer.has_ended;
    [
        (metric::STOPPING, is_whole(shown), shown == exact),
        (metric::GOES_ON, is_whole(shown), shown == beyond),
        (metric::STOPS_SHORT, shown.is_some(), shown == short),
        (metric::RAW_STOPPING, is_whole(raw), raw == exact && ended),
        (metric::RAW_GOES_ON, is_whole(raw), raw == beyond),
        (metric::RAW_CUT, is_whole(raw), raw == exact && !ended),
        (metric::RAW_STOPS_SHORT, is_whole(raw) || raw == short && ended, raw == short),
    ]
    .into_iter()
    .filter(|(_, applies, _)| *applies)
    .map(|(name, _, holds)| (name.to_owned(), flag(holds)))
}

/// Returns the worst value with the same weight.
fn worst_value(value: MetricValue) -> MetricValue {
    match value {
        MetricValue::Value(_) => MetricValue::Value(0.0),
        MetricValue::Ratio { den, .. } => MetricValue::Ratio { num: 0.0, den },
    }
}

/// Returns the metrics of `answer`, which is empty if the engine suggests nothing. Metrics that do not apply are absent.
pub fn score(question: &ScoringInput<'_>, answer: &str) -> Metrics {
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
        .chain(token_metrics(question, answer))
        .chain(optional)
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn token_metrics(question: &ScoringInput<'_>, answer: &str) -> [(&'static str, MetricValue); 5] {
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

    /// The answer of an engine that ended it and from which nothing was cut.
    fn uncut(text: &str) -> AnswerText<'_> {
        AnswerText { text, raw: text, has_ended: true }
    }

    /// Parses `file`, whose cursor is at `$0`.
    #[track_caller]
    fn check(language: Language, file: &str, truth: &str, answer: &str, expected: Expect) {
        let (prefix, suffix) = test_fixture::split_at_cursor(file);
        let metrics = score(&ScoringInput { language, prefix, suffix, truth }, answer);
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
    fn a_failure_earns_nothing_in_any_metric() {
        let question = ScoringInput {
            language: Language::Python,
            prefix: "def f(a):\n    ",
            suffix: "\n",
            truth: "b = a\n    return b",
        };
        let failed = score_response(&question, AnswerOutcome::Failed);
        let mut right = score_response(&question, AnswerOutcome::InTime(uncut(question.truth)));
        let is_stopping =
            |name: &String| name.contains("stop") || name.contains("goes_on") || name.contains("_cut");
        assert_eq!(right.extract_if(.., |name, _| is_stopping(name)).count(), 7, "{right:?}");
        assert_eq!(failed.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>());
        assert!(right.len() >= 13, "{right:?}");
        for (name, value) in &failed {
            assert_eq!(value.counts(), Counts { num: 0.0, den: right[name].counts().den }, "{name}");
        }
        let nothing_needed = ScoringInput { truth: "", ..question };
        let failed = score_response(&nothing_needed, AnswerOutcome::Failed);
        assert!(failed.values().all(|value| value.counts().num == 0.0), "{failed:?}");
        assert_eq!(failed[metric::RESTRAINT], flag(false));
        assert_eq!(
            score_response(&nothing_needed, AnswerOutcome::InTime(uncut("")))[metric::RESTRAINT],
            flag(true)
        );
    }

    #[test]
    fn a_late_answer_counts_at_any_time_and_not_in_time() {
        let question = ScoringInput { language: Language::Go, prefix: "x := ", suffix: "", truth: "f()" };
        let [late, in_time] = [AnswerOutcome::Late("f()"), AnswerOutcome::InTime(uncut("f()"))]
            .map(|response| score_response(&question, response));
        let of = |metrics: &Metrics| {
            [metric::EXACT_MATCH, metric::IN_TIME, metric::EXACT_IN_TIME]
                .map(|name| metrics[name].counts().num)
        };
        assert_eq!((of(&late), of(&in_time)), ([1.0, 0.0, 0.0], [1.0, 1.0, 1.0]));
    }

    #[track_caller]
    fn check_stopping(response: AnswerOutcome<'_>, expected: &[(&str, f64)]) {
        let question = ScoringInput { language: Language::Go, prefix: "x := ", suffix: "", truth: "f(a)" };
        let metrics = score_response(&question, response);
        let names = metric::METRICS.iter().map(|metric| metric.name);
        let found: Vec<(&str, f64)> = names
            .filter(|name| name.contains("stop") || name.contains("goes_on") || name.contains("_cut"))
            .filter_map(|name| metrics.get(name).map(|value| (name, value.counts().num)))
            .collect();
        assert_eq!(found, expected, "{response:?}");
    }

    #[test]
    fn stopping_is_read_of_the_shown_text_and_of_the_engines_own() {
        let stops = [("stopping", 1.0), ("goes_on", 0.0), ("stops_short", 0.0)];
        let raw = |stopping, goes_on, cut| {
            [("raw_stopping", stopping), ("raw_goes_on", goes_on), ("raw_cut", cut), ("raw_stops_short", 0.0)]
        };
        let of = |text, raw, has_ended| AnswerOutcome::InTime(AnswerText { text, raw, has_ended });
        check_stopping(of("f(a)", "f(a)\n", true), &[&stops[..], &raw(1.0, 0.0, 0.0)].concat());
        check_stopping(of("f(a)", "f(a)\ny := 1", true), &[&stops[..], &raw(0.0, 1.0, 0.0)].concat());
        check_stopping(of("f(", "f(", true), &[("stops_short", 1.0), ("raw_stops_short", 1.0)]);
        check_stopping(of("", "f(a)\ny := 1", true), &raw(0.0, 1.0, 0.0));
        // Reading was stopped: the engine may or may not have ended there, and did not end before the truth.
        check_stopping(of("f(a)", "f(a)", false), &[&stops[..], &raw(0.0, 0.0, 1.0)].concat());
        check_stopping(of("f(a)", "f(a)\ny", false), &[&stops[..], &raw(0.0, 1.0, 0.0)].concat());
        check_stopping(of("f(", "f(", false), &[("stops_short", 1.0)]);
    }

    #[test]
    fn wrong_late_and_failed_answers_stop_nowhere() {
        check_stopping(AnswerOutcome::InTime(uncut("g(a)")), &[]);
        check_stopping(AnswerOutcome::InTime(uncut("")), &[]);
        check_stopping(AnswerOutcome::Late("f(a)"), &[]);
        check_stopping(AnswerOutcome::Failed, &[]);
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
                stopping                 -
                goes_on                  -
                stops_short              -
                raw_stopping             -
                raw_goes_on              -
                raw_cut                  -
                raw_stops_short          -
                in_time                  -
                exact_in_time            -
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
                stopping                 -
                goes_on                  -
                stops_short              -
                raw_stopping             -
                raw_goes_on              -
                raw_cut                  -
                raw_stops_short          -
                in_time                  -
                exact_in_time            -
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
                stopping                 -
                goes_on                  -
                stops_short              -
                raw_stopping             -
                raw_goes_on              -
                raw_cut                  -
                raw_stops_short          -
                in_time                  -
                exact_in_time            -
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
                stopping                 -
                goes_on                  -
                stops_short              -
                raw_stopping             -
                raw_goes_on              -
                raw_cut                  -
                raw_stops_short          -
                in_time                  -
                exact_in_time            -
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
                stopping                 -
                goes_on                  -
                stops_short              -
                raw_stopping             -
                raw_goes_on              -
                raw_cut                  -
                raw_stops_short          -
                in_time                  -
                exact_in_time            -
            "#]],
        );
    }
}
