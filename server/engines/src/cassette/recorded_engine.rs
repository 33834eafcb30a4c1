//! A cassette for engines that are not HTTP servers: records the request and the answer's text.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use text::Snippet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{CanonicalRequest, Cassette, EngineCassette, EngineReply, RecordedReply, ReplyPiece};
use crate::{
    Answer, AnswerListener, Engine, EngineDescription, EngineError, FinishReason, FunctionTask, Request,
    TaskForm,
};

/// Wraps an engine with a cassette: it is queried, and the resources for that are started, only for requests that are not
/// recorded. For engines whose answers follow from their description and the request; an engine that reads the workspace is
/// returned unchanged.
///
/// Engines behind HTTP record their actual HTTP requests: [`crate::HttpEngine::with_cassette`].
pub fn recorded(engine: Arc<dyn Engine>, cassette: &Arc<Cassette>) -> Arc<dyn Engine> {
    if engine.reads_workspace() {
        return engine;
    }
    let tape = EngineCassette::new(Arc::clone(cassette), &engine.description().name);
    Arc::new(RecordedEngine { engine, cassette: tape })
}

struct RecordedEngine {
    engine: Arc<dyn Engine>,
    cassette: EngineCassette,
}

impl RecordedEngine {
    async fn answer(
        &self,
        request: Request,
        sink: &mut dyn AnswerListener,
        cancel: &CancellationToken,
    ) -> Result<Answer, EngineError> {
        let form = self.canonical_form(&request);
        let mut shown = form.clone();
        // A command's arguments may contain passwords; the hash is enough to find the row.
        shown.as_object_mut().and_then(|shown| shown.remove("settings"));
        let canonical =
            CanonicalRequest::new(self.cassette.engine(), &form, shown).about(Some((&request).into()));
        match self.cassette.find(&canonical).map_err(|miss| self.error(miss))? {
            Some(reply) => self.replay(&reply, sink),
            None => {
                let mut recording = RecordingListener { sink, start: Instant::now(), pieces: Vec::new() };
                let answer = self.engine.complete(request, &mut recording, cancel).await?;
                let (finish, tokens) = (answer.finish, answer.usage.map(Into::into));
                let edits = answer.edits.iter().cloned().map(Into::into).collect();
                let response = EngineReply { pieces: recording.pieces, edits, finish, tokens };
                self.cassette.record(canonical, RecordedReply::Engine(response));
                // A recording contains one text, and recorded and replayed answers must be the same.
                Ok(Answer { alternatives: Vec::new(), ..answer })
            }
        }
    }

    fn canonical_form(&self, request: &Request) -> Value {
        let EngineDescription { name: _, kind, model, settings } = self.engine.description();
        let item = |item: &Snippet| json!({"path": *item.path, "text": item.text});
        json!({
            "kind": kind.name(),
            "model": model,
            "settings": settings,
            "path": *request.input.path,
            "language": request.input.language.name(),
            "prefix": request.input.prefix(),
            "suffix": request.input.suffix(),
            "context": request.input.context.iter().map(item).collect::<Vec<_>>(),
            "invoked": request.invoked,
        })
    }

    fn replay(&self, reply: &RecordedReply, sink: &mut dyn AnswerListener) -> Result<Answer, EngineError> {
        let RecordedReply::Engine(response) = reply else {
            let message =
                "the cassette has a server's answer to this request, but the engine is not a server"
                    .to_owned();
            return Err(EngineError::Failed { engine: self.description().name.clone(), message });
        };
        let answer = Answer {
            edits: response.edits.iter().cloned().map(Into::into).collect(),
            usage: response.tokens.map(Into::into),
            ..Answer::with_finish(response.finish)
        };
        for ReplyPiece { ms, text } in &response.pieces {
            sink.replayed(ms.and_then(milliseconds));
            if sink.text(text).is_break() {
                return Ok(Answer { finish: FinishReason::Complete, ..answer });
            }
        }
        if response.finish == FinishReason::Complete {
            return Err(self.error(self.cassette.ends_early_miss()));
        }
        Ok(answer)
    }

    fn error(&self, miss: super::CassetteMiss) -> EngineError {
        self.cassette.count_miss();
        EngineError::NotRecorded { engine: self.description().name.clone(), miss }
    }
}

impl Engine for RecordedEngine {
    fn description(&self) -> &EngineDescription {
        self.engine.description()
    }

    fn reads_workspace(&self) -> bool {
        self.engine.reads_workspace()
    }

    fn reads_context(&self) -> bool {
        self.engine.reads_context()
    }

    fn task_form(&self, task: &FunctionTask) -> TaskForm {
        self.engine.task_form(task)
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        self.answer(request, sink, cancel).boxed()
    }
}

/// Forwards the text, and records it.
struct RecordingListener<'a> {
    sink: &'a mut dyn AnswerListener,
    start: Instant,
    pieces: Vec<ReplyPiece>,
}

impl AnswerListener for RecordingListener<'_> {
    fn prompt(&mut self, prompt: &str) {
        self.sink.prompt(prompt);
    }

    fn raw_text(&mut self, piece: &str) -> ControlFlow<()> {
        self.sink.raw_text(piece)
    }

    fn text(&mut self, piece: &str) -> ControlFlow<()> {
        let ms = Some(super::rounded_ms(self.start.elapsed()));
        self.pieces.push(ReplyPiece { ms, text: piece.to_owned() });
        self.sink.text(piece)
    }
}

/// Converts a number of milliseconds to a duration; `None` if invalid.
pub(crate) fn milliseconds(ms: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(ms / 1e3).ok()
}
