//! An engine under another name: the same engine, asked in two ways.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::{Answer, Description, Engine, Error, Introduction, Request, Sink};

/// Returns the engine under another name, sharing its child process or connection.
pub fn renamed(engine: Arc<dyn Engine>, name: &str) -> Arc<dyn Engine> {
    let description = Description { name: name.to_owned(), ..engine.description().clone() };
    Arc::new(Renamed { description, engine })
}

struct Renamed {
    description: Description,
    engine: Arc<dyn Engine>,
}

impl Engine for Renamed {
    fn description(&self) -> &Description {
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

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: Sink<'a>,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Error>> {
        self.engine.complete(request, sink, cancel)
    }

    fn introduce(&self) -> BoxFuture<'_, Result<Introduction, Error>> {
        self.engine.introduce()
    }
}
