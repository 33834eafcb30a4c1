//! Whether a cancelled question frees the engine.
//!
//! Some servers tell what they are doing; of others only the next question can tell something: if the cancelled one is still being
//! answered, it has to wait, unless the server answers several at once. So an answer in time proves little, and is called what it is.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use prompt::proof::PROBES;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::heard::{Heard, LONG, ask, question};
use super::{LIMIT, Streaming, Times};
use crate::{Engine, Listener};

/// What became of a cancelled question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelling {
    /// The server says that it was free after this time.
    Freed(Duration),
    /// The server says that it was still at work after this time.
    StillBusy(Duration),
    /// The next question was answered as soon as usual.
    NextInTime(Duration),
    /// The next question waited so long for its first text.
    NextLate(Duration),
    /// It could not be tried.
    NotTried(&'static str),
}

/// A server that was not freed by then is not freed by cancelling.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a server is asked whether it is free.
const LOOK: Duration = Duration::from_millis(5);
/// What a busy machine may add to a wait.
const JITTER: Duration = Duration::from_millis(250);

/// Begins the long answer, breaks it off, and looks what happens. `long` is what it took when it was not broken off.
pub(super) async fn try_it(engine: &dyn Engine, long: &Heard, usual: Times) -> Cancelling {
    let before = busy(engine).await;
    if before.is_some_and(|busy| busy > 0) {
        return Cancelling::NotTried("others are asking the server as well");
    }
    if !begin_and_drop(engine, long).await {
        return Cancelling::NotTried("its answers are over before they can be cancelled");
    }
    let start = Instant::now();
    if before.is_some() {
        while start.elapsed() < PATIENCE {
            if busy(engine).await == Some(0) {
                return Cancelling::Freed(start.elapsed());
            }
            tokio::time::sleep(LOOK).await;
        }
        return Cancelling::StillBusy(start.elapsed());
    }
    let Ok(next) = ask(engine, question(&PROBES[0], engine), LIMIT).await else {
        return Cancelling::NextLate(start.elapsed());
    };
    let wait = next.first.unwrap_or(next.total);
    if wait <= usual.first * 3 + JITTER { Cancelling::NextInTime(wait) } else { Cancelling::NextLate(wait) }
}

async fn busy(engine: &dyn Engine) -> Option<u64> {
    engine.introduce().await.ok()?.busy
}

/// Leaves the question when its answer has begun; an answer that comes as a whole, at half its time. False if it was over before.
async fn begin_and_drop(engine: &dyn Engine, long: &Heard) -> bool {
    let (begun, has_begun) = oneshot::channel();
    let (mut listener, cancel) = (First(Some(begun)), CancellationToken::new());
    let patience = match long.streaming() {
        Some(Streaming::Whole) => long.total / 2,
        _ => LIMIT,
    };
    tokio::select! {
        biased;
        _ = engine.complete(question(&LONG, engine), &mut listener, &cancel) => false,
        _ = has_begun => true,
        () = tokio::time::sleep(patience) => true,
    }
}

/// Tells of the first piece.
struct First(Option<oneshot::Sender<()>>);

impl First {
    fn hear(&mut self) -> ControlFlow<()> {
        // Whoever wants to know may have gone.
        let _ = self.0.take().map(|begun| begun.send(()));
        ControlFlow::Continue(())
    }
}

impl Listener for First {
    fn said(&mut self, _piece: &str) -> ControlFlow<()> {
        self.hear()
    }

    fn text(&mut self, _piece: &str) -> ControlFlow<()> {
        self.hear()
    }
}
