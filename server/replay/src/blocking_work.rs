//! Work that takes long beside the threads that process requests.

use std::{future, panic};

use index::CancelFlag;
use tokio::task::JoinError;

/// Runs slow work without blocking the threads that process requests; the flag is set when this future is dropped. Continues its
/// panics.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce(&CancelFlag) -> T + Send + 'static,
) -> T {
    match completion::run_blocking(work).await.map_err(JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(reason)) => panic::resume_unwind(reason),
        // The runtime shuts down, so the result is not needed.
        Err(Err(_)) => future::pending().await,
    }
}
