//! Counts the requests that engines are working on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::{Answer, Description, Engine, Error, Introduction, Request, Sink};

/// Number of requests in progress.
#[derive(Clone, Debug, Default)]
pub struct Busy(Arc<AtomicUsize>);

impl Busy {
    /// Returns the current number.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Wraps an engine so that its requests are counted until they end, however they end.
    pub fn counting(&self, engine: Arc<dyn Engine>) -> Arc<dyn Engine> {
        Arc::new(Counted { engine, busy: self.clone() })
    }

    /// Counts a request until the returned guard is dropped.
    pub(crate) fn begin(&self) -> Question<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Question(&self.0)
    }
}

/// One request in progress.
pub(crate) struct Question<'a>(&'a AtomicUsize);

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Counted {
    engine: Arc<dyn Engine>,
    busy: Busy,
}

impl Engine for Counted {
    fn description(&self) -> &Description {
        self.engine.description()
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
        async move {
            let _question = self.busy.begin();
            self.engine.complete(request, sink, cancel).await
        }
        .boxed()
    }

    fn introduce(&self) -> BoxFuture<'_, Result<Introduction, Error>> {
        self.engine.introduce()
    }
}
