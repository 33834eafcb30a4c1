//! How much of a document's questions is worked on at a time, and how much of its text for each.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// What is parsed and searched with, of the text before the cursor and after it, in bytes: thousands of lines. A parse of unmatched brackets
/// takes some hundred times its text in memory, which this bounds to some tens of megabytes.
const MAX_BEFORE: usize = 96 << 10;
const MAX_AFTER: usize = 32 << 10;

/// The one question of a document that may gather; cheap to clone.
#[derive(Clone, Debug)]
pub struct Gathering(Arc<Semaphore>);

impl Default for Gathering {
    fn default() -> Gathering {
        Gathering(Arc::new(Semaphore::new(1)))
    }
}

impl Gathering {
    /// Does `work` where waiting is no harm, once the question before has ended. `None` if it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        turn: Option<Gathering>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let permit = match turn {
            Some(Gathering(turn)) => Some(turn.acquire_owned().await.ok()?),
            None => None,
        };
        let working = tokio::task::spawn_blocking(move || {
            // Until the work ends, whether or not its question still waits for it.
            let _permit = permit;
            work()
        });
        working.await.ok()
    }
}

/// The text around a cursor that is parsed and searched with: whole lines where they are not too long.
pub(crate) fn near<'a>(prefix: &'a str, suffix: &'a str) -> (&'a str, &'a str) {
    let start = prefix.ceil_char_boundary(prefix.len().saturating_sub(MAX_BEFORE));
    let end = suffix.floor_char_boundary(MAX_AFTER);
    let (before, after) = (&prefix[start..], &suffix[..end]);
    let before = if start == 0 { before } else { before.split_once('\n').map_or(before, |(_, lines)| lines) };
    let after =
        if end == suffix.len() { after } else { after.rsplit_once('\n').map_or(after, |(lines, _)| lines) };
    (before, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_large_text_the_lines_near_the_cursor_are_searched_with() {
        let lines = "x = [1]\n".repeat(100_000);
        let (before, after) = near(&lines, &lines);
        assert!(before.len() <= MAX_BEFORE && after.len() <= MAX_AFTER);
        assert!(before.starts_with("x = ") && after.ends_with("[1]"));
        let (before, after) = near("é[", "]é");
        assert_eq!((before, after), ("é[", "]é"));
        let brackets = "é[".repeat(1 << 20);
        let (before, after) = near(&brackets, &brackets);
        assert!(before.len() <= MAX_BEFORE && after.len() <= MAX_AFTER && !before.is_empty());
    }
}
