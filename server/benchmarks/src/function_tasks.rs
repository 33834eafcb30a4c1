//! The tasks without a cursor, `find_function` and `write_function`: their prompts, and the scores of answers.

use std::borrow::Cow;

use cases::{
    AnswerForm, Case, FindFunction, FunctionQuestion, Metric, MetricValue, Metrics, Prediction, WriteFunction,
};
use scoring::cceval;
use scoring::similarity::Similarity;
use syntax::Language;
use text::python;

use crate::Rules;
use crate::repoqa::{self, CommentMode, FindScore, Needle, PreparedNeedle};
use crate::yabloco::{GenerationPair, edit_similarity, exact_match, read_generation};

/// RepoQA's published threshold.
const PUBLISHED_THRESHOLD: f64 = 0.8;

/// The forms in which a task is put to engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPrompts {
    /// For a chat: the original's prompt.
    pub chat: String,
    /// For engines that only complete: the code to continue.
    pub code: String,
}

/// Returns the prompts of a case; `None` for completions.
pub fn function_prompts(case: &Case, language: Language) -> Option<FunctionPrompts> {
    Some(match case.function.as_deref()? {
        FunctionQuestion::Find(question) => FunctionPrompts {
            chat: repoqa::chat_prompt(case, question),
            code: repoqa::code_prompt(case, question, language),
        },
        FunctionQuestion::Write(question) => FunctionPrompts {
            chat: crate::yabloco::chat_prompt(case, question, language),
            code: case.prefix.clone(),
        },
    })
}

/// Returns an answer as a chat would give it, which is what the originals' programs read: the code that an engine continued is put
/// into a code block. A failure is no answer.
pub fn function_answer<'p>(case: &Case, prediction: &'p Prediction) -> Cow<'p, str> {
    if prediction.has_failed() {
        return Cow::Borrowed("");
    }
    if prediction.form != Some(AnswerForm::FillIn) || prediction.text.is_empty() {
        return Cow::Borrowed(&prediction.text);
    }
    let header = case.write_function().map_or("", |question| &question.header);
    let code = format!("{header}{}", prediction.text);
    let code = case.write_function().map_or(code.as_str(), |_| first_function(case, &code));
    Cow::Owned(format!("```\n{code}\n```\n"))
}

/// Returns the code up to the end of its first function: an engine that only completes goes on.
fn first_function<'c>(case: &Case, code: &'c str) -> &'c str {
    let Some(language) = Language::from_name(&case.language) else { return code };
    let functions = syntax::parse(language, code).functions(code);
    functions.first().map_or(code, |function| &code[..function.range.end])
}

/// Scores the answers to one case without a cursor.
pub struct FunctionScorer<'a> {
    case: &'a Case,
    kind: ScorerKind<'a>,
}

enum ScorerKind<'a> {
    Find {
        question: &'a FindFunction,
        language: Language,
        compared: Vec<PreparedNeedle>,
        code: Vec<PreparedNeedle>,
    },
    Write {
        truth: String,
    },
}

impl<'a> FunctionScorer<'a> {
    /// Returns the scorer of a case; `None` for completions.
    pub fn new(case: &'a Case) -> Option<FunctionScorer<'a>> {
        let kind = match case.function.as_deref()? {
            FunctionQuestion::Find(question) => {
                let language = Language::from_name(&case.language)?;
                let prepare = |mode| prepared(question, language, mode);
                ScorerKind::Find {
                    question,
                    language,
                    compared: prepare(CommentMode::Compare),
                    code: prepare(CommentMode::Ignore),
                }
            }
            FunctionQuestion::Write(question) => ScorerKind::Write { truth: original_code(case, question) },
        };
        Some(FunctionScorer { case, kind })
    }

    /// Returns the metrics of an answer; a failure has the worst values.
    pub fn metrics(&self, prediction: &Prediction) -> Metrics {
        let answer = function_answer(self.case, prediction);
        let mut metrics = match &self.kind {
            ScorerKind::Find { question, language, compared, code } => {
                let score = |needles, mode| {
                    repoqa::score(*language, &question.name, &answer, needles, mode, Rules::Paper)
                };
                let with_comments = score(compared, CommentMode::Compare);
                let without = score(code, CommentMode::Ignore);
                let asked = question.candidates.iter().find(|candidate| candidate.name == question.name);
                let truth = asked.map_or("", |candidate| &candidate.code);
                let mut metrics = agreement(&with_comments.sanitized, truth);
                metrics.insert(Metric::FunctionFound, flag(with_comments.passes(PUBLISHED_THRESHOLD)));
                metrics.insert(Metric::FunctionSimilarity, right_similarity(&with_comments));
                metrics.insert(Metric::FunctionSimilarityCode, right_similarity(&without));
                metrics
            }
            ScorerKind::Write { truth } => {
                let generation = read_generation(Some(&answer), Rules::Paper);
                let pair = [GenerationPair { prediction: &generation, truth }];
                let mut metrics = agreement(&generation, truth);
                metrics.insert(Metric::GenerationExact, percent(exact_match(&pair)));
                let similarity = edit_similarity(&pair, Similarity::Difflib);
                metrics.insert(Metric::GenerationSimilarity, percent(similarity));
                metrics
            }
        };
        let is_in_time = !prediction.has_failed() && !prediction.late;
        let is_exact = metrics.get(&Metric::ExactMatch) == Some(&flag(true));
        metrics.insert(Metric::InTime, flag(is_in_time));
        metrics.insert(Metric::ExactInTime, flag(is_in_time && is_exact));
        metrics
    }

    /// Returns the score of an answer by the original's rules; `None` if the function is to be written.
    pub(crate) fn find_score(&self, prediction: &Prediction, mode: CommentMode) -> Option<FindScore> {
        let ScorerKind::Find { question, language, compared, code } = &self.kind else { return None };
        let needles = if mode == CommentMode::Compare { compared } else { code };
        let answer = function_answer(self.case, prediction);
        Some(repoqa::score(*language, &question.name, &answer, needles, mode, Rules::Paper))
    }
}

/// Returns the original code of the function to be written.
pub(crate) fn original_code(case: &Case, question: &WriteFunction) -> String {
    [question.header.as_str(), &case.truth].concat()
}

fn prepared(question: &FindFunction, language: Language, mode: CommentMode) -> Vec<PreparedNeedle> {
    let candidates = question.candidates.iter();
    candidates
        .map(|candidate| {
            PreparedNeedle::new(language, Needle { name: &candidate.name, code: &candidate.code }, mode)
        })
        .collect()
}

/// Returns how far the code agrees with the original, by the metrics of completions.
fn agreement(code: &str, truth: &str) -> Metrics {
    let similarity = Similarity::Indel.ratio(python::strip(code), python::strip(truth));
    Metrics::from([
        (Metric::ExactMatch, flag(cceval::exact_match(code, truth))),
        (Metric::EditSimilarity, MetricValue::Value(similarity)),
    ])
}

/// Returns the similarity if the right function was found, so that every threshold can be applied to it.
fn right_similarity(score: &FindScore) -> MetricValue {
    MetricValue::Value(if score.is_right { score.best_similarity() } else { 0.0 })
}

fn flag(holds: bool) -> MetricValue {
    MetricValue::Value(f64::from(u8::from(holds)))
}

fn percent(value: f64) -> MetricValue {
    MetricValue::Value(value / 100.0)
}
