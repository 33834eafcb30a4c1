//! The end of the editor is the end of the server, even if it leaves the pipe open.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use crate::main_loop::ExitReason;

#[cfg(unix)]
mod unix;

/// How often we look whether the parent lives.
#[cfg(unix)]
const INTERVAL: Duration = Duration::from_secs(1);

/// Ends the server when the process `id` is gone. Where processes cannot be asked about, the closed pipe has to do.
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

/// Ends the server when the process `id` is gone. Where processes cannot be asked about, the closed pipe has to do.
#[cfg(not(unix))]
pub(crate) fn watch(_: i32, _: UnboundedSender<ExitReason>) {}
