//! Decides when a request is retried. Pure: depends only on the error and the remaining time.
//!
//! A server that loads its model is retried until it is ready. A busy server is retried a few times with growing delays, but no
//! sooner than it asks for. Delays are randomized, so that requests that were refused together aren't repeated together. If the
//! retry would be too late, the error is returned at once, while it still helps the user. Other errors aren't retried, because
//! the server would answer the same.

use std::time::Duration;

use super::ServerError;

/// First delay while a model is loading, which takes seconds; short enough for small models.
const LOADING_DELAY: Duration = Duration::from_millis(250);

/// Maximum delay while loading. Models of more than ten gigabytes load for minutes, so a second hardly matters.
const MAX_LOADING_DELAY: Duration = Duration::from_secs(2);

/// Minimum delay before a busy server is retried, whatever its `Retry-After`.
pub(super) const BUSY_DELAY: Duration = Duration::from_millis(500);

/// Maximum attempts of one request. After 0.5, 1 and 2 s the load is not just a short peak.
const BUSY_ATTEMPTS: u32 = 3;

/// Delays are randomly extended by up to half, but by no more than half of this.
const MAX_JITTER: Duration = Duration::from_secs(2);

/// With less time than this left after a delay there is no time for an answer, and the refusal is more useful than a timeout.
const MIN_TIME_FOR_ANSWER: Duration = Duration::from_millis(50);

/// Maximum total wait of a request without a deadline.
const MAX_TOTAL_WAIT: Duration = Duration::from_secs(60);

/// Returns the delay before the next attempt; `None` if there is none. `attempt` counts from 0, `waited` is the total of
/// earlier delays, `left` is the time until the deadline if there is one, and `jitter` is from 0 to 1.
pub(super) fn retry_delay(
    fault: &ServerError,
    attempt: u32,
    waited: Duration,
    left: Option<Duration>,
    jitter: f64,
) -> Option<Duration> {
    let wait = match fault {
        ServerError::Loading { .. } => exponential_backoff(LOADING_DELAY, attempt).min(MAX_LOADING_DELAY),
        ServerError::Busy { retry_after, .. } if attempt < BUSY_ATTEMPTS => {
            exponential_backoff(BUSY_DELAY, attempt).max(retry_after.unwrap_or_default())
        }
        _ => return None,
    };
    in_time(wait, waited, left, jitter)
}

/// Returns the delay while other requests' refusals (`fault`) keep the breaker open; `None` if it is too long. Nothing was
/// sent, so no attempt is used up.
pub(super) fn retry_delay_after_others(
    fault: &ServerError,
    waited: Duration,
    left: Option<Duration>,
    jitter: f64,
) -> Option<Duration> {
    let ServerError::Busy { retry_after: Some(wait), .. } = fault else { return None };
    in_time(*wait, waited, left, jitter)
}

fn in_time(wait: Duration, waited: Duration, left: Option<Duration>, jitter: f64) -> Option<Duration> {
    let left = left.unwrap_or(MAX_TOTAL_WAIT.saturating_sub(waited));
    let spread = wait.min(MAX_JITTER).mul_f64(jitter / 2.0);
    let for_answer = left.checked_sub(wait).filter(|for_answer| *for_answer > MIN_TIME_FOR_ANSWER)?;
    Some(wait + spread.min(for_answer / 2))
}

/// Doubles a duration this many times.
pub fn exponential_backoff(first: Duration, times: u32) -> Duration {
    first.saturating_mul(2_u32.saturating_pow(times))
}

/// Parses a `Retry-After` header: seconds, or a date by the server's clock, which its `Date` header gives. At most a day.
pub fn retry_after(value: &str, date: Option<&str>) -> Option<Duration> {
    const DAY: u64 = 24 * 60 * 60;
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds.min(DAY)));
    }
    // Fractional seconds are not standard, but some servers send them.
    if let Some(seconds) = value.parse::<f64>().ok().filter(|seconds| (0.0..=DAY as f64).contains(seconds)) {
        return Some(Duration::from_secs_f64(seconds));
    }
    let (value, date) =
        (httpdate::parse_http_date(value).ok()?, httpdate::parse_http_date(date?.trim()).ok()?);
    Some(value.duration_since(date).unwrap_or_default().min(Duration::from_secs(DAY)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn busy(retry_after: Option<Duration>) -> ServerError {
        ServerError::Busy { server: String::new(), retry_after, message: String::new() }
    }

    fn waits(fault: &ServerError, left: Duration) -> Vec<u128> {
        let (mut waits, mut left, mut waited) = (Vec::new(), left, Duration::ZERO);
        while let Some(wait) = retry_delay(fault, waits.len() as u32, waited, Some(left), 0.0) {
            waits.push(wait.as_millis());
            left -= wait;
            waited += wait;
        }
        waits
    }

    #[test]
    fn loading_server_is_retried_until_the_time_limit() {
        let loading = ServerError::Loading { server: String::new() };
        assert_eq!(waits(&loading, 10 * SECOND), [250, 500, 1000, 2000, 2000, 2000, 2000]);
        assert_eq!(retry_delay(&loading, 100, 59 * SECOND, None, 0.0), None);
        assert_eq!(retry_delay(&loading, 100, 50 * SECOND, None, 0.0), Some(2 * SECOND));
    }

    #[test]
    fn busy_server_is_retried_after_its_delay_or_a_few_times() {
        assert_eq!(waits(&busy(None), 60 * SECOND), [500, 1000, 2000]);
        assert_eq!(waits(&busy(None), SECOND), [500]);
        assert_eq!(
            retry_delay(&busy(Some(3 * SECOND)), 0, Duration::ZERO, Some(5 * SECOND), 0.0),
            Some(3 * SECOND)
        );
        assert_eq!(retry_delay(&busy(Some(5 * SECOND)), 0, Duration::ZERO, Some(5 * SECOND), 0.0), None);
        let barely = 5 * SECOND - MIN_TIME_FOR_ANSWER;
        assert_eq!(retry_delay(&busy(Some(barely)), 0, Duration::ZERO, Some(5 * SECOND), 0.0), None);
        assert_eq!(
            retry_delay(&busy(Some(4 * SECOND)), 0, Duration::ZERO, Some(5 * SECOND), 1.0),
            Some(9 * SECOND / 2)
        );
        assert_eq!(waits(&busy(Some(Duration::ZERO)), 60 * SECOND), [500, 1000, 2000]);
        assert_eq!(waits(&busy(Some(SECOND)), 60 * SECOND), [1000, 1000, 2000]);
        assert_eq!(
            retry_delay(&busy(None), 0, Duration::ZERO, None, 1.0),
            Some(750 * Duration::from_millis(1))
        );
        assert_eq!(retry_delay(&busy(Some(61 * SECOND)), 0, Duration::ZERO, None, 0.0), None);
    }

    #[test]
    fn other_errors_are_not_retried() {
        let refused = ServerError::Refused { server: String::new() };
        let failed = ServerError::Status { server: String::new(), status: 500, message: String::new() };
        for fault in [refused, failed] {
            assert_eq!(retry_delay(&fault, 0, Duration::ZERO, Some(60 * SECOND), 0.0), None);
        }
    }

    #[test]
    fn retry_after_is_read_as_seconds_or_date() {
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        for (value, date, expected) in [
            ("3", None, Some(3.0)),
            (" 0 ", None, Some(0.0)),
            ("0.25", None, Some(0.25)),
            ("99999999999", None, Some(86400.0)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", date, Some(30.0)),
            ("Sun, 06 Nov 1994 08:49:00 GMT", date, Some(0.0)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", None, None),
            ("-1", None, None),
            ("NaN", None, None),
            ("soon", date, None),
        ] {
            let found = retry_after(value, date).map(|wait| wait.as_secs_f64());
            assert_eq!(found, expected, "{value}");
        }
    }
}
