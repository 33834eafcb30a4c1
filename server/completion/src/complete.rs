//! The pipeline from a cursor to an [`Outcome`].

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use builtin::MaskedCorpus;
use engines::{Answer, AnswerListener, Engine, FinishReason, PromptInput, Request};
use index::{CancelFlag, Hit, Strategy, TokenBudget};
use text::Snippet;
use tokio_util::sync::CancellationToken;

use crate::alternatives::alternatives;
use crate::clean::{
    CleaningContext, MAX_BEGINNING_BYTES, clean, control_characters, is_complete, stable_beginning,
};
use crate::explain::explain;
use crate::gate::{self, Gate};
use crate::gather_permit::GatherPermit;
use crate::in_flight_request::InFlightRequest;
use crate::lazy_cleaning_context::LazyCleaningContext;
use crate::path_gate::{CheckedContext, only_admitted};
use crate::run_blocking::run_blocking;
use crate::settings::CompletionSettings;
use crate::shared_context::ContextShare;
use crate::trace::{Outcome, OutcomeStatus, RequestSize, TimingSource, Trace};
use crate::workspace_index::{DocumentSnapshot, DocumentText};

/// Maximum length of an answer in bytes: six times the longest truth. Bounds the memory for an engine that never stops.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Length in bytes of [`Trace::model_text`]: enough to recognise an answer in the wrong form.
const MODEL_TEXT_BYTES: usize = 1 << 10;

/// Ends of statements and lines: completeness is checked when a piece contains one of these.
const CHECK_CHARACTERS: [char; 2] = ['\n', ';'];
/// The check for completeness reads the whole answer, so it is repeated only after the answer has grown by one part in this many. The
/// total work is bounded by the answer's length times this factor, no matter how small the pieces are.
const CHECK_INTERVAL_BYTES: usize = 16;

/// Completes at `offset` (bytes) of the snapshot's document.
///
/// Every way to end is a [`OutcomeStatus`] of the outcome, and the trace explains how it came about. Cancelling and dropping the future
/// both free the engine.
pub async fn complete(
    snapshot: &DocumentSnapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &CompletionSettings,
    cancel: &CancellationToken,
) -> Outcome {
    complete_shared(snapshot, offset, engine, settings, cancel, None).await
}

/// Like [`complete`], but also reports the streamed text to `generation`, so that later requests can share the answer.
pub async fn complete_shared(
    snapshot: &DocumentSnapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &CompletionSettings,
    cancel: &CancellationToken,
    generation: Option<&InFlightRequest>,
) -> Outcome {
    let mut start = Instant::now();
    let mut deadline = tokio::time::Instant::now() + settings.deadline;
    let leading = snapshot.share().and_then(ContextShare::lead);
    let mut trace = Trace::default();
    let mut aside = AnswerExtras::default();
    let (status, text) = match gate::gate_before(snapshot, offset) {
        Some(gate) => (OutcomeStatus::Gated(gate), String::new()),
        None => {
            let (request, charged) = gather(snapshot, offset, engine, settings, &mut trace).await;
            drop(leading);
            if let Some(took) = charged {
                // As if the request had begun when choosing its context began.
                start = Instant::now().checked_sub(took).unwrap_or(start);
                deadline = tokio::time::Instant::now() + settings.deadline.saturating_sub(took);
            }
            trace.timings.gather = start.elapsed();
            match request {
                None => (OutcomeStatus::Gated(Gate::LeftOut), String::new()),
                Some(request) => {
                    let around = LazyCleaningContext::new(snapshot, offset);
                    let request = Request { deadline: Some(deadline), ..request };
                    let trace = &mut trace;
                    let mut reader =
                        AnswerReader { trace, around: &around, start, next_check: 0, generation };
                    let asking = engine.complete(request, &mut reader, cancel);
                    // The trace keeps the text received before the deadline even if the answer is discarded.
                    let asking = tokio::time::timeout_at(deadline, asking);
                    let mut answer = around.analyze_during(asking).await.ok();
                    aside = AnswerExtras::take_from(&mut answer);
                    outcome_of(around, settings, answer, trace)
                }
            }
        }
    };
    trace.timings.total = start.elapsed() + trace.timings.clock.recording_lead();
    // For a recorded answer, the recorded latency counts.
    trace.is_late |= trace.timings.total > settings.deadline;
    // The text is final here; the explanation does not delay it.
    let Trace { context: gathered, cuts, .. } = &trace;
    let alternatives = alternatives(aside.alternatives, settings, snapshot, offset, gathered, &text);
    trace.explanation =
        aside.explanation.map(|tokens| explain(tokens, snapshot, offset, gathered, cuts, &text));
    Outcome { status, text, alternatives, trace }
}

/// Builds the engine's request; `None` if the document's file is excluded from the workspace by now. Also returns the time that the request
/// is charged for its context, if that is not the time that it took.
async fn gather(
    snapshot: &DocumentSnapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &CompletionSettings,
    trace: &mut Trace,
) -> (Option<Request>, Option<Duration>) {
    let hidden = snapshot.hidden(settings.hide_near_duplicates);
    let context = context(snapshot, offset, engine, settings, &hidden).await;
    trace.is_context_late = context.is_none();
    let GatheredContext { checked, charged } = context.unwrap_or_default();
    let corpus = if engine.reads_workspace() { corpus(snapshot, hidden).await } else { None };
    let Some(admitted) = admitted(snapshot, checked).await else { return (None, charged) };
    trace.context = admitted.into();
    let DocumentText { path, language, text } = snapshot.document().clone();
    trace.request_size = RequestSize {
        prefix: offset,
        suffix: text.len() - offset,
        context: trace.context.iter().map(|item| item.text.len()).sum(),
    };
    let input = PromptInput { path, language, text, cursor: offset, context: Arc::clone(&trace.context) };
    let recent_edits = snapshot.recent_typing().clone();
    let request = Request {
        recent_edits,
        corpus,
        invoked: settings.invoked,
        explain: settings.explain,
        ..Request::new(input)
    };
    (Some(request), charged)
}

/// Returns the context without files that must not leave this process by now; `None` if the document itself must not. Checks again unless
/// all were checked just now: the request may have waited since, and the file list may be older still. A gate that panics admits nothing.
async fn admitted(snapshot: &DocumentSnapshot, context: CheckedContext) -> Option<Vec<Snippet>> {
    let Some(gate) = snapshot.path_gate() else { return Some(context.snippets) };
    if gate.has_just_admitted(&context) {
        return Some(context.snippets);
    }
    let path = Arc::clone(&snapshot.document().path);
    let checked = run_blocking(move |_| gate.check(&path, context.snippets)).await.ok()?;
    checked.admitted.map(|_| checked.snippets)
}

/// The context of a request.
#[derive(Default)]
struct GatheredContext {
    checked: CheckedContext,
    /// The time that choosing it took, if another request may have chosen it.
    charged: Option<Duration>,
}

/// Returns the context of the request; `None` if choosing it took too long. It takes milliseconds, so it runs on a blocking thread.
async fn context(
    snapshot: &DocumentSnapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &CompletionSettings,
    hidden: &[Arc<str>],
) -> Option<GatheredContext> {
    if !snapshot.retrieves_context() || !searches(snapshot, engine, settings) {
        let snippets = gathered_context(snapshot, offset, engine, settings);
        let checked = CheckedContext { snippets, admitted: None };
        return Some(GatheredContext { checked, charged: None });
    }
    let choosing = choose_context(snapshot, offset, settings, hidden);
    let choosing = async {
        let Some(share) = snapshot.share() else {
            return GatheredContext { checked: choosing.await.unwrap_or_default(), charged: None };
        };
        let chosen = share.context(snapshot.context_key(settings, hidden), choosing).await;
        let charged = chosen.as_ref().map(|chosen| chosen.took).filter(|_| share.is_charged());
        GatheredContext { checked: chosen.map(|chosen| chosen.context).unwrap_or_default(), charged }
    };
    tokio::time::timeout(settings.context_timeout(), choosing).await.ok()
}

/// Chooses context on a blocking thread, and checks its files there; `None` after a panic, when the request is sent without context.
/// Dropping the future cancels the work.
async fn choose_context(
    snapshot: &DocumentSnapshot,
    offset: usize,
    settings: &CompletionSettings,
    hidden: &[Arc<str>],
) -> Option<CheckedContext> {
    let (snapshot, settings, hidden) = (snapshot.clone(), settings.clone(), hidden.to_vec());
    GatherPermit::run(snapshot.gather_permit(), move |cancel| {
        let snippets = snapshot.gather(offset, &settings, &hidden, cancel);
        match snapshot.path_gate() {
            Some(gate) if !snippets.is_empty() => gate.check(&snapshot.document().path, snippets),
            _ => CheckedContext { snippets, admitted: None },
        }
    })
    .await
}

/// Whether other files are searched for context that is not set.
fn searches(snapshot: &DocumentSnapshot, engine: &dyn Engine, settings: &CompletionSettings) -> bool {
    settings.retrieves_for(engine) && snapshot.has_other_files()
}

/// Chooses the context that later calls of [`complete`] with a snapshot of the same [`ContextShare`] use, and are charged for: from then on
/// they wait for the engine only. Does nothing if the snapshot does not share its context.
pub async fn choose_context_ahead(
    snapshot: &DocumentSnapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &CompletionSettings,
) {
    if snapshot.share().is_some() && gate::gate_before(snapshot, offset).is_none() {
        let hidden = snapshot.hidden(settings.hide_near_duplicates);
        // If that takes too long, the request will try again.
        let _ = context(snapshot, offset, engine, settings, &hidden).await;
    }
}

/// Returns the context that [`complete`] sends to the engine unless choosing it takes too long. It takes milliseconds, so call it on a
/// thread that may block.
pub fn gathered_context(
    snapshot: &DocumentSnapshot,
    offset: usize,
    engine: &dyn Engine,
    settings: &CompletionSettings,
) -> Vec<Snippet> {
    if snapshot.retrieves_context() && !searches(snapshot, engine, settings) {
        return Vec::new();
    }
    let hidden = snapshot.hidden(settings.hide_near_duplicates);
    snapshot.gather(offset, settings, &hidden, &CancelFlag::default())
}

/// Returns the hits of a strategy at a cursor within a budget, whether or not an engine reads them: what retrieval could choose from.
/// Without files that must not leave this process. It takes milliseconds, so call it on a thread that may block.
pub fn retrieved_hits(
    snapshot: &DocumentSnapshot,
    offset: usize,
    strategy: Strategy,
    budget: TokenBudget,
) -> Vec<Hit> {
    let hits = snapshot.hits(offset, (strategy, budget), &snapshot.hidden(false), &CancelFlag::default());
    let Some(gate) = snapshot.path_gate() else { return hits };
    let verdicts = gate.admits(&hits.iter().map(|hit| &*hit.path).collect::<Vec<_>>());
    only_admitted(hits, verdicts)
}

/// Returns the tokens of the workspace; `None` after a panic. Overlaying unsaved documents takes milliseconds, so it runs on a blocking
/// thread.
async fn corpus(snapshot: &DocumentSnapshot, hidden: Vec<Arc<str>>) -> Option<MaskedCorpus> {
    if !snapshot.has_documents() {
        return Some(snapshot.corpus(hidden));
    }
    let snapshot = snapshot.clone();
    GatherPermit::run(snapshot.gather_permit(), move |_| snapshot.corpus(hidden)).await
}

/// Listens to the engine and records its text in the trace.
struct AnswerReader<'a, 's> {
    trace: &'a mut Trace,
    around: &'a LazyCleaningContext<'s>,
    start: Instant,
    /// Length in bytes from which the answer is checked for completeness again.
    next_check: usize,
    generation: Option<&'a InFlightRequest>,
}

impl AnswerListener for AnswerReader<'_, '_> {
    fn prompt(&mut self, prompt: &str) {
        self.trace.prompt = Some(prompt.to_owned());
    }

    fn raw_text(&mut self, piece: &str) -> ControlFlow<()> {
        let kept = &mut self.trace.model_text;
        let room = MODEL_TEXT_BYTES.saturating_sub(kept.len());
        kept.push_str(&piece[..piece.floor_char_boundary(room)]);
        ControlFlow::Continue(())
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
            generation.set_streamed(stable_beginning(&trace.received, self.around.get()));
        }
        let length = trace.received.len();
        let looks = length >= self.next_check && piece.contains(CHECK_CHARACTERS);
        if looks {
            self.next_check = length + length / CHECK_INTERVAL_BYTES;
        }
        if looks && is_complete(&trace.received, self.around.get()) || length > MAX_ANSWER_BYTES {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// The parts of an answer that do not affect its text.
#[derive(Default)]
struct AnswerExtras {
    explanation: Option<engines::TokenExplanation>,
    alternatives: Vec<engines::Alternative>,
}

impl AnswerExtras {
    /// Moves these parts out of an answer.
    fn take_from(answer: &mut Option<Result<Answer, engines::EngineError>>) -> AnswerExtras {
        let Some(Ok(Answer { explanation, alternatives, .. })) = answer else {
            return AnswerExtras::default();
        };
        AnswerExtras { explanation: explanation.take(), alternatives: std::mem::take(alternatives) }
    }
}

/// Turns the engine's result into a status and the text to insert.
fn outcome_of(
    around: LazyCleaningContext<'_>,
    settings: &CompletionSettings,
    answer: Option<Result<Answer, engines::EngineError>>,
    trace: &mut Trace,
) -> (OutcomeStatus, String) {
    match answer {
        None => outcome_of_partial(around.into_context(), settings, trace),
        Some(Err(engines::EngineError::Cancelled)) => (OutcomeStatus::Cancelled, String::new()),
        Some(Err(error)) => (OutcomeStatus::Failed(error), String::new()),
        Some(Ok(answer)) => outcome_of_answer(around.into_context(), settings, answer, trace),
    }
}

/// Cleans the part of an answer that had arrived at the deadline: a part is more useful than nothing.
fn outcome_of_partial(
    around: CleaningContext<'_>,
    settings: &CompletionSettings,
    trace: &mut Trace,
) -> (OutcomeStatus, String) {
    trace.is_late = true;
    outcome_of_text(CleaningContext { is_cut_off: true, ..around }, settings, trace)
        .unwrap_or_else(|| (OutcomeStatus::Timeout, String::new()))
}

/// Cleans an answer that arrived in time.
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
    trace.edits = answer.edits;
    if !trace.edits.is_empty() {
        return (OutcomeStatus::Gated(Gate::EditsElsewhere), String::new());
    }
    let around = CleaningContext { is_cut_off: answer.finish == FinishReason::Length, ..around };
    outcome_of_text(around, settings, trace).unwrap_or_else(|| {
        let reason = if trace.received.is_empty() { "nothing to suggest" } else { "nothing new to suggest" };
        (OutcomeStatus::Silent(answer.silence.unwrap_or(reason)), String::new())
    })
}

/// Cleans and gates the received text; `None` if nothing is left of it.
fn outcome_of_text(
    around: CleaningContext<'_>,
    settings: &CompletionSettings,
    trace: &mut Trace,
) -> Option<(OutcomeStatus, String)> {
    let (text, cuts) = clean(&trace.received, &around);
    trace.cuts = cuts;
    if text.is_empty() {
        // An answer withheld for a control character has its own status, unlike one that adds nothing new.
        let control = control_characters::first_control_character(&trace.received);
        return control
            .map(|character| (OutcomeStatus::Gated(Gate::ControlCharacter(character)), String::new()));
    }
    Some(match gate::gate_after(settings, trace.confidence) {
        Some(gate) => (OutcomeStatus::Gated(gate), String::new()),
        None => (OutcomeStatus::Ok, text),
    })
}
