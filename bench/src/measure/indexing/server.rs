//! The index inside the running server: `ghostbench lsp` in a copy of a corpus, as an editor uses it.
//!
//! The client is that of the end-to-end tests, whose own work is part of every time. The server's engine is a scripted one that
//! answers at once with the names in its context, so that an answer shows the retrieved names.

use std::path::Path;

use anyhow::Result;
use indexer::Indexed;

use super::edits::LANGUAGES;
use crate::measure::figures::Times;

mod desk;
mod edits;
mod question;
mod reopening;
mod switch;
mod typing;

use self::desk::{Desk, Teller};
use self::reopening::Reopened;
pub(super) use self::switch::Switches;

/// Results of the server in one corpus.
pub(super) struct Served {
    /// Started without a cache, and with one.
    pub(super) reopened: Reopened,
    /// Branch switches reported by the client.
    pub(super) told: Switches,
    /// Branch switches detected by the server's own watcher.
    pub(super) watched: Switches,
    /// Edits of one document that another document needs, in each of [`LANGUAGES`].
    pub(super) edits: [Times; LANGUAGES.len()],
}

/// Measures the server in a copy of the indexed corpus.
pub(super) fn measure(ghostbench: &Path, indexed: &Indexed) -> Result<Served> {
    let desk = Desk::new(ghostbench, &indexed.files)?;
    // The first one leaves a cache to the others.
    let reopened = reopening::measure(&desk)?;
    let edits = edits::measure(&desk, indexed)?;
    let told = switch::measure(&desk, Teller::Client)?;
    let watched = switch::measure(&desk, Teller::Watcher)?;
    Ok(Served { reopened, told, watched, edits })
}
