//! Checks on disk at every request, without waking another thread as long as the disk is quick.
//!
//! A few metadata reads take less time than waking a thread for them and being woken by it. A disk may become slow at any time, so at
//! most one check waits on a thread of the runtime; meanwhile all others use blocking threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest time of a check that is repeated on the thread of its request: about the time of two wake-ups on a busy machine.
const QUICK: Duration = Duration::from_micros(200);

/// Locked while a check runs on a thread of the runtime.
static HERE: Mutex<()> = Mutex::new(());

/// Whether the last check of a document was quick.
#[derive(Default)]
pub(crate) struct FastDiskCheck(AtomicBool);

impl FastDiskCheck {
    /// Runs a check that waits for the disk, here or on a blocking thread. `None` if it panics.
    pub(crate) async fn check<T: Send + 'static>(
        &self,
        check: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let check = match self.check_here(check) {
            Ok(checked) => return checked,
            Err(check) => check,
        };
        let (checked, took) = completion::run_blocking(move |_| timed(check)).await.ok()?;
        self.0.store(took <= QUICK, Ordering::Relaxed);
        Some(checked)
    }

    /// Runs a check on this thread; returns it if it may take long.
    fn check_here<T, C: FnOnce() -> T>(&self, check: C) -> Result<Option<T>, C> {
        if !self.0.load(Ordering::Relaxed) {
            return Err(check);
        }
        let Ok(_alone) = HERE.try_lock() else { return Err(check) };
        let checked = catch_unwind(AssertUnwindSafe(|| timed(check))).ok();
        Ok(checked.map(|(checked, took)| {
            self.0.store(took <= QUICK, Ordering::Relaxed);
            checked
        }))
    }
}

fn timed<T>(check: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    (check(), start.elapsed())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    async fn thread_of_check(disk: &FastDiskCheck) -> Option<thread::ThreadId> {
        disk.check(|| thread::current().id()).await
    }

    #[tokio::test]
    async fn only_one_check_at_a_time_runs_on_the_thread_of_its_request() {
        let (disk, here) = (FastDiskCheck::default(), thread::current().id());
        assert_ne!(thread_of_check(&disk).await, Some(here), "the first one may be slow");
        disk.0.store(true, Ordering::Relaxed);
        assert_eq!(thread_of_check(&disk).await, Some(here));
        disk.0.store(true, Ordering::Relaxed);
        let other = disk.check_here(|| {
            let inner = FastDiskCheck(AtomicBool::new(true));
            inner.check_here(|| ()).is_err()
        });
        assert_eq!(other.ok().flatten(), Some(true));
    }

    #[tokio::test]
    async fn slow_and_panicking_checks_are_reported() {
        let disk = FastDiskCheck(AtomicBool::new(true));
        assert_eq!(disk.check(|| panic!("as the test wants") as ()).await, None);
        let slow = || {
            let start = Instant::now();
            while start.elapsed() <= QUICK {
                thread::yield_now();
            }
        };
        assert_eq!(disk.check(slow).await, Some(()));
        assert!(!disk.0.load(Ordering::Relaxed));
    }
}
