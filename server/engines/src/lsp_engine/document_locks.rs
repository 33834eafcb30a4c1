//! Locks that run requests for the same document one after the other.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Locks by document.
#[derive(Default)]
pub(super) struct DocumentLocks(Mutex<HashMap<String, Weak<Semaphore>>>);

impl DocumentLocks {
    /// Waits for exclusive access to these documents, in request order. Dropping the result releases them.
    pub(super) async fn lock(&self, documents: BTreeSet<String>) -> Vec<OwnedSemaphorePermit> {
        let mut taken = Vec::new();
        // A fixed order (that of the set) prevents deadlocks.
        for turn in self.semaphores(documents) {
            // The semaphores are never closed.
            taken.extend(turn.acquire_owned().await);
        }
        taken
    }

    fn semaphores(&self, documents: BTreeSet<String>) -> Vec<Arc<Semaphore>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, turn| turn.strong_count() > 0);
        let mut turn = |document| {
            let known = known.entry(document).or_default();
            known.upgrade().unwrap_or_else(|| {
                let new = Arc::new(Semaphore::new(1));
                *known = Arc::downgrade(&new);
                new
            })
        };
        documents.into_iter().map(&mut turn).collect()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn set(documents: &str) -> BTreeSet<String> {
        documents.split(' ').map(str::to_owned).collect()
    }

    #[tokio::test]
    async fn document_lock_is_exclusive_and_others_do_not_wait() {
        let turns = DocumentLocks::default();
        let first = turns.lock(set("a b")).await;
        let mut second = Box::pin(turns.lock(set("b c")));
        assert!(second.as_mut().now_or_never().is_none());
        let third = turns.lock(set("d")).await;
        drop(first);
        drop(second.await);
        drop(third);
        let _ = turns.lock(set("e")).await;
        assert_eq!(turns.0.lock().unwrap().len(), 1, "unused locks are removed");
    }
}
