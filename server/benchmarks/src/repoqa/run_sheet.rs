//! The tables of a run's answers to imported functions.

use std::collections::BTreeMap;

use cases::{Case, ContextComments, FindFunction};
use rayon::prelude::*;

use super::aggregate::ThresholdCurve;
use super::output_scores::{NeedleDepth, depth_of};
use super::output_sheet::{CurveRows, differences, tables};
use crate::FunctionScorer;
use crate::ScoringRules;
use crate::run_tables::EngineAnswers;
use crate::score_sheet::ScoreSheet;

/// Row of the results of all languages, after their own.
const ALL_LANGUAGES: &str = "all";

/// Wanted size of contexts, and their comments.
type ContextKind = (usize, ContextComments);

/// Results with comments and without them.
type CurvePair = [ThresholdCurve; 2];

/// The result of an engine's answer to a case.
#[derive(Clone, Copy, Default)]
struct AnswerResult {
    curves: CurvePair,
    is_missing: bool,
    is_differently_read: bool,
}

/// Returns for each engine the tables of [`super::output_sheet()`] for its first answers. A case without an answer counts by the rules
/// for missing outputs. Contexts of different sizes and treatments of comments have rows of their own.
pub(crate) fn run_sheets(
    cases: &[&Case],
    engines: &[EngineAnswers<'_>],
    rules: ScoringRules,
) -> Vec<ScoreSheet> {
    let results: Vec<Option<Vec<AnswerResult>>> =
        cases.par_iter().map(|case| case_results(case, engines, rules)).collect();
    let scored = cases
        .iter()
        .zip(&results)
        .filter_map(|(case, results)| Some((*case, case.find_function()?, results.as_ref()?)));
    let scored: Vec<(&Case, &FindFunction, &Vec<AnswerResult>)> = scored.collect();
    let of_engine = |engine: usize| {
        let results = scored.iter().map(|&(case, question, results)| (case, question, results[engine]));
        engine_sheet(&results.collect::<Vec<_>>())
    };
    (0..engines.len()).map(of_engine).collect()
}

/// Scores the first answer of each engine; `None` for other tasks.
fn case_results(
    case: &Case,
    engines: &[EngineAnswers<'_>],
    rules: ScoringRules,
) -> Option<Vec<AnswerResult>> {
    let scorer = FunctionScorer::new(case)?;
    let missing = AnswerResult {
        curves: [ThresholdCurve::new([], usize::from(rules == ScoringRules::Paper)); 2],
        is_missing: true,
        is_differently_read: false,
    };
    let result = |answers: &EngineAnswers<'_>| {
        let Some(answer) = answers.first(case) else { return Some(missing) };
        let found = scorer.find_scores(answer, rules)?;
        Some(AnswerResult {
            curves: [0, 1].map(|mode| ThresholdCurve::new([&found.scores[mode]], 0)),
            is_missing: false,
            is_differently_read: found.is_read_differently,
        })
    };
    engines.iter().map(result).collect()
}

fn engine_sheet(results: &[(&Case, &FindFunction, AnswerResult)]) -> ScoreSheet {
    let mut rows: BTreeMap<(bool, &str, ContextKind), CurvePair> = BTreeMap::new();
    let mut depths: BTreeMap<NeedleDepth, ThresholdCurve> = BTreeMap::new();
    for (case, question, result) in results {
        let kind = (question.size, question.comments);
        for language in [(false, case.language.as_str()), (true, ALL_LANGUAGES)] {
            let sums = rows.entry((language.0, language.1, kind)).or_default();
            sums.iter_mut().zip(&result.curves).for_each(|(sum, curve)| sum.add(curve));
        }
        // The context may be smaller than wanted.
        if let Some(depth) = depth_of(question.tokens() as u64, question.depth) {
            depths.entry(depth).or_default().add(&result.curves[0]);
        }
    }
    let mut kinds: Vec<ContextKind> = rows.keys().map(|(_, _, kind)| *kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let named = |mode: usize| -> CurveRows {
        let row = |(&(_, language, kind), curves): (&(bool, &str, ContextKind), &CurvePair)| {
            let name = if kinds.len() == 1 { language.to_owned() } else { row_name(language, kind) };
            (name, curves[mode])
        };
        rows.iter().map(row).collect()
    };
    let count = |of: fn(&AnswerResult) -> bool| results.iter().filter(|(_, _, result)| of(result)).count();
    let missing = count(|result| result.is_missing);
    ScoreSheet {
        cases: results.len(),
        predictions: results.len() - missing,
        tables: tables([named(0), named(1)], &depths),
        differences: differences(missing, count(|result| result.is_differently_read)),
        ..ScoreSheet::default()
    }
}

fn row_name(language: &str, (size, comments): ContextKind) -> String {
    let comments = match comments {
        ContextComments::Kept => "",
        ContextComments::Padded => ", comments replaced",
        ContextComments::Removed => ", comments removed",
    };
    format!("{language}, {size} tokens{comments}")
}
