//! `ghostbench/advanceTime`: lets the time of a simulated clock pass, or sets its date back.

use std::time::Duration;

use tower_lsp_server::jsonrpc::Result;

use crate::ext::AdvanceTimeParams;
use crate::request_context::RequestContext;
use crate::run_blocking::request_failed;
use crate::server::Server;

/// Longest time that passes at once: each part of it is a tick of the recorder.
const MAX_MS: u64 = 24 * 60 * 60 * 1_000;

pub(crate) async fn advance_time(server: Server, _: RequestContext, params: AdvanceTimeParams) -> Result<()> {
    if !server.trial.clock().is_simulated() {
        return Err(request_failed("the server's clock is that of the system"));
    }
    let duration = Duration::from_millis(params.ms.unsigned_abs().min(MAX_MS));
    match params.ms < 0 {
        true => server.trial.clock().set_back(duration),
        false => server.trial.advance(duration).await,
    }
    Ok(())
}
