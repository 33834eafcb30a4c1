//! The tables of a run's answers to imported functions.

use cases::{Case, Task};

use super::case::category;
use super::generation_sheet::{YablocoFunction, YablocoGenerations};
use crate::Rules;
use crate::function_tasks::{function_answer, original_code};
use crate::run_tables::RunAnswersOf;
use crate::score_sheet::ScoreSheet;

/// Returns the tables of [`YablocoGenerations::sheet`] for all answers of an engine: a repetition is a further generation.
pub(crate) fn run_sheet(cases: &[&Case], answers: &RunAnswersOf<'_>, rules: Rules) -> ScoreSheet {
    let mut generations = YablocoGenerations::default();
    let mut functions = Vec::new();
    for case in cases {
        let (Some(question), Some(key)) = (case.write_function(), &case.origin.benchmark_id) else {
            continue;
        };
        let Task::WriteFunction(scope) = case.task else { continue };
        functions.push(YablocoFunction {
            key: key.clone(),
            repository: case.origin.repository.clone().unwrap_or_default(),
            category: scope.map(category),
            code: original_code(case, question),
        });
        let texts: Vec<String> =
            answers.all(case).map(|answer| function_answer(case, answer).into_owned()).collect();
        if !texts.is_empty() {
            generations.add(key, texts);
        }
    }
    generations.sheet(&functions, rules)
}
