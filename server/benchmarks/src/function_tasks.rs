//! The tasks without a cursor, `find_function` and `write_function`: their prompts, and the scores of answers.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use cases::{
    AnswerForm, Case, FindFunction, FunctionQuestion, Metric, MetricValue, Metrics, Prediction, WriteFunction,
};
use scoring::cceval;
use scoring::similarity::Similarity;
use syntax::Language;
use text::python;

use crate::ScoringRules;
use crate::repoqa::{self, AnswerScores, FindScore, Needle, Needles};
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

/// Scores the answers to one case without a cursor. Everything that depends on the case only is computed once, and equal answers are
/// scored once.
pub struct FunctionScorer<'a> {
    case: &'a Case,
    kind: ScorerKind<'a>,
    /// Metrics by answer, without those of time.
    scored: RefCell<HashMap<String, Metrics>>,
}

enum ScorerKind<'a> {
    Find(Box<FindScorer<'a>>),
    Write { truth: String },
}

/// A function to find with the functions that an answer is compared with.
struct FindScorer<'a> {
    question: &'a FindFunction,
    needles: Needles,
}

impl<'a> FindScorer<'a> {
    fn new(question: &'a FindFunction, language: Language) -> FindScorer<'a> {
        let candidates = question.candidates.iter();
        let needles = candidates.map(|candidate| Needle { name: &candidate.name, code: &candidate.code });
        FindScorer { question, needles: Needles::new(language, needles) }
    }

    fn metrics(&self, answer: &str) -> Metrics {
        let AnswerScores { code, scores: [with_comments, without], .. } =
            self.needles.score(&self.question.name, answer, ScoringRules::Paper);
        let name = &self.question.name;
        let asked = self.question.candidates.iter().find(|candidate| candidate.name == *name);
        let truth = asked.map_or("", |candidate| &candidate.code);
        let mut metrics = agreement(&code, truth);
        metrics.insert(Metric::FunctionFound, flag(with_comments.passes(PUBLISHED_THRESHOLD)));
        metrics.insert(Metric::FunctionSimilarity, right_similarity(&with_comments));
        metrics.insert(Metric::FunctionSimilarityCode, right_similarity(&without));
        metrics
    }
}

fn generation_metrics(answer: &str, truth: &str) -> Metrics {
    let generation = read_generation(Some(answer), ScoringRules::Paper);
    let pair = [GenerationPair { prediction: &generation, truth }];
    let mut metrics = agreement(&generation, truth);
    metrics.insert(Metric::GenerationExact, percent(exact_match(&pair)));
    metrics.insert(Metric::GenerationSimilarity, percent(edit_similarity(&pair, Similarity::Difflib)));
    metrics
}

impl<'a> FunctionScorer<'a> {
    /// Returns the scorer of a case; `None` for completions.
    pub fn new(case: &'a Case) -> Option<FunctionScorer<'a>> {
        let kind = match case.function.as_deref()? {
            FunctionQuestion::Find(question) => {
                let language = Language::from_name(&case.language)?;
                ScorerKind::Find(Box::new(FindScorer::new(question, language)))
            }
            FunctionQuestion::Write(question) => ScorerKind::Write { truth: original_code(case, question) },
        };
        Some(FunctionScorer { case, kind, scored: RefCell::default() })
    }

    /// Returns the metrics of an answer; a failure has the worst values.
    pub fn metrics(&self, prediction: &Prediction) -> Metrics {
        let answer = function_answer(self.case, prediction);
        let known = self.scored.borrow().get(&*answer).cloned();
        let mut metrics = known.unwrap_or_else(|| {
            let metrics = match &self.kind {
                ScorerKind::Find(scorer) => scorer.metrics(&answer),
                ScorerKind::Write { truth } => generation_metrics(&answer, truth),
            };
            self.scored.borrow_mut().insert(answer.into_owned(), metrics.clone());
            metrics
        });
        if prediction.has_failed() {
            metrics.values_mut().for_each(|value| *value = flag(false));
        }
        let is_in_time = !prediction.has_failed() && !prediction.late;
        let is_exact = metrics.get(&Metric::ExactMatch) == Some(&flag(true));
        metrics.insert(Metric::InTime, flag(is_in_time));
        metrics.insert(Metric::ExactInTime, flag(is_in_time && is_exact));
        metrics
    }

    /// Returns the number of different answers that were scored for [`FunctionScorer::metrics`].
    pub fn scored_answers(&self) -> usize {
        self.scored.borrow().len()
    }

    /// Returns the scores of an answer by the original's rules; `None` if the function is to be written.
    pub(crate) fn find_scores(&self, prediction: &Prediction, rules: ScoringRules) -> Option<AnswerScores> {
        let ScorerKind::Find(scorer) = &self.kind else { return None };
        let answer = function_answer(self.case, prediction);
        Some(scorer.needles.score(&scorer.question.name, &answer, rules))
    }
}

/// Returns the original code of the function to be written.
pub(crate) fn original_code(case: &Case, question: &WriteFunction) -> String {
    [question.header.as_str(), &case.truth].concat()
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
    MetricValue::Value(if score.is_right { score.similarity } else { 0.0 })
}

fn flag(holds: bool) -> MetricValue {
    MetricValue::Value(f64::from(u8::from(holds)))
}

fn percent(value: f64) -> MetricValue {
    MetricValue::Value(value / 100.0)
}

#[cfg(test)]
mod tests {
    use cases::{CandidateFunction, ContextComments, EngineIdentity, Status, Task};
    use expect_test::expect;
    use scoring::SCORER_VERSION;

    use super::*;
    use crate::imported_case::{CaseParts, imported_case};

    const TRUTH: &str = "def half(n):\n    # Round down.\n    return n // 2";

    fn case(task: Task, function: FunctionQuestion) -> Case {
        let parts = CaseParts {
            benchmark: "x",
            id: "1",
            repository: None,
            task,
            language: Language::Python,
            block_kind: None,
            path: "a.py",
            prefix: "",
            suffix: "",
            truth: TRUTH,
            context: Vec::new(),
        };
        Case { function: Some(Box::new(function)), ..imported_case(parts).expect("a short prefix") }
    }

    fn find() -> Case {
        let candidate =
            |name: &str, code: &str| CandidateFunction { name: name.to_owned(), code: code.to_owned() };
        let question = FindFunction {
            description: "Halves a number.".to_owned(),
            name: "half".to_owned(),
            candidates: vec![candidate("half", TRUTH), candidate("twice", "def twice(n):\n    return n + n")],
            depth: 0.5,
            size: 100,
            tokens_before: 0,
            tokens_of_function: 10,
            tokens_after: 0,
            tokenizer: "estimate".to_owned(),
            comments: ContextComments::Kept,
        };
        case(Task::FindFunction, FunctionQuestion::Find(question))
    }

    fn write() -> Case {
        let question = WriteFunction {
            name: "half".to_owned(),
            signature: "def half(n)".to_owned(),
            documentation: "Halves a number.".to_owned(),
            header: String::new(),
        };
        case(Task::WriteFunction(None), FunctionQuestion::Write(question))
    }

    fn prediction(text: &str, status: Status) -> Prediction {
        let name = || "e".to_owned();
        let engine = EngineIdentity { name: name(), kind: name(), model: name(), fingerprint: name() };
        Prediction { text: text.to_owned(), ..Prediction::empty("1".to_owned(), engine, status) }
    }

    fn row(scorer: &FunctionScorer<'_>, text: &str, status: Status) -> String {
        let metrics = scorer.metrics(&prediction(text, status)).into_iter();
        let values = metrics.map(|(metric, value)| match value {
            MetricValue::Value(value) => format!("{metric} {value:.4}"),
            MetricValue::Ratio { num, den } => format!("{metric} {num}/{den}"),
        });
        values.collect::<Vec<_>>().join(" ")
    }

    /// If this fails, a metric changed: raise [`SCORER_VERSION`], so that stored scores are computed again.
    #[test]
    fn the_version_of_the_scorer_belongs_to_these_values() {
        let (find, write) = (find(), write());
        let fenced = format!("```python\n{TRUTH}\n```");
        let other = "```\ndef half(n):\n    return n / 2\n```";
        let mut rows = vec![format!("version {SCORER_VERSION}")];
        for case in [&find, &write] {
            let scorer = FunctionScorer::new(case).expect("a task without a cursor");
            rows.extend(
                [&fenced, other, "def twice(n):\n    return n + n"]
                    .map(|text| row(&scorer, text, Status::Ok)),
            );
            rows.push(row(&scorer, &fenced, Status::Timeout));
        }
        expect![[r#"
            version 2
            edit_similarity 1.0000 exact_in_time 1.0000 exact_match 1.0000 function_found 1.0000 function_similarity 1.0000 function_similarity_code 1.0000 in_time 1.0000
            edit_similarity 0.7532 exact_in_time 0.0000 exact_match 0.0000 function_found 0.0000 function_similarity 0.0000 function_similarity_code 0.5373 in_time 1.0000
            edit_similarity 0.5897 exact_in_time 0.0000 exact_match 0.0000 function_found 0.0000 function_similarity 0.0000 function_similarity_code 0.0000 in_time 1.0000
            edit_similarity 0.0000 exact_in_time 0.0000 exact_match 0.0000 function_found 0.0000 function_similarity 0.0000 function_similarity_code 0.0000 in_time 0.0000
            edit_similarity 1.0000 exact_in_time 1.0000 exact_match 1.0000 generation_exact 1.0000 generation_similarity 0.9800 in_time 1.0000
            edit_similarity 0.7532 exact_in_time 0.0000 exact_match 0.0000 generation_exact 0.0000 generation_similarity 0.7300 in_time 1.0000
            edit_similarity 0.5897 exact_in_time 0.0000 exact_match 0.0000 generation_exact 0.0000 generation_similarity 0.5800 in_time 1.0000
            edit_similarity 0.0000 exact_in_time 0.0000 exact_match 0.0000 generation_exact 0.0000 generation_similarity 0.0000 in_time 0.0000
        "#]].assert_eq(&(rows.join("\n") + "\n"));
    }

    #[test]
    fn equal_answers_are_scored_once() {
        let case = find();
        let scorer = FunctionScorer::new(&case).expect("a task without a cursor");
        for (text, status) in
            [(TRUTH, Status::Ok), (TRUTH, Status::Ok), (TRUTH, Status::Error), ("", Status::Silent)]
        {
            scorer.metrics(&prediction(text, status));
        }
        assert_eq!(scorer.scored_answers(), 2);
    }
}
