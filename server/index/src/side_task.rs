//! A part of a request on another thread, while the caller does something else.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Work that a thread of the rayon pool does if one is free. Otherwise the caller does it: a request must not wait for a pool that may be
/// busy with a whole workspace.
pub(crate) struct SideTask<T> {
    work: Arc<Mutex<Option<Work<T>>>>,
    result: Receiver<thread::Result<T>>,
}

type Work<T> = Box<dyn FnOnce() -> T + Send>;

impl<T: Send + 'static> SideTask<T> {
    /// Starts the work as soon as a thread is free.
    pub(crate) fn start(work: impl FnOnce() -> T + Send + 'static) -> SideTask<T> {
        let work: Arc<Mutex<Option<Work<T>>>> = Arc::new(Mutex::new(Some(Box::new(work))));
        let (sender, result) = sync_channel(1);
        let shared = Arc::clone(&work);
        rayon::spawn(move || {
            if let Some(work) = take(&shared) {
                // The receiver is gone if the caller no longer needs the result.
                let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
            }
        });
        SideTask { work, result }
    }

    /// Returns the result. Does the work if no thread has begun it, and waits for it otherwise.
    ///
    /// # Panics
    ///
    /// If the work panics.
    pub(crate) fn finish(self) -> T {
        match take(&self.work) {
            Some(work) => work(),
            None => {
                let result = self.result.recv().expect("the thread that takes the work sends its result");
                result.unwrap_or_else(|panic| resume_unwind(panic))
            }
        }
    }
}

/// Work that no thread has begun is not done.
impl<T> Drop for SideTask<T> {
    fn drop(&mut self) {
        take(&self.work);
    }
}

fn take<T>(work: &Mutex<Option<Work<T>>>) -> Option<Work<T>> {
    work.lock().unwrap_or_else(PoisonError::into_inner).take()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::parallelism::tests::occupy_pool;

    #[test]
    fn another_thread_does_the_work_meanwhile() {
        let (begun, beginning) = mpsc::channel();
        let task = SideTask::start(move || {
            begun.send(thread::current().id()).expect("the test waits");
            7
        });
        let thread = beginning.recv().expect("it begins without being asked for");
        assert_ne!(thread, thread::current().id());
        assert_eq!(task.finish(), 7);
    }

    #[test]
    fn the_caller_does_the_work_if_the_pool_is_busy() {
        let release = occupy_pool();
        let thread = SideTask::start(|| thread::current().id()).finish();
        drop(release);
        assert_eq!(thread, thread::current().id());
    }

    #[test]
    fn work_that_is_no_longer_needed_is_not_begun() {
        let release = occupy_pool();
        let (begun, beginning) = mpsc::channel();
        drop(SideTask::start(move || begun.send(())));
        drop(release);
        assert!(beginning.recv().is_err(), "the work is gone with its sender");
    }

    #[test]
    fn a_panic_is_the_callers() {
        let (begun, beginning) = mpsc::channel();
        let task = SideTask::start(move || {
            begun.send(()).expect("the test waits");
            panic!("on the side");
        });
        beginning.recv().expect("it begins");
        let caught = catch_unwind(AssertUnwindSafe(|| task.finish()));
        assert_eq!(caught.expect_err("it panics").downcast_ref(), Some(&"on the side"));
    }
}
