//! An engine that is asked through another type: all that the type does not change is the inner engine's.

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::{
    Answer, AnswerListener, Engine, EngineDescription, EngineError, EngineInfo, FunctionTask, Request,
    TaskForm,
};

/// Wraps an engine; implementing it makes the type an [`Engine`].
pub trait EngineWrapper: Send + Sync {
    /// Returns the engine that answers.
    fn inner(&self) -> &dyn Engine;

    /// Returns its description.
    fn description(&self) -> &EngineDescription {
        self.inner().description()
    }

    /// Answers one request.
    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        self.inner().complete(request, sink, cancel)
    }
}

impl<W: EngineWrapper> Engine for W {
    fn description(&self) -> &EngineDescription {
        EngineWrapper::description(self)
    }

    fn reads_workspace(&self) -> bool {
        self.inner().reads_workspace()
    }

    fn reads_context(&self) -> bool {
        self.inner().reads_context()
    }

    fn has_alternatives(&self) -> bool {
        self.inner().has_alternatives()
    }

    fn task_form(&self, task: &FunctionTask) -> TaskForm {
        self.inner().task_form(task)
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        EngineWrapper::complete(self, request, sink, cancel)
    }

    fn count_tokens<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Option<usize>> {
        self.inner().count_tokens(text)
    }

    fn probe(&self) -> BoxFuture<'_, Result<EngineInfo, EngineError>> {
        self.inner().probe()
    }
}
