//! A cassette for engines that are not HTTP servers: records the request and the answer's text.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Canonical, Cassette, Piece, Recorded, Said, Tape};
use crate::{Answer, ContextItem, Description, Engine, Error, Finish, Listener, Request, Sink};

/// Wraps an engine with a cassette: it is queried, and the resources for that are started, only for requests that are not
/// recorded. For engines whose answers follow from their description and the request; an engine that reads the workspace is
/// returned unchanged.
///
/// Engines behind HTTP record their actual HTTP requests: [`crate::HttpEngine::on_cassette`].
pub fn taped(engine: Arc<dyn Engine>, cassette: &Arc<Cassette>) -> Arc<dyn Engine> {
    if engine.reads_workspace() {
        return engine;
    }
    let tape = Tape::new(Arc::clone(cassette), &engine.description().name);
    Arc::new(Taped { engine, tape })
}

struct Taped {
    engine: Arc<dyn Engine>,
    tape: Tape,
}

impl Taped {
    async fn answer(
        &self,
        request: Request,
        sink: Sink<'_>,
        cancel: &CancellationToken,
    ) -> Result<Answer, Error> {
        let form = self.form(&request);
        let mut shown = form.clone();
        // A command's arguments may contain passwords; the hash is enough to find the row.
        shown.as_object_mut().and_then(|shown| shown.remove("settings"));
        let canonical = Canonical::new(self.tape.engine(), &form, shown).about(Some((&request).into()));
        match self.tape.find(&canonical).map_err(|miss| self.error(miss))? {
            Some(reply) => self.replay(&reply, sink),
            None => {
                let mut recording = Recording { sink, start: Instant::now(), pieces: Vec::new() };
                let answer = self.engine.complete(request, &mut recording, cancel).await?;
                let (finish, tokens) = (answer.finish, answer.usage.map(Into::into));
                let said = Said { pieces: recording.pieces, finish, tokens };
                self.tape.record(canonical, Recorded::Said(said));
                // A recording contains one text, and recorded and replayed answers must be the same.
                Ok(Answer { alternatives: Vec::new(), ..answer })
            }
        }
    }

    fn form(&self, request: &Request) -> Value {
        let Description { name: _, kind, model, settings } = self.engine.description();
        let item = |item: &ContextItem| json!({"path": item.path, "text": item.text});
        json!({
            "kind": kind.name(),
            "model": model,
            "settings": settings,
            "path": *request.path,
            "language": request.language,
            "prefix": request.prefix(),
            "suffix": request.suffix(),
            "context": request.context.iter().map(item).collect::<Vec<_>>(),
            "invoked": request.invoked,
        })
    }

    fn replay(&self, reply: &Recorded, sink: Sink<'_>) -> Result<Answer, Error> {
        let Recorded::Said(said) = reply else {
            let message =
                "the cassette has a server's answer to this request, but the engine is not a server"
                    .to_owned();
            return Err(Error::Failed { engine: self.description().name.clone(), message });
        };
        let answer = Answer { usage: said.tokens.map(Into::into), ..Answer::ended(said.finish) };
        for Piece { ms, text } in &said.pieces {
            sink.recorded(ms.and_then(milliseconds));
            if sink.text(text).is_break() {
                return Ok(Answer { finish: Finish::Complete, ..answer });
            }
        }
        if said.finish == Finish::Complete {
            return Err(self.error(self.tape.ends_early()));
        }
        Ok(answer)
    }

    fn error(&self, miss: super::Miss) -> Error {
        self.tape.count_miss();
        Error::NotRecorded { engine: self.description().name.clone(), miss }
    }
}

impl Engine for Taped {
    fn description(&self) -> &Description {
        self.engine.description()
    }

    fn reads_workspace(&self) -> bool {
        self.engine.reads_workspace()
    }

    fn reads_context(&self) -> bool {
        self.engine.reads_context()
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: Sink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        self.answer(request, sink, cancel).boxed()
    }
}

/// Forwards the text, and records it.
struct Recording<'a> {
    sink: Sink<'a>,
    start: Instant,
    pieces: Vec<Piece>,
}

impl Listener for Recording<'_> {
    fn prompt(&mut self, prompt: &str) {
        self.sink.prompt(prompt);
    }

    fn said(&mut self, piece: &str) -> ControlFlow<()> {
        self.sink.said(piece)
    }

    fn text(&mut self, piece: &str) -> ControlFlow<()> {
        let ms = Some(super::ms(self.start.elapsed()));
        self.pieces.push(Piece { ms, text: piece.to_owned() });
        self.sink.text(piece)
    }
}

/// Converts a number of milliseconds to a duration; `None` if invalid.
pub(crate) fn milliseconds(ms: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(ms / 1e3).ok()
}
