//! Time and memory.

use std::fmt;
use std::time::{Duration, Instant};

use test_fixture::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Bytes that are allocated now.
pub(crate) fn allocated() -> usize {
    CountingAllocator::allocated_bytes()
}

pub(crate) fn timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = run();
    (value, start.elapsed())
}

/// How long the same thing took, each time.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn new(times: impl Iterator<Item = Duration>) -> Times {
        let mut times: Vec<Duration> = times.collect();
        times.sort_unstable();
        Times(times)
    }

    /// The time that so many per cent do not exceed, ms.
    fn percentile(&self, share: usize) -> f64 {
        self.0[(self.0.len() - 1) * share / 100].as_secs_f64() * 1e3
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p95, p99] = [50, 95, 99].map(|share| self.percentile(share));
        write!(f, "p50 {p50:.3} p95 {p95:.3} p99 {p99:.3} ms")
    }
}

/// Bytes for people.
pub(crate) struct Megabytes(pub(crate) usize);

impl fmt::Display for Megabytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} MB", self.0 as f64 / 1e6)
    }
}
