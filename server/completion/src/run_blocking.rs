//! Runs work on a thread that may block, until its result is no longer awaited.

use index::CancelFlag;
use tokio::task::{JoinError, spawn_blocking};

/// Runs work that takes long, or waits for a disk, on a blocking thread. The flag is set when this future is dropped; work that has not
/// started by then is skipped. Fails if the work panics, or if the runtime shuts down.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce(&CancelFlag) -> T + Send + 'static,
) -> Result<T, JoinError> {
    let cancel = CancelFlag::default();
    let _cancelled = cancel.on_drop();
    let working = spawn_blocking(move || (!cancel.is_cancelled()).then(|| work(&cancel)));
    Ok(working.await?.expect("only dropping this future sets the flag"))
}
