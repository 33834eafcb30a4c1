//! An answer in flight, and whether later requests may share it.
//!
//! ```text
//! engine ──► streamed ─┐
//!                      ├─ judge ─► adopt: streamed text begins with typed text ─┐
//! editor ──► typed ────┘           wait: typed text begins with streamed text  ─┴► the request shares the answer
//!                                  cancel: the texts differ                    ──► the engine is freed
//! ```
//!
//! Users type on while an engine generates, and every key is a request of its own. An answer that begins with the typed text is still
//! right, so it is shared and the typed part is removed ([`AnswerCache`](crate::AnswerCache) makes the final decision). An answer is cancelled as
//! soon as a key or a piece of the stream contradicts it, and if no request has wanted it for a while. No lock is held across an await.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cursor_snapshot::{CursorSnapshot, InsertedText, may_be_auto_closed, with_lf};
use crate::trace::Outcome;

/// How long an answer is generated at most without a request waiting for it, if its engine costs nothing and the editor usually sends
/// the next request within this time. VS Code 1.139 cancels a request at each key and sends the next one within its delay of 50 ms:
/// 209 cancelled requests were followed by the next one after 38 ms (median), on a machine with other work. Neovim 0.12 cancels only when
/// it leaves the insert mode. A longer wait would keep the model busy for nothing when the user stops typing.
pub(crate) const GRACE_PERIOD: Duration = Duration::from_millis(55);

/// How long an answer is generated at least for an editor that sends the next request within [`GRACE_PERIOD`]: two messages that were
/// sent together may be read this long after each other on a machine with other work.
pub(crate) const MIN_GRACE_PERIOD: Duration = Duration::from_millis(10);

/// How an answer in flight relates to a later request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReuseDecision {
    /// The streamed text begins with the typed text: it is the answer.
    Adopt,
    /// The typed text begins with the streamed text and is longer: it may become the answer.
    Wait,
    /// The texts differ: it cannot become the answer.
    Cancel,
}

/// Compares an answer requested at `asked`, whose known beginning is `streamed`, with a request at `today`.
pub fn reuse_decision(asked: &CursorSnapshot, streamed: &str, today: &CursorSnapshot) -> ReuseDecision {
    match asked.inserted_until(today) {
        Some(written) if asked.has_same_surroundings(today) => compare(&with_lf(streamed), &written.typed),
        _ => ReuseDecision::Cancel,
    }
}

/// Compares two texts with LF line ends. Text that the editor inserted behind the cursor can be compared only with the complete answer.
fn compare(streamed: &str, typed: &str) -> ReuseDecision {
    if streamed.starts_with(typed) {
        ReuseDecision::Adopt
    } else if typed.starts_with(streamed) {
        ReuseDecision::Wait
    } else {
        ReuseDecision::Cancel
    }
}

/// An answer that is generated in a task of its own and shared by requests.
#[derive(Debug)]
pub struct InFlightRequest {
    cursor: CursorSnapshot,
    /// Whether it was invoked explicitly.
    is_invoked: bool,
    /// How long it continues without a request waiting for it.
    grace: Duration,
    progress: Mutex<RequestProgress>,
    stage: watch::Sender<RequestStage>,
    stop: CancellationToken,
}

/// The two texts that are compared.
#[derive(Debug)]
struct RequestProgress {
    /// The known beginning of the answer.
    streamed: String,
    /// The text inserted at the cursor's position since the request; the cursor's offset in it is unknown.
    written: String,
    /// When a request last wanted it.
    last_wanted: Instant,
}

#[derive(Clone, Debug)]
enum RequestStage {
    Running,
    Ended(Arc<Outcome>),
    /// It was cancelled, or its task panicked.
    Aborted,
}

/// Why a shared answer is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InFlightError {
    /// It was cancelled.
    Cancelled,
    /// Its task panicked.
    Panicked,
}

impl InFlightRequest {
    pub(crate) fn new(place: CursorSnapshot, is_invoked: bool, grace: Duration) -> InFlightRequest {
        let progress =
            RequestProgress { streamed: String::new(), written: String::new(), last_wanted: Instant::now() };
        InFlightRequest {
            cursor: place,
            is_invoked,
            grace,
            progress: Mutex::new(progress),
            stage: watch::Sender::new(RequestStage::Running),
            stop: CancellationToken::new(),
        }
    }

    /// Returns the place of its request.
    pub fn cursor(&self) -> &CursorSnapshot {
        &self.cursor
    }

    pub(crate) fn is_invoked(&self) -> bool {
        self.is_invoked
    }

    /// Returns how long no request has waited for it; `None` if one does.
    pub(crate) fn unwanted_for(&self) -> Option<Duration> {
        let is_unwanted = self.stage.receiver_count() == 0;
        is_unwanted.then(|| self.progress().last_wanted.elapsed())
    }

    /// Returns whether it is still in progress.
    pub(crate) fn is_running(&self) -> bool {
        !self.stop.is_cancelled() && matches!(*self.stage.borrow(), RequestStage::Running)
    }

    /// Records the known beginning of the answer.
    pub(crate) fn set_streamed(&self, beginning: String) {
        let mut progress = self.progress();
        progress.streamed = with_lf(&beginning).into_owned();
        self.cancel_if_diverged(&progress);
    }

    /// Records the text at its place.
    pub(crate) fn set_written(&self, written: &str) {
        let mut progress = self.progress();
        progress.written = with_lf(written).into_owned();
        progress.last_wanted = Instant::now();
        self.cancel_if_diverged(&progress);
    }

    /// Compares it with a request at `today`; keeps it alive unless the verdict is [`ReuseDecision::Cancel`], which cancels it.
    pub(crate) fn reuse_decision(&self, today: &CursorSnapshot) -> ReuseDecision {
        let mut progress = self.progress();
        let verdict = reuse_decision(&self.cursor, &progress.streamed, today);
        match self.cursor.inserted_until(today) {
            Some(InsertedText { typed, closed }) if verdict != ReuseDecision::Cancel => {
                progress.written = [typed, closed].concat();
                progress.last_wanted = Instant::now();
            }
            _ => self.cancel(),
        }
        verdict
    }

    /// Cancels it if the two texts differ. Brackets at the end of the written text are ignored: the editor may have inserted them.
    fn cancel_if_diverged(&self, progress: &RequestProgress) {
        let typed = progress.written.trim_end_matches(may_be_auto_closed);
        if compare(&progress.streamed, typed) == ReuseDecision::Cancel {
            self.cancel();
        }
    }

    /// Cancels it, which frees the engine.
    pub(crate) fn cancel(&self) {
        self.stop.cancel();
    }

    /// Runs `completing` until it ends, is cancelled, or is abandoned.
    pub(crate) async fn run(&self, completing: impl Future<Output = Outcome>) -> Option<Outcome> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            outcome = completing => Some(outcome),
            () = self.wait_until_unwanted() => {
                self.cancel();
                None
            }
        }
    }

    /// Returns once no request has wanted it for its grace period.
    async fn wait_until_unwanted(&self) {
        loop {
            self.stage.closed().await;
            let until = self.progress().last_wanted + self.grace;
            if Instant::now() >= until {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// Returns a guard that publishes the outcome to all requests that share it; dropping the guard publishes a failure.
    pub(crate) fn completion_guard(&self) -> CompletionGuard<'_> {
        CompletionGuard(self)
    }

    /// Returns a handle that waits for its end and keeps it wanted.
    pub(crate) fn subscribe(self: &Arc<InFlightRequest>) -> InFlightSubscriber {
        InFlightSubscriber { request: Arc::clone(self), stage: self.stage.subscribe() }
    }

    fn progress(&self) -> MutexGuard<'_, RequestProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Publishes how a generation ended, even after a panic.
pub(crate) struct CompletionGuard<'a>(&'a InFlightRequest);

impl CompletionGuard<'_> {
    pub(crate) fn complete(self, outcome: Outcome) {
        self.0.stage.send_replace(RequestStage::Ended(Arc::new(outcome)));
    }
}

impl Drop for CompletionGuard<'_> {
    fn drop(&mut self) {
        self.0.stage.send_if_modified(|stage| {
            let is_untold = matches!(stage, RequestStage::Running);
            if is_untold {
                *stage = RequestStage::Aborted;
            }
            is_untold
        });
    }
}

/// A request's handle to a shared generation. The generation is abandoned a grace period after the last handle is dropped.
pub(crate) struct InFlightSubscriber {
    request: Arc<InFlightRequest>,
    stage: watch::Receiver<RequestStage>,
}

impl InFlightSubscriber {
    pub(crate) fn request(&self) -> &InFlightRequest {
        &self.request
    }

    /// Waits for its end.
    pub(crate) async fn outcome(&mut self) -> Result<Arc<Outcome>, InFlightError> {
        let ended = self.stage.wait_for(|stage| !matches!(stage, RequestStage::Running)).await;
        match ended.as_deref() {
            Ok(RequestStage::Ended(outcome)) => Ok(Arc::clone(outcome)),
            _ if self.request.stop.is_cancelled() => Err(InFlightError::Cancelled),
            _ => Err(InFlightError::Panicked),
        }
    }
}

impl Drop for InFlightSubscriber {
    fn drop(&mut self) {
        self.request.progress().last_wanted = Instant::now();
    }
}
