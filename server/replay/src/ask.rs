//! Asking: bounded concurrency, one prediction per attempt, whatever happens.

use std::future::Future;
use std::ops::ControlFlow;
use std::sync::Arc;

use cases::{Case, EngineConfig, EngineName, Finish, Milliseconds, Prediction, Schema, TokenCounts};
use completion::{ContextItem, Document, Outcome, Settings, Status, World};
use engines::Engine;
use futures_util::StreamExt;
use futures_util::stream;
use syntax::Language;
use tokio_util::sync::CancellationToken;

use crate::elsewhere::elsewhere;
use crate::plan::Attempt;

/// An engine with the settings it is asked under.
#[derive(Clone)]
pub struct ConfiguredEngine {
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// How completions are made with it.
    pub settings: Settings,
}

impl ConfiguredEngine {
    /// Who answers, as it stands in every row.
    pub fn name(&self) -> EngineName {
        let description = self.engine.description();
        EngineName {
            name: description.name.clone(),
            kind: description.kind.name().to_owned(),
            model: description.model.clone(),
            fingerprint: completion::fingerprint(description, &self.settings),
        }
    }

    /// The engine as `run.json` describes it.
    pub fn config(&self) -> EngineConfig {
        let mut settings = self.engine.description().settings.clone();
        settings.extend(self.settings.describe());
        EngineConfig { engine: self.name(), settings }
    }
}

/// Asks every attempt, at most `jobs` at a time, and hands each prediction to `record` in the order of completion. Once `stop` is
/// cancelled nothing new is asked and what is under way is waited for. `record` ends the run by `Break`.
///
/// An engine that panics gives a prediction with status `error`, and the run goes on.
pub async fn ask_all(
    attempts: Vec<Attempt>,
    cases: &Arc<[Case]>,
    engines: &Arc<[ConfiguredEngine]>,
    world: &World,
    jobs: usize,
    stop: &CancellationToken,
    mut record: impl FnMut(Prediction) -> ControlFlow<()>,
) {
    let answer = |attempt: Attempt| {
        let (cases, engines, world) = (Arc::clone(cases), Arc::clone(engines), world.clone());
        async move {
            let (case, engine) = (&cases[attempt.case], &engines[attempt.engine]);
            let outcome = isolated(ask(cases.clone(), engines.clone(), world, attempt)).await;
            prediction(case, engine, attempt.repetition, outcome)
        }
    };
    let mut predictions =
        stream::iter(attempts).take_until(stop.cancelled()).map(answer).buffer_unordered(jobs.max(1)).boxed();
    while let Some(prediction) = predictions.next().await {
        if record(prediction).is_break() {
            break;
        }
    }
}

/// Runs on the pool, so that gathering is done in parallel and a panic stays with its request.
async fn isolated(ask: impl Future<Output = Outcome> + Send + 'static) -> Result<Outcome, String> {
    tokio::spawn(ask).await.map_err(|error| format!("the engine stopped by a defect: {error}"))
}

async fn ask(
    cases: Arc<[Case]>,
    engines: Arc<[ConfiguredEngine]>,
    world: World,
    attempt: Attempt,
) -> Outcome {
    let (case, asked) = (&cases[attempt.case], &engines[attempt.engine]);
    let document = Document {
        path: case.path.as_str().into(),
        language: Language::from_name(&case.language)
            .expect("suites with other languages are refused on reading"),
        text: [case.prefix.as_str(), case.suffix.as_str()].concat().into(),
    };
    let context = case.context.iter().map(context_item).collect();
    let snapshot = world.open(document).with_context(context).hiding(elsewhere(case, &world));
    let cancel = CancellationToken::new();
    completion::complete(&snapshot, case.prefix.len(), &*asked.engine, &asked.settings, &cancel).await
}

fn context_item(item: &cases::ContextItem) -> ContextItem {
    ContextItem {
        path: item.path.clone(),
        text: item.text.clone(),
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
    let blank = Prediction {
        schema: Schema::CURRENT,
        case: case.id.clone(),
        engine: engine.name(),
        repetition,
        status: cases::Status::Error,
        reason: None,
        raw: String::new(),
        text: String::new(),
        finish: Finish::None,
        tokens: None,
        ms: Milliseconds { gather: 0.0, first: None, total: 0.0 },
    };
    match outcome {
        Err(reason) => Prediction { reason: Some(reason), ..blank },
        Ok(outcome) => filled(blank, outcome),
    }
}

fn filled(blank: Prediction, outcome: Outcome) -> Prediction {
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
        tokens: trace.usage.map(usage),
        ms: Milliseconds {
            gather: ms(trace.timings.gather),
            first: trace.timings.first.map(ms),
            total: ms(trace.timings.total),
        },
        ..blank
    }
}

fn status(status: &Status) -> (cases::Status, Option<String>) {
    match status {
        Status::Ok => (cases::Status::Ok, None),
        Status::Silent(reason) => (cases::Status::Silent, Some((*reason).to_owned())),
        Status::Gated(gate) => (cases::Status::Gated, Some(gate.to_string())),
        Status::Timeout => (cases::Status::Timeout, None),
        Status::Cancelled => (cases::Status::Cancelled, None),
        Status::Failed(error) => (cases::Status::Error, Some(error.to_string())),
    }
}

fn finish(finish: Option<engines::Finish>) -> Finish {
    match finish {
        Some(engines::Finish::Stop) => Finish::Stop,
        Some(engines::Finish::Length) => Finish::Length,
        Some(engines::Finish::Complete) => Finish::Complete,
        None => Finish::None,
    }
}
