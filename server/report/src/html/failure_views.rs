//! Failed requests by reason, with links to their cases.

use cases::EngineIdentity;
use scoring::run_summary::EngineFailures;
use serde::Serialize;

use crate::failures::{self, FailureRow};
use crate::format::{self, Alphabet};

/// Failed requests of an engine for one reason.
#[derive(Serialize)]
pub(super) struct FailureView {
    engine: usize,
    count: usize,
    requests: usize,
    reason: String,
    examples: String,
    /// Link to the engine's failed cases.
    link: String,
}

/// Returns the rows of the engines, which have the names of their runs.
pub(super) fn failure_views(failures: &[EngineFailures], engines: &[EngineIdentity]) -> Vec<FailureView> {
    failures::rows(failures, engines, Alphabet::Unicode).into_iter().map(failure_view).collect()
}

fn failure_view(row: FailureRow) -> FailureView {
    FailureView {
        engine: row.engine,
        count: row.count,
        requests: row.requests,
        reason: format::escape_invisible(&row.reason),
        examples: format::escape_invisible(&row.examples),
        link: format!("#engine={}&outcome=failed", row.engine),
    }
}
