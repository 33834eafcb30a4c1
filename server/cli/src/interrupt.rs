//! Ctrl-C: the first stops new requests and lets those in flight finish, the second ends the process immediately.

use std::future::Future;
use std::io;
use std::thread;

use tokio::runtime;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::exit::{INTERRUPTED, InterruptedError};
use crate::output::print_message;

/// Returns a token that the first Ctrl-C cancels. Once it is cancelled, the next Ctrl-C ends the process, so cancel it when no work is
/// left.
///
/// The signal's default action is replaced, so a thread listens to it for the life of the process.
pub(crate) fn stop_token() -> io::Result<CancellationToken> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let token = CancellationToken::new();
    let stop = token.clone();
    thread::Builder::new().name("interrupt".to_owned()).spawn(move || runtime.block_on(listen(&stop)))?;
    Ok(token)
}

/// Returns the result of `work`. Ctrl-C drops the work, which frees its engine, and is an error.
pub(crate) async fn unless_stopped<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    tokio::select! {
        done = work => Ok(done),
        pressed = tokio::signal::ctrl_c() => {
            pressed?;
            Err(InterruptedError { remedy: String::new() }.into())
        }
    }
}

/// Waits for Ctrl-C, or for SIGTERM, which stops a service. Both end the process as usual until this is polled.
pub(crate) async fn stop_signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        // Without a handler, the first process of a container ignores it.
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed,
            _ = terminated.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

async fn listen(stop: &CancellationToken) {
    while tokio::signal::ctrl_c().await.is_ok() {
        if stop.is_cancelled() {
            // Rows are written whole, so no cleanup is needed.
            std::process::exit(i32::from(INTERRUPTED));
        }
        print_message("finishing the requests in flight; press Ctrl-C again to stop immediately");
        stop.cancel();
    }
}
