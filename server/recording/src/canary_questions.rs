//! Asks the arms of a trial the canary questions, when they are due.
//!
//! Responsible for asking few: a round for each arm every half day, by one thread with a lower priority, counted in the limits of the arm.
//! The questions contain no code of the workspace, and no context is searched for them. An arm of which the questions would take more than
//! a hundredth of its requests is not asked.

use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use cases::TrialMode;
use completion::{CompletionSettings, DocumentText, OutcomeStatus, WorkspaceIndex};
use index::Strategy;
use tokio::runtime::Handle;
use trial::canaries::{self, CanaryRound, QUESTIONS, REPETITIONS};

use crate::RunningTrial;
use crate::running_trial::TrialEngine;

/// Fewest requests a day of an arm that is asked: the questions take at most a hundredth of its limit.
const MIN_REQUESTS_PER_DAY: u32 = 100 * 2 * (QUESTIONS.len() * REPETITIONS) as u32;

/// Asks the arms that are due. Called once for each trial that runs and each round; waits for nothing.
pub(crate) fn ask(trial: Arc<RunningTrial>, engines: Arc<[TrialEngine]>) {
    let runtime = Handle::current();
    let work = move || {
        completion::lower_thread_priority();
        // An arm alone is compared with no other one, but it may change, too.
        let is_shown_alone = trial.definition.mode == TrialMode::Single;
        for engine in engines.iter().take(if is_shown_alone { 1 } else { engines.len() }) {
            if engine.arm.requests_per_day.is_some_and(|limit| limit < MIN_REQUESTS_PER_DAY) {
                continue;
            }
            if matches!(canaries::is_due(&trial.folder, &engine.arm.name, SystemTime::now()), Ok(true)) {
                runtime.block_on(ask_arm(&trial, engine));
            }
        }
    };
    if let Err(error) = thread::Builder::new().name("trial-canary".to_owned()).spawn(work) {
        tracing::warn!(%error, "no canary questions are asked");
    }
}

async fn ask_arm(trial: &RunningTrial, engine: &TrialEngine) {
    let (name, fingerprint) = (engine.arm.name.clone(), engine.identity.fingerprint.clone());
    let mut round = CanaryRound::new(name, fingerprint, SystemTime::now());
    for (number, question) in QUESTIONS.iter().enumerate() {
        for _ in 0..REPETITIONS {
            if trial.stopped.is_cancelled() || trial.admit(&[&engine.arm]).await.is_err() {
                return;
            }
            let text = [question.prefix, question.suffix].concat().into();
            let document = DocumentText { path: question.path.into(), language: question.language, text };
            let snapshot = WorkspaceIndex::empty().snapshot(document);
            let settings = CompletionSettings { strategy: Strategy::None, ..engine.engine.settings.clone() };
            let asked = &*engine.engine.engine;
            let outcome =
                completion::complete(&snapshot, question.prefix.len(), asked, &settings, &trial.stopped)
                    .await;
            if let Some(cost) = replay::outcome_cost(&engine.engine, &outcome) {
                trial.add_cost(&engine.arm.name, cost.amount).await;
            }
            if matches!(outcome.status, OutcomeStatus::Ok | OutcomeStatus::Silent(_)) {
                round.add(number, &outcome.trace.received);
            }
        }
    }
    if let Err(error) = canaries::append(&trial.folder, &round) {
        tracing::warn!(%error, "the answers to canary questions are not kept");
    }
}
