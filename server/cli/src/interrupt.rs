//! Ctrl-C: the first one stops asking and lets what is under way finish, the second one ends the process at once.

use std::future::Future;
use std::io;
use std::thread;

use tokio::runtime;
use tokio_util::sync::CancellationToken;

use crate::exit::{INTERRUPTED, InterruptedError};
use crate::output::print_message;

/// A token that the first Ctrl-C cancels. Cancel it when there is nothing left to stop, and the next one ends the process.
///
/// Once taken over, the signal does nothing by itself any more, so somebody listens to it as long as the process lives.
pub(crate) fn stop_token() -> io::Result<CancellationToken> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let token = CancellationToken::new();
    let stop = token.clone();
    thread::Builder::new().name("interrupt".to_owned()).spawn(move || runtime.block_on(listen(&stop)))?;
    Ok(token)
}

/// What comes of `work`, unless somebody presses Ctrl-C before; then it is dropped, which frees whom it asks.
pub(crate) async fn unless_stopped<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    tokio::select! {
        done = work => Ok(done),
        pressed = tokio::signal::ctrl_c() => {
            pressed?;
            Err(InterruptedError { remedy: String::new() }.into())
        }
    }
}

async fn listen(stop: &CancellationToken) {
    while tokio::signal::ctrl_c().await.is_ok() {
        if stop.is_cancelled() {
            // Rows are written whole, so there is nothing to clean up.
            std::process::exit(i32::from(INTERRUPTED));
        }
        print_message("finishing what is under way; press Ctrl-C again to stop at once");
        stop.cancel();
    }
}
