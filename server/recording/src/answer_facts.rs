//! The answer to a request as events of the recorder: the question when the engine is asked, its answer when it ends, and the items that
//! are offered.
//!
//! The answer belongs to the cursor at which the engine was asked. A later request that shares it or types through it adds its items
//! only. Nothing here waits, except for the count of a limited arm's requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cases::{
    ArmAnswer, ArmRole, ContextItem, Cost, Decision, EngineIdentity, Finish, PredictionTimings, Status,
    TokenCounts, TrialArm,
};
use completion::{ConfiguredEngine, Outcome, Snippet};
use engines::FinishReason;
use replay::outcome_status;
use session::lock;
use trial::assignment::BlindNames;
use trial::daily_usage::UsageRefusal;
use trial::{AnswerEvent, DocumentKey, EventKind, OfferedItem};

use crate::duel::AnsweredDuel;
use crate::generation_task::GenerationTask;
use crate::inline_item::{InlineItem, PopupItem, inline_item};
use crate::running_trial::TrialEngine;
use crate::trial_session::TrialSession;
use crate::{RunningTrial, ShadowQuestion, Writer};

/// Facts about the answer to a request, besides its text.
#[derive(Default)]
pub struct AnswerFacts {
    /// The engine that writes, and what the trial decided.
    writer: Mutex<Option<WriterFacts>>,
    /// Whether the engine was asked for this request.
    is_asked: Arc<AtomicBool>,
}

#[derive(Clone)]
struct WriterFacts {
    engine: EngineIdentity,
    decisions: Vec<Decision>,
    is_held: bool,
    arm: Option<TrialArm>,
    rival: Option<TrialEngine>,
    trial: Option<Arc<RunningTrial>>,
}

/// The place at which arms are asked.
#[derive(Clone)]
pub struct ArmQuestion {
    /// Number of the request.
    pub request: u64,
    /// Its arrival.
    pub arrived: Instant,
    /// The document.
    pub text: Arc<str>,
    /// The cursor in it, in bytes.
    pub cursor: usize,
    /// The selected item of the editor's popup.
    pub popup: Option<PopupItem>,
    /// Whether it was invoked explicitly.
    pub is_invoked: bool,
}

/// The question to the engine that writes the ghost text.
pub struct ShownQuestion {
    question: ArmQuestion,
    writer: WriterFacts,
    is_asked: Arc<AtomicBool>,
}

/// The answer of the engine that writes the ghost text, which is recorded when the engine answers, whether or not a request waits for it.
/// One that is dropped without an outcome was cancelled.
pub struct ShownAnswer {
    session: TrialSession,
    shown: Arc<ShownQuestion>,
    began: Instant,
    is_recorded: bool,
}

/// Facts about a generation.
pub struct GenerationFacts {
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
    pub fn new(outcome: &Outcome, began: Instant, engine: &ConfiguredEngine) -> GenerationFacts {
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
    pub fn cost(&self) -> Option<Cost> {
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
pub struct AnsweredRequest<'a> {
    /// Its number.
    pub request: u64,
    /// Its arrival.
    pub arrived: Instant,
    /// The document.
    pub document: &'a DocumentKey,
    /// Its text at the request.
    pub text: &'a str,
    /// The cursor, in bytes.
    pub cursor: usize,
    /// How it ended.
    pub status: Status,
    /// Why, if the status needs a reason.
    pub reason: Option<String>,
    /// The best suggestion, offered or not.
    pub suggested: Option<InlineItem>,
    /// The offered items with their ids.
    pub items: Vec<(u64, InlineItem)>,
}

impl AnswerFacts {
    /// Notes the engine that writes, and the trial that chose it.
    pub fn set_writer(&self, writer: &Writer, trial: Option<Arc<RunningTrial>>) {
        *lock(&self.writer) = Some(WriterFacts {
            engine: writer.identity.clone(),
            decisions: writer.decisions.clone(),
            is_held: writer.is_held,
            arm: writer.arm.clone(),
            rival: writer.rival.clone(),
            trial,
        });
    }

    /// Returns the question to the engine that writes, if one was chosen.
    pub fn question(&self, question: ArmQuestion) -> Option<Arc<ShownQuestion>> {
        let writer = lock(&self.writer).clone()?;
        Some(Arc::new(ShownQuestion { question, writer, is_asked: Arc::clone(&self.is_asked) }))
    }

    /// Whether the answer must not be shown.
    pub fn is_held(&self) -> bool {
        lock(&self.writer).as_ref().is_some_and(|writer| writer.is_held)
    }

    /// Whether the developer must not know the engine.
    pub fn is_blind(&self) -> bool {
        let writer = lock(&self.writer);
        let trial = writer.as_ref().and_then(|writer| writer.trial.as_ref());
        trial.is_some_and(|trial| BlindNames::in_effect(&trial.definition).is_some())
    }

    /// Returns the event of an answered request: the offered items and, if they are not those of an engine that was asked for it, the
    /// reused answer. `None` if no engine was chosen.
    pub fn event(&self, answered: AnsweredRequest<'_>) -> Option<AnswerEvent> {
        let writer = lock(&self.writer).take()?;
        let arm: Arc<str> = writer.engine.name.as_str().into();
        let AnsweredRequest { request, arrived, document, text, cursor, status, reason, suggested, items } =
            answered;
        let duel = writer.trial.as_ref().filter(|_| writer.rival.is_some());
        let items: Vec<OfferedItem> = items
            .into_iter()
            .filter_map(|(id, item)| {
                let inserted = insertion(text, cursor, item)?;
                let arm = match duel {
                    // Choosing an item without a known arm is no vote.
                    Some(trial) => {
                        trial.duels.arm_of(document, text.get(..cursor)?, &inserted).unwrap_or_default()
                    }
                    None => Arc::clone(&arm),
                };
                Some(OfferedItem { id, arm, text: inserted })
            })
            .collect();
        let mut answers = Vec::new();
        if !self.is_asked.load(Ordering::Relaxed) && duel.is_none() {
            let mut answer = blank_answer(writer.engine.clone(), writer.role(), status, reason);
            answer.text = suggested.and_then(|item| insertion(text, cursor, item)).unwrap_or_default();
            answer.cached = true;
            answer.ms.total = ms(arrived.elapsed());
            answers.push(answer);
        }
        Some(AnswerEvent { request, answers, items, context: Vec::new(), decisions: writer.decisions })
    }
}

impl WriterFacts {
    fn role(&self) -> ArmRole {
        if self.is_held { ArmRole::Held } else { ArmRole::Shown }
    }
}

impl ShownQuestion {
    /// The engine is asked now; the recorder asks the other arms, if the trial has them answer in shadow. The error says why it must not be
    /// asked.
    pub async fn begin(
        self: &Arc<ShownQuestion>,
        task: &GenerationTask,
    ) -> Result<ShownAnswer, UsageRefusal> {
        self.is_asked.store(true, Ordering::Relaxed);
        let recording = &task.session.trial;
        recording.record(EventKind::Asked { request: self.question.request });
        let answer = ShownAnswer {
            session: task.session.clone(),
            shown: Arc::clone(self),
            began: Instant::now(),
            is_recorded: false,
        };
        let WriterFacts { arm, trial, .. } = &self.writer;
        let rival = self.writer.rival.as_ref().map(|rival| &rival.arm);
        if let Some(trial) = trial {
            let asked: Vec<&TrialArm> = arm.iter().chain(rival).collect();
            if let Err(refused) = trial.admit(&asked).await {
                let reason = |arm: &str| match arm == refused.arm {
                    true => refused.refusal.to_string(),
                    false => format!("the other arm: {}", refused.refusal),
                };
                answer.record(Status::Gated, Some(reason(&self.writer.engine.name)), Vec::new(), |_| {});
                self.record_gated_rival(task, reason);
                return Err(refused.refusal);
            }
        }
        self.ask_in_shadow(task, false);
        Ok(answer)
    }

    /// The answer to the request is the rest of an earlier one: no engine is asked for it. If it is the first one of an opportunity, the
    /// recorder asks the other arms now, so that their answers can be compared with it.
    pub fn reuse(self: &Arc<ShownQuestion>, task: &GenerationTask) {
        if !self.is_asked.load(Ordering::Relaxed) && self.writer.rival.is_none() {
            self.ask_in_shadow(task, true);
        }
    }

    fn ask_in_shadow(&self, task: &GenerationTask, is_reused: bool) {
        let Some(trial) = &self.writer.trial else { return };
        let session = task.session.clone();
        let task = GenerationTask { shown: None, ..task.clone() };
        let (trial, question) = (Arc::clone(trial), self.question.clone());
        session.trial.ask(Box::new(ShadowQuestion { trial, question, task, is_reused }));
    }

    /// Records that the other arm of a duel is not asked either.
    fn record_gated_rival(&self, task: &GenerationTask, reason: impl Fn(&str) -> String) {
        let Some(rival) = &self.writer.rival else { return };
        let reason = reason(&rival.arm.name);
        let answer = blank_answer(rival.identity.clone(), self.writer.role(), Status::Gated, Some(reason));
        self.record_answer(task, answer);
    }

    fn record_answer(&self, task: &GenerationTask, answer: ArmAnswer) {
        let event = AnswerEvent {
            request: self.question.request,
            answers: vec![answer],
            items: Vec::new(),
            context: Vec::new(),
            decisions: self.writer.decisions.clone(),
        };
        task.session.trial.record(EventKind::Answered(Box::new(event)));
    }

    /// The other arm of a duel, which is asked the same.
    pub fn rival(&self) -> Option<&TrialEngine> {
        self.writer.rival.as_ref()
    }

    /// Records the answer of the other arm of a duel, after that of the first one. Both are offered.
    pub async fn record_rival(
        &self,
        task: &GenerationTask,
        first: &Outcome,
        rival: &Outcome,
        facts: &GenerationFacts,
    ) {
        let ShownQuestion { question, writer, .. } = self;
        let (Some(engine), Some(trial)) = (&writer.rival, &writer.trial) else { return };
        let (status, reason) = outcome_status(&rival.status);
        let mut answer = blank_answer(engine.identity.clone(), writer.role(), status, reason);
        answer.text = question.inserted_text(rival);
        facts.fill(&mut answer, question.arrived);
        trial.duels.add(AnsweredDuel {
            document: Arc::clone(&task.document.key),
            text: Arc::clone(&question.text),
            cursor: question.cursor,
            answers: [
                (writer.engine.name.as_str().into(), question.inserted_text(first)),
                (engine.arm.name.as_str().into(), answer.text.clone()),
            ],
        });
        self.record_answer(task, answer);
        if let Some(cost) = facts.cost.filter(|_| engine.arm.is_limited()) {
            trial.add_cost(&engine.arm.name, cost.amount).await;
        }
    }
}

impl ShownAnswer {
    /// Records the outcome.
    pub async fn finish(self, outcome: &Outcome, mut facts: GenerationFacts) {
        let shown = Arc::clone(&self.shown);
        let (status, reason) = outcome_status(&outcome.status);
        let (cost, context) = (facts.cost, std::mem::take(&mut facts.context));
        self.record(status, reason, context, |answer| {
            answer.text = shown.question.inserted_text(outcome);
            facts.fill(answer, shown.question.arrived);
        });
        let WriterFacts { arm, trial, .. } = &shown.writer;
        if let (Some(cost), Some(arm), Some(trial)) = (cost, arm, trial)
            && arm.is_limited()
        {
            trial.add_cost(&arm.name, cost.amount).await;
        }
    }

    fn record(
        mut self,
        status: Status,
        reason: Option<String>,
        context: Vec<ContextItem>,
        fill: impl FnOnce(&mut ArmAnswer),
    ) {
        self.is_recorded = true;
        self.send(status, reason, context, fill);
    }

    fn send(
        &self,
        status: Status,
        reason: Option<String>,
        context: Vec<ContextItem>,
        fill: impl FnOnce(&mut ArmAnswer),
    ) {
        let ShownQuestion { question, writer, .. } = &*self.shown;
        let mut answer = blank_answer(writer.engine.clone(), writer.role(), status, reason);
        answer.asked = ms(self.began.saturating_duration_since(question.arrived));
        answer.ms.total = ms(self.began.elapsed());
        fill(&mut answer);
        let event = AnswerEvent {
            request: question.request,
            answers: vec![answer],
            items: Vec::new(),
            context,
            decisions: writer.decisions.clone(),
        };
        self.session.trial.record(EventKind::Answered(Box::new(event)));
    }
}

impl Drop for ShownAnswer {
    fn drop(&mut self) {
        if self.is_recorded {
            return;
        }
        match std::thread::panicking() {
            true => self.send(Status::Error, Some("internal error".to_owned()), Vec::new(), |_| {}),
            false => self.send(Status::Cancelled, None, Vec::new(), |_| {}),
        }
    }
}

impl ArmQuestion {
    /// Returns the text that an outcome inserts at the cursor.
    pub fn inserted_text(&self, outcome: &Outcome) -> String {
        if outcome.text.is_empty() {
            return String::new();
        }
        let item = inline_item(&self.text, self.cursor, &outcome.text, self.popup.as_ref());
        insertion(&self.text, self.cursor, item).unwrap_or_default()
    }
}

impl GenerationFacts {
    /// Adds what is known of the generation to an answer.
    pub fn fill(&self, answer: &mut ArmAnswer, arrived: Instant) {
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
pub(crate) fn blank_answer(
    engine: EngineIdentity,
    role: ArmRole,
    status: Status,
    reason: Option<String>,
) -> ArmAnswer {
    ArmAnswer { reason, ..ArmAnswer::empty(engine.name.clone(), engine, role, status) }
}

/// Returns a duration in ms.
pub(crate) fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Returns the text that an item inserts at the cursor; `None` if it changes other text.
pub(crate) fn insertion(text: &str, cursor: usize, item: InlineItem) -> Option<String> {
    let typed = text.get(item.range.start..cursor)?;
    let inserted = item.text.strip_prefix(typed)?;
    (item.range.end == cursor).then(|| inserted.to_owned())
}
