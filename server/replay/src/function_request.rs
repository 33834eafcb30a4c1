//! Requests of cases without a cursor.

use cases::{AnswerForm, Case};
use completion::FunctionRequest;
use engines::{FunctionSearch, TaskForm};
use syntax::Language;

use crate::case_snapshot::snippet;

/// Returns the request of a case without a cursor; `None` for completions.
pub(crate) fn function_request(case: &Case) -> Option<FunctionRequest> {
    let language =
        Language::from_name(&case.language).expect("suites with other languages are rejected on reading");
    let prompts = benchmarks::function_prompts(case, language)?;
    let search = case.find_function().map(|question| FunctionSearch {
        code: [case.prefix.as_str(), &case.truth, &case.suffix].concat().into(),
        description: question.description.as_str().into(),
    });
    Some(FunctionRequest {
        path: case.path.as_str().into(),
        language,
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
