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
    /// Returns the number of threads.
    pub(crate) fn count(self) -> usize {
        match self {
            Parallelism::CallerThread => 1,
            Parallelism::RayonPool => rayon::current_num_threads(),
        }
    }

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
    pub(crate) fn map<'a, T: Sync, R: Send>(
        self,
        items: &'a [T],
        f: impl Fn(&'a T) -> R + Send + Sync,
    ) -> Vec<R> {
        match self {
            Parallelism::CallerThread => items.iter().map(f).collect(),
            Parallelism::RayonPool => items.par_iter().map(f).collect(),
        }
    }

    /// Applies `f` to all items, which are few and take long.
    pub(crate) fn for_each_mut<T: Send>(self, items: &mut [T], f: impl Fn(&mut T) + Send + Sync) {
        match self {
            Parallelism::CallerThread => items.iter_mut().for_each(f),
            Parallelism::RayonPool => items.par_iter_mut().with_max_len(1).for_each(f),
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
pub(crate) mod tests {
    use std::sync::mpsc;
    use std::sync::{Arc, Mutex};

    use syntax::{Language, SourceFile};

    use crate::{FileIndex, Index};

    /// Keeps all threads of the pool busy until the sender is dropped.
    pub(crate) fn occupy_pool() -> mpsc::Sender<()> {
        let (release, released) = mpsc::channel();
        let released = Arc::new(Mutex::new(released));
        for _ in 0..rayon::current_num_threads() {
            let released = Arc::clone(&released);
            rayon::spawn(move || drop(released.lock().map(|released| released.recv())));
        }
        release
    }

    #[test]
    fn overlay_does_not_wait_for_a_busy_thread_pool() {
        let release = occupy_pool();
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
