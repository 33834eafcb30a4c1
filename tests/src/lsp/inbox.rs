//! Unread messages of the server.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Messages by kind, in order of arrival. One thread adds them, another one waits for them.
#[derive(Default)]
pub(super) struct Inbox {
    mail: Mutex<InboxMessages>,
    changed: Condvar,
}

/// Content of an [`Inbox`].
#[derive(Default)]
pub(super) struct InboxMessages {
    /// Unread responses.
    pub(super) responses: Vec<Value>,
    /// Unread notifications.
    pub(super) notifications: Vec<Value>,
    /// Requests of the server. They were answered on arrival.
    pub(super) requests: Vec<Value>,
    /// Protocol violations.
    pub(super) offences: Vec<String>,
    /// Whether the server's output has ended.
    pub(super) is_closed: bool,
}

impl Inbox {
    /// Changes the content, and wakes waiting threads.
    pub(super) fn update(&self, change: impl FnOnce(&mut InboxMessages)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Reads the current content.
    pub(super) fn inspect<T>(&self, look: impl FnOnce(&InboxMessages) -> T) -> T {
        look(&self.lock())
    }

    /// Waits until `take` finds something; the error is a timeout, or why nothing can arrive.
    pub(super) fn wait<T>(
        &self,
        limit: Duration,
        mut take: impl FnMut(&mut InboxMessages) -> Option<T>,
    ) -> Result<T, String> {
        let deadline = Instant::now() + limit;
        let mut mail = self.lock();
        loop {
            if let Some(found) = take(&mut mail) {
                return Ok(found);
            }
            if mail.is_closed {
                return Err("the server's output ended".to_owned());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(format!("nothing came in {} s", limit.as_secs()));
            }
            mail = self.changed.wait_timeout(mail, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The content stays readable after a test failed with the lock held.
    fn lock(&self) -> MutexGuard<'_, InboxMessages> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InboxMessages {
    /// Everything that must have been read at the end.
    pub(super) fn unread(&self) -> Vec<String> {
        let messages = self.responses.iter().chain(&self.notifications).map(Value::to_string);
        self.offences.iter().cloned().chain(messages).collect()
    }
}

/// Removes the first matching value from a list.
pub(super) fn take_first(list: &mut Vec<Value>, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    let place = list.iter().position(fits)?;
    Some(list.remove(place))
}
