//! A clock that never goes backwards, from times that may.

/// Milliseconds that passed, by the times of the events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MonotonicClock {
    now: u64,
    last: Option<u64>,
}

impl MonotonicClock {
    /// Advances to the time of an event and returns the current time. A time before the previous one takes no time.
    pub(crate) fn advance(&mut self, time: u64) -> u64 {
        let passed = self.last.map_or(0, |last| time.saturating_sub(last));
        self.last = Some(time);
        self.now = self.now.saturating_add(passed);
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_goes_backwards_does_not_pass() {
        let mut clock = MonotonicClock::default();
        let now = [1_000, 1_500, 400, 900, u64::MAX, 0, 10].map(|time| clock.advance(time));
        assert_eq!(now[..4], [0, 500, 500, 1_000]);
        assert!(now[3] < now[4] && now[4] <= now[5] && now[5] <= now[6]);
    }
}
