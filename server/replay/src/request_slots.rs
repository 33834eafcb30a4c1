//! When a request may start: the slots of concurrent requests, the signal that ends a run, its limits, and the pace of its engines.

use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::plan::Attempt;
use crate::spend::{Reservation, SpendGuard};

/// Limits of the attempts beyond the concurrent requests whose request is being prepared or whose answer is being processed, as many as
/// there are concurrent requests: engines do not wait for either, even if answers come in bursts. Each holds the text of a file.
const FEWEST_ATTEMPTS_WITHOUT_REQUEST: usize = 8;
const MOST_ATTEMPTS_WITHOUT_REQUEST: usize = 64;

/// Signal to end a run early.
#[derive(Clone, Debug)]
pub struct StopSignal {
    no_new_requests: CancellationToken,
    abandon_pending: CancellationToken,
    /// Signals as well.
    guard: Option<Arc<SpendGuard>>,
}

impl StopSignal {
    /// Creates a signal from a token: once it is cancelled, no new requests start, and pending ones are awaited.
    pub fn after_pending(token: CancellationToken) -> StopSignal {
        StopSignal { no_new_requests: token, abandon_pending: CancellationToken::new(), guard: None }
    }

    /// Creates a signal from a token: once it is cancelled, no new requests start, and pending ones are dropped without a
    /// prediction.
    pub fn immediately(token: CancellationToken) -> StopSignal {
        StopSignal { no_new_requests: token.clone(), abandon_pending: token, guard: None }
    }

    /// Returns the signal with limits: no new requests start once the next one might exceed one of them.
    pub(crate) fn with_guard(self, guard: Arc<SpendGuard>) -> StopSignal {
        // The caller's token says that the user stopped the run.
        StopSignal { no_new_requests: self.no_new_requests.child_token(), guard: Some(guard), ..self }
    }

    /// Whether no new requests may start.
    pub fn is_stopped(&self) -> bool {
        self.no_new_requests.is_cancelled()
    }

    /// Waits until no new requests may start.
    pub async fn stopped(&self) {
        self.no_new_requests.cancelled().await;
    }

    /// Waits until a request is within the limits, if there are any. `None` if no new requests may start.
    pub async fn reserve(&self, attempt: Attempt) -> Option<Reservation> {
        let Some(guard) = &self.guard else { return Some(Reservation::unlimited()) };
        let reservation = self.no_new_requests.run_until_cancelled(guard.reserve(attempt)).await?;
        if reservation.is_none() {
            self.no_new_requests.cancel();
        }
        reservation
    }

    /// Returns the result of `work`; `None` if pending requests are abandoned before.
    pub(crate) async fn unless_abandoned<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.abandon_pending.run_until_cancelled(work).await
    }
}

/// Decides when a request to an engine may start, beside the number of concurrent requests.
pub trait RequestPace: Send + Sync {
    /// Waits until a request to the engine of this name may start. It has ended once the turn is dropped.
    fn turn<'a>(&'a self, engine: &'a str) -> BoxFuture<'a, RequestTurn>;
}

/// Held during a request.
pub type RequestTurn = Box<dyn Send>;

/// The concurrent requests of a run; cheap to clone.
#[derive(Clone)]
pub struct RequestSlots {
    free: Arc<Semaphore>,
    count: usize,
    stop: StopSignal,
    pace: Option<Arc<dyn RequestPace>>,
}

/// A slot in use; free again when it is dropped.
pub(crate) struct RequestSlot {
    _permit: OwnedSemaphorePermit,
    _turn: Option<RequestTurn>,
}

impl RequestSlots {
    /// Creates this number of slots, at least one.
    pub fn new(count: usize, stop: StopSignal) -> RequestSlots {
        let count = count.max(1);
        RequestSlots { free: Arc::new(Semaphore::new(count)), count, stop, pace: None }
    }

    /// Returns the slots with a pace.
    #[must_use]
    pub fn paced_by(self, pace: Arc<dyn RequestPace>) -> RequestSlots {
        RequestSlots { pace: Some(pace), ..self }
    }

    /// Returns the signal that ends the run.
    pub(crate) fn stop(&self) -> &StopSignal {
        &self.stop
    }

    /// Maximum number of attempts of which one has begun and is not finished.
    pub(crate) fn most_attempts(&self) -> usize {
        // With one request at a time, answers come in the order of the attempts.
        let without_request = match self.count {
            1 => 0,
            count => count.clamp(FEWEST_ATTEMPTS_WITHOUT_REQUEST, MOST_ATTEMPTS_WITHOUT_REQUEST),
        };
        self.count + without_request
    }

    /// Waits for a slot, and for the turn of the engine. `None` if no new requests may start.
    pub(crate) async fn acquire(&self, engine: &str) -> Option<RequestSlot> {
        let free = Arc::clone(&self.free).acquire_owned();
        let permit = self.stop.no_new_requests.run_until_cancelled(free).await?;
        let permit = permit.expect("the semaphore is never closed");
        let turn = match &self.pace {
            Some(pace) => Some(self.stop.no_new_requests.run_until_cancelled(pace.turn(engine)).await?),
            None => None,
        };
        Some(RequestSlot { _permit: permit, _turn: turn })
    }
}
