//! The pipeline from a cursor to an outcome.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use builtin::MaskedCorpus;
use engines::{Answer, Engine, Finish, Listener, Request};
use index::{Cancel, Strategy};
use tokio_util::sync::CancellationToken;

use crate::alternatives::alternatives;
use crate::clean::{BEGINNING, Surroundings, begun, clean, control_characters, is_complete};
use crate::explain::explain;
use crate::gate::{self, Gate};
use crate::gathering::Gathering;
use crate::generation::Generation;
use crate::settings::Settings;
use crate::trace::{Clock, ContextItem, Outcome, Sent, Status, Trace};
use crate::world::Snapshot;

/// Longest answer that is read, in bytes: six times the longest truth, so that an engine that never stops costs no memory.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// What a statement or a line ends with: whether an answer is complete is looked at where one of these comes.
const MAY_END: [char; 2] = ['\n', ';'];
/// Looking reads the whole answer, so it is done again only after this part of it has come anew. What an engine can make us read is
/// then as long as its answer times this, however small the pieces are.
const LOOK_AGAIN_AFTER: usize = 16;

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
    complete_shared(snapshot, offset, engine, settings, cancel, None).await
}

/// The same with a generation that is told of the text as it comes, so that later requests can share it.
pub async fn complete_shared(
    snapshot: &Snapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &Settings,
    cancel: &CancellationToken,
    generation: Option<&Generation>,
) -> Outcome {
    let start = Instant::now();
    let deadline = tokio::time::Instant::now() + settings.deadline;
    let mut trace = Trace::default();
    let mut aside = Aside::default();
    let (status, text) = match gate::before(snapshot, offset) {
        Some(gate) => (Status::Gated(gate), String::new()),
        None => {
            let request = gather(snapshot, offset, engine, settings, &mut trace).await;
            trace.timings.gather = start.elapsed();
            match request {
                None => (Status::Gated(Gate::LeftOut), String::new()),
                Some(request) => {
                    let around = surroundings(snapshot, offset);
                    let request = Request { deadline: Some(deadline), ..request };
                    let trace = &mut trace;
                    let mut reader = Reader { trace, around: &around, start, next_look: 0, generation };
                    let asking = engine.complete(request, &mut reader, cancel);
                    // What was heard before the deadline stands in the trace, whatever becomes of the answer.
                    let mut answer = tokio::time::timeout_at(deadline, asking).await.ok();
                    aside = Aside::of(&mut answer);
                    judge(around, settings, answer, trace)
                }
            }
        }
    };
    trace.timings.total = start.elapsed() + trace.timings.clock.ahead();
    // A recorded answer took the time of its recording.
    trace.is_late |= trace.timings.total > settings.deadline;
    // Nobody waits for what follows to see the text.
    let Trace { gathered, cuts, .. } = &trace;
    let alternatives = alternatives(aside.alternatives, settings, snapshot, offset, gathered, &text);
    trace.explanation = aside.explanation.map(|said| explain(said, snapshot, offset, gathered, cuts, &text));
    Outcome { status, text, alternatives, trace }
}

/// What the engine is asked; `None` if the document's file is left out of the workspace by now.
async fn gather(
    snapshot: &Snapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &Settings,
    trace: &mut Trace,
) -> Option<Request> {
    let hidden = snapshot.hidden(settings.hide_near_duplicates);
    let context = context(snapshot, offset, engine, settings, &hidden).await;
    trace.is_context_late = context.is_none();
    let corpus = if engine.reads_workspace() { corpus(snapshot, hidden).await } else { None };
    // Gathering takes time, and what is known of files may be older still. From here on nothing waits before the engine is asked.
    trace.gathered = admitted(snapshot, context.unwrap_or_default()).await?;
    let item = |item: &ContextItem| engines::ContextItem { path: item.path.clone(), text: item.text.clone() };
    let request = Request {
        path: Arc::clone(&snapshot.document().path),
        language: snapshot.document().language.name(),
        text: Arc::clone(&snapshot.document().text),
        cursor: offset,
        context: trace.gathered.iter().map(item).collect(),
        corpus,
        invoked: settings.invoked,
        explain: settings.explain,
        deadline: None,
    };
    let context = request.context.iter().map(|item| item.text.len()).sum();
    trace.sent = Sent { prefix: request.prefix().len(), suffix: request.suffix().len(), context };
    Some(request)
}

/// The context without that of files that must not leave this process by now; `None` if the document itself must not. A gate that
/// panics lets nothing through.
async fn admitted(snapshot: &Snapshot, context: Vec<ContextItem>) -> Option<Vec<ContextItem>> {
    let Some(may_leave) = snapshot.path_gate() else { return Some(context) };
    let path = Arc::clone(&snapshot.document().path);
    let judging = tokio::task::spawn_blocking(move || {
        may_leave(&path).then(|| context.into_iter().filter(|item| may_leave(&item.path)).collect())
    });
    judging.await.ok().flatten()
}

/// The context that goes with the question; `None` if that took too long. Choosing it takes milliseconds, which no thread that answers
/// others should spend.
async fn context(
    snapshot: &Snapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &Settings,
    hidden: &[Arc<str>],
) -> Option<Vec<ContextItem>> {
    if !snapshot.chooses_context() {
        return Some(snapshot.gather(offset, settings, hidden, &Cancel::default()));
    }
    if settings.strategy == Strategy::None || !engine.reads_context() {
        return Some(Vec::new());
    }
    let patience = settings.patience();
    // Dropping the question, or being late, ends the work.
    let cancel = Cancel::default();
    let _cancelled = cancel.on_drop();
    let (snapshot, settings, hidden) = (snapshot.clone(), settings.clone(), hidden.to_vec());
    let choosing =
        Gathering::run(snapshot.gathering(), move || snapshot.gather(offset, &settings, &hidden, &cancel));
    let chosen = tokio::time::timeout(patience, choosing).await.ok()?;
    // Without context there is still an answer.
    Some(chosen.unwrap_or_default())
}

/// The tokens of the workspace; `None` after a defect. Putting unsaved documents in the place of their files takes milliseconds as well.
async fn corpus(snapshot: &Snapshot, hidden: Vec<Arc<str>>) -> Option<MaskedCorpus> {
    if !snapshot.has_documents() {
        return Some(snapshot.corpus(hidden));
    }
    let snapshot = snapshot.clone();
    Gathering::run(snapshot.gathering(), move || snapshot.corpus(hidden)).await
}

/// Writes down what it hears.
struct Reader<'a> {
    trace: &'a mut Trace,
    around: &'a Surroundings<'a>,
    start: Instant,
    /// How long the answer has to be to be looked at again, in bytes.
    next_look: usize,
    generation: Option<&'a Generation>,
}

impl Listener for Reader<'_> {
    fn prompt(&mut self, prompt: &str) {
        self.trace.prompt = Some(prompt.to_owned());
    }

    fn recorded(&mut self, after: Option<Duration>) {
        self.trace.timings.clock = after.map_or(Clock::Unknown, Clock::Recorded);
    }

    fn text(&mut self, piece: &str) -> ControlFlow<()> {
        let trace = &mut *self.trace;
        let clock = trace.timings.clock;
        if clock != Clock::Unknown {
            trace.timings.first.get_or_insert_with(|| self.start.elapsed() + clock.ahead());
        }
        trace.received.push_str(piece);
        let is_beginning = trace.received.len() - piece.len() < BEGINNING;
        if let Some(generation) = self.generation.filter(|_| is_beginning) {
            generation.streamed(begun(&trace.received, self.around));
        }
        let length = trace.received.len();
        let looks = length >= self.next_look && piece.contains(MAY_END);
        if looks {
            self.next_look = length + length / LOOK_AGAIN_AFTER;
        }
        if looks && is_complete(&trace.received, self.around) || length > MAX_ANSWER_BYTES {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// What comes with an answer and decides nothing about its text.
#[derive(Default)]
struct Aside {
    explanation: Option<engines::Explanation>,
    alternatives: Vec<engines::Alternative>,
}

impl Aside {
    /// Takes it out of an answer.
    fn of(answer: &mut Option<Result<Answer, engines::Error>>) -> Aside {
        let Some(Ok(Answer { explanation, alternatives, .. })) = answer else { return Aside::default() };
        Aside { explanation: explanation.take(), alternatives: std::mem::take(alternatives) }
    }
}

/// What becomes of the answer.
fn judge(
    around: Surroundings<'_>,
    settings: &Settings,
    answer: Option<Result<Answer, engines::Error>>,
    trace: &mut Trace,
) -> (Status, String) {
    match answer {
        None => keep_part(around, settings, trace),
        Some(Err(engines::Error::Cancelled)) => (Status::Cancelled, String::new()),
        Some(Err(error)) => (Status::Failed(error), String::new()),
        Some(Ok(answer)) => keep(around, settings, answer, trace),
    }
}

/// What is left of an answer that was under way at the deadline: whoever waited so long is better off with a part.
fn keep_part(around: Surroundings<'_>, settings: &Settings, trace: &mut Trace) -> (Status, String) {
    trace.is_late = true;
    show(Surroundings { is_cut_off: true, ..around }, settings, trace)
        .unwrap_or_else(|| (Status::Timeout, String::new()))
}

/// What is left of an answer that came in time.
fn keep(
    around: Surroundings<'_>,
    settings: &Settings,
    answer: Answer,
    trace: &mut Trace,
) -> (Status, String) {
    trace.finish = Some(answer.finish);
    trace.confidence = answer.confidence;
    trace.usage = answer.usage;
    trace.server = answer.timings;
    trace.refusals = answer.refusals;
    let around = Surroundings { is_cut_off: answer.finish == Finish::Length, ..around };
    show(around, settings, trace).unwrap_or_else(|| {
        let reason = if trace.received.is_empty() { "nothing to suggest" } else { "nothing new to suggest" };
        (Status::Silent(answer.silence.unwrap_or(reason)), String::new())
    })
}

/// What is shown of what was received; `None` if nothing is left of it.
fn show(around: Surroundings<'_>, settings: &Settings, trace: &mut Trace) -> Option<(Status, String)> {
    let (text, cuts) = clean(&trace.received, &around);
    trace.cuts = cuts;
    if text.is_empty() {
        // An answer that is kept back for what it holds is another thing than one that says nothing new.
        let control = control_characters::first(&trace.received);
        return control.map(|character| (Status::Gated(Gate::ControlCharacter(character)), String::new()));
    }
    Some(match gate::after(settings, trace.confidence) {
        Some(gate) => (Status::Gated(gate), String::new()),
        None => (Status::Ok, text),
    })
}

/// The document around the cursor, which a gate has looked at.
fn surroundings(snapshot: &Snapshot, offset: usize) -> Surroundings<'_> {
    let (prefix, suffix) = snapshot.text().split_at(offset);
    Surroundings::new(snapshot.document().language, prefix, suffix)
}
