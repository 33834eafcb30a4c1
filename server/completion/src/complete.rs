//! The pipeline from a cursor to an outcome.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use engines::{Answer, Engine, Request};
use tokio_util::sync::CancellationToken;

use crate::clean::{Surroundings, clean};
use crate::gate;
use crate::settings::Settings;
use crate::trace::{ContextItem, Outcome, Status, Trace};
use crate::world::Snapshot;

/// Longest answer that is read, in bytes: six times the longest truth, so that an engine that never stops costs no memory.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Completes at `offset` (bytes) of the snapshot's document.
///
/// The outcome is complete in itself: every way to end is a [`Status`], and the trace says how it came about. Cancelling and
/// dropping the future both free the engine.
pub async fn complete(
    snapshot: &Snapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &Settings,
    cancel: &CancellationToken,
) -> Outcome {
    let start = Instant::now();
    let mut trace = Trace::default();
    let (status, text) = match gate::before(snapshot, offset) {
        Some(gate) => (Status::Gated(gate), String::new()),
        None => ask(snapshot, offset, engine, settings, cancel, start, &mut trace).await,
    };
    trace.timings.total = start.elapsed();
    Outcome { status, text, trace }
}

async fn ask(
    snapshot: &Snapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &Settings,
    cancel: &CancellationToken,
    start: Instant,
    trace: &mut Trace,
) -> (Status, String) {
    trace.gathered = snapshot.gather();
    let request = request(snapshot, offset, engine, settings, &trace.gathered);
    trace.sent_bytes = [
        request.prefix.len(),
        request.suffix.len(),
        request.context.iter().map(|item| item.text.len()).sum(),
    ];
    trace.timings.gather = start.elapsed();
    let mut read = |piece: &str| {
        trace.timings.first.get_or_insert_with(|| start.elapsed());
        trace.received.push_str(piece);
        if trace.received.len() > MAX_ANSWER_BYTES {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let answer = tokio::time::timeout(settings.deadline, engine.complete(request, &mut read, cancel)).await;
    match answer {
        Err(_) => (Status::Timeout, String::new()),
        Ok(Err(engines::Error::Cancelled)) => (Status::Cancelled, String::new()),
        Ok(Err(error)) => (Status::Failed(error), String::new()),
        Ok(Ok(answer)) => judge(snapshot, offset, settings, answer, trace),
    }
}

/// What is left of an answer that came in time.
fn judge(
    snapshot: &Snapshot,
    offset: usize,
    settings: &Settings,
    answer: Answer,
    trace: &mut Trace,
) -> (Status, String) {
    trace.finish = Some(answer.finish);
    trace.confidence = answer.confidence;
    trace.usage = answer.usage;
    let (text, cuts) = clean(&trace.received, &Surroundings { suffix: &snapshot.text()[offset..] });
    trace.cuts = cuts;
    if text.is_empty() {
        let reason = if trace.received.is_empty() { "nothing to suggest" } else { "nothing new to suggest" };
        return (Status::Silent(answer.silence.unwrap_or(reason)), text);
    }
    match gate::after(settings, trace.confidence) {
        Some(gate) => (Status::Gated(gate), String::new()),
        None => (Status::Ok, text),
    }
}

fn request(
    snapshot: &Snapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &Settings,
    context: &[ContextItem],
) -> Request {
    let (prefix, suffix) = snapshot.text().split_at(offset);
    Request {
        path: Arc::clone(&snapshot.document().path),
        language: snapshot.document().language.name(),
        prefix: prefix.into(),
        suffix: suffix.into(),
        context: context
            .iter()
            .map(|item| engines::ContextItem { path: item.path.clone(), text: item.text.clone() })
            .collect(),
        corpus: engine.reads_workspace().then(|| snapshot.corpus(settings.hide_near_duplicates)),
    }
}
