//! Stops the server when the editor's process ends, even if the pipe remains open.

#[cfg(unix)]
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::main_loop::ExitReason;

#[cfg(unix)]
mod unix;

/// Interval at which the parent process is checked.
#[cfg(unix)]
const INTERVAL: Duration = Duration::from_secs(1);

/// Stops the server when process `id` is gone. On other systems only the closed pipe stops it.
#[cfg(unix)]
pub(crate) fn watch(id: i32, ends: UnboundedSender<ExitReason>) {
    tokio::spawn(async move {
        while unix::is_alive(id) {
            tokio::time::sleep(INTERVAL).await;
        }
        tracing::info!(id, "the parent process is gone");
        // The loop may have ended first.
        let _ = ends.send(ExitReason::ClientGone);
    });
}

/// Does nothing: without process checks, only the closed pipe stops the server.
#[cfg(not(unix))]
pub(crate) fn watch(_: i32, _: UnboundedSender<ExitReason>) {}
