//! The clock of live trials: the system's, or one that a simulated developer advances.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// Source of the time of recorded events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockKind {
    /// The system's clock.
    #[default]
    System,
    /// Time passes only by `ghostbench/advanceTime`, so that hours of typing can be recorded in minutes.
    Simulated,
}

/// The time of all events of a recording. Answers of engines, timeouts and the disk have the system's time in any case.
#[derive(Debug)]
pub struct TrialClock {
    start: Instant,
    started_at: SystemTime,
    /// Simulated time since the start in ms; `None` for the system's clock.
    simulated: Option<AtomicU64>,
    /// Time in ms by which the simulated date was set back. Like the system's, it may jump; the time of events never does.
    set_back: AtomicU64,
}

impl TrialClock {
    pub(crate) fn new(kind: ClockKind) -> TrialClock {
        TrialClock {
            start: Instant::now(),
            started_at: SystemTime::now(),
            simulated: (kind == ClockKind::Simulated).then(AtomicU64::default),
            set_back: AtomicU64::default(),
        }
    }

    /// Whether time passes only when it is advanced.
    pub fn is_simulated(&self) -> bool {
        self.simulated.is_some()
    }

    /// Returns the time since any moment.
    pub fn now(&self) -> Instant {
        self.passed().map_or_else(Instant::now, |passed| self.start + passed)
    }

    /// Returns the date and time.
    pub fn system_time(&self) -> SystemTime {
        let set_back = Duration::from_millis(self.set_back.load(Ordering::Relaxed));
        self.passed().map_or_else(SystemTime::now, |passed| {
            (self.started_at + passed).checked_sub(set_back).unwrap_or(SystemTime::UNIX_EPOCH)
        })
    }

    /// Sets the simulated date back. Does nothing to the system's clock.
    pub fn set_back(&self, duration: Duration) {
        let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.set_back.fetch_add(ms, Ordering::Relaxed);
    }

    /// Lets simulated time pass. Does nothing to the system's clock.
    pub fn advance(&self, duration: Duration) {
        let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        if let Some(passed) = &self.simulated {
            passed.fetch_add(ms, Ordering::Relaxed);
        }
    }

    /// Simulated time since the start.
    fn passed(&self) -> Option<Duration> {
        self.simulated.as_ref().map(|passed| Duration::from_millis(passed.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_time_passes_only_when_it_is_advanced() {
        let clock = TrialClock::new(ClockKind::Simulated);
        let (now, date) = (clock.now(), clock.system_time());
        assert_eq!((clock.now(), clock.system_time()), (now, date));
        clock.advance(Duration::from_secs(3_600));
        assert_eq!(clock.now() - now, Duration::from_secs(3_600));
        assert_eq!(clock.system_time().duration_since(date).ok(), Some(Duration::from_secs(3_600)));
    }

    #[test]
    fn a_date_that_is_set_back_leaves_the_time_of_events() {
        let clock = TrialClock::new(ClockKind::Simulated);
        let (now, date) = (clock.now(), clock.system_time());
        clock.set_back(Duration::from_secs(60));
        assert_eq!(clock.now(), now);
        assert_eq!(date.duration_since(clock.system_time()).ok(), Some(Duration::from_secs(60)));
    }

    #[test]
    fn the_system_clock_is_not_advanced() {
        let clock = TrialClock::new(ClockKind::System);
        clock.advance(Duration::from_secs(3_600));
        clock.set_back(Duration::from_secs(24 * 3_600));
        assert!(clock.system_time() > SystemTime::now() - Duration::from_secs(3_600));
        assert!(clock.now() < Instant::now() + Duration::from_secs(1));
    }
}
