//! Checks whether cancelling a request frees the engine.
//!
//! Some servers report their state. For others only the next request gives evidence: if the cancelled request is still running,
//! the next one has to wait, unless the server answers several at once. An answer in time therefore proves little, and is
//! reported as such.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use prompt::proof::PROBES;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::heard::{Heard, LONG, ask, question};
use super::{LIMIT, Streaming, Times};
use crate::{Engine, Listener};

/// Effect of cancelling a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelling {
    /// The server reported to be idle after this time.
    Freed(Duration),
    /// The server reported to be still busy after this time.
    StillBusy(Duration),
    /// The next request was answered as fast as usual.
    NextInTime(Duration),
    /// The next request waited this long for its first text.
    NextLate(Duration),
    /// Not tested.
    NotTried(&'static str),
}

/// A server that is still busy after this time is not freed by cancelling.
const PATIENCE: Duration = Duration::from_secs(5);
/// Interval for polling the server's state.
const LOOK: Duration = Duration::from_millis(5);
/// Delay that a busy machine may add.
const JITTER: Duration = Duration::from_millis(250);

/// Starts the long answer, cancels it and measures the effect. `long` is the uncancelled measurement.
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

/// Drops a request once its answer has begun, or after half its usual time if it comes in one piece. Returns false if it had
/// already ended.
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

/// Signals the first piece.
struct First(Option<oneshot::Sender<()>>);

impl First {
    fn hear(&mut self) -> ControlFlow<()> {
        // The receiver may be dropped.
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
