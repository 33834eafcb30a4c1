//! Decides when a program that has ended may be restarted.

use std::time::Duration;

use tokio::time::Instant;

use super::ProgramFault;

/// First backoff; each further failure doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Maximum backoff: a repaired program is used again within this time.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Consecutive failures of a program since its last success. The first unexpected exit may be chance and has no backoff; after
/// that, restarts are delayed, so that a program that always ends isn't started at every keystroke. A program that timed out
/// gets a backoff at once: the next start would make other requests wait just as long.
#[derive(Debug, Default)]
pub(crate) struct Restarts {
    failures: u32,
    pause: Option<(Instant, ProgramFault)>,
}

impl Restarts {
    /// Records a success.
    pub(crate) fn succeeded(&mut self) {
        *self = Restarts::default();
    }

    /// Records a failed start or an early end.
    pub(crate) fn failed(&mut self, fault: &ProgramFault) {
        if self.failures == 0 && matches!(fault, ProgramFault::Unanswered { .. }) {
            self.failures = 1;
        }
        if self.failures > 0 {
            let pause = FIRST_PAUSE.saturating_mul(1 << (self.failures - 1).min(16)).min(LONGEST_PAUSE);
            self.pause = Some((Instant::now() + pause, fault.clone()));
        }
        self.failures += 1;
    }

    /// Returns the error that forbids a restart now.
    pub(crate) fn refusal(&self) -> Option<&ProgramFault> {
        self.pause.as_ref().filter(|(until, _)| Instant::now() < *until).map(|(_, fault)| fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_until_the_program_does_what_it_is_for() {
        let fault = ProgramFault::NotFound { program: "x".to_owned() };
        let mut restarts = Restarts::default();
        assert_eq!(restarts.refusal(), None);
        restarts.failed(&fault);
        assert_eq!(restarts.refusal(), None, "once is chance");
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            restarts.failed(&fault);
            tokio::time::advance(Duration::from_secs(seconds) - Duration::from_millis(1)).await;
            assert_eq!(restarts.refusal(), Some(&fault), "{seconds}");
            tokio::time::advance(Duration::from_millis(1)).await;
            assert_eq!(restarts.refusal(), None, "{seconds}");
        }
        restarts.succeeded();
        restarts.failed(&fault);
        assert_eq!(restarts.refusal(), None);
    }
}
