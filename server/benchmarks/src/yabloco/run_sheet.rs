//! The tables of a run's answers to imported functions.

use cases::{Case, Task};

use super::case::category;
use super::generation_sheet::{YablocoFunction, YablocoGenerations};
use crate::ScoringRules;
use crate::function_tasks::{function_answer, original_code};
use crate::run_tables::EngineAnswers;
use crate::score_sheet::ScoreSheet;

/// Returns for each engine the tables of [`YablocoGenerations::sheet`] for all its answers: a repetition is a further generation.
pub(crate) fn run_sheets(
    cases: &[&Case],
    engines: &[EngineAnswers<'_>],
    rules: ScoringRules,
) -> Vec<ScoreSheet> {
    let known: Vec<(&Case, YablocoFunction)> =
        cases.iter().filter_map(|case| Some((*case, function(case)?))).collect();
    let functions: Vec<YablocoFunction> = known.iter().map(|(_, function)| function.clone()).collect();
    let sheet = |answers: &EngineAnswers<'_>| {
        let mut generations = YablocoGenerations::default();
        for (case, function) in &known {
            let texts: Vec<String> =
                answers.all(case).map(|answer| function_answer(case, answer).into_owned()).collect();
            if !texts.is_empty() {
                generations.add(&function.key, texts);
            }
        }
        generations.sheet(&functions, rules)
    };
    engines.iter().map(sheet).collect()
}

fn function(case: &Case) -> Option<YablocoFunction> {
    let question = case.write_function()?;
    let Task::WriteFunction(scope) = case.task else { return None };
    Some(YablocoFunction {
        key: case.origin.benchmark_id.clone()?,
        repository: case.origin.repository.clone().unwrap_or_default(),
        category: scope.map(category),
        code: original_code(case, question),
    })
}
