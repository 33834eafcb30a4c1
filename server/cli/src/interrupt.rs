//! Ctrl-C: the first one stops asking and lets what is under way finish, the second one ends the process at once.

use tokio_util::sync::CancellationToken;

use crate::output::say;

/// A token that the first Ctrl-C cancels. Call it on the runtime.
pub(crate) fn stop_token() -> CancellationToken {
    let token = CancellationToken::new();
    let stop = token.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        say("finishing what is under way; press Ctrl-C again to stop at once");
        stop.cancel();
        if tokio::signal::ctrl_c().await.is_ok() {
            // Rows are written whole, so there is nothing to clean up.
            std::process::exit(130);
        }
    });
    token
}
