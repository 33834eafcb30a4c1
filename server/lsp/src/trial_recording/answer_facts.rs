//! Turns the answer of a request into the events and rows of the recorder.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cases::{
    ArmAnswer, ArmRole, ContextItem, Cost, Decision, EngineIdentity, Finish, Metrics, PredictionTimings,
    Status, TokenCounts, TrialMode,
};
use completion::{ConfiguredEngine, Outcome, Snippet};
use engines::FinishReason;
use session::lock;
use trial::{AnswerEvent, OfferedItem};

use super::{RunningTrial, ShadowQuestion, Writer};
use crate::inline_item::InlineItem;

/// What is known of the answer to a request, besides its text.
#[derive(Default)]
pub(crate) struct AnswerFacts {
    /// The engine that was asked, and what the trial decided.
    writer: Mutex<Option<WriterFacts>>,
    /// The same question to the other arms.
    question: Mutex<Option<Box<ShadowQuestion>>>,
    /// The generation that this request began; `None` if its answer is that of another request.
    pub(crate) generation: Arc<Mutex<Option<GenerationFacts>>>,
}

struct WriterFacts {
    engine: EngineIdentity,
    decisions: Vec<Decision>,
    is_held: bool,
    /// The trial, if other arms are asked in shadow.
    shadow_trial: Option<Arc<RunningTrial>>,
}

/// What is known of a generation.
pub(crate) struct GenerationFacts {
    began: Instant,
    raw: String,
    finish: Finish,
    gather: Duration,
    first: Option<Duration>,
    total: Duration,
    confidence: Option<f64>,
    tokens: Option<TokenCounts>,
    cost: Option<Cost>,
    context: Vec<ContextItem>,
}

impl GenerationFacts {
    /// Returns the facts of a generation that began at `began`.
    pub(crate) fn new(outcome: &Outcome, began: Instant, engine: &ConfiguredEngine) -> GenerationFacts {
        let strategy = engine.settings.strategy.name();
        let trace = &outcome.trace;
        let usage = |usage: engines::Usage| TokenCounts {
            input: usage.input,
            output: usage.output,
            cached: usage.cached,
        };
        GenerationFacts {
            began,
            raw: trace.received.clone(),
            finish: match trace.finish {
                Some(FinishReason::Stop) => Finish::Stop,
                Some(FinishReason::Length) => Finish::Length,
                Some(FinishReason::Complete) => Finish::Complete,
                None => Finish::None,
            },
            gather: trace.timings.gather,
            first: trace.timings.first,
            total: trace.timings.total,
            confidence: trace.confidence,
            tokens: trace.usage.map(usage),
            cost: replay::outcome_cost(engine, outcome),
            context: trace.context.iter().map(|snippet| context_item(snippet, strategy)).collect(),
        }
    }

    /// The cost of the request, if the engine has a price.
    pub(super) fn cost(&self) -> Option<Cost> {
        self.cost
    }
}

/// Returns a context item; a snippet from an unknown place begins at line 0.
fn context_item(snippet: &Snippet, strategy: &str) -> ContextItem {
    let start_line = snippet.first_line.unwrap_or(0);
    let lines = u32::try_from(snippet.text.lines().count()).unwrap_or(u32::MAX);
    ContextItem {
        path: snippet.path.to_string(),
        start_line,
        end_line: start_line.saturating_add(lines),
        text: snippet.text.clone(),
        strategy: strategy.to_owned(),
        score: 0.0,
    }
}

/// An answered request.
pub(crate) struct AnsweredRequest<'a> {
    /// Its number.
    pub(crate) request: u64,
    /// Its arrival.
    pub(crate) arrived: Instant,
    /// The document at the request.
    pub(crate) text: &'a str,
    /// The cursor, in bytes.
    pub(crate) cursor: usize,
    /// How it ended.
    pub(crate) status: Status,
    /// Why, if the status needs a reason.
    pub(crate) reason: Option<String>,
    /// The best suggestion, offered or not.
    pub(crate) suggested: Option<InlineItem>,
    /// The offered items with their ids.
    pub(crate) items: Vec<(u64, InlineItem)>,
}

impl AnswerFacts {
    /// Notes the engine that writes, and the trial that chose it.
    pub(crate) fn set_writer(&self, writer: &Writer, trial: Option<Arc<RunningTrial>>) {
        *lock(&self.writer) = Some(WriterFacts {
            engine: writer.identity.clone(),
            decisions: writer.decisions.clone(),
            is_held: writer.is_held,
            shadow_trial: trial.filter(|trial| trial.definition.mode == TrialMode::Shadow),
        });
    }

    /// Notes the question to the other arms, if the trial asks them.
    pub(crate) fn set_question(&self, question: impl FnOnce(Arc<RunningTrial>) -> ShadowQuestion) {
        let trial = lock(&self.writer).as_mut().and_then(|writer| writer.shadow_trial.take());
        *lock(&self.question) = trial.map(|trial| Box::new(question(trial)));
    }

    /// Takes the question to the other arms.
    pub(crate) fn take_question(&self) -> Option<Box<ShadowQuestion>> {
        lock(&self.question).take()
    }

    /// Whether the answer must not be shown.
    pub(crate) fn is_held(&self) -> bool {
        lock(&self.writer).as_ref().is_some_and(|writer| writer.is_held)
    }

    /// Returns the event of an answer; `None` if no engine was chosen.
    pub(crate) fn event(&self, answered: AnsweredRequest<'_>) -> Option<AnswerEvent> {
        let WriterFacts { engine, decisions, is_held, .. } = lock(&self.writer).take()?;
        let generation = lock(&self.generation).take();
        let arm: Arc<str> = engine.name.as_str().into();
        let AnsweredRequest { request, arrived, text, cursor, status, reason, suggested, items } = answered;
        let items: Vec<OfferedItem> = items
            .into_iter()
            .filter_map(|(id, item)| {
                let text = insertion(text, cursor, item)?;
                Some(OfferedItem { id, arm: Arc::clone(&arm), text })
            })
            .collect();
        let role = if is_held { ArmRole::Held } else { ArmRole::Shown };
        let mut answer = blank_answer(engine, role, status, reason);
        answer.text = suggested.and_then(|item| insertion(text, cursor, item)).unwrap_or_default();
        match &generation {
            Some(generation) => generation.fill(&mut answer, arrived),
            None => {
                answer.cached = true;
                answer.ms.total = ms(arrived.elapsed());
            }
        }
        let context = generation.map(|own| own.context).unwrap_or_default();
        Some(AnswerEvent { request, answers: vec![answer], items, context, decisions })
    }
}

impl GenerationFacts {
    /// Adds what is known of the generation to an answer.
    pub(super) fn fill(&self, answer: &mut ArmAnswer, arrived: Instant) {
        answer.raw = self.raw.clone();
        answer.finish = self.finish;
        answer.asked = ms(self.began.saturating_duration_since(arrived));
        answer.ms =
            PredictionTimings { gather: ms(self.gather), first: self.first.map(ms), total: ms(self.total) };
        answer.confidence = self.confidence;
        answer.tokens = self.tokens;
        answer.cost = self.cost;
    }
}

/// Returns an answer without text and numbers.
pub(super) fn blank_answer(
    engine: EngineIdentity,
    role: ArmRole,
    status: Status,
    reason: Option<String>,
) -> ArmAnswer {
    ArmAnswer {
        arm: engine.name.clone(),
        engine,
        role,
        status,
        reason,
        raw: String::new(),
        text: String::new(),
        finish: Finish::None,
        asked: 0.0,
        ms: PredictionTimings { gather: 0.0, first: None, total: 0.0 },
        confidence: None,
        tokens: None,
        cost: None,
        cached: false,
        metrics: Metrics::new(),
    }
}

/// Returns a duration in ms.
pub(super) fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Returns the text that an item inserts at the cursor; `None` if it changes other text.
pub(super) fn insertion(text: &str, cursor: usize, item: InlineItem) -> Option<String> {
    let typed = text.get(item.range.start..cursor)?;
    let inserted = item.text.strip_prefix(typed)?;
    (item.range.end == cursor).then(|| inserted.to_owned())
}
