//! Selects the threads for each step of background work: a single one while the user types, else all of the job's pool.
//!
//! A job may take minutes, so it is divided into steps of a second or two, and each asks again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rayon::ThreadPool;

/// The user types until no text has changed for this time.
const PAUSE: Duration = Duration::from_secs(3);

/// When the user typed last; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct TypingClock(Arc<TypingTime>);

#[derive(Debug)]
struct TypingTime {
    start: Instant,
    /// Milliseconds from the start until the user no longer types.
    ends: AtomicU64,
}

impl TypingClock {
    /// Creates a clock of a session without any typing yet.
    pub(crate) fn new() -> TypingClock {
        TypingClock(Arc::new(TypingTime { start: Instant::now(), ends: AtomicU64::new(0) }))
    }

    /// Notes that the user types now.
    pub(crate) fn note(&self) {
        self.0.ends.store(millis(self.0.start.elapsed() + PAUSE), Ordering::Relaxed);
    }

    fn is_typing(&self) -> bool {
        millis(self.0.start.elapsed()) < self.0.ends.load(Ordering::Relaxed)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The threads of a job's steps; cheap to clone.
#[derive(Clone)]
pub(crate) struct StepThreads {
    /// A pool of one thread, and when it is to be used.
    single: Option<(Arc<ThreadPool>, TypingClock)>,
}

impl StepThreads {
    /// The rayon pool of the caller in any case, for commands.
    pub(crate) const CALLER: StepThreads = StepThreads { single: None };

    /// The rayon pool of the caller, but `single`, a pool of one thread, while the user types.
    pub(crate) fn new(single: Arc<ThreadPool>, typing: TypingClock) -> StepThreads {
        StepThreads { single: Some((single, typing)) }
    }

    /// Runs a step.
    pub(crate) fn run<T: Send>(&self, step: impl FnOnce() -> T + Send) -> T {
        match &self.single {
            Some((single, typing)) if typing.is_typing() => single.install(step),
            _ => step(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_use_one_thread_from_the_first_key_on() {
        let pool = |threads| Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
        let typing = TypingClock::new();
        let threads = StepThreads::new(pool(1), typing.clone());
        pool(3).install(|| {
            assert_eq!(threads.run(rayon::current_num_threads), 3);
            typing.note();
            assert_eq!(threads.run(rayon::current_num_threads), 1);
            assert_eq!(StepThreads::CALLER.run(rayon::current_num_threads), 3);
        });
    }
}
