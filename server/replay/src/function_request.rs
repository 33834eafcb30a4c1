//! Requests of cases without a cursor.

use benchmarks::FunctionPrompts;
use cases::{AnswerForm, Case};
use completion::FunctionRequest;
use engines::{FunctionSearch, TaskForm};
use syntax::Language;

use crate::case_snapshot::snippet;

fn language(case: &Case) -> Language {
    Language::from_name(&case.language).expect("suites with other languages are rejected on reading")
}

/// Returns the prompts of a case without a cursor; `None` for completions.
pub(crate) fn function_prompts(case: &Case) -> Option<FunctionPrompts> {
    benchmarks::function_prompts(case, language(case))
}

/// Returns the request of a case without a cursor; `None` for completions.
pub(crate) fn function_request(case: &Case) -> Option<FunctionRequest> {
    let prompts = function_prompts(case)?;
    let search = case.find_function().map(|question| FunctionSearch {
        code: [case.prefix.as_str(), &case.truth, &case.suffix].concat().into(),
        description: question.description.as_str().into(),
    });
    Some(FunctionRequest {
        path: case.path.as_str().into(),
        language: language(case),
        prompt: prompts.chat.into(),
        code: prompts.code.into(),
        context: case.context.iter().map(snippet).collect(),
        search,
    })
}

/// Returns the stored form of how a task was put to an engine.
pub(crate) fn answer_form(form: TaskForm) -> AnswerForm {
    match form {
        TaskForm::Chat => AnswerForm::Chat,
        TaskForm::FillIn => AnswerForm::FillIn,
        TaskForm::Retrieval => AnswerForm::Retrieval,
    }
}
