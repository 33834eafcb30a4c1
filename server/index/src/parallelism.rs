//! Selects the threads on which files are combined.

use rayon::prelude::*;

/// A request has few files and must not wait for a pool that may be busy with a whole workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parallelism {
    /// The calling thread.
    CallerThread,
    /// The current rayon pool.
    RayonPool,
}

impl Parallelism {
    /// Runs both functions.
    pub(crate) fn join<A: Send, B: Send>(
        self,
        one: impl FnOnce() -> A + Send,
        other: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        match self {
            Parallelism::CallerThread => (one(), other()),
            Parallelism::RayonPool => rayon::join(one, other),
        }
    }

    /// Applies `f` to all items; results are in the order of the items.
    pub(crate) fn map<T: Sync, R: Send>(self, items: &[T], f: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
        match self {
            Parallelism::CallerThread => items.iter().map(f).collect(),
            Parallelism::RayonPool => items.par_iter().map(f).collect(),
        }
    }

    /// Sorts items; the sort is unstable.
    pub(crate) fn sort<T: Ord + Send>(self, items: &mut [T]) {
        match self {
            Parallelism::CallerThread => items.sort_unstable(),
            Parallelism::RayonPool => items.par_sort_unstable(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::sync::{Arc, Mutex};

    use syntax::{Language, SourceFile};

    use crate::{FileIndex, Index};

    #[test]
    fn overlay_does_not_wait_for_a_busy_thread_pool() {
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        for _ in 0..rayon::current_num_threads() {
            let released = Arc::clone(&released);
            rayon::spawn(move || drop(released.lock().map(|released| released.recv())));
        }
        let index = Index::from_files(Vec::new());
        let file = SourceFile {
            path: "a.py".into(),
            language: Language::Python,
            text: "def f():\n    return 1\n".into(),
        };
        let (tell, overlaid) = mpsc::channel();
        std::thread::spawn(move || {
            let overlay = index.hide(&[]).overlay(vec![Arc::new(FileIndex::new(file))]);
            // The receiver is dropped after the limit below.
            let _ = tell.send(overlay.file("a.py").is_some());
        });
        let found = overlaid.recv_timeout(std::time::Duration::from_secs(60));
        drop(release);
        assert_eq!(found, Ok(true), "the overlay waits for the pool");
    }
}
