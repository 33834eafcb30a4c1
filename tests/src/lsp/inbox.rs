//! What the server sent and nobody has read yet.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Messages by kind, in order of arrival. One thread delivers, another one waits.
#[derive(Default)]
pub(super) struct Inbox {
    mail: Mutex<Mail>,
    changed: Condvar,
}

/// What lies in an [`Inbox`].
#[derive(Default)]
pub(super) struct Mail {
    /// Answers that nobody has waited for.
    pub(super) responses: Vec<Value>,
    /// Notifications that nobody has expected.
    pub(super) notifications: Vec<Value>,
    /// Requests of the server. They were answered when they came.
    pub(super) requests: Vec<Value>,
    /// What no server may do.
    pub(super) offences: Vec<String>,
    /// Whether the server's output has ended.
    pub(super) is_closed: bool,
}

impl Inbox {
    /// Changes what lies here, and wakes who waits for it.
    pub(super) fn update(&self, change: impl FnOnce(&mut Mail)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Looks at what lies here now.
    pub(super) fn look<T>(&self, look: impl FnOnce(&Mail) -> T) -> T {
        look(&self.lock())
    }

    /// Waits until `take` finds something; the error says why nothing can come, or that it took too long.
    pub(super) fn wait<T>(
        &self,
        limit: Duration,
        mut take: impl FnMut(&mut Mail) -> Option<T>,
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

    /// A test that failed while it looked leaves the mail readable.
    fn lock(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mail {
    /// Everything that should not lie here at the end.
    pub(super) fn unread(&self) -> Vec<String> {
        let messages = self.responses.iter().chain(&self.notifications).map(Value::to_string);
        self.offences.iter().cloned().chain(messages).collect()
    }
}

/// Takes the first value out of a list that fits.
pub(super) fn take_first(list: &mut Vec<Value>, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    let place = list.iter().position(fits)?;
    Some(list.remove(place))
}
