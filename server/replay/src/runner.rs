//! Runs attempts with bounded concurrency; every attempt gives one prediction, even if it fails.

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;

use cases::{
    Case, Cost, EngineConfig, EngineIdentity, Finish, Prediction, PredictionTimings, Price, Recorded, Rename,
    Span, SpanSource, TokenCounts,
};
use completion::{ConfiguredEngine, Outcome, OutcomeStatus, TimingSource, WorkspaceIndex};
use engines::TokenPrice;
use futures_util::StreamExt;
use futures_util::stream;
use tokio::task::JoinSet;

use crate::blocking_work::run_blocking;
use crate::case_request::{CaseRequest, CaseRequests, SharedRequest};
use crate::fingerprint::fingerprint;
use crate::plan::Attempt;
use crate::prompt_symptoms::prompt_symptoms;
use crate::request_slots::{RequestSlots, StopSignal};
use crate::slot_engine::SlotEngine;
use crate::truth_copies::TruthCopies;

/// Returns an engine's identity, as in every row.
pub fn engine_identity(engine: &ConfiguredEngine) -> EngineIdentity {
    engine_config(engine).engine
}

/// Returns an engine's entry in `run.json`.
pub fn engine_config(configured: &ConfiguredEngine) -> EngineConfig {
    let engines::EngineDescription { name, kind, model, mut settings } =
        configured.engine.description().clone();
    settings.extend(configured.settings.describe());
    settings.extend((*configured.identity).clone());
    let kind = kind.name().to_owned();
    let fingerprint = fingerprint(&kind, &model, &settings);
    EngineConfig {
        engine: EngineIdentity { name, kind, model, fingerprint },
        price: configured.price.map(price),
        cutoff: configured.cutoff.as_deref().map(str::to_owned),
        settings,
    }
}

pub(crate) fn price(TokenPrice { input, output }: TokenPrice) -> Price {
    Price { input, output }
}

/// Inputs of a run; cheap to clone.
#[derive(Clone)]
pub struct RunInputs {
    /// The suite.
    pub cases: Arc<[Case]>,
    /// Engines to run.
    pub engines: Arc<[ConfiguredEngine]>,
    /// The code that engines may use in addition to the cases.
    pub world: WorkspaceIndex,
    /// Files that contain copies of the truths.
    pub copies: Arc<TruthCopies>,
    /// Maximum number of concurrent requests; 0 counts as 1.
    pub jobs: usize,
}

/// Changes an answer to a case before it is recorded, beside the threads that process requests.
pub type AnswerFilter = fn(&mut Prediction, &Case);

/// Runs all attempts, passes each prediction to `filter`, and then with the index of its case to `record` in the order of
/// completion, until all are finished, `stop` is signalled or `record` returns `Break`. Dropping the future cancels all requests.
///
/// An engine that panics gives a prediction with status `error`, and the run continues.
pub async fn run_attempts(
    attempts: Vec<Attempt>,
    questions: &RunInputs,
    filter: AnswerFilter,
    stop: &StopSignal,
    record: impl FnMut(usize, Prediction) -> ControlFlow<()>,
) {
    let slots = RequestSlots::new(questions.jobs, stop.clone());
    run_attempts_in(&slots, attempts, questions, filter, record).await;
}

/// As [`run_attempts`], in slots that may be shared with other attempts.
pub async fn run_attempts_in(
    slots: &RequestSlots,
    attempts: Vec<Attempt>,
    questions: &RunInputs,
    filter: AnswerFilter,
    mut record: impl FnMut(usize, Prediction) -> ControlFlow<()>,
) {
    let stop = slots.stop();
    let requests = CaseRequests::default();
    let run =
        |attempt: Attempt| run_attempt(questions, attempt, requests.of(attempt.case), filter, slots.clone());
    let answers = stream::iter(attempts)
        .take_until(stop.stopped())
        .map(|attempt| stop.unless_abandoned(run(attempt)))
        .buffer_unordered(slots.most_attempts());
    let mut answers = pin!(answers);
    while let Some(answer) = answers.next().await {
        let recorded = answer.flatten().map(|(case, prediction)| record(case, prediction));
        if recorded.is_some_and(|flow| flow.is_break()) {
            break;
        }
    }
}

/// Returns the answer with the index of its case; `None` if the run was stopped before the request.
async fn run_attempt(
    questions: &RunInputs,
    attempt: Attempt,
    request: SharedRequest,
    filter: AnswerFilter,
    slots: RequestSlots,
) -> Option<(usize, Prediction)> {
    let inputs = questions.clone();
    let answered = catch_panic(async move {
        let (case, engine) = (&inputs.cases[attempt.case], &inputs.engines[attempt.engine]);
        let request = request.get_or_init(async || CaseRequest::new(case, &inputs)).await;
        request.prepare(engine).await;
        let slot = slots.acquire(engine.name()).await?;
        let reservation = slots.stop().reserve(attempt).await?;
        let in_slot = SlotEngine::new(&*engine.engine, slot);
        let (form, outcome) = request.put_to(&in_slot, &engine.settings).await;
        drop(in_slot);
        // Not on a thread that sends requests: many answers may come at once.
        let prediction = run_blocking(move |_| {
            let (case, engine) = (&inputs.cases[attempt.case], &inputs.engines[attempt.engine]);
            let mut prediction =
                Prediction { form, ..prediction(case, engine, attempt.repetition, Ok(outcome)) };
            reservation.settle(&prediction);
            filter(&mut prediction, case);
            prediction
        });
        Some(prediction.await)
    });
    let failed = |reason| {
        let (case, engine) = (&questions.cases[attempt.case], &questions.engines[attempt.engine]);
        Some(prediction(case, engine, attempt.repetition, Err(reason)))
    };
    answered.await.unwrap_or_else(failed).map(|prediction| (attempt.case, prediction))
}

/// Runs on the thread pool, so that requests are made in parallel and a panic only affects its request.
async fn catch_panic<T: Send + 'static>(ask: impl Future<Output = T> + Send + 'static) -> Result<T, String> {
    // Dropping a `JoinSet` cancels its tasks; a plain task would continue.
    let mut task = JoinSet::new();
    task.spawn(ask);
    let outcome = task.join_next().await.expect("the set contains one task");
    // Panic messages may quote the document, so they are never stored.
    outcome.map_err(|_| "the engine panicked".to_owned())
}

fn prediction(
    case: &Case,
    engine: &ConfiguredEngine,
    repetition: u32,
    outcome: Result<Outcome, String>,
) -> Prediction {
    let empty = Prediction::empty(case.id.clone(), engine_identity(engine), cases::Status::Error);
    let blank = Prediction { repetition, ..empty };
    match outcome {
        Err(reason) => Prediction { reason: Some(reason), ..blank },
        Ok(outcome) => {
            let cost = outcome_cost(engine, &outcome);
            let symptoms = prompt_symptoms(case, engine.engine.description().kind, &outcome.trace);
            Prediction { cost, symptoms, ..fill_prediction(blank, outcome) }
        }
    }
}

/// Returns the cost of the tokens counted by the engine; `None` without a price. If it does not report them or its stream was not read
/// to the end, they are estimated from the prompt and the text. Failed requests have no cost.
pub fn outcome_cost(engine: &ConfiguredEngine, outcome: &Outcome) -> Option<Cost> {
    let price = price(engine.price?);
    let trace = &outcome.trace;
    if matches!(outcome.status, OutcomeStatus::Failed(_)) {
        return None;
    }
    if let Some(usage) = trace.usage {
        return Some(Cost { amount: price.cost_of(usage.input, usage.output), is_estimated: false });
    }
    let tokens = |text: &str| engines::estimate_tokens(text) as u64;
    let amount = price.cost_of(tokens(trace.prompt.as_deref()?), tokens(&trace.received));
    Some(Cost { amount, is_estimated: true })
}

fn fill_prediction(blank: Prediction, outcome: Outcome) -> Prediction {
    let trace = outcome.trace;
    let (status, reason) = outcome_status(&outcome.status);
    let usage = |usage: engines::Usage| TokenCounts {
        input: usage.input,
        output: usage.output,
        cached: usage.cached,
    };
    let ms = |duration: std::time::Duration| duration.as_secs_f64() * 1e3;
    Prediction {
        status,
        reason,
        raw: trace.received,
        text: outcome.text,
        finish: finish(trace.finish),
        late: trace.is_late,
        tokens: trace.usage.map(usage),
        ms: PredictionTimings {
            gather: ms(trace.timings.gather),
            first: trace.timings.first.map(ms),
            total: ms(trace.timings.total),
        },
        recorded: recorded_timing(trace.timings.clock),
        spans: trace.explanation.map(|explanation| spans(explanation.spans)).unwrap_or_default(),
        ..blank
    }
}

/// Converts the sources of a text to their stored form.
pub fn spans(spans: Vec<completion::CopiedSpan>) -> Vec<Span> {
    spans.into_iter().map(span).collect()
}

fn span(span: completion::CopiedSpan) -> Span {
    let renamed = |(there, here)| Rename { there, here };
    Span {
        range: span.range,
        from: match span.from {
            completion::CopySource::Before => SpanSource::Before,
            completion::CopySource::After => SpanSource::After,
            completion::CopySource::Context => SpanSource::Context,
            completion::CopySource::File => SpanSource::File,
        },
        path: span.path.to_string(),
        line: span.start.map(|start| start.line),
        character: span.start.map(|start| start.character),
        same: span.same,
        alike: span.alike,
        probability: span.probability,
        renamed: span.renamed.into_iter().map(renamed).collect(),
    }
}

/// Returns the stored form of a status, and its reason if it needs one.
pub fn outcome_status(status: &OutcomeStatus) -> (cases::Status, Option<String>) {
    match status {
        OutcomeStatus::Ok => (cases::Status::Ok, None),
        OutcomeStatus::Silent(reason) => (cases::Status::Silent, Some((*reason).to_owned())),
        OutcomeStatus::Gated(gate) => (cases::Status::Gated, Some(gate.to_string())),
        OutcomeStatus::Timeout => (cases::Status::Timeout, None),
        OutcomeStatus::Cancelled => (cases::Status::Cancelled, None),
        OutcomeStatus::Failed(error) => (cases::Status::Error, Some(error.to_string())),
    }
}

fn recorded_timing(clock: TimingSource) -> Option<Recorded> {
    match clock {
        TimingSource::Measured => None,
        TimingSource::Recorded(_) => Some(Recorded::Timed),
        TimingSource::Unknown => Some(Recorded::Untimed),
    }
}

fn finish(finish: Option<engines::FinishReason>) -> Finish {
    match finish {
        Some(engines::FinishReason::Stop) => Finish::Stop,
        Some(engines::FinishReason::Length) => Finish::Length,
        Some(engines::FinishReason::Complete) => Finish::Complete,
        None => Finish::None,
    }
}
