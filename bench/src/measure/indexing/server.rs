//! The index inside the running server: `ghostbench lsp` in a copy of a corpus, as an editor uses it.
//!
//! The client is that of the end-to-end tests, whose own work is part of every time. The server's engine is a scripted one that
//! answers at once with the names in its context, so that an answer shows the retrieved names.

use std::path::Path;

use anyhow::Result;
use completion::WorkspaceIndex;
use workspace::Snapshot;

use super::edits::LANGUAGES;
use crate::measure::figures::SortedTimes;

mod branch_switch;
mod edits;
mod name_probes;
mod query_document;
mod release_diff;
pub(super) mod release_switch;
mod restart;
mod server_fixture;
mod switch;
mod typing;

pub(super) use self::branch_switch::SwitchFigures;
pub(super) use self::name_probes::PROBES;
use self::restart::RestartFigures;
use self::server_fixture::{ChangeReporter, ServerFixture};
pub(super) use self::switch::KeyTimes;

/// Results of the server in one corpus.
pub(super) struct ServerFigures {
    /// Started without a cache, and with one.
    pub(super) reopened: RestartFigures,
    /// Branch switches reported by the client.
    pub(super) client_reported: SwitchFigures,
    /// Branch switches detected by the server's own watcher.
    pub(super) watcher_reported: SwitchFigures,
    /// Edits of one document that another document needs, in each of [`LANGUAGES`].
    pub(super) edits: [SortedTimes; LANGUAGES.len()],
}

/// Measures the server in a copy of the indexed corpus.
pub(super) fn measure(
    ghostbench: &Path,
    files: &Snapshot,
    indexed: &WorkspaceIndex,
) -> Result<ServerFigures> {
    let desk = ServerFixture::new(ghostbench, files)?;
    // The first one leaves a cache to the others.
    let reopened = restart::measure(&desk)?;
    let edits = edits::measure(&desk, indexed)?;
    let reported = branch_switch::measure(&desk, ChangeReporter::Client)?;
    let watched = branch_switch::measure(&desk, ChangeReporter::Watcher)?;
    Ok(ServerFigures { reopened, client_reported: reported, watcher_reported: watched, edits })
}
