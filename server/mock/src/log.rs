//! The request log of a server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::Received;

/// Timeout of a wait. A state that takes longer never comes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Number of requests kept. The limit keeps tests with very many requests from measuring the log.
const KEPT: usize = 1000;

/// Log of a server.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The last thousand requests, in the order of arrival.
    pub received: Vec<Arc<Received>>,
    /// Number of requests.
    pub requests: usize,
    /// Names of the fields that a real server would silently ignore, which hides mistakes; of all requests, in the order of
    /// arrival.
    pub passed_over: Vec<String>,
    /// Number of connections that were accepted.
    pub accepted: usize,
    /// Number of connections that were closed by either side.
    pub ended: usize,
    /// Number of clients that disconnected before their answer was complete.
    pub left: usize,
    /// Time of the last such disconnection.
    pub left_at: Option<Instant>,
}

impl Log {
    /// Returns the number of open connections.
    pub fn open(&self) -> usize {
        self.accepted - self.ended
    }
}

/// A log that tests can wait on.
#[derive(Clone)]
pub(crate) struct Shared(watch::Sender<Log>);

impl Shared {
    pub(crate) fn new() -> Shared {
        Shared(watch::Sender::new(Log::default()))
    }

    pub(crate) fn note_request(&self, received: &Arc<Received>) {
        self.note(|log| {
            log.requests += 1;
            if log.received.len() == KEPT {
                log.received.remove(0);
            }
            log.received.push(Arc::clone(received));
        });
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Log)) {
        self.0.send_modify(change);
    }

    pub(crate) fn now(&self) -> Log {
        self.0.borrow().clone()
    }

    /// Waits for a state. Panics if it does not come.
    pub(crate) async fn until(&self, what: &str, mut is_there: impl FnMut(&Log) -> bool) -> Log {
        let mut receiver = self.0.subscribe();
        let reached = receiver.wait_for(|log| is_there(log));
        // If the clock of a test is paused, it runs ahead of other threads.
        let result = match tokio::time::timeout(PATIENCE, reached).await {
            Ok(Ok(log)) => Some(log.clone()),
            Ok(Err(_)) | Err(_) => None,
        };
        result.unwrap_or_else(|| panic!("timed out waiting for: {what}; the server saw {:?}", self.now()))
    }
}
