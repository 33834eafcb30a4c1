//! Engines that are counted while they work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::{Answer, Description, Engine, Error, Introduction, Request, Sink};

/// How many questions engines are working on.
#[derive(Clone, Debug, Default)]
pub struct Busy(Arc<AtomicUsize>);

impl Busy {
    /// The number right now.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// An engine whose questions are counted, however they end.
    pub fn counting(&self, engine: Arc<dyn Engine>) -> Arc<dyn Engine> {
        Arc::new(Counted { engine, busy: self.clone() })
    }

    /// Counts a question until what is returned is dropped.
    pub(crate) fn begin(&self) -> Question<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Question(&self.0)
    }
}

/// One question under way.
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
