//! The embedded engine as an [`Engine`]: runs the model of `builtin` on a blocking thread.

use builtin::{BuiltinSettings, Completion, MaskedCorpus, RecentTyping, TokenOrigin};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use crate::{
    Alternative, Answer, AnswerListener, Engine, EngineDescription, EngineError, EngineKind, ExplainedToken,
    FinishReason, FunctionTask, PromptInput, Request, TaskForm, TokenExplanation,
};

/// The embedded engine. Needs no installation.
#[derive(Clone, Debug)]
pub struct BuiltinEngine {
    description: EngineDescription,
    settings: BuiltinSettings,
}

impl BuiltinEngine {
    /// Creates the engine under a user-defined name.
    pub fn new(name: &str, settings: BuiltinSettings) -> BuiltinEngine {
        let model = settings.method.name().to_owned();
        let description = EngineDescription {
            name: name.to_owned(),
            kind: EngineKind::Builtin,
            model,
            settings: settings.describe(),
        };
        BuiltinEngine { description, settings }
    }

    /// An explicit invocation gets every answer, uncertain ones included.
    fn settings_for(&self, request: &Request) -> BuiltinSettings {
        if request.invoked {
            BuiltinSettings { min_probability: None, min_continuation: None, ..self.settings }
        } else {
            self.settings
        }
    }

    async fn run(
        &self,
        request: Request,
        sink: &mut dyn AnswerListener,
        cancel: &CancellationToken,
    ) -> Result<Answer, EngineError> {
        let name = &self.description.name;
        let is_search = request.function.as_ref().is_some_and(|task| task.search.is_some());
        if request.corpus.is_none() && !is_search {
            return Err(EngineError::NeedsWorkspace { engine: name.clone() });
        }
        let settings = self.settings_for(&request);
        // The child is cancelled with the request and, through the guard, when this future is dropped.
        let running = cancel.child_token();
        let _stop_when_dropped = running.clone().drop_guard();
        let task = tokio::task::spawn_blocking(move || compute(&request, &settings, &running));
        let completion = task.await.map_err(|error| failure(name, &error))?;
        let made = completion.filter(|_| !cancel.is_cancelled()).ok_or(EngineError::Cancelled)?;
        let text = &made.completion.text;
        let stopped = !text.is_empty() && sink.text(text).is_break();
        Ok(answer(made, stopped))
    }
}

/// Omits the panic message, because it may quote the document.
fn failure(engine: &str, error: &JoinError) -> EngineError {
    if error.is_cancelled() {
        return EngineError::Cancelled;
    }
    EngineError::Failed { engine: engine.to_owned(), message: "it panicked".to_owned() }
}

/// The model's output for a request.
struct ComputedCompletion {
    completion: Completion,
    explanation: Option<TokenExplanation>,
    alternatives: Vec<Alternative>,
}

impl ComputedCompletion {
    /// A text without origin and alternatives.
    fn of_text(text: String) -> ComputedCompletion {
        ComputedCompletion {
            completion: Completion::of_text(text),
            explanation: None,
            alternatives: Vec::new(),
        }
    }
}

/// Returns code as the block of a chat's answer.
fn fenced(code: &str) -> String {
    format!("```\n{code}\n```\n")
}

/// Completions that a function's body is made of at most.
const MAX_STATEMENTS: usize = 32;

/// Writes the body at the cursor, completion after completion with a line break between them, until nothing is to be added; then closes
/// its block. `None` if the request was cancelled.
fn write_function(
    corpus: &MaskedCorpus,
    input: &PromptInput,
    settings: &BuiltinSettings,
    running: &CancellationToken,
) -> Option<String> {
    let mut keep_going = || !running.is_cancelled();
    let mut before = input.prefix().to_owned();
    let start = before.len();
    for _ in 0..MAX_STATEMENTS {
        let typing = RecentTyping::default();
        let view = corpus.view(&before, input.suffix(), &input.context, &typing, &mut keep_going)?;
        let completion = view.complete(settings, &mut keep_going);
        if running.is_cancelled() {
            return None;
        }
        if completion.text.is_empty() {
            break;
        }
        before.push_str(&completion.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        let indentation = line[..line.len() - line.trim_start().len()].to_owned();
        before.push('\n');
        before.push_str(&indentation);
    }
    let body = before[start..].trim_end();
    let opens = input.language.has_brace_blocks() && input.prefix().trim_end().ends_with('{');
    let is_open = opens && body.matches('{').count() >= body.matches('}').count();
    Some(if is_open { format!("{body}\n}}") } else { body.to_owned() })
}

/// Returns `None` if the request was cancelled before any text was produced.
fn compute(
    request: &Request,
    settings: &BuiltinSettings,
    running: &CancellationToken,
) -> Option<ComputedCompletion> {
    if let Some(FunctionTask { search: Some(search), .. }) = &request.function {
        let found = builtin::find_function(request.input.language, &search.code, &search.description);
        return Some(ComputedCompletion::of_text(found.map_or_else(String::new, fenced)));
    }
    let corpus = request.corpus.as_ref()?;
    let Request { input, recent_edits, .. } = request;
    if request.function.is_some() {
        return write_function(corpus, input, settings, running).map(ComputedCompletion::of_text);
    }
    let mut keep_going = || !running.is_cancelled();
    let view = corpus.view(input.prefix(), input.suffix(), &input.context, recent_edits, &mut keep_going)?;
    let completion = view.complete(settings, &mut keep_going);
    let others = match request.invoked {
        true => view.alternatives(settings, &completion, &mut keep_going),
        false => Vec::new(),
    };
    let explain =
        |completion: &Completion| request.explain.then(|| explanation(completion, view.origins(completion)));
    let alternative = |other: Completion| Alternative {
        explanation: explain(&other),
        confidence: Some(other.trust),
        text: other.text,
    };
    let explanation = explain(&completion);
    Some(ComputedCompletion {
        completion,
        explanation,
        alternatives: others.into_iter().map(alternative).collect(),
    })
}

fn explanation(completion: &Completion, origins: Vec<TokenOrigin>) -> TokenExplanation {
    let tokens = completion.tokens.iter().zip(origins).map(|(token, origin)| ExplainedToken {
        range: token.range.clone(),
        text: token.text.clone(),
        probability: token.probability,
        origin,
    });
    TokenExplanation {
        tokens: tokens.collect(),
        ending: completion.stop.name(),
        figures: completion.figures(),
    }
}

fn answer(made: ComputedCompletion, stopped: bool) -> Answer {
    let ComputedCompletion { completion, explanation, alternatives } = made;
    let finish = match (stopped, completion.stop) {
        (true, _) => FinishReason::Complete,
        (false, builtin::StopReason::TokenLimit) => FinishReason::Length,
        (false, _) => FinishReason::Stop,
    };
    Answer {
        confidence: Some(completion.trust),
        silence: completion.text.is_empty().then(|| completion.stop.name()),
        explanation,
        alternatives,
        ..Answer::with_finish(finish)
    }
}

impl Engine for BuiltinEngine {
    fn description(&self) -> &EngineDescription {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        true
    }

    /// Always false: the engine already reads the whole workspace, which contains everything retrieval could choose. Retrieval
    /// for the first uses of other files' names, where it helps most, gains 0.4 points of edit similarity and no exact match at
    /// any weight, and takes longer than a statement (`docs/benchmarks.md`, retrieval). Context that a case brings is used.
    fn reads_context(&self) -> bool {
        false
    }

    fn has_alternatives(&self) -> bool {
        true
    }

    fn task_form(&self, task: &FunctionTask) -> TaskForm {
        if task.search.is_some() { TaskForm::Retrieval } else { TaskForm::FillIn }
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        self.run(request, sink, cancel).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_reported_without_the_code_that_it_quotes() {
        let task = tokio::task::spawn_blocking(|| panic!("byte 3 is inside 'ß' of `straße = 1`"));
        let error: JoinError = task.await.expect_err("the task panics");
        assert_eq!(failure("builtin", &error).to_string(), "engine `builtin` failed: it panicked");
    }
}
