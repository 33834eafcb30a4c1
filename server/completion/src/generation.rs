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
//! still the right one, so it is shared and the typed part is swallowed ([`Recent`](crate::Recent) has the last word on that). One that
//! has parted from the text is ended the moment this shows, at a key or at a piece of the stream. One that nobody has wanted for a while
//! is ended too. No lock is held across an await.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::place::{Place, Written, closes, with_lf};
use crate::trace::Outcome;

/// How long an answer is written for nobody. VS Code cancels a request at each key and asks again 50 ms after it, Neovim asks 200 ms after
/// the last key; a busy editor needs a little more.
const GRACE: Duration = Duration::from_millis(300);

/// What an answer that is being written is to a later question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the answer: all that was typed since was streamed.
    Adopt,
    /// It may become the answer: what was streamed was typed, and more was typed than that.
    Wait,
    /// It never will.
    Cancel,
}

/// What an answer that was asked for at `asked` is to a question at `today`, when `streamed` is what is known of its beginning.
pub fn judge(asked: &Place, streamed: &str, today: &Place) -> Verdict {
    match asked.written(today) {
        Some(written) if asked.is_around(today) => compare(&with_lf(streamed), &written.typed),
        _ => Verdict::Cancel,
    }
}

/// The same for what was typed, with LF line ends. What an editor closed behind the cursor shows only in the whole answer.
fn compare(streamed: &str, typed: &str) -> Verdict {
    if streamed.starts_with(typed) {
        Verdict::Adopt
    } else if typed.starts_with(streamed) {
        Verdict::Wait
    } else {
        Verdict::Cancel
    }
}

/// An answer that is being written in a task of its own, for the questions that share it.
#[derive(Debug)]
pub struct Generation {
    place: Place,
    /// Whether a person asked for it by key.
    is_invoked: bool,
    progress: Mutex<Progress>,
    stage: watch::Sender<Stage>,
    stop: CancellationToken,
}

/// The two texts that may part.
#[derive(Debug)]
struct Progress {
    /// What is known of the answer's beginning.
    streamed: String,
    /// What was written at its place; where the cursor stands in it is not known.
    written: String,
    /// When somebody last wanted it.
    wanted: Instant,
}

#[derive(Clone, Debug)]
enum Stage {
    Writing,
    Ended(Arc<Outcome>),
    /// It was ended before its end, or stopped by a defect.
    Gone,
}

/// Why an answer that was shared is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It was cancelled.
    Cancelled,
    /// Whatever wrote it stopped by a defect.
    Defect,
}

impl Generation {
    pub(crate) fn new(place: Place, is_invoked: bool) -> Generation {
        let progress = Progress { streamed: String::new(), written: String::new(), wanted: Instant::now() };
        Generation {
            place,
            is_invoked,
            progress: Mutex::new(progress),
            stage: watch::Sender::new(Stage::Writing),
            stop: CancellationToken::new(),
        }
    }

    /// Where it was asked for.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    pub(crate) fn is_invoked(&self) -> bool {
        self.is_invoked
    }

    /// Whether it may still come to an end.
    pub(crate) fn is_writing(&self) -> bool {
        !self.stop.is_cancelled() && matches!(*self.stage.borrow(), Stage::Writing)
    }

    /// Takes note of what is known of its beginning by now.
    pub(crate) fn streamed(&self, beginning: String) {
        let mut progress = self.progress();
        progress.streamed = with_lf(&beginning).into_owned();
        self.part(&progress);
    }

    /// Takes note that the text at its place is `written` by now.
    pub(crate) fn written(&self, written: &str) {
        let mut progress = self.progress();
        progress.written = with_lf(written).into_owned();
        progress.wanted = Instant::now();
        self.part(&progress);
    }

    /// What it is to a question at `today`, which wants it if it can.
    pub(crate) fn verdict(&self, today: &Place) -> Verdict {
        let mut progress = self.progress();
        let verdict = judge(&self.place, &progress.streamed, today);
        match self.place.written(today) {
            Some(Written { typed, closed }) if verdict != Verdict::Cancel => {
                progress.written = [typed, closed].concat();
                progress.wanted = Instant::now();
            }
            _ => self.cancel(),
        }
        verdict
    }

    /// Ends it if the two texts have parted. What ends with brackets may end with the editor's.
    fn part(&self, progress: &Progress) {
        let typed = progress.written.trim_end_matches(closes);
        if compare(&progress.streamed, typed) == Verdict::Cancel {
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
            () = self.abandoned() => {
                self.cancel();
                None
            }
        }
    }

    /// Returns when nobody has wanted it for a while.
    async fn abandoned(&self) {
        loop {
            self.stage.closed().await;
            let until = self.progress().wanted + GRACE;
            if Instant::now() >= until {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    /// Tells how it ended to all that share it; to be dropped without a word where it did not.
    pub(crate) fn ending(&self) -> Ending<'_> {
        Ending(self)
    }

    /// Shares it: what is returned waits for its end.
    pub(crate) fn share(self: &Arc<Generation>) -> Share {
        Share { generation: Arc::clone(self), stage: self.stage.subscribe() }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who will tell how a generation ended, even by a panic.
pub(crate) struct Ending<'a>(&'a Generation);

impl Ending<'_> {
    pub(crate) fn tell(self, outcome: Outcome) {
        self.0.stage.send_replace(Stage::Ended(Arc::new(outcome)));
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.stage.send_if_modified(|stage| {
            let is_untold = matches!(stage, Stage::Writing);
            if is_untold {
                *stage = Stage::Gone;
            }
            is_untold
        });
    }
}

/// A question that shares a generation; dropping it is one who wants it less.
pub(crate) struct Share {
    generation: Arc<Generation>,
    stage: watch::Receiver<Stage>,
}

impl Share {
    pub(crate) fn generation(&self) -> &Generation {
        &self.generation
    }

    /// Waits for its end.
    pub(crate) async fn ended(&mut self) -> Result<Arc<Outcome>, Loss> {
        let ended = self.stage.wait_for(|stage| !matches!(stage, Stage::Writing)).await;
        match ended.as_deref() {
            Ok(Stage::Ended(outcome)) => Ok(Arc::clone(outcome)),
            _ if self.generation.stop.is_cancelled() => Err(Loss::Cancelled),
            _ => Err(Loss::Defect),
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.generation.progress().wanted = Instant::now();
    }
}
