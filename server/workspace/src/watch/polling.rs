//! Looking at intervals, for who hears of nothing.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::Told;

/// Tells at intervals until it is dropped.
#[derive(Debug)]
pub(super) struct Polling {
    /// The thread ends with its channel.
    _stop: Sender<()>,
}

impl Polling {
    pub(super) fn start(interval: Duration, tell: impl Fn(Told) + Send + 'static) -> Polling {
        let (stop, stopped) = mpsc::channel();
        thread::spawn(move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                tell(Told::Everything);
            }
        });
        Polling { _stop: stop }
    }
}
