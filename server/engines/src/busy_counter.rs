//! Counts the requests that engines are working on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::engine_wrapper::EngineWrapper;
use crate::{Answer, AnswerListener, Engine, EngineError, Request};

/// Number of requests in progress.
#[derive(Clone, Debug, Default)]
pub struct BusyCounter(Arc<AtomicUsize>);

impl BusyCounter {
    /// Returns the current number.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Wraps an engine so that its requests are counted until they end, however they end.
    pub fn wrap(&self, engine: Arc<dyn Engine>) -> Arc<dyn Engine> {
        Arc::new(CountedEngine { engine, busy: self.clone() })
    }

    /// Counts a request until the returned guard is dropped.
    pub(crate) fn enter(&self) -> BusyGuard<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        BusyGuard(&self.0)
    }
}

/// One request in progress.
pub(crate) struct BusyGuard<'a>(&'a AtomicUsize);

impl Drop for BusyGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

struct CountedEngine {
    engine: Arc<dyn Engine>,
    busy: BusyCounter,
}

impl EngineWrapper for CountedEngine {
    fn inner(&self) -> &dyn Engine {
        &*self.engine
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        async move {
            let _question = self.busy.enter();
            self.engine.complete(request, sink, cancel).await
        }
        .boxed()
    }
}
