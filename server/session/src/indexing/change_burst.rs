//! Waits for the end of a burst of changes, as on "save all" or a branch switch.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Debounce of changes, counted from the first one.
const DEBOUNCE: Duration = Duration::from_millis(50);
/// So many changes are a branch switch. Applying a part of it takes seconds, and most of that again with the next part.
const BRANCH_SWITCH: usize = 2_000;
/// A branch switch has ended when nothing was changed for this time, and counts as ended after the maximum.
const PAUSE: Duration = Duration::from_millis(500);
const MAX_DURATION: Duration = Duration::from_secs(20);

/// Waits until the burst ends that has just begun; `changes` returns the number of its changes so far.
pub(super) async fn wait_for_end(changes: impl Fn() -> usize) {
    let end = Instant::now() + MAX_DURATION;
    sleep(DEBOUNCE).await;
    let mut before = changes();
    while before >= BRANCH_SWITCH && Instant::now() < end {
        sleep(PAUSE).await;
        let now = changes();
        if now == before {
            return;
        }
        before = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how long a burst is waited for in which so many changes a millisecond are made for a time.
    async fn waited(changes_per_ms: usize, lasts: Duration) -> Duration {
        let start = Instant::now();
        wait_for_end(|| start.elapsed().min(lasts).as_millis() as usize * changes_per_ms).await;
        start.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn branch_switch_is_waited_for_and_other_changes_are_not() {
        let seconds = Duration::from_secs;
        assert_eq!(waited(1, seconds(0)).await, DEBOUNCE, "one file was saved");
        assert_eq!(waited(1, seconds(3_600)).await, DEBOUNCE, "a program writes files all the time");
        let switch = waited(100, seconds(4)).await;
        assert!(switch > seconds(4) && switch <= seconds(4) + 2 * PAUSE, "{switch:?}");
        let endless = waited(100, seconds(3_600)).await;
        assert!(endless >= MAX_DURATION && endless <= MAX_DURATION + PAUSE, "{endless:?}");
    }
}
