//! The last check before code leaves this process: are its files still part of the workspace?

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

/// How long a check of the document's own file counts. A request that neither waits nor gathers context is sent within this time.
const VALIDITY: Duration = Duration::from_millis(5);

/// Decides for each of several paths.
type MayLeave = dyn Fn(&[&str]) -> Vec<bool> + Send + Sync;

/// Decides whether the code of files may leave this process now; cheap to clone.
#[derive(Clone)]
pub struct PathGate {
    may_leave: Arc<MayLeave>,
    /// When the check began that admitted the document's own file, if there was one.
    own_file_admitted: Option<Instant>,
}

impl PathGate {
    /// Creates a gate. `may_leave` decides for each of several paths at the time of the call, and may wait for the disk.
    pub fn new(may_leave: impl Fn(&[&str]) -> Vec<bool> + Send + Sync + 'static) -> PathGate {
        PathGate { may_leave: Arc::new(may_leave), own_file_admitted: None }
    }

    /// Notes that a check that began at this time admitted the document's own file.
    #[must_use]
    pub fn with_own_file_admitted(self, began: Instant) -> PathGate {
        PathGate { own_file_admitted: Some(began), ..self }
    }

    /// Returns for each path whether its file may leave this process now. May wait for the disk.
    pub(crate) fn admits(&self, paths: &[&str]) -> Vec<bool> {
        (self.may_leave)(paths)
    }

    /// Returns whether the document's own file was admitted just now.
    pub(crate) fn has_just_admitted_own_file(&self) -> bool {
        self.own_file_admitted.is_some_and(|began| began.elapsed() < VALIDITY)
    }
}
