//! Times of other tools: RFC 3339, and integers since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Latest time that is formatted: the end of the year 9999, in ms since 1970.
const LAST_MS: u64 = 253_402_300_799_999;

/// Formats ms since 1970 as RFC 3339; `None` after the year 9999.
pub(super) fn from_ms(ms: u64) -> Option<String> {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(ms))?;
    (ms <= LAST_MS).then(|| humantime::format_rfc3339_millis(time).to_string())
}

/// Parses RFC 3339 in UTC; `None` before 1970.
pub(super) fn since_1970(text: &str) -> Option<Duration> {
    let time: SystemTime = humantime::parse_rfc3339(text).ok()?;
    time.duration_since(UNIX_EPOCH).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_times() {
        assert_eq!(from_ms(0).as_deref(), Some("1970-01-01T00:00:00.000Z"));
        assert_eq!(from_ms(1_767_323_045_678).as_deref(), Some("2026-01-02T03:04:05.678Z"));
        assert_eq!(from_ms(951_782_400_000).as_deref(), Some("2000-02-29T00:00:00.000Z"));
        assert_eq!(from_ms(LAST_MS).as_deref(), Some("9999-12-31T23:59:59.999Z"));
        assert_eq!([LAST_MS + 1, u64::MAX].map(from_ms), [None, None]);
    }

    #[test]
    fn times_are_read_back() {
        assert_eq!(since_1970("2026-01-02T03:04:05.678Z"), Some(Duration::from_millis(1_767_323_045_678)));
        for wrong in ["now", "", "1969-12-31T23:59:59Z", "2026-01-02", "2026-99-99T99:99:99Z"] {
            assert_eq!(since_1970(wrong), None, "{wrong}");
        }
    }
}
