//! The sending end of the recorder's queue, and the facts about the documents that are recorded.
//!
//! Responsible for which documents are recorded. Nothing here waits: a full queue drops recording, never a completion, and the recorder
//! then begins with the documents as they are. Without a running trial nothing is passed on.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use cases::{Opportunity, OpportunityCursor, PrivacyLevel, TrialMode, Trigger};
use config::Privacy;
use replay::{DataFolder, ReplayError};
use session::{OpenDocument, document_admission, lock};
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio_util::task::TaskTracker;
use trial::store::PlaceKey;
use trial::{DocumentKey, EventKind, RecorderSettings, RequestEvent};

use crate::recorder_thread::RecorderThread;
use crate::running_trial::{self, RunningTrial};
use crate::shadow_arms::ShadowQuestion;
use crate::trial_clock::{ClockKind, TrialClock};
use crate::trial_session::{TrialSession, TrialSessionState};

/// Number of messages that wait for the recorder: several seconds of edits. More are dropped.
const QUEUE: usize = 4_096;
/// How long the last rows may take when the server ends.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the descriptions of documents may take when the server ends: they read the settings and the list of files.
const DESCRIBE_TIMEOUT: Duration = Duration::from_millis(500);

/// Why no opportunities are recorded although the settings say otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialProblem {
    /// Name and mode of the trial; `None` if its definition cannot be read.
    pub trial: Option<(String, TrialMode)>,
    /// The reason and the remedy.
    pub reason: String,
    /// When recording resumes, if the developer paused it.
    pub paused_until: Option<SystemTime>,
}

/// Facts about a recorded document.
#[derive(Clone, Debug)]
pub struct DocumentFacts {
    /// The trial of its folder.
    pub trial: Arc<RunningTrial>,
    /// The folder.
    pub root: PathBuf,
    /// Path in the folder.
    pub path: Arc<str>,
    /// Name of its language.
    pub language: &'static str,
    /// Commit of the folder.
    pub commit: Option<String>,
    /// Hash of the indexed files.
    pub tree_hash: String,
    /// How much is stored.
    pub level: PrivacyLevel,
    /// How long rows are kept.
    pub keep: Duration,
    /// Maximum size of the store in bytes.
    pub max_bytes: u64,
    /// Durations of the stages.
    pub recorder: RecorderSettings,
}

/// A time in which the recorder keeps what it knows of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecorderEpoch {
    period: u64,
    dropped: u64,
    restarts: u64,
}

/// A message to the recorder's thread.
#[derive(Debug)]
pub enum RecordingMessage {
    /// Something happened.
    Event(Instant, EventKind),
    /// The facts of a document; `None` if it must not be recorded.
    Facts(DocumentKey, Option<Box<DocumentFacts>>),
    /// The shown engine is asked: context is gathered for the record, and the arms in shadow are asked the same.
    Asked(Box<ShadowQuestion>),
    /// Simulated time passed until this moment; the sender is dropped when the recorder has handled it.
    TimePassed(Instant, oneshot::Sender<()>),
    /// Trials were started, stopped, paused or resumed; the sender is dropped when the recorder has looked at them.
    TrialsChanged(oneshot::Sender<()>),
    /// Messages were lost: nothing is known of the documents until they are opened again.
    Lost,
    /// The server ends; the sender is dropped when all rows are stored.
    Finish(SyncSender<()>),
}

/// The sending end of the recorder's queue.
pub struct TrialRecording {
    queue: SyncSender<RecordingMessage>,
    clock: Arc<TrialClock>,
    /// Whether a trial runs in any folder.
    is_running: AtomicBool,
    /// Number of times that trials began.
    starts: AtomicU64,
    has_lost: AtomicBool,
    dropped: AtomicU64,
    /// Number of times that all documents were forgotten.
    restarts: AtomicU64,
    /// By the root of the folder.
    trials: Mutex<HashMap<PathBuf, Arc<RunningTrial>>>,
    /// Trials that cannot run here, by their folder and name, with the reason.
    refused: Mutex<HashMap<(PathBuf, String), String>>,
    /// Why nothing is recorded, by the folder of the trial.
    problems: Mutex<HashMap<PathBuf, TrialProblem>>,
    /// Notified when the state of a trial may have changed.
    pub changed: Notify,
    data: DataFolder,
    session: u64,
    /// Documents that are being described.
    describing: TaskTracker,
}

impl TrialRecording {
    /// Creates the queue. The thread is started with [`TrialRecording::start`].
    pub fn new(clock: ClockKind, data: DataFolder) -> (TrialRecording, Receiver<RecordingMessage>) {
        let (queue, received) = mpsc::sync_channel(QUEUE);
        let mut session = [0; 8];
        // Without random numbers, ids are unique on this machine at least.
        if getrandom::fill(&mut session).is_err() {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            session = (now.as_nanos() as u64).to_ne_bytes();
        }
        let recording = TrialRecording {
            queue,
            clock: Arc::new(TrialClock::new(clock)),
            is_running: AtomicBool::new(false),
            starts: AtomicU64::new(0),
            has_lost: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
            restarts: AtomicU64::new(0),
            trials: Mutex::default(),
            refused: Mutex::default(),
            problems: Mutex::default(),
            changed: Notify::new(),
            data,
            session: u64::from_ne_bytes(session),
            describing: TaskTracker::new(),
        };
        (recording, received)
    }

    /// Starts the thread. Without it nothing is recorded.
    pub fn start(session: &Arc<TrialSessionState>, data: DataFolder, messages: Receiver<RecordingMessage>) {
        let recorder = RecorderThread::new(Arc::downgrade(session), data, Arc::clone(&session.trial.clock));
        let runtime = Handle::current();
        let work = move || {
            // Messages to the user are tasks of the server.
            let _entered = runtime.enter();
            recorder.run(&messages);
        };
        let spawned = thread::Builder::new().name("trial-recorder".to_owned()).spawn(work);
        if let Err(error) = spawned {
            tracing::warn!(%error, "trials are not recorded");
        }
    }

    /// Returns whether a trial runs in any folder.
    pub fn is_running(&self) -> bool {
        self.is_running.load(Ordering::Relaxed)
    }

    /// Returns a number that changes when recording begins; `None` while no trial runs.
    pub fn period(&self) -> Option<u64> {
        self.is_running().then(|| self.starts.load(Ordering::Relaxed))
    }

    /// Returns a value that changes when the recorder no longer knows the documents of earlier events; `None` while no trial runs. For
    /// senders beside the editor's.
    pub fn epoch(&self) -> Option<RecorderEpoch> {
        let period = self.period()?;
        let (dropped, restarts) = (self.dropped(), self.restarts.load(Ordering::Relaxed));
        Some(RecorderEpoch { period, dropped, restarts })
    }

    /// Returns whether messages were lost since the last call.
    pub fn take_lost(&self) -> bool {
        self.has_lost.load(Ordering::Relaxed) && self.has_lost.swap(false, Ordering::Relaxed)
    }

    /// Returns the number of messages that were dropped because the recorder was behind.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Returns the trial that runs in the folder with this root.
    pub fn trial_in(&self, root: &Path) -> Option<Arc<RunningTrial>> {
        if self.is_running() { lock(&self.trials).get(root).cloned() } else { None }
    }

    /// Returns the folder of the trials of the workspace folder with this root.
    pub fn place(&self, root: &Path) -> PathBuf {
        self.data.trial(root)
    }

    /// Returns the key of the paths in the stores of this machine.
    ///
    /// # Errors
    /// The key cannot be read or created.
    pub fn place_key(&self) -> Result<PlaceKey, ReplayError> {
        Ok(PlaceKey::new(self.data.hash_key()?.bytes()))
    }

    /// Has the recorder look at the trials now, and waits for it. Everything after that is recorded as they say.
    pub async fn reload_trials(&self) {
        let (handled, is_handled) = oneshot::channel();
        self.send(RecordingMessage::TrialsChanged(handled));
        // The sender is never used, only dropped.
        let _ = is_handled.await;
    }

    /// Returns why nothing is recorded in the folder with this root.
    pub fn problem_in(&self, root: &Path) -> Option<TrialProblem> {
        lock(&self.problems).get(&self.place(root)).cloned()
    }

    /// Sets why nothing is recorded, by the folder of the trial.
    pub(crate) fn set_problems(&self, problems: HashMap<PathBuf, TrialProblem>) {
        *lock(&self.problems) = problems;
    }

    /// Sets the trials that run.
    pub(crate) fn set_trials(&self, trials: HashMap<PathBuf, Arc<RunningTrial>>) {
        let is_running = !trials.is_empty();
        let before = std::mem::replace(&mut *lock(&self.trials), trials.clone());
        for trial in before.values() {
            if !trials.values().any(|running| Arc::ptr_eq(running, trial)) {
                trial.stopped.cancel();
            }
        }
        // The recorder knows no documents of a trial that begins, or begins again.
        if trials.keys().any(|root| !before.contains_key(root)) {
            self.starts.fetch_add(1, Ordering::Relaxed);
        }
        self.is_running.store(is_running, Ordering::Relaxed);
    }

    /// Turns a trial off that cannot run here, with one message.
    pub(crate) fn refuse(&self, session: &TrialSession, folder: &Path, name: &str, reason: &str) {
        let refused = (folder.to_owned(), name.to_owned());
        if lock(&self.refused).insert(refused, reason.to_owned()).is_none() {
            let message = format!(
                "the trial `{name}` is off: {reason}. Correct the settings and restart the server, or stop the trial: ghostbench trial stop"
            );
            session.warn_user(message);
        }
        let mut trials = lock(&self.trials).clone();
        trials.retain(|_, trial| trial.folder != folder);
        self.set_trials(trials);
    }

    /// Returns why a trial cannot run here.
    pub(crate) fn refusal(&self, folder: &Path, name: &str) -> Option<String> {
        lock(&self.refused).get(&(folder.to_owned(), name.to_owned())).cloned()
    }

    /// Id of this session.
    pub(crate) fn session_id(&self) -> String {
        format!("{:016x}", self.session)
    }

    /// Returns the clock of the recording.
    pub fn clock(&self) -> &TrialClock {
        &self.clock
    }

    /// Lets simulated time pass, and waits until the recorder has handled it and everything before. Documents are described before it
    /// passes: a person is slower than that, and must not close a file that the recorder knows nothing of.
    pub async fn advance(&self, duration: Duration) {
        self.describing.close();
        self.describing.wait().await;
        self.describing.reopen();
        self.clock.advance(duration);
        let (handled, is_handled) = oneshot::channel();
        self.send(RecordingMessage::TimePassed(self.clock.now(), handled));
        // The sender is never used, only dropped.
        let _ = is_handled.await;
    }

    /// Passes an event of this moment on.
    pub fn record(&self, kind: EventKind) {
        self.send(RecordingMessage::Event(self.clock.now(), kind));
    }

    /// Finds out whether and how a document is recorded. Independent of requests, which may be superseded.
    pub fn describe_soon(&self, session: &TrialSession, document: &Arc<OpenDocument>) {
        let (session, document) = (session.clone(), Arc::clone(document));
        self.describing.spawn(async move {
            let facts = document_facts(&session, &document).await;
            session.trial.describe(&document, facts);
        });
    }

    /// Waits until the documents are described whose rows could otherwise not be stored, but not long.
    pub async fn finish_describing(&self) {
        self.describing.close();
        let _ = tokio::time::timeout(DESCRIBE_TIMEOUT, self.describing.wait()).await;
    }

    /// Passes the facts of a document on.
    pub fn describe(&self, document: &OpenDocument, facts: Option<DocumentFacts>) {
        self.send(RecordingMessage::Facts(document.key.clone(), facts.map(Box::new)));
    }

    /// Passes the question on that the shown engine is asked.
    pub fn ask(&self, question: Box<ShadowQuestion>) {
        self.send(RecordingMessage::Asked(question));
    }

    /// Passes a request at `offset` of a document on.
    pub fn request(&self, request: u64, document: &OpenDocument, offset: usize, trigger: Trigger) {
        let opportunity = self.blank(request, document, trigger);
        let document = document.key.clone();
        let event = RequestEvent { request, document, offset, opportunity };
        self.record(EventKind::Requested(Box::new(event)));
    }

    /// Returns a row that the recorder completes. Until its document's facts are known, its path is the document's key.
    fn blank(&self, request: u64, document: &OpenDocument, trigger: Trigger) -> Opportunity {
        Opportunity {
            session: self.session_id(),
            opened_at: humantime::format_rfc3339_millis(self.clock.system_time()).to_string(),
            ..Opportunity::new(
                format!("{:016x}{request:016x}", self.session),
                trigger,
                OpportunityCursor::at_start(
                    document.language.map_or("", syntax::Language::name),
                    &document.key,
                ),
            )
        }
    }

    fn send(&self, message: RecordingMessage) {
        if self.queue.try_send(message).is_err() {
            self.has_lost.store(true, Ordering::Relaxed);
            if self.dropped.fetch_add(1, Ordering::Relaxed) == 0 {
                tracing::warn!("the recorder of the trial is behind; opportunities are left out");
            }
        }
    }

    /// Tells the recorder that messages were lost, if there is room.
    pub fn restart(&self) {
        self.restarts.fetch_add(1, Ordering::Relaxed);
        self.send(RecordingMessage::Lost);
    }

    /// Waits until all rows are stored, but not long.
    pub fn finish(&self) {
        let (stored, is_stored) = mpsc::sync_channel(0);
        if self.queue.try_send(RecordingMessage::Finish(stored)).is_ok() {
            let _ = is_stored.recv_timeout(FINISH_TIMEOUT);
        }
    }
}

/// Returns the facts of a document; `None` if no trial runs in its folder, or if it must not be recorded.
pub async fn document_facts(session: &TrialSession, document: &OpenDocument) -> Option<DocumentFacts> {
    let home = session.folders.locate(document).await;
    let folder = home.folder.as_ref().filter(|_| home.is_inside)?;
    let trial = session.trial.trial_in(&folder.root)?;
    let settings = session.settings_in(Some(folder)).await?;
    let config = &settings.config;
    let level = match config.record.privacy {
        Privacy::Full => PrivacyLevel::Full,
        Privacy::Structure => PrivacyLevel::Structure,
        Privacy::Metrics => PrivacyLevel::Metrics,
        Privacy::Off => return None,
    };
    if document_admission::refusal(document, &home).await.is_some() {
        return None;
    }
    // An arm that is missing ends the trial here.
    running_trial::engines(session, &trial, folder, &settings).await?;
    let code = folder.state().code_version.map(|code| code.state);
    let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Some(DocumentFacts {
        trial,
        root: folder.root.clone(),
        path: Arc::clone(&home.path),
        language: document.language?.name(),
        commit: code.as_ref().and_then(|code| code.commit.clone()),
        tree_hash: code.map(|code| code.tree_hash).unwrap_or_default(),
        level,
        keep: Duration::from_secs(u64::from(config.trial.keep_days) * 24 * 60 * 60),
        max_bytes: u64::from(config.trial.max_mb) << 20,
        recorder: RecorderSettings {
            settled: ms(config.trial.settled),
            leave_block: ms(config.trial.leave_block),
            idle: ms(config.trial.idle),
            ..RecorderSettings::default()
        },
    })
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn simulated_time_does_not_pass_while_a_document_is_described() {
        let data = DataFolder::new(PathBuf::from("unused"));
        let (recording, messages) = TrialRecording::new(ClockKind::Simulated, data);
        let (describe, is_described) = oneshot::channel::<()>();
        recording.describing.spawn(is_described);
        let mut advance = Box::pin(recording.advance(Duration::from_secs(1)));
        assert!((&mut advance).now_or_never().is_none());
        assert!(messages.try_recv().is_err(), "the recorder heard of the time before it knew the document");
        describe.send(()).expect("it is awaited");
        recording.describing.wait().await;
        assert!((&mut advance).now_or_never().is_none());
        let Ok(RecordingMessage::TimePassed(_, handled)) = messages.try_recv() else {
            panic!("no time passed")
        };
        drop(handled);
        advance.await;
        assert!(!recording.describing.is_closed(), "later documents are described, too");
    }
}
