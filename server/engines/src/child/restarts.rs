//! When a program that ended may be started again.

use std::time::Duration;

use tokio::time::Instant;

use super::ProgramFault;

/// The first pause; each further failure doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// What somebody has mended is noticed within this time.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The failures of a program since it last did what it is for. A first end may be chance and is forgiven; from then on there is a
/// pause before the program is started again, so that one that always ends is not started at every keystroke. A program that had its
/// time and did not use it gets a pause at once: the next start would cost other questions the same time.
#[derive(Debug, Default)]
pub(crate) struct Restarts {
    failures: u32,
    pause: Option<(Instant, ProgramFault)>,
}

impl Restarts {
    /// It did what it is for.
    pub(crate) fn succeeded(&mut self) {
        *self = Restarts::default();
    }

    /// It could not be started, or ended before its time.
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

    /// Why it is not to be started now, if so.
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
