//! What a server has seen.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::Received;

/// Whoever waits longer than this waits for something that does not come.
const PATIENCE: Duration = Duration::from_secs(30);

/// Requests that are kept, so that a test with very many measures what it tests and not this.
const KEPT: usize = 1000;

/// What a server has seen so far.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Requests, in the order of arrival; the last thousand.
    pub received: Vec<Arc<Received>>,
    /// How many there were.
    pub requests: usize,
    /// Fields that real servers pass over in silence, which hides mistakes: names of each request's, in the order of arrival.
    pub passed_over: Vec<String>,
    /// Connections that were accepted.
    pub accepted: usize,
    /// Connections that ended, whoever ended them.
    pub ended: usize,
    /// How many clients left while something was said to them, or was to be said.
    pub left: usize,
    /// When the last one did.
    pub left_at: Option<Instant>,
}

impl Log {
    /// Connections that are open.
    pub fn open(&self) -> usize {
        self.accepted - self.ended
    }
}

/// A log that can be waited for.
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

    /// Waits for a state; panics where it does not come.
    pub(crate) async fn until(&self, what: &str, mut is_there: impl FnMut(&Log) -> bool) -> Log {
        let mut receiver = self.0.subscribe();
        let reached = receiver.wait_for(|log| is_there(log));
        // The clock of a test may be paused, and then runs ahead of what happens in other threads.
        let result = match tokio::time::timeout(PATIENCE, reached).await {
            Ok(Ok(log)) => Some(log.clone()),
            Ok(Err(_)) | Err(_) => None,
        };
        result.unwrap_or_else(|| panic!("in vain waited for: {what}; the server saw {:?}", self.now()))
    }
}
