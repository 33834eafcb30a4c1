//! The embedded engine as an [`Engine`]: the model of `builtin`, run where it blocks nobody.

use builtin::{Completion, Hint, Settings};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

use crate::{Answer, Description, Engine, Error, Finish, Kind, Request, Sink};

/// The engine that needs nothing installed.
#[derive(Clone, Debug)]
pub struct BuiltinEngine {
    description: Description,
    settings: Settings,
}

impl BuiltinEngine {
    /// The engine under the user's name for it.
    pub fn new(name: &str, settings: Settings) -> BuiltinEngine {
        let model = settings.method.name().to_owned();
        let description =
            Description { name: name.to_owned(), kind: Kind::Builtin, model, settings: settings.describe() };
        BuiltinEngine { description, settings }
    }

    /// Nothing is kept back from who asked for it.
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
        let completion = completion.filter(|_| !cancel.is_cancelled()).ok_or(Error::Cancelled)?;
        let stopped = !completion.text.is_empty() && sink.text(&completion.text).is_break();
        Ok(answer(&completion, stopped))
    }
}

/// The message of a panic is left out, because it may quote the document.
fn failure(engine: &str, error: &JoinError) -> Error {
    if error.is_cancelled() {
        return Error::Cancelled;
    }
    Error::Failed { engine: engine.to_owned(), message: "it stopped by a defect".to_owned() }
}

/// `None` when the request was cancelled before anything was written.
fn compute(request: &Request, settings: &Settings, running: &CancellationToken) -> Option<Completion> {
    let corpus = request.corpus.as_ref()?;
    // The model takes the last hint as the nearest.
    let hints: Vec<Hint<'_>> =
        request.context.iter().rev().map(|item| Hint { path: &item.path, text: &item.text }).collect();
    let mut keep_going = || !running.is_cancelled();
    let view = corpus.view(request.prefix(), request.suffix(), &hints, &mut keep_going)?;
    Some(view.complete(settings, &mut keep_going))
}

fn answer(completion: &Completion, stopped: bool) -> Answer {
    let finish = match (stopped, completion.stop) {
        (true, _) => Finish::Complete,
        (false, builtin::StopReason::TokenLimit) => Finish::Length,
        (false, _) => Finish::Stop,
    };
    Answer {
        finish,
        confidence: Some(completion.min_probability),
        usage: None,
        timings: None,
        refusals: 0,
        silence: completion.text.is_empty().then(|| completion.stop.name()),
    }
}

impl Engine for BuiltinEngine {
    fn description(&self) -> &Description {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        true
    }

    /// It reads the whole workspace, in which everything stands that could be chosen for it. Context that a case brings it takes.
    fn reads_context(&self) -> bool {
        false
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
        assert_eq!(failure("builtin", &error).to_string(), "engine `builtin` failed: it stopped by a defect");
    }
}
