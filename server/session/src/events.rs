//! Events of a session that the editor may show to its user.
//!
//! They flow in one direction: nothing in the session waits for them to be shown, or depends on it.

use builtin::TokenCoverage;
use config::Problem;
use tokio::sync::{mpsc, oneshot, watch};

/// An event of a session.
#[derive(Debug)]
pub enum SessionEvent {
    /// A folder is being indexed for the first time.
    IndexingStarted(IndexingReport),
    /// A folder cannot be read any more; the reason.
    FolderUnreadable(String),
    /// A folder can be read again; its name.
    FolderReadable(String),
    /// Problems of the settings that were not reported before, at least one.
    SettingsProblems(Vec<Problem>),
    /// Something else that does not work as it should.
    Warning(String),
    /// Something that the user must know, and can correct.
    UserWarning(String),
    /// Another process added recorded cases to a folder.
    CasesAdded,
}

/// The first indexing of a folder.
#[derive(Debug)]
pub struct IndexingReport {
    /// Name of the folder.
    pub folder: String,
    /// Progress, until the sender is dropped.
    pub progress: watch::Receiver<Progress>,
    /// Outcome; fails if indexing is cancelled or panics.
    pub outcome: oneshot::Receiver<IndexingOutcome>,
}

/// Outcome of the first indexing of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexingOutcome {
    /// The folder is indexed.
    Ready {
        /// The tokens that the built-in engine holds; none if it is not in use.
        tokens: TokenCoverage,
    },
    /// The folder cannot be read; the reason.
    Failed(String),
}

/// Progress of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Completed parts.
    pub done: usize,
    /// Number of parts; 0 while unknown.
    pub total: usize,
}

/// Sends events; cheap to clone.
#[derive(Clone)]
pub(crate) struct EventSender(pub(crate) mpsc::UnboundedSender<SessionEvent>);

impl EventSender {
    /// Sends an event. Without a receiver it is dropped: the editor is gone.
    pub(crate) fn send(&self, event: SessionEvent) {
        let _ = self.0.send(event);
    }

    /// Logs and reports a warning.
    pub(crate) fn warn(&self, message: String) {
        tracing::warn!("{message}");
        self.send(SessionEvent::Warning(message));
    }
}
