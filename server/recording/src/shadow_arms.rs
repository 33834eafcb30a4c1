//! Arms in shadow: each answers the question of the shown arm for the record only.
//!
//! ```text
//! shown engine is asked ─► Recorder: of which opportunity? ─► queue of each arm: one asked, one waits ─► limits ─► engine ─► recorder
//! ```
//!
//! Responsible for which arms are asked, and when: at the moment at which the shown engine is asked, the same snapshot at the same cursor.
//! If the first answer of an opportunity is the rest of an earlier one, they are asked when it is found, so that it is paired too. A
//! request that was debounced away, or that continues an opportunity, asks nothing. If typing cancels the shown answer before it is there,
//! and its engine is asked again, the earlier question is cancelled in shadow too; otherwise an arm may use all of its own deadline,
//! whatever is typed.
//!
//! A request of the editor never waits here: the arms are asked by threads of their own with a lower priority, and share neither locks
//! nor permits with the ghost text. They wait until its context is chosen, and use it if they would choose the same. An arm that is not
//! asked answers `gated` with the reason, so that nothing is missing in silence.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cases::{ArmAnswer, ArmRole, Status};
use completion::ConfiguredEngine;
use replay::outcome_status;
use session::{document_admission, lock};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;
use trial::{AnswerEvent, EventKind};

use crate::RunningTrial;
use crate::answer_facts::{ArmQuestion, blank_answer, ms};
use crate::generation_task::GenerationTask;
use crate::running_trial::TrialEngine;

/// Threads that choose context and compute answers. Without a limit, a new one is started whenever the idle ones, of low priority, do not
/// take work at once; each keeps memory.
const BLOCKING_THREADS: usize = 4;

/// The question that the shown arm is asked.
pub struct ShadowQuestion {
    /// The trial.
    pub trial: Arc<RunningTrial>,
    /// The place.
    pub question: ArmQuestion,
    /// The request to the shown engine.
    pub task: GenerationTask,
    /// Whether the shown engine is not asked, because its answer is the rest of an earlier one.
    pub is_reused: bool,
}

impl std::fmt::Debug for ShadowQuestion {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("ShadowQuestion").field(&self.question.request).finish()
    }
}

/// The queues of all arms, and the threads that ask them.
#[derive(Default)]
pub(crate) struct ShadowArms {
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
    /// Cancelled when the answer is not wanted any more, or the trial stops.
    cancel: CancellationToken,
}

impl ShadowArms {
    /// Asks all arms but the first one. The error says which one is missing.
    pub(crate) fn ask(&mut self, question: Box<ShadowQuestion>) -> Result<(), String> {
        let (task, trial) = (&question.task, &question.trial);
        let Some(folder) = &task.home.folder else { return Ok(()) };
        if trial.stopped.is_cancelled() {
            return Ok(());
        }
        let engines = trial.engines(&task.session, folder, &task.settings)?;
        if self.runtime.is_none() {
            self.runtime =
                Some(runtime().map_err(|error| format!("there are no threads for its arms: {error}"))?);
        }
        let question = Arc::new(*question);
        for arm in engines.iter().skip(1) {
            let cancel = question.trial.stopped.child_token();
            self.enqueue(Job { question: Arc::clone(&question), arm: arm.clone(), cancel });
        }
        Ok(())
    }

    /// Cancels the questions of requests whose answers are not wanted any more.
    pub(crate) fn cancel_unless(&self, is_wanted: impl Fn(u64) -> bool) {
        for queue in self.queues.values() {
            let state = lock(&queue.state);
            let jobs = state.asked.iter().chain(&state.waiting);
            jobs.filter(|job| !is_wanted(job.question.question.request)).for_each(|job| job.cancel.cancel());
        }
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
    pub(crate) fn stop(&mut self, has_ended: impl Fn(&RunningTrial) -> bool) -> Vec<AnswerEvent> {
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
        .max_blocking_threads(BLOCKING_THREADS)
        // Idle threads stay, so that the number of the server's threads is constant.
        .thread_keep_alive(Duration::MAX)
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
        if self.cancel.is_cancelled() {
            return self.cancelled();
        }
        if let Some(reason) = document_admission::refusal(&task.document, &task.home).await {
            return self.gated(reason);
        }
        match trial.admit(&[&self.arm.arm]).await {
            Ok(()) => self.answer().await,
            Err(refused) => self.gated(refused.refusal.to_string()),
        }
    }

    async fn answer(&self) -> ArmAnswer {
        let ShadowQuestion { trial, task, question, .. } = &*self.question;
        let (outcome, facts) = task.run_in_shadow(&self.engine(), &self.cancel).await;
        if let Some(cost) = facts.cost() {
            trial.add_cost(&self.arm.arm.name, cost.amount).await;
        }
        let (status, reason) = outcome_status(&outcome.status);
        let mut answer = self.blank(status, reason);
        answer.text = question.inserted_text(&outcome);
        facts.fill(&mut answer, question.arrived);
        answer
    }

    fn engine(&self) -> ConfiguredEngine {
        let engine = &self.arm.engine;
        if self.question.question.is_invoked { engine.invoked() } else { engine.clone() }
    }

    fn blank(&self, status: Status, reason: Option<String>) -> ArmAnswer {
        let mut answer = blank_answer(self.arm.identity.clone(), ArmRole::Shadow, status, reason);
        answer.asked = ms(self.question.question.arrived.elapsed());
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
            request: self.question.question.request,
            answers: vec![answer],
            items: Vec::new(),
            context: Vec::new(),
            decisions: Vec::new(),
        }
    }

    fn record(&self, answer: ArmAnswer) {
        let event = EventKind::Answered(Box::new(self.event(answer)));
        self.question.task.session.trial.record(event);
    }
}
