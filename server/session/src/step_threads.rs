//! Selects the threads for each step of background work: all of the job's pool, but a single one while the user types, or that one and the
//! idle time of other cores.
//!
//! A job may take minutes, so it is divided into steps of a second or two, and each asks again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use rayon::ThreadPool;

/// The user types until no text has changed for this time.
const PAUSE: Duration = Duration::from_secs(3);
/// Threads that run only while a core is idle are used if all of them answer within this time. While other programs need all cores, they
/// would keep the others waiting.
const MAX_ANSWER_TIME: Duration = Duration::from_millis(if cfg!(test) { 2_000 } else { 20 });

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
    /// The pool while the user types.
    typing: Option<(TypingPools, TypingClock)>,
    uses_idle_time: bool,
}

/// The pools of a job while the user types; cheap to clone.
#[derive(Clone)]
pub(crate) struct TypingPools {
    /// A pool of one thread.
    pub(crate) single: Arc<ThreadPool>,
    /// The same with further threads that run only while a core is idle; without any where the system has no such threads.
    pub(crate) with_idle_time: Arc<ThreadPool>,
}

impl StepThreads {
    /// The rayon pool of the caller in any case, for commands.
    pub(crate) const CALLER: StepThreads = StepThreads { typing: None, uses_idle_time: false };

    /// The rayon pool of the caller, but one thread while the user types.
    pub(crate) fn new(pools: TypingPools, typing: TypingClock) -> StepThreads {
        StepThreads { typing: Some((pools, typing)), uses_idle_time: false }
    }

    /// The same with the idle time of other cores while the user types.
    pub(crate) fn with_idle_time(&self) -> StepThreads {
        StepThreads { uses_idle_time: true, ..self.clone() }
    }

    /// Runs a step.
    pub(crate) fn run<T: Send>(&self, step: impl FnOnce() -> T + Send) -> T {
        match &self.typing {
            Some((pools, typing)) if typing.is_typing() => {
                let uses_idle_time = self.uses_idle_time && answers(&pools.with_idle_time);
                let pool = if uses_idle_time { &pools.with_idle_time } else { &pools.single };
                pool.install(step)
            }
            _ => step(),
        }
    }
}

/// Returns whether all threads of a pool get the processor soon.
fn answers(pool: &ThreadPool) -> bool {
    let (sender, answers) = mpsc::channel();
    pool.spawn_broadcast(move |_| {
        // The receiver may be gone.
        let _ = sender.send(());
    });
    (0..pool.current_num_threads()).all(|_| answers.recv_timeout(MAX_ANSWER_TIME).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_use_one_thread_from_the_first_key_on() {
        let pool = |threads| Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
        let typing = TypingClock::new();
        let pools = TypingPools { single: pool(1), with_idle_time: pool(2) };
        let threads = StepThreads::new(pools, typing.clone());
        pool(3).install(|| {
            assert_eq!(threads.run(rayon::current_num_threads), 3);
            typing.note();
            assert_eq!(threads.run(rayon::current_num_threads), 1);
            assert_eq!(StepThreads::CALLER.run(rayon::current_num_threads), 3);
        });
    }

    #[test]
    fn threads_of_idle_time_are_used_while_they_answer() {
        let pool = |threads| Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
        let typing = TypingClock::new();
        let pools = TypingPools { single: pool(1), with_idle_time: pool(2) };
        let threads = StepThreads::new(pools.clone(), typing.clone()).with_idle_time();
        pool(3).install(|| {
            assert_eq!(threads.run(rayon::current_num_threads), 3);
            typing.note();
            assert_eq!(threads.run(rayon::current_num_threads), 2);
            let (begun, has_begun) = mpsc::channel();
            let (release, released) = mpsc::channel::<()>();
            pools.with_idle_time.spawn(move || {
                begun.send(()).unwrap();
                let _ = released.recv();
            });
            has_begun.recv().unwrap();
            assert_eq!(threads.run(rayon::current_num_threads), 1, "one of them is busy");
            drop(release);
        });
    }
}
