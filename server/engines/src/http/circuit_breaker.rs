//! A circuit breaker for one server: decides whether a request may be sent now. Pure except for its lock: the caller passes the
//! time.
//!
//! ```text
//! closed --refusal--> open, for as long as the server wants and at least the backoff --time--> half open: one probe
//! --success--> closed
//!                       ^                                                                           |
//!                       +------------------------------ refusal: a longer backoff ------------------+
//! ```
//!
//! A server that refuses everything gets one request per backoff after the first refusal, whatever the number of concurrent
//! requests. `retry` decides how often one request is retried.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::ServerError;
use super::retry::{BUSY_DELAY, exponential_backoff};

/// Maximum pause. A server that asks for a longer one is still probed after this time, because limits get lifted and servers
/// make errors.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Maximum backoff if the server asks for less: a recovered server is used again within this time.
const MAX_BACKOFF: Duration = Duration::from_secs(8);

/// Poll interval while another request's probe is in flight.
const PROBE_INTERVAL: Duration = Duration::from_millis(250);

#[derive(Default)]
pub(super) struct CircuitBreaker(Mutex<BreakerState>);

#[derive(Default)]
struct BreakerState {
    /// Consecutive refusals, counting only requests that were sent after the previous refusal.
    refusals: u32,
    /// Incremented with each refusal, so that concurrent requests that are refused together count once.
    generation: u64,
    /// End of the pause, and the refusal.
    open: Option<(Instant, ServerError)>,
    is_probed: bool,
}

/// Permission for one request. Dropping it without a result lets another request probe.
pub(super) struct BreakerPermit<'b> {
    breaker: &'b CircuitBreaker,
    generation: u64,
    is_probe: bool,
}

impl CircuitBreaker {
    /// Permits a request, or returns the current refusal with the remaining pause.
    pub(super) fn admit(&self, now: Instant) -> Result<BreakerPermit<'_>, ServerError> {
        let mut state = self.state();
        let pass = |generation, is_probe| BreakerPermit { breaker: self, generation, is_probe };
        let Some((until, fault)) = &state.open else { return Ok(pass(state.generation, false)) };
        let left = until.saturating_duration_since(now);
        if !left.is_zero() || state.is_probed {
            return Err(refusal_with_wait(fault, left.max(PROBE_INTERVAL)));
        }
        state.is_probed = true;
        Ok(pass(state.generation, true))
    }

    fn state(&self) -> MutexGuard<'_, BreakerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BreakerPermit<'_> {
    /// Records a successful request and closes the breaker.
    pub(super) fn record_success(self) {
        let mut state = self.breaker.state();
        if state.generation == self.generation {
            *state = BreakerState { generation: state.generation, ..BreakerState::default() };
        }
    }

    /// Records a refusal by a busy server; `jitter` is from 0 to 1.
    pub(super) fn record_refusal(self, fault: &ServerError, now: Instant, jitter: f64) {
        let ServerError::Busy { retry_after, .. } = fault else { return };
        let mut state = self.breaker.state();
        if state.generation != self.generation {
            return;
        }
        let backoff = exponential_backoff(BUSY_DELAY, state.refusals).min(MAX_BACKOFF);
        let pause = retry_after.unwrap_or_default().min(MAX_RETRY_AFTER).max(backoff);
        state.refusals += 1;
        state.generation += 1;
        state.is_probed = false;
        state.open = Some((now + pause + backoff.mul_f64(jitter / 2.0), fault.clone()));
    }
}

impl Drop for BreakerPermit<'_> {
    fn drop(&mut self) {
        let mut state = self.breaker.state();
        if self.is_probe && state.generation == self.generation {
            state.is_probed = false;
        }
    }
}

fn refusal_with_wait(fault: &ServerError, left: Duration) -> ServerError {
    match fault {
        ServerError::Busy { server, message, .. } => {
            ServerError::Busy { server: server.clone(), retry_after: Some(left), message: message.clone() }
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures_util::future::join_all;

    use super::*;
    use crate::http::retry;

    fn busy(retry_after: Option<Duration>) -> ServerError {
        ServerError::Busy { server: "s".to_owned(), retry_after, message: String::new() }
    }

    /// Requests in a minute from 32 workers with sequential requests to a server that refuses everything with this header.
    async fn requests_of_a_flood(retry_after: Option<Duration>) -> usize {
        const SLOTS: usize = 32;
        let (breaker, sent) = (CircuitBreaker::default(), Cell::new(0));
        let end = Instant::now() + Duration::from_secs(60);
        let slot = async || {
            while Instant::now() < end {
                let mut asked = 0;
                let until = Instant::now() + Duration::from_secs(5);
                loop {
                    let (fault, was_sent) = match breaker.admit(Instant::now()) {
                        Err(fault) => (fault, false),
                        Ok(pass) => {
                            sent.set(sent.get() + 1);
                            tokio::time::sleep(Duration::from_millis(1)).await;
                            pass.record_refusal(&busy(retry_after), Instant::now(), 0.5);
                            (busy(retry_after), true)
                        }
                    };
                    let left = until.saturating_duration_since(Instant::now());
                    let wait = match was_sent {
                        true => retry::retry_delay(&fault, asked, Duration::ZERO, Some(left), 0.5),
                        false => retry::retry_delay_after_others(&fault, Duration::ZERO, Some(left), 0.5),
                    };
                    let Some(wait) = wait else { break };
                    asked += u32::from(was_sent);
                    tokio::time::sleep(wait).await;
                }
                // A request that failed at once is followed by the next one.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        join_all((0..SLOTS).map(|_| slot())).await;
        sent.get()
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_refuses_everything_gets_few_requests() {
        let second = Duration::from_secs(1);
        for retry_after in [None, Some(Duration::ZERO), Some(second), Some(3600 * second)] {
            let requests = requests_of_a_flood(retry_after).await;
            // The workers' first ones, and one per backoff: 0.5, 1, 2, 4, then 8 s.
            assert!((32..=32 + 14).contains(&requests), "{retry_after:?}: {requests}");
        }
    }

    #[track_caller]
    fn admitted(breaker: &CircuitBreaker, now: Instant) -> BreakerPermit<'_> {
        breaker.admit(now).unwrap_or_else(|_| panic!("the request is refused"))
    }

    #[tokio::test(start_paused = true)]
    async fn successful_probe_closes_it_and_dropped_one_allows_another() {
        let breaker = CircuitBreaker::default();
        let now = Instant::now();
        admitted(&breaker, now).record_refusal(&busy(Some(Duration::ZERO)), now, 0.0);
        assert!(breaker.admit(now).is_err(), "half a second at least");
        let later = now + BUSY_DELAY;
        let probe = admitted(&breaker, later);
        assert!(breaker.admit(later).is_err(), "one at a time");
        drop(probe);
        admitted(&breaker, later).record_success();
        let (one, two) = (breaker.admit(later), breaker.admit(later));
        assert!(one.is_ok() && two.is_ok(), "it is closed");
    }
}
