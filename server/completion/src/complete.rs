//! The pipeline from a cursor to an outcome.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use builtin::MaskedCorpus;
use engines::{Answer, AnswerListener, Engine, FinishReason, Request};
use index::{CancelFlag, Strategy};
use tokio_util::sync::CancellationToken;

use crate::alternatives::alternatives;
use crate::clean::{
    CleaningContext, MAX_BEGINNING_BYTES, clean, control_characters, is_complete, stable_beginning,
};
use crate::explain::explain;
use crate::gate::{self, Gate};
use crate::gather_permit::GatherPermit;
use crate::in_flight_request::InFlightRequest;
use crate::settings::CompletionSettings;
use crate::trace::{Outcome, OutcomeStatus, RequestSize, RetrievedContext, TimingSource, Trace};
use crate::workspace_index::DocumentSnapshot;

/// Longest answer that is read, in bytes: six times the longest truth, so that an engine that never stops costs no memory.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// What a statement or a line ends with: whether an answer is complete is looked at where one of these comes.
const CHECK_CHARACTERS: [char; 2] = ['\n', ';'];
/// Looking reads the whole answer, so it is done again only after this part of it has come anew. What an engine can make us read is
/// then as long as its answer times this, however small the pieces are.
const CHECK_INTERVAL_BYTES: usize = 16;

/// Completes at `offset` (bytes) of the snapshot's document.
///
/// The outcome is complete in itself: every way to end is a [`OutcomeStatus`], and the trace says how it came about. Cancelling and
/// dropping the future both free the engine.
pub async fn complete(
    snapshot: &DocumentSnapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &CompletionSettings,
    cancel: &CancellationToken,
) -> Outcome {
    complete_shared(snapshot, offset, engine, settings, cancel, None).await
}

/// The same with a generation that is told of the text as it comes, so that later requests can share it.
pub async fn complete_shared(
    snapshot: &DocumentSnapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &CompletionSettings,
    cancel: &CancellationToken,
    generation: Option<&InFlightRequest>,
) -> Outcome {
    let start = Instant::now();
    let deadline = tokio::time::Instant::now() + settings.deadline;
    let mut trace = Trace::default();
    let mut aside = AnswerExtras::default();
    let (status, text) = match gate::gate_before(snapshot, offset) {
        Some(gate) => (OutcomeStatus::Gated(gate), String::new()),
        None => {
            let request = gather(snapshot, offset, engine, settings, &mut trace).await;
            trace.timings.gather = start.elapsed();
            match request {
                None => (OutcomeStatus::Gated(Gate::LeftOut), String::new()),
                Some(request) => {
                    let around = cleaning_context(snapshot, offset);
                    let request = Request { deadline: Some(deadline), ..request };
                    let trace = &mut trace;
                    let mut reader =
                        AnswerReader { trace, around: &around, start, next_check: 0, generation };
                    let asking = engine.complete(request, &mut reader, cancel);
                    // What was heard before the deadline stands in the trace, whatever becomes of the answer.
                    let mut answer = tokio::time::timeout_at(deadline, asking).await.ok();
                    aside = AnswerExtras::take_from(&mut answer);
                    outcome_of(around, settings, answer, trace)
                }
            }
        }
    };
    trace.timings.total = start.elapsed() + trace.timings.clock.recording_lead();
    // A recorded answer took the time of its recording.
    trace.is_late |= trace.timings.total > settings.deadline;
    // Nobody waits for what follows to see the text.
    let Trace { context: gathered, cuts, .. } = &trace;
    let alternatives = alternatives(aside.alternatives, settings, snapshot, offset, gathered, &text);
    trace.explanation = aside.explanation.map(|said| explain(said, snapshot, offset, gathered, cuts, &text));
    Outcome { status, text, alternatives, trace }
}

/// What the engine is asked; `None` if the document's file is left out of the workspace by now.
async fn gather(
    snapshot: &DocumentSnapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &CompletionSettings,
    trace: &mut Trace,
) -> Option<Request> {
    let hidden = snapshot.hidden(settings.hide_near_duplicates);
    let context = context(snapshot, offset, engine, settings, &hidden).await;
    trace.is_context_late = context.is_none();
    let corpus = if engine.reads_workspace() { corpus(snapshot, hidden).await } else { None };
    // Gathering takes time, and what is known of files may be older still. From here on nothing waits before the engine is asked.
    trace.context = admitted(snapshot, context.unwrap_or_default()).await?;
    let item = |item: &RetrievedContext| engines::ContextSnippet {
        path: item.path.clone(),
        text: item.text.clone(),
    };
    let request = Request {
        path: Arc::clone(&snapshot.document().path),
        language: snapshot.document().language.name(),
        text: Arc::clone(&snapshot.document().text),
        cursor: offset,
        context: trace.context.iter().map(item).collect(),
        corpus,
        invoked: settings.invoked,
        explain: settings.explain,
        deadline: None,
    };
    let context = request.context.iter().map(|item| item.text.len()).sum();
    trace.request_size =
        RequestSize { prefix: request.prefix().len(), suffix: request.suffix().len(), context };
    Some(request)
}

/// The context without that of files that must not leave this process by now; `None` if the document itself must not. A gate that
/// panics lets nothing through.
async fn admitted(
    snapshot: &DocumentSnapshot,
    context: Vec<RetrievedContext>,
) -> Option<Vec<RetrievedContext>> {
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
    snapshot: &DocumentSnapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &CompletionSettings,
    hidden: &[Arc<str>],
) -> Option<Vec<RetrievedContext>> {
    if !snapshot.retrieves_context() {
        return Some(snapshot.gather(offset, settings, hidden, &CancelFlag::default()));
    }
    if settings.strategy == Strategy::None || !engine.reads_context() {
        return Some(Vec::new());
    }
    let patience = settings.context_timeout();
    // Dropping the question, or being late, ends the work.
    let cancel = CancelFlag::default();
    let _cancelled = cancel.on_drop();
    let (snapshot, settings, hidden) = (snapshot.clone(), settings.clone(), hidden.to_vec());
    let choosing = GatherPermit::run(snapshot.gather_permit(), move || {
        snapshot.gather(offset, &settings, &hidden, &cancel)
    });
    let chosen = tokio::time::timeout(patience, choosing).await.ok()?;
    // Without context there is still an answer.
    Some(chosen.unwrap_or_default())
}

/// The tokens of the workspace; `None` after a defect. Putting unsaved documents in the place of their files takes milliseconds as well.
async fn corpus(snapshot: &DocumentSnapshot, hidden: Vec<Arc<str>>) -> Option<MaskedCorpus> {
    if !snapshot.has_documents() {
        return Some(snapshot.corpus(hidden));
    }
    let snapshot = snapshot.clone();
    GatherPermit::run(snapshot.gather_permit(), move || snapshot.corpus(hidden)).await
}

/// Writes down what it hears.
struct AnswerReader<'a> {
    trace: &'a mut Trace,
    around: &'a CleaningContext<'a>,
    start: Instant,
    /// How long the answer has to be to be looked at again, in bytes.
    next_check: usize,
    generation: Option<&'a InFlightRequest>,
}

impl AnswerListener for AnswerReader<'_> {
    fn prompt(&mut self, prompt: &str) {
        self.trace.prompt = Some(prompt.to_owned());
    }

    fn replayed(&mut self, after: Option<Duration>) {
        self.trace.timings.clock = after.map_or(TimingSource::Unknown, TimingSource::Recorded);
    }

    fn text(&mut self, piece: &str) -> ControlFlow<()> {
        let trace = &mut *self.trace;
        let clock = trace.timings.clock;
        if clock != TimingSource::Unknown {
            trace.timings.first.get_or_insert_with(|| self.start.elapsed() + clock.recording_lead());
        }
        trace.received.push_str(piece);
        let is_beginning = trace.received.len() - piece.len() < MAX_BEGINNING_BYTES;
        if let Some(generation) = self.generation.filter(|_| is_beginning) {
            generation.set_streamed(stable_beginning(&trace.received, self.around));
        }
        let length = trace.received.len();
        let looks = length >= self.next_check && piece.contains(CHECK_CHARACTERS);
        if looks {
            self.next_check = length + length / CHECK_INTERVAL_BYTES;
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
struct AnswerExtras {
    explanation: Option<engines::TokenExplanation>,
    alternatives: Vec<engines::Alternative>,
}

impl AnswerExtras {
    /// Takes it out of an answer.
    fn take_from(answer: &mut Option<Result<Answer, engines::EngineError>>) -> AnswerExtras {
        let Some(Ok(Answer { explanation, alternatives, .. })) = answer else {
            return AnswerExtras::default();
        };
        AnswerExtras { explanation: explanation.take(), alternatives: std::mem::take(alternatives) }
    }
}

/// What becomes of the answer.
fn outcome_of(
    around: CleaningContext<'_>,
    settings: &CompletionSettings,
    answer: Option<Result<Answer, engines::EngineError>>,
    trace: &mut Trace,
) -> (OutcomeStatus, String) {
    match answer {
        None => outcome_of_partial(around, settings, trace),
        Some(Err(engines::EngineError::Cancelled)) => (OutcomeStatus::Cancelled, String::new()),
        Some(Err(error)) => (OutcomeStatus::Failed(error), String::new()),
        Some(Ok(answer)) => outcome_of_answer(around, settings, answer, trace),
    }
}

/// What is left of an answer that was under way at the deadline: whoever waited so long is better off with a part.
fn outcome_of_partial(
    around: CleaningContext<'_>,
    settings: &CompletionSettings,
    trace: &mut Trace,
) -> (OutcomeStatus, String) {
    trace.is_late = true;
    outcome_of_text(CleaningContext { is_cut_off: true, ..around }, settings, trace)
        .unwrap_or_else(|| (OutcomeStatus::Timeout, String::new()))
}

/// What is left of an answer that came in time.
fn outcome_of_answer(
    around: CleaningContext<'_>,
    settings: &CompletionSettings,
    answer: Answer,
    trace: &mut Trace,
) -> (OutcomeStatus, String) {
    trace.finish = Some(answer.finish);
    trace.confidence = answer.confidence;
    trace.usage = answer.usage;
    trace.server = answer.timings;
    trace.refusals = answer.refusals;
    let around = CleaningContext { is_cut_off: answer.finish == FinishReason::Length, ..around };
    outcome_of_text(around, settings, trace).unwrap_or_else(|| {
        let reason = if trace.received.is_empty() { "nothing to suggest" } else { "nothing new to suggest" };
        (OutcomeStatus::Silent(answer.silence.unwrap_or(reason)), String::new())
    })
}

/// What is shown of what was received; `None` if nothing is left of it.
fn outcome_of_text(
    around: CleaningContext<'_>,
    settings: &CompletionSettings,
    trace: &mut Trace,
) -> Option<(OutcomeStatus, String)> {
    let (text, cuts) = clean(&trace.received, &around);
    trace.cuts = cuts;
    if text.is_empty() {
        // An answer that is kept back for what it holds is another thing than one that says nothing new.
        let control = control_characters::first_control_character(&trace.received);
        return control
            .map(|character| (OutcomeStatus::Gated(Gate::ControlCharacter(character)), String::new()));
    }
    Some(match gate::gate_after(settings, trace.confidence) {
        Some(gate) => (OutcomeStatus::Gated(gate), String::new()),
        None => (OutcomeStatus::Ok, text),
    })
}

/// The document around the cursor, which a gate has looked at.
fn cleaning_context(snapshot: &DocumentSnapshot, offset: usize) -> CleaningContext<'_> {
    let (prefix, suffix) = snapshot.text().split_at(offset);
    CleaningContext::new(snapshot.document().language, prefix, suffix)
}
