//! All metrics of one prediction.
//!
//! Exact match, similarity and identifiers always apply; an empty answer to a case with a non-empty truth scores 0. Metrics of
//! the inserted text (parses, right indentation) do not apply to empty answers.

mod correct_prefix;
mod first_line;
mod indentation;
mod parses;
mod right_files;
mod stopping;
mod tokens;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use cases::{Case, Finish, Metric, MetricValue, Metrics, Prediction, Score};
use syntax::Language;
use text::python;

use crate::Counts;
use crate::cceval::{self, IdentifierMatch};
use crate::similarity::Similarity;
use right_files::RightFile;
use stopping::{EndOfTruth, Ending};
use tokens::Tokens;

pub use right_files::RightFiles;

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

impl<'a> From<&'a Case> for ScoringInput<'a> {
    fn from(case: &'a Case) -> ScoringInput<'a> {
        ScoringInput {
            language: Language::from_name(&case.language)
                .expect("suites with other languages are rejected on reading"),
            prefix: &case.prefix,
            suffix: &case.suffix,
            truth: &case.truth,
        }
    }
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

/// Agreement of a text with the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AnswerAgreement {
    /// CrossCodeEval's exact match.
    pub(crate) is_exact: bool,
    /// Edit similarity (indel), from 0 to 1.
    pub(crate) similarity: f64,
    /// F1 of the identifiers.
    pub(crate) identifiers: Counts,
}

/// Version of the metrics: raised with every change of any value. Stored with each row of scores; rows of another version are
/// computed again.
pub const SCORER_VERSION: u32 = 2;

/// Scores the answers to one case. Everything that depends on the truth only is computed once, at first use, and equal answers are
/// scored once: different engines often give the same answer.
pub struct CaseScorer<'a> {
    question: ScoringInput<'a>,
    files: &'a RightFiles,
    right_file: OnceCell<Arc<RightFile>>,
    truth: OnceCell<Tokens<'a>>,
    end_of_truth: OnceCell<EndOfTruth<'a>>,
    /// Metrics by text, without those of stopping and of time.
    scored: RefCell<HashMap<String, Metrics>>,
    /// Endings by text.
    endings: RefCell<HashMap<String, Option<Ending>>>,
}

impl<'a> CaseScorer<'a> {
    /// Creates a scorer; nothing is computed yet. `files` may be shared with the scorers of other cases.
    pub fn new(question: ScoringInput<'a>, files: &'a RightFiles) -> CaseScorer<'a> {
        CaseScorer {
            question,
            files,
            right_file: OnceCell::new(),
            truth: OnceCell::new(),
            end_of_truth: OnceCell::new(),
            scored: RefCell::default(),
            endings: RefCell::default(),
        }
    }

    /// Returns the number of different texts that were scored: at most that of answers, and the truth for failures.
    pub fn scored_texts(&self) -> usize {
        self.scored.borrow().len()
    }

    /// Returns the row of scores of a prediction for this case.
    pub fn score_prediction(&self, prediction: &Prediction) -> Score {
        let response = match prediction {
            failed if failed.has_failed() => AnswerOutcome::Failed,
            Prediction { late: true, text, .. } => AnswerOutcome::Late(text),
            Prediction { text, raw, finish, .. } => {
                AnswerOutcome::InTime(AnswerText { text, raw, has_ended: *finish == Finish::Stop })
            }
        };
        Score::new(prediction, SCORER_VERSION, self.score_response(response))
    }

    /// Returns the metrics of a response. [`CaseScorer::score`] applies to the text however late it is. For the metrics of answers
    /// in time ([`Metric::InTime`], [`Metric::ExactInTime`]), a late answer counts as none. A failure scores the worst value of
    /// every metric that applies to the truth as an answer, also if the truth is empty: a broken engine shows no restraint. The
    /// metrics of stopping ([`Metric::Stopping`] and the related ones) apply only to answers that were complete before the
    /// deadline.
    pub fn score_response(&self, response: AnswerOutcome<'_>) -> Metrics {
        let mut metrics = match response {
            AnswerOutcome::InTime(AnswerText { text, .. }) | AnswerOutcome::Late(text) => self.score(text),
            AnswerOutcome::Failed => {
                let right = self.score(self.question.truth);
                right.into_iter().map(|(metric, value)| (metric, worst_value(value))).collect()
            }
        };
        let is_in_time = matches!(response, AnswerOutcome::InTime(_));
        let exact = metrics.get(&Metric::ExactMatch).copied().unwrap_or(flag(false));
        let exact_in_time = if is_in_time { exact } else { worst_value(exact) };
        metrics.insert(Metric::InTime, flag(is_in_time));
        metrics.insert(Metric::ExactInTime, exact_in_time);
        if let AnswerOutcome::InTime(answer) = response {
            metrics.extend(self.stopping(answer));
        }
        metrics
    }

    /// Returns the metrics of stopping for the shown text and the engine's own text. If the engine did not end its text, the
    /// continuation is unknown: the text counts neither as ending with the truth nor as ending before it.
    fn stopping(&self, answer: AnswerText<'_>) -> impl Iterator<Item = (Metric, MetricValue)> {
        let (shown, raw) = (self.ending(answer.text), self.ending(answer.raw));
        let is_whole = |ending: Option<Ending>| ending.is_some_and(|ending| ending != Ending::Short);
        let (exact, beyond, short) = (Some(Ending::Exact), Some(Ending::Beyond), Some(Ending::Short));
        let ended = answer.has_ended;
        [
            (Metric::Stopping, is_whole(shown), shown == exact),
            (Metric::GoesOn, is_whole(shown), shown == beyond),
            (Metric::StopsShort, shown.is_some(), shown == short),
            (Metric::RawStopping, is_whole(raw), raw == exact && ended),
            (Metric::RawGoesOn, is_whole(raw), raw == beyond),
            (Metric::RawCut, is_whole(raw), raw == exact && !ended),
            (Metric::RawStopsShort, is_whole(raw) || raw == short && ended, raw == short),
        ]
        .into_iter()
        .filter(|(_, applies, _)| *applies)
        .map(|(metric, _, holds)| (metric, flag(holds)))
    }

    /// Returns where a text ends, compared with the truth.
    fn ending(&self, text: &str) -> Option<Ending> {
        once_per_text(&self.endings, text, || {
            self.end_of_truth.get_or_init(|| EndOfTruth::new(&self.question)).ending(text)
        })
    }

    /// Returns the metrics of `answer`, which is empty if the engine suggests nothing. Metrics that do not apply are absent.
    pub fn score(&self, answer: &str) -> Metrics {
        once_per_text(&self.scored, answer, || self.metrics(answer))
    }

    fn metrics(&self, answer: &str) -> Metrics {
        let question = &self.question;
        let applicable = [
            (Metric::ExactMatch, flag(cceval::exact_match(answer, question.truth))),
            (Metric::EditSimilarity, similarity(Similarity::Indel, answer, question.truth)),
            (Metric::EditSimilarityDifflib, similarity(Similarity::Difflib, answer, question.truth)),
        ];
        let optional = [
            (Metric::CorrectPrefix, correct_prefix::counts(answer, question.truth).map(MetricValue::from)),
            (Metric::FirstLineExact, first_line::exact(answer, question.truth).map(flag)),
            (Metric::Parses, self.parses_with(answer).map(flag)),
            (Metric::RightIndentation, indentation::is_right(question, answer).map(flag)),
            (Metric::Restraint, is_blank(question.truth).then(|| flag(is_blank(answer)))),
        ];
        let optional = optional.into_iter().filter_map(|(metric, value)| Some((metric, value?)));
        applicable.into_iter().chain(self.token_metrics(answer)).chain(optional).collect()
    }

    /// Whether the file with `answer` parses; see [`parses::is_judged`] and [`RightFiles`].
    fn parses_with(&self, answer: &str) -> Option<bool> {
        if !parses::is_judged(answer) {
            return None;
        }
        let right_file = self.right_file.get_or_init(|| self.files.file(&self.question));
        self.files.parses_with(right_file, &self.question, answer)
    }

    /// Returns how far a text agrees with the truth, without parsing any file.
    pub(crate) fn agreement(&self, answer: &str) -> AnswerAgreement {
        let truth = self.question.truth;
        // Many answers are the truth.
        let other = (answer != truth).then(|| Tokens::new(self.question.language, answer));
        let answer_tokens = other.as_ref().unwrap_or_else(|| self.truth_tokens());
        AnswerAgreement {
            is_exact: cceval::exact_match(answer, truth),
            similarity: Similarity::Indel.ratio(python::strip(answer), python::strip(truth)),
            identifiers: self.matched_identifiers(answer_tokens).f1_counts(),
        }
    }

    fn truth_tokens(&self) -> &Tokens<'a> {
        self.truth.get_or_init(|| Tokens::new(self.question.language, self.question.truth))
    }

    fn matched_identifiers(&self, answer: &Tokens<'_>) -> IdentifierMatch {
        cceval::match_identifiers(&answer.identifiers(), &self.truth_tokens().identifiers())
    }

    fn token_metrics(&self, answer: &str) -> [(Metric, MetricValue); 5] {
        let answer = Tokens::new(self.question.language, answer);
        let truth = self.truth_tokens();
        let matched = self.matched_identifiers(&answer);
        [
            (Metric::TokenExact, flag(answer == *truth)),
            (Metric::IdentifierExact, flag(matched.exact)),
            (Metric::IdentifierPrecision, matched.precision_counts().into()),
            (Metric::IdentifierRecall, matched.recall_counts().into()),
            (Metric::IdentifierF1, matched.f1_counts().into()),
        ]
    }
}

/// Returns the metrics of one answer. To score several answers to a case, use [`CaseScorer`].
pub fn score(question: &ScoringInput<'_>, answer: &str) -> Metrics {
    CaseScorer::new(*question, &RightFiles::default()).score(answer)
}

/// Returns the value of a text, which is computed at the first time.
fn once_per_text<T: Clone>(
    known: &RefCell<HashMap<String, T>>,
    text: &str,
    compute: impl FnOnce() -> T,
) -> T {
    if let Some(value) = known.borrow().get(text) {
        return value.clone();
    }
    let value = compute();
    known.borrow_mut().insert(text.to_owned(), value.clone());
    value
}

/// Returns the worst value with the same weight.
fn worst_value(value: MetricValue) -> MetricValue {
    match value {
        MetricValue::Value(_) => MetricValue::Value(0.0),
        MetricValue::Ratio { den, .. } => MetricValue::Ratio { num: 0.0, den },
    }
}

fn similarity(variant: Similarity, answer: &str, truth: &str) -> MetricValue {
    MetricValue::Value(variant.ratio(python::strip(answer), python::strip(truth)))
}

fn flag(set: bool) -> MetricValue {
    MetricValue::Value(f64::from(u8::from(set)))
}

fn is_blank(text: &str) -> bool {
    python::strip(text).is_empty()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn score_response(question: &ScoringInput<'_>, response: AnswerOutcome<'_>) -> Metrics {
        CaseScorer::new(*question, &RightFiles::default()).score_response(response)
    }

    /// The answer of an engine that ended it and from which nothing was cut.
    fn uncut(text: &str) -> AnswerText<'_> {
        AnswerText { text, raw: text, has_ended: true }
    }

    /// Parses `file`, whose cursor is at `$0`.
    #[track_caller]
    fn check(language: Language, file: &str, truth: &str, answer: &str, expected: Expect) {
        let (prefix, suffix) = test_fixture::split_at_cursor(file);
        let metrics = score(&ScoringInput { language, prefix, suffix, truth }, answer);
        let line = |(metric, value): (&Metric, &MetricValue)| match value {
            MetricValue::Value(value) => format!("{metric:24} {value:.3}\n"),
            MetricValue::Ratio { num, den } => format!("{metric:24} {num} of {den}\n"),
        };
        expected.assert_eq(&metrics.iter().map(line).collect::<String>());
        assert!(metrics.keys().all(|metric| metric.spec().source == cases::MetricSource::Answer));
    }

    /// A guard on counted work: all answers to a case share one parse of its file, also failures and answers in other repetitions,
    /// and equal answers are scored once.
    #[test]
    fn a_case_is_parsed_once_for_all_answers_and_equal_answers_are_scored_once() {
        let question = ScoringInput {
            language: Language::Go,
            prefix: "package p\n\nvar x = ",
            suffix: "\n",
            truth: "f(1)",
        };
        let files = RightFiles::default();
        let scorer = CaseScorer::new(question, &files);
        assert_eq!(
            (files.parses(), scorer.scored_texts()),
            (0, 0),
            "nothing is done before the first answer"
        );
        let answers = ["f(1)", "g(2)", "f(", "", "f(1)\nvar y = 2"];
        for answer in answers {
            scorer.score_response(AnswerOutcome::InTime(uncut(answer)));
            scorer.score_response(AnswerOutcome::Late(answer));
            scorer.score_response(AnswerOutcome::Failed);
        }
        assert_eq!((files.parses(), scorer.scored_texts()), (1, answers.len()));
    }

    /// If this fails, a metric changed: raise [`SCORER_VERSION`], so that stored scores are computed again.
    #[test]
    fn the_version_of_the_scorer_belongs_to_these_values() {
        let question = ScoringInput {
            language: Language::Python,
            prefix: "def f(a):\n    b = ",
            suffix: "\n    return b\n",
            truth: "a.load(1)  # one\n    c = b",
        };
        let files = RightFiles::default();
        let scorer = CaseScorer::new(question, &files);
        let rows: Vec<String> = ["a.load(1)\n    c = b", "a.load(2)", "a.load(1", ""]
            .into_iter()
            .map(|answer| {
                let metrics = scorer.score_response(AnswerOutcome::InTime(uncut(answer)));
                let values = metrics.into_values().map(|value| match value {
                    MetricValue::Value(value) => format!("{value:.3}"),
                    MetricValue::Ratio { num, den } => format!("{num}/{den}"),
                });
                values.collect::<Vec<_>>().join(" ")
            })
            .collect();
        expect![[r#"
            version 2
            9/26 0.844 0.844 0.000 0.000 0.000 0.000 1.000 8/8 4/4 4/4 1.000 1.000 0.000 0.000 1.000 0.000 1.000 1.000 0.000 1.000
            7/26 0.457 0.457 0.000 0.000 0.000 0.000 4/6 2/2 2/4 1.000 1.000 1.000 0.000
            8/26 0.471 0.471 0.000 0.000 0.000 0.000 4/6 2/2 2/4 1.000 0.000 1.000 1.000 1.000 0.000
            0/26 0.000 0.000 0.000 0.000 0.000 0.000 0/4 0/0 0/4 1.000 0.000
        "#]].assert_eq(&format!("version {SCORER_VERSION}\n{}\n", rows.join("\n")));
    }

    #[test]
    fn failed_answer_scores_zero_in_every_metric() {
        let question = ScoringInput {
            language: Language::Python,
            prefix: "def f(a):\n    ",
            suffix: "\n",
            truth: "b = a\n    return b",
        };
        let failed = score_response(&question, AnswerOutcome::Failed);
        let mut right = score_response(&question, AnswerOutcome::InTime(uncut(question.truth)));
        let is_stopping =
            |metric: &Metric| ["stop", "goes_on", "_cut"].iter().any(|part| metric.name().contains(part));
        assert_eq!(right.extract_if(.., |name, _| is_stopping(name)).count(), 7, "{right:?}");
        assert_eq!(failed.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>());
        assert!(right.len() >= 13, "{right:?}");
        for (name, value) in &failed {
            assert_eq!(
                Counts::from(*value),
                Counts { num: 0.0, den: Counts::from(right[name]).den },
                "{name}"
            );
        }
        let nothing_needed = ScoringInput { truth: "", ..question };
        let failed = score_response(&nothing_needed, AnswerOutcome::Failed);
        assert!(failed.values().all(|&value| Counts::from(value).num == 0.0), "{failed:?}");
        assert_eq!(failed[&Metric::Restraint], flag(false));
        assert_eq!(
            score_response(&nothing_needed, AnswerOutcome::InTime(uncut("")))[&Metric::Restraint],
            flag(true)
        );
    }

    #[test]
    fn late_answer_is_exact_but_not_in_time() {
        let question = ScoringInput { language: Language::Go, prefix: "x := ", suffix: "", truth: "f()" };
        let [late, in_time] = [AnswerOutcome::Late("f()"), AnswerOutcome::InTime(uncut("f()"))]
            .map(|response| score_response(&question, response));
        let of = |metrics: &Metrics| {
            [Metric::ExactMatch, Metric::InTime, Metric::ExactInTime]
                .map(|name| Counts::from(metrics[&name]).num)
        };
        assert_eq!((of(&late), of(&in_time)), ([1.0, 0.0, 0.0], [1.0, 1.0, 1.0]));
    }

    #[track_caller]
    fn check_stopping(response: AnswerOutcome<'_>, expected: &[(&str, f64)]) {
        let question = ScoringInput { language: Language::Go, prefix: "x := ", suffix: "", truth: "f(a)" };
        let metrics = score_response(&question, response);
        let is_stopping =
            |metric: &Metric| ["stop", "goes_on", "_cut"].iter().any(|part| metric.name().contains(part));
        let mut found: Vec<(&str, f64)> = metrics
            .iter()
            .filter(|(metric, _)| is_stopping(metric))
            .map(|(metric, &value)| (metric.name(), Counts::from(value).num))
            .collect();
        let mut expected = expected.to_vec();
        found.sort_by_key(|(name, _)| *name);
        expected.sort_by_key(|(name, _)| *name);
        assert_eq!(found, expected, "{response:?}");
    }

    #[test]
    fn stopping_metrics_cover_displayed_and_raw_text() {
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
    fn wrong_late_and_failed_answers_have_no_stopping_metrics() {
        check_stopping(AnswerOutcome::InTime(uncut("g(a)")), &[]);
        check_stopping(AnswerOutcome::InTime(uncut("")), &[]);
        check_stopping(AnswerOutcome::Late("f(a)"), &[]);
        check_stopping(AnswerOutcome::Failed, &[]);
    }

    #[test]
    fn truth_as_answer_has_perfect_scores() {
        check(
            Language::Python,
            "def f(a):\n    $0\n",
            "b = a\n    return b",
            "b = a\n    return b",
            expect![[r#"
                correct_prefix           18 of 18
                edit_similarity          1.000
                edit_similarity_difflib  1.000
                exact_match              1.000
                first_line_exact         1.000
                identifier_exact         1.000
                identifier_f1            4 of 4
                identifier_precision     2 of 2
                identifier_recall        2 of 2
                parses                   1.000
                right_indentation        1.000
                token_exact              1.000
            "#]],
        );
    }

    #[test]
    fn near_miss_has_partial_scores() {
        check(
            Language::Rust,
            "fn f() {\n    $0\n}\n",
            "let é = g(1);\n    h(é)",
            "let é = g(2) // two\r\n  h(é)",
            expect![[r#"
                correct_prefix           10 of 22
                edit_similarity          0.776
                edit_similarity_difflib  0.776
                exact_match              0.000
                first_line_exact         0.000
                identifier_exact         1.000
                identifier_f1            6 of 6
                identifier_precision     3 of 3
                identifier_recall        3 of 3
                parses                   1.000
                right_indentation        0.000
                token_exact              0.000
            "#]],
        );
    }

    #[test]
    fn empty_answer_to_a_nonempty_truth_scores_zero() {
        check(
            Language::Java,
            "class A { int f() { $0 } }",
            "return a;",
            "",
            expect![[r#"
                correct_prefix           0 of 9
                edit_similarity          0.000
                edit_similarity_difflib  0.000
                exact_match              0.000
                first_line_exact         0.000
                identifier_exact         0.000
                identifier_f1            0 of 1
                identifier_precision     0 of 0
                identifier_recall        0 of 1
                token_exact              0.000
            "#]],
        );
    }

    #[test]
    fn empty_answer_to_an_empty_truth_is_exact() {
        check(
            Language::Go,
            "func f() { g() $0 }",
            "",
            " ",
            expect![[r#"
                edit_similarity          1.000
                edit_similarity_difflib  1.000
                exact_match              1.000
                identifier_exact         1.000
                identifier_f1            0 of 0
                identifier_precision     0 of 0
                identifier_recall        0 of 0
                restraint                1.000
                token_exact              1.000
            "#]],
        );
    }

    #[test]
    fn nonempty_answer_to_an_empty_truth_has_zero_restraint() {
        check(
            Language::Go,
            "package p\nfunc f() {\n\tg()\n$0}",
            "",
            "\th()\n",
            expect![[r#"
                edit_similarity          0.000
                edit_similarity_difflib  0.000
                exact_match              0.000
                identifier_exact         0.000
                identifier_f1            0 of 1
                identifier_precision     0 of 1
                identifier_recall        0 of 0
                parses                   1.000
                restraint                0.000
                right_indentation        1.000
                token_exact              0.000
            "#]],
        );
    }
}
