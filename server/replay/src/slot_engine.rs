//! An engine that frees the slot of its request as soon as it has answered: the next request is sent while the answer is cleaned.

use std::sync::{Mutex, PoisonError};

use engines::{Answer, AnswerListener, Engine, EngineError, EngineWrapper, Request};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

/// An engine for one request in a slot, which is free again when `S` is dropped.
pub(crate) struct SlotEngine<'a, S> {
    engine: &'a dyn Engine,
    /// Taken by the end of the answer. If that does not come, dropping the engine frees the slot.
    slot: Mutex<Option<S>>,
}

impl<'a, S: Send> SlotEngine<'a, S> {
    pub(crate) fn new(engine: &'a dyn Engine, slot: S) -> SlotEngine<'a, S> {
        SlotEngine { engine, slot: Mutex::new(Some(slot)) }
    }

    fn free(&self) {
        drop(self.slot.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl<S: Send> EngineWrapper for SlotEngine<'_, S> {
    fn inner(&self) -> &dyn Engine {
        self.engine
    }

    fn complete<'a>(
        &'a self,
        request: Request,
        sink: &'a mut dyn AnswerListener,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, EngineError>> {
        let answering = self.engine.complete(request, sink, cancel);
        Box::pin(async move {
            let answer = answering.await;
            self.free();
            // The request that waits for the slot is sent by this thread, before it cleans the answer.
            tokio::task::yield_now().await;
            answer
        })
    }
}
