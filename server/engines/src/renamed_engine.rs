//! An engine under another name: the same engine, asked in two ways.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::{
    Answer, Engine, EngineDescription, EngineError, EngineInfo, FunctionTask, Request, Sink, TaskForm,
};

/// Returns the engine under another name, sharing its child process or connection.
pub fn with_name(engine: Arc<dyn Engine>, name: &str) -> Arc<dyn Engine> {
    let description = EngineDescription { name: name.to_owned(), ..engine.description().clone() };
    Arc::new(RenamedEngine { description, engine })
}

struct RenamedEngine {
    description: EngineDescription,
    engine: Arc<dyn Engine>,
}

impl Engine for RenamedEngine {
    fn description(&self) -> &EngineDescription {
        &self.description
    }

    fn reads_workspace(&self) -> bool {
        self.engine.reads_workspace()
    }

    fn reads_context(&self) -> bool {
        self.engine.reads_context()
    }

    fn has_alternatives(&self) -> bool {
        self.engine.has_alternatives()
    }

    fn task_form(&self, task: &FunctionTask) -> TaskForm {
        self.engine.task_form(task)
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: Sink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        self.engine.complete(request, sink, cancel)
    }

    fn count_tokens<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Option<usize>> {
        self.engine.count_tokens(text)
    }

    fn probe(&self) -> BoxFuture<'_, Result<EngineInfo, EngineError>> {
        self.engine.probe()
    }
}
