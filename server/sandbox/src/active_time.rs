//! Time in which this process could run.

use std::time::{Duration, Instant};

/// Time between two looks that counts at most. Watchers look every few milliseconds; after a longer gap, this process was stopped
/// with everything that it watches (a paused container, a frozen control group, a machine in suspension), or had no processor.
const MAX_GAP: Duration = Duration::from_millis(500);

/// Measures time from its creation, without gaps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActiveTime {
    looked: Instant,
    active: Duration,
}

impl ActiveTime {
    /// Starts at 0.
    pub(crate) fn start(now: Instant) -> ActiveTime {
        ActiveTime { looked: now, active: Duration::ZERO }
    }

    /// Returns the time until now. Must be called often.
    pub(crate) fn elapsed(&mut self, now: Instant) -> Duration {
        self.active += now.saturating_duration_since(self.looked).min(MAX_GAP);
        self.looked = now;
        self.active
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_which_the_process_is_stopped_does_not_count() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut time = ActiveTime::start(start);
        assert_eq!(time.elapsed(at(5)), Duration::from_millis(5));
        assert_eq!(time.elapsed(at(405)), Duration::from_millis(405));
        assert_eq!(time.elapsed(at(900_405)), Duration::from_millis(905));
        assert_eq!(time.elapsed(at(900_410)), Duration::from_millis(910));
        // A clock that goes back.
        assert_eq!(time.elapsed(start), Duration::from_millis(910));
    }
}
