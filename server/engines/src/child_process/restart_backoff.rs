//! Decides when a program that has ended may be restarted.

use std::time::Duration;

use tokio::time::Instant;

use super::ProgramError;

/// First backoff; each further failure doubles it.
const FIRST_BACKOFF: Duration = Duration::from_secs(1);

/// Maximum backoff: a repaired program is used again within this time.
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// Consecutive failures of a program since its last success. The first unexpected exit may be chance and has no backoff; after
/// that, restarts are delayed, so that a program that always ends isn't started at every keystroke. A program that timed out
/// gets a backoff at once: the next start would make other requests wait just as long.
#[derive(Debug, Default)]
pub(crate) struct RestartBackoff {
    failures: u32,
    pause: Option<(Instant, ProgramError)>,
}

impl RestartBackoff {
    /// Records a success.
    pub(crate) fn record_success(&mut self) {
        *self = RestartBackoff::default();
    }

    /// Records a failed start or an early end.
    pub(crate) fn record_failure(&mut self, fault: &ProgramError) {
        if self.failures == 0 && matches!(fault, ProgramError::Unanswered { .. }) {
            self.failures = 1;
        }
        if self.failures > 0 {
            let pause = FIRST_BACKOFF.saturating_mul(1 << (self.failures - 1).min(16)).min(MAX_BACKOFF);
            self.pause = Some((Instant::now() + pause, fault.clone()));
        }
        self.failures += 1;
    }

    /// Returns the error that forbids a restart now.
    pub(crate) fn blocked_by(&self) -> Option<&ProgramError> {
        self.pause.as_ref().filter(|(until, _)| Instant::now() < *until).map(|(_, fault)| fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn backoff_grows_until_the_program_succeeds() {
        let fault = ProgramError::NotFound { program: "x".to_owned() };
        let mut restarts = RestartBackoff::default();
        assert_eq!(restarts.blocked_by(), None);
        restarts.record_failure(&fault);
        assert_eq!(restarts.blocked_by(), None, "once is chance");
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            restarts.record_failure(&fault);
            tokio::time::advance(Duration::from_secs(seconds) - Duration::from_millis(1)).await;
            assert_eq!(restarts.blocked_by(), Some(&fault), "{seconds}");
            tokio::time::advance(Duration::from_millis(1)).await;
            assert_eq!(restarts.blocked_by(), None, "{seconds}");
        }
        restarts.record_success();
        restarts.record_failure(&fault);
        assert_eq!(restarts.blocked_by(), None);
    }
}
