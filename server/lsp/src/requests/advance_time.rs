//! `ghostbench/advanceTime`: lets the time of a simulated clock pass.

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
    server.trial.advance(Duration::from_millis(params.ms.min(MAX_MS))).await;
    Ok(())
}
