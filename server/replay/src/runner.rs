//! Asking: bounded concurrency, one prediction per attempt, whatever happens.

use std::collections::BTreeMap;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;

use cases::{
    Case, Cost, EngineConfig, EngineIdentity, Finish, Prediction, PredictionTimings, Price, Recorded, Rename,
    Scenario, Span, SpanSource, TokenCounts, Variant,
};
use completion::{
    CompletionSettings, DocumentText, Outcome, OutcomeStatus, RetrievedContext, TimingSource, WorkspaceIndex,
};
use engines::{Engine, RegisteredEngine, Role};
use futures_util::StreamExt;
use futures_util::stream;
use syntax::Language;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::fingerprint::fingerprint;
use crate::leaked_copies::leaked_copies;
use crate::plan::Attempt;
use crate::truth_copies::TruthCopies;

/// An engine with the settings it is asked under.
#[derive(Clone)]
pub struct ConfiguredEngine {
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// How completions are made with it.
    pub settings: CompletionSettings,
    /// What its tokens cost, where that is known.
    pub price: Option<Price>,
    /// What the user configured of it, by setting; values that may be secret hashed with an [`engines::HashKey`]. They take the place of
    /// what the engine says of the same settings.
    pub identity: BTreeMap<String, String>,
}

impl ConfiguredEngine {
    /// Returns an engine in a role; `None` if it cannot be asked. Reads the files that its settings name.
    pub fn new(
        engine: &RegisteredEngine,
        role: Role,
        settings: CompletionSettings,
    ) -> Option<ConfiguredEngine> {
        let asked = engine.in_role(role)?;
        let price = engine.settings().and_then(|settings| price(settings.price_in, settings.price_out));
        Some(ConfiguredEngine { engine: Arc::clone(asked), settings, price, identity: engine.identity() })
    }

    /// Who answers, as it stands in every row.
    pub fn name(&self) -> EngineIdentity {
        self.config().engine
    }

    /// The engine as `run.json` describes it.
    pub fn config(&self) -> EngineConfig {
        let engines::EngineDescription { name, kind, model, mut settings } =
            self.engine.description().clone();
        settings.extend(self.settings.describe());
        settings.extend(self.identity.clone());
        let kind = kind.name().to_owned();
        let fingerprint = fingerprint(&kind, &model, &settings);
        EngineConfig {
            engine: EngineIdentity { name, kind, model, fingerprint },
            price: self.price,
            settings,
        }
    }
}

/// The price of an engine's tokens; a side without a price is free if the other has one.
fn price(input: Option<f64>, output: Option<f64>) -> Option<Price> {
    let is_priced = input.is_some() || output.is_some();
    is_priced.then(|| Price { input: input.unwrap_or(0.0), output: output.unwrap_or(0.0) })
}

/// Who is asked what; cheap to clone.
#[derive(Clone)]
pub struct RunInputs {
    /// The suite.
    pub cases: Arc<[Case]>,
    /// Whom to ask.
    pub engines: Arc<[ConfiguredEngine]>,
    /// What engines may see besides the cases.
    pub world: WorkspaceIndex,
    /// Where else the truths are.
    pub copies: Arc<TruthCopies>,
    /// Requests under way at once; 0 counts as 1.
    pub jobs: usize,
}

/// How asking is ended early.
#[derive(Clone, Debug)]
pub struct StopSignal {
    no_new_requests: CancellationToken,
    abandon_pending: CancellationToken,
}

impl StopSignal {
    /// Once the token is cancelled nothing new is asked, and what is under way is waited for.
    pub fn after_pending(token: CancellationToken) -> StopSignal {
        StopSignal { no_new_requests: token, abandon_pending: CancellationToken::new() }
    }

    /// Once the token is cancelled nothing new is asked, and what is under way is given up without a prediction.
    pub fn immediately(token: CancellationToken) -> StopSignal {
        StopSignal { no_new_requests: token.clone(), abandon_pending: token }
    }
}

/// Asks every attempt and hands each prediction to `record` in the order of completion, until all are there, `stop` says so or
/// `record` ends it by `Break`. Dropping the future frees all engines.
///
/// An engine that panics gives a prediction with status `error`, and asking goes on.
pub async fn run_attempts(
    attempts: Vec<Attempt>,
    questions: &RunInputs,
    stop: &StopSignal,
    mut record: impl FnMut(Prediction) -> ControlFlow<()>,
) {
    let answers = stream::iter(attempts)
        .take_until(stop.no_new_requests.cancelled())
        .map(|attempt| stop.abandon_pending.run_until_cancelled(run_attempt(questions, attempt)))
        .buffer_unordered(questions.jobs.max(1));
    let mut answers = pin!(answers);
    while let Some(answer) = answers.next().await {
        if answer.map(&mut record).is_some_and(|flow| flow.is_break()) {
            break;
        }
    }
}

async fn run_attempt(questions: &RunInputs, attempt: Attempt) -> Prediction {
    let outcome = catch_panic(request_completion(questions.clone(), attempt)).await;
    let (case, engine) = (&questions.cases[attempt.case], &questions.engines[attempt.engine]);
    prediction(case, engine, attempt.repetition, outcome)
}

/// Runs on the pool, so that gathering is done in parallel and a panic stays with its request.
async fn catch_panic(ask: impl Future<Output = Outcome> + Send + 'static) -> Result<Outcome, String> {
    // A task of its own would go on when nobody waits for it any more; a set ends its tasks with itself.
    let mut task = JoinSet::new();
    task.spawn(ask);
    let outcome = task.join_next().await.expect("the set holds one task");
    // What a panic says may quote the document, and is kept nowhere.
    outcome.map_err(|_| "the engine stopped by a defect".to_owned())
}

async fn request_completion(questions: RunInputs, attempt: Attempt) -> Outcome {
    let RunInputs { cases, engines, world, copies, .. } = questions;
    let (case, asked) = (&cases[attempt.case], &engines[attempt.engine]);
    let document = DocumentText {
        path: case.path.as_str().into(),
        language: Language::from_name(&case.language)
            .expect("suites with other languages are refused on reading"),
        text: [case.prefix.as_str(), case.suffix.as_str()].concat().into(),
    };
    // What an engine does with the file alone is measured with nothing else in reach, also of engines that read a workspace.
    let world = if case.variant == Some(Variant::InFile) { WorkspaceIndex::empty() } else { world };
    let snapshot = world
        .snapshot(document)
        .without_files(leaked_copies(case, &world))
        .with_copies(copies.files_with_copies(case));
    let snapshot = match has_own_context(case) {
        true => snapshot.with_context(case.context.iter().map(context_item).collect()),
        false => snapshot,
    };
    let cancel = CancellationToken::new();
    completion::complete(&snapshot, case.prefix.len(), &*asked.engine, &asked.settings, &cancel).await
}

/// Whether what goes with the question is a part of the case. Otherwise it is chosen as the settings say, as for who types there.
fn has_own_context(case: &Case) -> bool {
    !case.context.is_empty() || matches!(case.scenario, Scenario::Rag | Scenario::CrossFile)
}

fn context_item(item: &cases::ContextItem) -> RetrievedContext {
    RetrievedContext {
        path: item.path.clone(),
        text: item.text.clone(),
        first_line: completion::first_line(item.start_line..item.end_line, &item.text),
        strategy: item.strategy.clone(),
        score: item.score,
    }
}

fn prediction(
    case: &Case,
    engine: &ConfiguredEngine,
    repetition: u32,
    outcome: Result<Outcome, String>,
) -> Prediction {
    let empty = Prediction::empty(case.id.clone(), engine.name(), cases::Status::Error);
    let blank = Prediction { repetition, ..empty };
    match outcome {
        Err(reason) => Prediction { reason: Some(reason), ..blank },
        Ok(outcome) => {
            let cost = engine.price.and_then(|price| cost(price, &outcome));
            Prediction { cost, ..fill_prediction(blank, outcome) }
        }
    }
}

/// What was read and written, as the engine counts it; where it does not, or was not heard to its end, as it is estimated from the prompt
/// and the text. Nobody pays for what failed.
fn cost(price: Price, outcome: &Outcome) -> Option<Cost> {
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
    let (status, reason) = status(&outcome.status);
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

/// Where a text comes from, as it is stored.
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

fn status(status: &OutcomeStatus) -> (cases::Status, Option<String>) {
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
