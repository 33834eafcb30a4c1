//! Turns the answer of a request into the events and rows of the recorder.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cases::{
    ArmAnswer, ArmRole, ContextItem, EngineIdentity, Finish, Metrics, PredictionTimings, Status, TokenCounts,
};
use completion::{Outcome, Snippet};
use engines::FinishReason;
use session::lock;
use trial::{AnswerEvent, OfferedItem};

use crate::inline_item::InlineItem;

/// What is known of the answer to a request, besides its text.
#[derive(Default)]
pub(crate) struct AnswerFacts {
    /// The engine that was asked.
    pub(crate) engine: Mutex<Option<EngineIdentity>>,
    /// The generation that this request began; `None` if its answer is that of another request.
    pub(crate) generation: Arc<Mutex<Option<GenerationFacts>>>,
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
    context: Vec<ContextItem>,
}

impl GenerationFacts {
    /// Returns the facts of a generation that began at `began`.
    pub(crate) fn new(outcome: &Outcome, began: Instant, strategy: &str) -> GenerationFacts {
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
            context: trace.context.iter().map(|snippet| context_item(snippet, strategy)).collect(),
        }
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
    /// The items with their ids.
    pub(crate) items: Vec<(u64, InlineItem)>,
}

impl AnswerFacts {
    /// Returns the event of an answer; `None` if no engine was chosen.
    pub(crate) fn event(&self, answered: AnsweredRequest<'_>) -> Option<AnswerEvent> {
        let engine = lock(&self.engine).take()?;
        let generation = lock(&self.generation).take();
        let arm: Arc<str> = engine.name.as_str().into();
        let AnsweredRequest { request, arrived, text, cursor, status, reason, items } = answered;
        let items: Vec<OfferedItem> = items
            .into_iter()
            .filter_map(|(id, item)| {
                let text = insertion(text, cursor, item)?;
                Some(OfferedItem { id, arm: Arc::clone(&arm), text })
            })
            .collect();
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        let total = ms(arrived.elapsed());
        let own = generation.as_ref();
        let answer = ArmAnswer {
            arm: engine.name.clone(),
            engine,
            role: ArmRole::Shown,
            status,
            reason,
            raw: own.map(|own| own.raw.clone()).unwrap_or_default(),
            text: items.first().map(|item| item.text.clone()).unwrap_or_default(),
            finish: own.map_or(Finish::None, |own| own.finish),
            asked: own.map_or(0.0, |own| ms(own.began.saturating_duration_since(arrived))),
            ms: PredictionTimings {
                gather: own.map_or(0.0, |own| ms(own.gather)),
                first: own.and_then(|own| own.first).map(ms),
                total: own.map_or(total, |own| ms(own.total)),
            },
            confidence: own.and_then(|own| own.confidence),
            tokens: own.and_then(|own| own.tokens),
            cost: None,
            cached: own.is_none(),
            metrics: Metrics::new(),
        };
        let context = generation.map(|own| own.context).unwrap_or_default();
        Some(AnswerEvent { request, answers: vec![answer], items, context })
    }
}

/// Returns the text that an item inserts at the cursor; `None` if it changes other text.
fn insertion(text: &str, cursor: usize, item: InlineItem) -> Option<String> {
    let typed = text.get(item.range.start..cursor)?;
    let inserted = item.text.strip_prefix(typed)?;
    (item.range.end == cursor).then(|| inserted.to_owned())
}
