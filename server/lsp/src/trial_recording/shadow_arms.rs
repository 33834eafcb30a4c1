//! Arms in shadow: each answers the question of the shown arm for the record only.
//!
//! ```text
//! shown answer ─► Recorder: first of its opportunity? ─► queue of each arm: one asked, one waits ─► limits ─► engine ─► recorder
//! ```
//!
//! Responsible for which arms are asked, and when. A request of the editor never waits here: the arms are asked after the shown answer is decided,
//! by threads of their own with a lower priority. An arm that is not asked answers `gated` with the reason, so that nothing is missing
//! in silence.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime};

use cases::{ArmAnswer, ArmRole, Status};
use completion::ConfiguredEngine;
use replay::outcome_status;
use session::{admission, lock};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;
use trial::daily_usage::{add_cost, admit_request};
use trial::{AnswerEvent, EventKind};

use super::RunningTrial;
use super::answer_facts::{blank_answer, insertion, ms};
use super::running_trial::TrialEngine;
use crate::generation_task::GenerationTask;
use crate::inline_item::{self, PopupItem};

/// The question that the shown arm was asked.
pub(crate) struct ShadowQuestion {
    /// The trial.
    pub(crate) trial: Arc<RunningTrial>,
    /// Number of the request.
    pub(crate) request: u64,
    /// Its arrival.
    pub(crate) arrived: Instant,
    /// The document.
    pub(crate) text: Arc<str>,
    /// The cursor in it, in bytes.
    pub(crate) cursor: usize,
    /// The selected item of the editor's popup.
    pub(crate) popup: Option<PopupItem>,
    /// Whether it was invoked explicitly.
    pub(crate) is_invoked: bool,
    /// What the shown engine was asked.
    pub(crate) task: GenerationTask,
}

impl std::fmt::Debug for ShadowQuestion {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("ShadowQuestion").field(&self.request).finish()
    }
}

/// The queues of all arms, and the threads that ask them.
#[derive(Default)]
pub(super) struct ShadowArms {
    runtime: Option<Runtime>,
    queues: HashMap<(PathBuf, String), Arc<ArmQueue>>,
}

/// One arm of a trial.
struct ArmQueue {
    trial: Arc<RunningTrial>,
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    asked: Option<Job>,
    waiting: Option<Job>,
}

/// A question to an arm.
#[derive(Clone)]
struct Job {
    question: Arc<ShadowQuestion>,
    arm: TrialEngine,
}

impl ShadowArms {
    /// Asks all arms but the first one. The error says which one is missing.
    pub(super) fn ask(&mut self, question: Box<ShadowQuestion>) -> Result<(), String> {
        let (task, trial) = (&question.task, &question.trial);
        let Some(folder) = &task.home.folder else { return Ok(()) };
        if trial.stopped.is_cancelled() {
            return Ok(());
        }
        let engines = trial.engines(&task.server, folder, &task.settings)?;
        if self.runtime.is_none() {
            self.runtime =
                Some(runtime().map_err(|error| format!("there are no threads for its arms: {error}"))?);
        }
        let question = Arc::new(*question);
        for arm in engines.iter().skip(1) {
            self.enqueue(Job { question: Arc::clone(&question), arm: arm.clone() });
        }
        Ok(())
    }

    fn enqueue(&mut self, job: Job) {
        let Some(runtime) = &self.runtime else { return };
        let trial = &job.question.trial;
        let key = (trial.folder.clone(), job.arm.arm.name.clone());
        let queue = self
            .queues
            .entry(key)
            .or_insert_with(|| Arc::new(ArmQueue { trial: Arc::clone(trial), state: Mutex::default() }));
        let mut state = lock(&queue.state);
        if state.asked.is_some() {
            let replaced = state.waiting.replace(job);
            drop(state);
            if let Some(replaced) = replaced {
                replaced.record(replaced.gated("busy with an earlier opportunity".to_owned()));
            }
            return;
        }
        state.asked = Some(job.clone());
        drop(state);
        runtime.spawn(Arc::clone(queue).run(job));
    }

    /// Stops the arms of trials that have ended. Returns the answers of those that were asked or waited.
    pub(super) fn stop(&mut self, has_ended: impl Fn(&RunningTrial) -> bool) -> Vec<AnswerEvent> {
        let mut events = Vec::new();
        self.queues.retain(|_, queue| {
            if !has_ended(&queue.trial) {
                return true;
            }
            queue.trial.stopped.cancel();
            let QueueState { asked, waiting } = std::mem::take(&mut *lock(&queue.state));
            events.extend(asked.into_iter().chain(waiting).map(|job| job.event(job.cancelled())));
            false
        });
        events
    }
}

impl Drop for ShadowArms {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Threads that do not disturb the shown arm.
fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("trial-shadow")
        .on_thread_start(|| {
            completion::lower_thread_priority();
        })
        .enable_all()
        .build()
}

impl ArmQueue {
    /// Asks the arm until nothing waits.
    async fn run(self: Arc<Self>, mut job: Job) {
        loop {
            let asking = job.clone();
            // A panic ends one answer only.
            let answered = tokio::spawn(async move { asking.ask().await }).await;
            if self.trial.stopped.is_cancelled() {
                // The unanswered questions are recorded as cancelled.
                return;
            }
            let answer = answered.unwrap_or_else(|_| job.failed());
            job.record(answer);
            let mut state = lock(&self.state);
            state.asked = state.waiting.take();
            match &state.asked {
                Some(next) => job = next.clone(),
                None => return,
            }
        }
    }
}

impl Job {
    async fn ask(&self) -> ArmAnswer {
        let ShadowQuestion { trial, task, .. } = &*self.question;
        if let Some(reason) = admission::refusal(&task.document, &task.home).await {
            return self.gated(reason);
        }
        let (folder, limits) = (trial.folder.clone(), self.arm.arm.clone());
        let admitted =
            completion::run_blocking(move |_| admit_request(&folder, &limits, SystemTime::now())).await;
        match admitted {
            Ok(None) => self.answer(&trial.stopped).await,
            Ok(Some(reason)) => self.gated(reason),
            Err(_) => self.failed(),
        }
    }

    async fn answer(&self, stopped: &CancellationToken) -> ArmAnswer {
        let ShadowQuestion { trial, task, text, cursor, popup, arrived, .. } = &*self.question;
        let (outcome, facts) = task.run_in_shadow(&self.engine(), stopped).await;
        if let Some(cost) = facts.cost() {
            let (folder, arm, amount) = (trial.folder.clone(), self.arm.arm.name.clone(), cost.amount);
            let counted =
                completion::run_blocking(move |_| add_cost(&folder, &arm, amount, SystemTime::now())).await;
            if !matches!(counted, Ok(Ok(()))) {
                tracing::warn!("the cost of an arm is not counted");
            }
        }
        let (status, reason) = outcome_status(&outcome.status);
        let mut answer = self.blank(status, reason);
        if status == Status::Ok {
            let item = inline_item::inline_item(text, *cursor, &outcome.text, popup.as_ref());
            answer.text = insertion(text, *cursor, item).unwrap_or_default();
        }
        facts.fill(&mut answer, *arrived);
        answer
    }

    fn engine(&self) -> ConfiguredEngine {
        let engine = &self.arm.engine;
        if self.question.is_invoked { engine.invoked() } else { engine.clone() }
    }

    fn blank(&self, status: Status, reason: Option<String>) -> ArmAnswer {
        let mut answer = blank_answer(self.arm.identity.clone(), ArmRole::Shadow, status, reason);
        answer.asked = ms(self.question.arrived.elapsed());
        answer
    }

    fn gated(&self, reason: String) -> ArmAnswer {
        self.blank(Status::Gated, Some(reason))
    }

    fn cancelled(&self) -> ArmAnswer {
        self.blank(Status::Cancelled, None)
    }

    fn failed(&self) -> ArmAnswer {
        self.blank(Status::Error, Some("internal error".to_owned()))
    }

    fn event(&self, answer: ArmAnswer) -> AnswerEvent {
        AnswerEvent {
            request: self.question.request,
            answers: vec![answer],
            items: Vec::new(),
            context: Vec::new(),
            decisions: Vec::new(),
        }
    }

    fn record(&self, answer: ArmAnswer) {
        let event = EventKind::Answered(Box::new(self.event(answer)));
        self.question.task.server.trial.record(Instant::now(), event);
    }
}
