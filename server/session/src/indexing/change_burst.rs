//! Detects the end of a burst of changes, as on "save all" or a branch switch.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Debounce of changes, counted from the first one.
const DEBOUNCE: Duration = Duration::from_millis(50);
/// So many changes are a branch switch. Applying a part of it takes seconds, and most of that again with the next part.
const BRANCH_SWITCH: usize = 2_000;
/// So many changes within [`DEBOUNCE`] may be the beginning of one, which is waited for as long as they keep coming, but not longer than
/// [`MAX_BEGINNING`]: git writes some thousand files a second, and removes others first.
const MANY: usize = 100;
const MAX_BEGINNING: Duration = Duration::from_millis(1_000);
/// A branch switch has ended when nothing was changed for this time, and counts as ended after the maximum: another release of the Linux kernel
/// was written in 10 to 23 s, and applying it in two parts took a fifth longer.
const PAUSE: Duration = Duration::from_millis(500);
const MAX_DURATION: Duration = Duration::from_secs(40);

/// A burst that has just begun.
pub(super) struct ChangeBurst {
    end: Instant,
    is_switch: bool,
}

impl ChangeBurst {
    pub(super) fn new() -> ChangeBurst {
        ChangeBurst { end: Instant::now() + MAX_DURATION, is_switch: false }
    }

    /// Waits until the burst has ended, or is a branch switch that goes on; returns whether it does. `changes` returns the number of
    /// its changes that were not taken yet.
    pub(super) async fn goes_on(&mut self, changes: impl Fn() -> usize) -> bool {
        if !self.is_switch {
            self.is_switch = begins_switch(&changes).await;
        }
        if !self.is_switch || Instant::now() >= self.end {
            return false;
        }
        let before = changes();
        sleep(PAUSE).await;
        changes() != before
    }
}

/// Waits for the first changes; returns whether they are a branch switch.
async fn begins_switch(changes: &impl Fn() -> usize) -> bool {
    let end = Instant::now() + MAX_BEGINNING;
    let mut before = 0;
    loop {
        sleep(DEBOUNCE).await;
        let now = changes();
        if now >= BRANCH_SWITCH || now < before + MANY || Instant::now() >= end {
            return now >= BRANCH_SWITCH;
        }
        before = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how long a burst is waited for in which so many changes a millisecond are made for a time, and how many of them are taken
    /// before it ends.
    async fn follow(changes_per_ms: usize, lasts: Duration) -> (Duration, usize) {
        let start = Instant::now();
        let made = || start.elapsed().min(lasts).as_millis() as usize * changes_per_ms;
        let (mut burst, mut taken) = (ChangeBurst::new(), 0);
        while burst.goes_on(|| made() - taken).await {
            taken = made();
        }
        (start.elapsed(), taken)
    }

    #[tokio::test(start_paused = true)]
    async fn branch_switch_is_waited_for_and_other_changes_are_not() {
        let seconds = Duration::from_secs;
        assert_eq!(follow(1, seconds(0)).await, (DEBOUNCE, 0), "one file was saved");
        assert_eq!(follow(1, seconds(3_600)).await, (DEBOUNCE, 0), "a program writes files all the time");
        let files = Duration::from_millis(DEBOUNCE.as_millis() as u64 + 1);
        assert_eq!(follow(10, files).await, (2 * DEBOUNCE, 0), "all files of a folder were saved");
        let (slow, taken) = follow(3, seconds(4)).await;
        assert!(slow > seconds(4) && taken == 12_000, "it begins slowly: {slow:?}, {taken}");
        let (switch, taken) = follow(100, seconds(4)).await;
        assert!(switch > seconds(4) && switch <= seconds(4) + 2 * PAUSE, "{switch:?}");
        assert_eq!(taken, 400_000, "all are taken while it goes on");
        let (endless, _) = follow(100, seconds(3_600)).await;
        assert!(endless >= MAX_DURATION && endless <= MAX_DURATION + PAUSE, "{endless:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn changes_that_come_while_others_are_taken_belong_to_the_burst() {
        let mut burst = ChangeBurst::new();
        assert!(!burst.goes_on(|| BRANCH_SWITCH).await, "nothing follows");
        let mut burst = ChangeBurst::new();
        let start = Instant::now();
        let changes = || BRANCH_SWITCH + usize::from(start.elapsed() > DEBOUNCE);
        assert!(burst.goes_on(changes).await);
        assert!(!burst.goes_on(|| 1).await, "fewer follow, and then none");
    }
}
