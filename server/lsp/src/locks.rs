//! Locks that are held for a look or a small change.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic while the lock was held leaves a value that is whole: every change under these locks is made in one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
