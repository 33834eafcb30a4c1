//! Leases of a worker's requests to engines that have limits over all nodes: the limiter of the cluster grants them one by one.

use std::collections::{HashMap, HashSet};
use std::future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cases::NO_COPIES_SUFFIX;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use replay::{RequestPace, RequestTurn};
use tokio::sync::{mpsc, oneshot};

use crate::messages::FromWorker;

/// The leases of a worker.
pub(crate) struct Leases {
    /// Engines whose requests need a lease.
    paced: HashSet<String>,
    output: mpsc::UnboundedSender<FromWorker>,
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<()>>>,
}

/// A lease, granted or not. Returned when it is dropped.
struct Lease {
    id: u64,
    output: mpsc::UnboundedSender<FromWorker>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Without a reader this process ends.
        let _ = self.output.send(FromWorker::Release { id: self.id });
    }
}

impl Leases {
    pub(crate) fn new(
        paced: impl IntoIterator<Item = String>,
        output: mpsc::UnboundedSender<FromWorker>,
    ) -> Leases {
        Leases {
            paced: paced.into_iter().collect(),
            output,
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
        }
    }

    /// Lets the request with this lease start.
    pub(crate) fn grant(&self, id: u64) {
        let request = self.waiting().remove(&id);
        // The request may have been dropped.
        let _ = request.map(|request| request.send(()));
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<()>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestPace for Leases {
    fn turn<'a>(&'a self, engine: &'a str) -> BoxFuture<'a, RequestTurn> {
        // The same engine without copies is the same server.
        let engine = engine.strip_suffix(NO_COPIES_SUFFIX).unwrap_or(engine);
        if !self.paced.contains(engine) {
            return future::ready(Box::new(()) as RequestTurn).boxed();
        }
        async move {
            let id = self.next.fetch_add(1, Ordering::Relaxed);
            let (request, granted) = oneshot::channel();
            self.waiting().insert(id, request);
            let lease = Lease { id, output: self.output.clone() };
            let _ = self.output.send(FromWorker::Lease { id, engine: engine.to_owned() });
            if granted.await.is_err() {
                // The worker is ending.
                future::pending::<()>().await;
            }
            Box::new(lease) as RequestTurn
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_starts_with_its_lease_and_returns_it() {
        let (output, mut sent) = mpsc::unbounded_channel();
        let leases = Leases::new(["hosted".to_owned()], output);
        assert!(leases.turn("builtin").now_or_never().is_some(), "it has no limits");
        let mut turn = leases.turn("hosted no-copies");
        assert!((&mut turn).now_or_never().is_none());
        assert_eq!(sent.try_recv(), Ok(FromWorker::Lease { id: 1, engine: "hosted".to_owned() }));
        leases.grant(7);
        assert!((&mut turn).now_or_never().is_none(), "another request's lease");
        leases.grant(1);
        let turn = turn.await;
        assert!(sent.try_recv().is_err());
        drop(turn);
        assert_eq!(sent.try_recv(), Ok(FromWorker::Release { id: 1 }));
    }

    #[tokio::test]
    async fn a_request_that_is_dropped_returns_its_lease() {
        let (output, mut sent) = mpsc::unbounded_channel();
        let leases = Leases::new(["hosted".to_owned()], output);
        let mut turn = leases.turn("hosted");
        assert!((&mut turn).now_or_never().is_none());
        drop(turn);
        let _ = sent.try_recv();
        assert_eq!(sent.try_recv(), Ok(FromWorker::Release { id: 1 }));
    }
}
