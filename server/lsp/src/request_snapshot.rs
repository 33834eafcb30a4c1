//! The snapshot a request works on: all documents as they were when it arrived.

use std::sync::Arc;
use std::time::Instant;

use tower_lsp_server::gen_lsp_types::Uri;
use tower_lsp_server::jsonrpc::{Error, Result};

use crate::documents::{Documents, OpenDocument};
use crate::progress::ProgressTask;

tokio::task_local! {
    /// Set by the ordering layer around every request.
    static REQUEST_SNAPSHOT: RequestSnapshot;
}

/// The state at a request's arrival; immutable, cheap to clone.
#[derive(Clone)]
pub(crate) struct RequestSnapshot {
    /// The open documents.
    pub(crate) documents: Arc<Documents>,
    /// Message counter; of two requests the later one has the larger number.
    pub(crate) arrival: u64,
    /// Time of arrival.
    pub(crate) time: Instant,
    /// Task that reports under the request's progress token, if there is one.
    pub(crate) progress_task: Option<Arc<ProgressTask>>,
}

impl RequestSnapshot {
    /// Returns the snapshot of the request that is being answered.
    pub(crate) fn current() -> RequestSnapshot {
        REQUEST_SNAPSHOT.with(RequestSnapshot::clone)
    }

    /// Runs a request's future with this snapshot.
    pub(crate) async fn scope<F: Future>(self, answering: F) -> F::Output {
        REQUEST_SNAPSHOT.scope(self, answering).await
    }

    /// The open document at `uri`.
    pub(crate) fn document(&self, uri: &Uri) -> Result<Arc<OpenDocument>> {
        self.documents
            .get(uri)
            .ok_or_else(|| Error::invalid_params(format!("{} is not open; send didOpen first", uri.0)))
    }
}
