//! The request log of a server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::ReceivedRequest;

/// Timeout of a wait. A state that takes longer never comes.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Number of requests kept. The limit keeps tests with very many requests from measuring the log.
const MAX_REQUESTS: usize = 1000;

/// Log of a server.
#[derive(Clone, Debug, Default)]
pub struct RequestLog {
    /// The last thousand requests, in the order of arrival.
    pub received: Vec<Arc<ReceivedRequest>>,
    /// Number of requests.
    pub requests: usize,
    /// Names of the fields that a real server would silently ignore, which hides mistakes; of all requests, in the order of
    /// arrival.
    pub ignored_fields: Vec<String>,
    /// Number of connections that were accepted.
    pub accepted: usize,
    /// Number of connections that were closed by either side.
    pub ended: usize,
    /// Number of clients that disconnected before their answer was complete.
    pub disconnected: usize,
    /// Time of the last such disconnection.
    pub disconnected_at: Option<Instant>,
    /// Time at which the first request had arrived.
    pub first_at: Option<Instant>,
    /// Time at which the last complete answer was sent.
    pub answered_at: Option<Instant>,
    /// Sum over all complete answers of the time from the arrival of the request to the end of the answer.
    pub busy: Duration,
}

impl RequestLog {
    /// Returns the number of open connections.
    pub fn open(&self) -> usize {
        self.accepted - self.ended
    }
}

/// A log that tests can wait on.
#[derive(Clone)]
pub(crate) struct SharedLog(watch::Sender<RequestLog>);

impl SharedLog {
    pub(crate) fn new() -> SharedLog {
        SharedLog(watch::Sender::new(RequestLog::default()))
    }

    pub(crate) fn note_request(&self, received: &Arc<ReceivedRequest>) {
        self.note(|log| {
            log.requests += 1;
            log.first_at.get_or_insert(received.at);
            if log.received.len() == MAX_REQUESTS {
                log.received.remove(0);
            }
            log.received.push(Arc::clone(received));
        });
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut RequestLog)) {
        self.0.send_modify(change);
    }

    pub(crate) fn snapshot(&self) -> RequestLog {
        self.0.borrow().clone()
    }

    /// Waits for a state. Panics if it does not come.
    pub(crate) async fn wait_until(
        &self,
        what: &str,
        mut is_there: impl FnMut(&RequestLog) -> bool,
    ) -> RequestLog {
        let mut receiver = self.0.subscribe();
        let reached = receiver.wait_for(|log| is_there(log));
        // If the clock of a test is paused, it runs ahead of other threads.
        let result = match tokio::time::timeout(WAIT_TIMEOUT, reached).await {
            Ok(Ok(log)) => Some(log.clone()),
            Ok(Err(_)) | Err(_) => None,
        };
        result
            .unwrap_or_else(|| panic!("timed out waiting for: {what}; the server saw {:?}", self.snapshot()))
    }
}
