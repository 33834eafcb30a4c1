//! An answer that is being written, and whether it may become the answer to a later question.
//!
//! ```text
//! engine ──► streamed ─┐
//!                      ├─ judge ─► adopt: all that was typed was streamed     ─┐
//! editor ──► typed ────┘           wait: nothing was streamed that was not typed ├► the question shares the answer
//!                                  cancel: the two have parted                   └► the engine is freed
//! ```
//!
//! People go on typing while an engine writes, and every key is a question of its own. An answer whose beginning is what was typed is
//! still the right one, so it is shared and the typed part is swallowed ([`AnswerCache`](crate::AnswerCache) has the last word on that). One that
//! has parted from the text is ended the moment this shows, at a key or at a piece of the stream. One that nobody has wanted for a while
//! is ended too. No lock is held across an await.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cursor_snapshot::{CursorSnapshot, InsertedText, may_be_auto_closed, with_lf};
use crate::trace::Outcome;

/// How long an answer is written for nobody. VS Code cancels a request at each key and asks again 50 ms after it, Neovim asks 200 ms after
/// the last key; a busy editor needs a little more.
const GRACE_PERIOD: Duration = Duration::from_millis(300);

/// What an answer that is being written is to a later question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReuseDecision {
    /// It is the answer: all that was typed since was streamed.
    Adopt,
    /// It may become the answer: what was streamed was typed, and more was typed than that.
    Wait,
    /// It never will.
    Cancel,
}

/// What an answer that was asked for at `asked` is to a question at `today`, when `streamed` is what is known of its beginning.
pub fn reuse_decision(asked: &CursorSnapshot, streamed: &str, today: &CursorSnapshot) -> ReuseDecision {
    match asked.inserted_until(today) {
        Some(written) if asked.has_same_surroundings(today) => compare(&with_lf(streamed), &written.typed),
        _ => ReuseDecision::Cancel,
    }
}

/// The same for what was typed, with LF line ends. What an editor closed behind the cursor shows only in the whole answer.
fn compare(streamed: &str, typed: &str) -> ReuseDecision {
    if streamed.starts_with(typed) {
        ReuseDecision::Adopt
    } else if typed.starts_with(streamed) {
        ReuseDecision::Wait
    } else {
        ReuseDecision::Cancel
    }
}

/// An answer that is being written in a task of its own, for the questions that share it.
#[derive(Debug)]
pub struct InFlightRequest {
    cursor: CursorSnapshot,
    /// Whether a person asked for it by key.
    is_invoked: bool,
    progress: Mutex<RequestProgress>,
    stage: watch::Sender<RequestStage>,
    stop: CancellationToken,
}

/// The two texts that may part.
#[derive(Debug)]
struct RequestProgress {
    /// What is known of the answer's beginning.
    streamed: String,
    /// What was written at its place; where the cursor stands in it is not known.
    written: String,
    /// When somebody last wanted it.
    last_wanted: Instant,
}

#[derive(Clone, Debug)]
enum RequestStage {
    Running,
    Ended(Arc<Outcome>),
    /// It was ended before its end, or stopped by a defect.
    Aborted,
}

/// Why an answer that was shared is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InFlightError {
    /// It was cancelled.
    Cancelled,
    /// Whatever wrote it stopped by a defect.
    Panicked,
}

impl InFlightRequest {
    pub(crate) fn new(place: CursorSnapshot, is_invoked: bool) -> InFlightRequest {
        let progress =
            RequestProgress { streamed: String::new(), written: String::new(), last_wanted: Instant::now() };
        InFlightRequest {
            cursor: place,
            is_invoked,
            progress: Mutex::new(progress),
            stage: watch::Sender::new(RequestStage::Running),
            stop: CancellationToken::new(),
        }
    }

    /// Where it was asked for.
    pub(crate) fn cursor(&self) -> &CursorSnapshot {
        &self.cursor
    }

    pub(crate) fn is_invoked(&self) -> bool {
        self.is_invoked
    }

    /// Whether it may still come to an end.
    pub(crate) fn is_running(&self) -> bool {
        !self.stop.is_cancelled() && matches!(*self.stage.borrow(), RequestStage::Running)
    }

    /// Takes note of what is known of its beginning by now.
    pub(crate) fn set_streamed(&self, beginning: String) {
        let mut progress = self.progress();
        progress.streamed = with_lf(&beginning).into_owned();
        self.cancel_if_diverged(&progress);
    }

    /// Takes note that the text at its place is `written` by now.
    pub(crate) fn set_written(&self, written: &str) {
        let mut progress = self.progress();
        progress.written = with_lf(written).into_owned();
        progress.last_wanted = Instant::now();
        self.cancel_if_diverged(&progress);
    }

    /// What it is to a question at `today`, which wants it if it can.
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

    /// Ends it if the two texts have parted. What ends with brackets may end with the editor's.
    fn cancel_if_diverged(&self, progress: &RequestProgress) {
        let typed = progress.written.trim_end_matches(may_be_auto_closed);
        if compare(&progress.streamed, typed) == ReuseDecision::Cancel {
            self.cancel();
        }
    }

    /// Frees the engine.
    pub(crate) fn cancel(&self) {
        self.stop.cancel();
    }

    /// Lets `completing` write it, for as long as somebody wants it.
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

    /// Returns when nobody has wanted it for a while.
    async fn wait_until_unwanted(&self) {
        loop {
            self.stage.closed().await;
            let until = self.progress().last_wanted + GRACE_PERIOD;
            if Instant::now() >= until {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// Tells how it ended to all that share it; to be dropped without a word where it did not.
    pub(crate) fn completion_guard(&self) -> CompletionGuard<'_> {
        CompletionGuard(self)
    }

    /// Shares it: what is returned waits for its end.
    pub(crate) fn subscribe(self: &Arc<InFlightRequest>) -> InFlightSubscriber {
        InFlightSubscriber { request: Arc::clone(self), stage: self.stage.subscribe() }
    }

    fn progress(&self) -> MutexGuard<'_, RequestProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who will tell how a generation ended, even by a panic.
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

/// A question that shares a generation; dropping it is one who wants it less.
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
