//! The embedded engine as an [`Engine`]: runs the model of `builtin` on a blocking thread.

use builtin::{Completion, Hint, Origin, Settings, Source};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use crate::{
    Alternative, Answer, Description, Engine, Error, ExplainedToken, Explanation, Finish, Kind, Request, Sink,
};

/// The embedded engine. Needs no installation.
#[derive(Clone, Debug)]
pub struct BuiltinEngine {
    description: Description,
    settings: Settings,
}

impl BuiltinEngine {
    /// Creates the engine under a user-defined name.
    pub fn new(name: &str, settings: Settings) -> BuiltinEngine {
        let model = settings.method.name().to_owned();
        let description =
            Description { name: name.to_owned(), kind: Kind::Builtin, model, settings: settings.describe() };
        BuiltinEngine { description, settings }
    }

    /// An explicit invocation gets every answer, uncertain ones included.
    fn settings_for(&self, request: &Request) -> Settings {
        if request.invoked {
            Settings { min_probability: None, min_continuation: None, ..self.settings }
        } else {
            self.settings
        }
    }

    async fn run(
        &self,
        request: Request,
        sink: Sink<'_>,
        cancel: &CancellationToken,
    ) -> Result<Answer, Error> {
        let name = &self.description.name;
        if request.corpus.is_none() {
            return Err(Error::NeedsWorkspace { engine: name.clone() });
        }
        let settings = self.settings_for(&request);
        // The child is cancelled with the request and, through the guard, when this future is dropped.
        let running = cancel.child_token();
        let _stop_when_dropped = running.clone().drop_guard();
        let task = tokio::task::spawn_blocking(move || compute(&request, &settings, &running));
        let completion = task.await.map_err(|error| failure(name, &error))?;
        let made = completion.filter(|_| !cancel.is_cancelled()).ok_or(Error::Cancelled)?;
        let text = &made.completion.text;
        let stopped = !text.is_empty() && sink.text(text).is_break();
        Ok(answer(made, stopped))
    }
}

/// Omits the panic message, because it may quote the document.
fn failure(engine: &str, error: &JoinError) -> Error {
    if error.is_cancelled() {
        return Error::Cancelled;
    }
    Error::Failed { engine: engine.to_owned(), message: "it panicked".to_owned() }
}

/// The model's output for a request.
struct Made {
    completion: Completion,
    explanation: Option<Explanation>,
    alternatives: Vec<Alternative>,
}

/// Returns `None` if the request was cancelled before any text was produced.
fn compute(request: &Request, settings: &Settings, running: &CancellationToken) -> Option<Made> {
    let corpus = request.corpus.as_ref()?;
    // The model treats the last hint as the nearest.
    let hints: Vec<Hint<'_>> =
        request.context.iter().rev().map(|item| Hint { path: &item.path, text: &item.text }).collect();
    let mut keep_going = || !running.is_cancelled();
    let view = corpus.view(request.prefix(), request.suffix(), &hints, &mut keep_going)?;
    let completion = view.complete(settings, &mut keep_going);
    let others = match request.invoked {
        true => view.alternatives(settings, &completion, &mut keep_going),
        false => Vec::new(),
    };
    let explain = |completion: &Completion| {
        request.explain.then(|| explanation(completion, view.origins(completion), hints.len()))
    };
    let alternative = |other: Completion| Alternative {
        explanation: explain(&other),
        confidence: Some(other.trust),
        text: other.text,
    };
    let explanation = explain(&completion);
    Some(Made { completion, explanation, alternatives: others.into_iter().map(alternative).collect() })
}

fn explanation(completion: &Completion, origins: Vec<Origin>, hints: usize) -> Explanation {
    let tokens = completion.tokens.iter().zip(origins).map(|(token, origin)| ExplainedToken {
        range: token.range.clone(),
        text: token.text.clone(),
        probability: token.probability,
        origin: in_request(origin, hints),
    });
    Explanation { tokens: tokens.collect(), ending: completion.stop.name(), figures: completion.figures() }
}

/// Converts a hint's number to the request's order, nearest first.
fn in_request(origin: Origin, hints: usize) -> Origin {
    let source = match origin.source {
        Source::Hint(hint) => Source::Hint(hints - 1 - hint),
        source => source,
    };
    Origin { source, ..origin }
}

fn answer(made: Made, stopped: bool) -> Answer {
    let Made { completion, explanation, alternatives } = made;
    let finish = match (stopped, completion.stop) {
        (true, _) => Finish::Complete,
        (false, builtin::StopReason::TokenLimit) => Finish::Length,
        (false, _) => Finish::Stop,
    };
    Answer {
        finish,
        confidence: Some(completion.trust),
        usage: None,
        timings: None,
        refusals: 0,
        silence: completion.text.is_empty().then(|| completion.stop.name()),
        explanation,
        alternatives,
    }
}

impl Engine for BuiltinEngine {
    fn description(&self) -> &Description {
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

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: Sink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
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
