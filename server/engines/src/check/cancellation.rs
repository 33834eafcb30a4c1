//! Checks whether cancelling a request frees the engine.
//!
//! Some servers report their state. For others only the next request gives evidence: if the cancelled request is still running,
//! the next one has to wait, unless the server answers several at once. An answer in time therefore proves little, and is
//! reported as such.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use prompt::template_check::PROBES;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::probe_answer::{LONG_PROBE, ProbeAnswer, ask_probe, probe_request};
use super::{CheckTimes, StreamingMode, TIMEOUT};
use crate::{AnswerListener, Engine};

/// Effect of cancelling a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancellationResult {
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
const FREE_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval for polling the server's state.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Delay that a busy machine may add.
const JITTER: Duration = Duration::from_millis(250);

/// Starts the long answer, cancels it and measures the effect. `long` is the uncancelled measurement.
pub(super) async fn check_cancellation(
    engine: &dyn Engine,
    long: &ProbeAnswer,
    usual: CheckTimes,
) -> CancellationResult {
    let before = busy(engine).await;
    if before.is_some_and(|busy| busy > 0) {
        return CancellationResult::NotTried("others are asking the server as well");
    }
    if !begin_and_drop(engine, long).await {
        return CancellationResult::NotTried("its answers are over before they can be cancelled");
    }
    let start = Instant::now();
    if before.is_some() {
        while start.elapsed() < FREE_TIMEOUT {
            if busy(engine).await == Some(0) {
                return CancellationResult::Freed(start.elapsed());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        return CancellationResult::StillBusy(start.elapsed());
    }
    let Ok(next) = ask_probe(engine, probe_request(&PROBES[0], engine), TIMEOUT).await else {
        return CancellationResult::NextLate(start.elapsed());
    };
    let wait = next.first.unwrap_or(next.total);
    if wait <= usual.first * 3 + JITTER {
        CancellationResult::NextInTime(wait)
    } else {
        CancellationResult::NextLate(wait)
    }
}

async fn busy(engine: &dyn Engine) -> Option<u64> {
    engine.probe().await.ok()?.busy
}

/// Drops a request once its answer has begun, or after half its usual time if it comes in one piece. Returns false if it had
/// already ended.
async fn begin_and_drop(engine: &dyn Engine, long: &ProbeAnswer) -> bool {
    let (begun, has_begun) = oneshot::channel();
    let (mut listener, cancel) = (FirstPieceListener(Some(begun)), CancellationToken::new());
    let patience = match long.streaming() {
        Some(StreamingMode::Whole) => long.total / 2,
        _ => TIMEOUT,
    };
    tokio::select! {
        biased;
        _ = engine.complete(probe_request(&LONG_PROBE, engine), &mut listener, &cancel) => false,
        _ = has_begun => true,
        () = tokio::time::sleep(patience) => true,
    }
}

/// Signals the first piece.
struct FirstPieceListener(Option<oneshot::Sender<()>>);

impl FirstPieceListener {
    fn signal(&mut self) -> ControlFlow<()> {
        // The receiver may be dropped.
        let _ = self.0.take().map(|begun| begun.send(()));
        ControlFlow::Continue(())
    }
}

impl AnswerListener for FirstPieceListener {
    fn raw_text(&mut self, _piece: &str) -> ControlFlow<()> {
        self.signal()
    }

    fn text(&mut self, _piece: &str) -> ControlFlow<()> {
        self.signal()
    }
}
