//! Locks that are held for a lookup or a small change.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. A poisoned lock is safe to use: every change under these locks is made in one step, so the value is consistent after a panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
