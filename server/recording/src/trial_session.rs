//! A session whose trials are recorded: the folders, the recorder, and what the user must know.

use std::ops::Deref;
use std::sync::Arc;

use session::{BackgroundPool, EffectiveSettings, Folder, Folders, SessionEvent, SessionSetup};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::trial_clock::ClockKind;
use crate::trial_recording::TrialRecording;

/// Handle to a session; cheap to clone.
#[derive(Clone)]
pub struct TrialSession(Arc<TrialSessionState>);

/// The state of a session.
pub struct TrialSessionState {
    /// The workspace folders.
    pub folders: Folders,
    /// Recording of live trials.
    pub trial: TrialRecording,
    /// Cancelled when the session ends; cancels all running work.
    pub stopping: CancellationToken,
    events: UnboundedSender<SessionEvent>,
}

impl Deref for TrialSession {
    type Target = TrialSessionState;

    fn deref(&self) -> &TrialSessionState {
        &self.0
    }
}

impl From<Arc<TrialSessionState>> for TrialSession {
    fn from(state: Arc<TrialSessionState>) -> TrialSession {
        TrialSession(state)
    }
}

impl TrialSession {
    /// Creates a session without folders and starts its recorder. Must be called in a tokio runtime.
    pub fn new(
        setup: SessionSetup,
        clock: ClockKind,
        background: BackgroundPool,
        events: UnboundedSender<SessionEvent>,
    ) -> TrialSession {
        let stopping = CancellationToken::new();
        let data = setup.data.clone();
        let (trial, recorded) = TrialRecording::new(clock, data.clone());
        let folders = Folders::new(setup, background, events.clone(), stopping.clone());
        let session = TrialSession(Arc::new(TrialSessionState { folders, trial, stopping, events }));
        TrialRecording::start(&session.0, data, recorded);
        session
    }

    /// Returns the settings of a folder, or those outside of all folders; `None` if the session ends before there are any.
    pub async fn settings_in(&self, folder: Option<&Folder>) -> Option<Arc<EffectiveSettings>> {
        self.folders.settings_in(folder).await
    }

    /// Logs a warning and shows it to the user.
    pub fn warn_user(&self, message: String) {
        tracing::warn!("{message}");
        self.notify_user(message);
    }

    /// Shows a warning to the user without logging it: it may contain code.
    pub fn notify_user(&self, message: String) {
        self.report(SessionEvent::UserWarning(message));
    }

    /// Reports that another process added recorded cases.
    pub(crate) fn report_added_cases(&self) {
        self.report(SessionEvent::CasesAdded);
    }

    fn report(&self, event: SessionEvent) {
        // Without a receiver the editor is gone.
        let _ = self.events.send(event);
    }
}
