//! Judges the answers of batches, by the code that judges those of a run on one machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use cases::{Case, Judgement, Prediction, parse_line, to_line};
use futures_util::future::try_join_all;
use replay::{AnswerJudge, JudgingRules, ReplayError, TestJudge};
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use crate::messages::{Batch, CarriedAttempt, CarriedRow};
use crate::worker::WorkerOutput;

/// Sandboxes at a time: each has a thread and processes.
const MOST_JOBS: u32 = 1024;

/// The judge of a worker, its rules and sandboxes.
pub struct JudgeWorker {
    judge: TestJudge,
    rules: JudgingRules,
    /// Path of the user's workspace, which this one is a copy of.
    workspace: PathBuf,
    jobs: u32,
    /// Sandboxes that are free, of `jobs`.
    free: Semaphore,
    /// Kills the tests that run.
    stop: CancellationToken,
}

impl JudgeWorker {
    /// Creates a worker with `jobs` sandboxes at a time, at least one. `stop` must be the signal that stops the judge.
    pub fn new(
        judge: TestJudge,
        rules: JudgingRules,
        workspace: PathBuf,
        jobs: usize,
        stop: CancellationToken,
    ) -> JudgeWorker {
        let jobs = u32::try_from(jobs).unwrap_or(u32::MAX).clamp(1, MOST_JOBS);
        JudgeWorker { judge, rules, workspace, jobs, free: Semaphore::new(jobs as usize), stop }
    }

    /// Checks that the tests of a case pass here with the truth.
    ///
    /// # Errors
    ///
    /// They do not.
    pub fn check_truth(&self, case: &Case) -> Result<(), ReplayError> {
        self.answer_judge().check_truth(case)
    }

    /// Judges a batch. Answers that cannot be understood have no row.
    ///
    /// # Errors
    ///
    /// An answer cannot be judged here. This says nothing about the answer.
    pub(crate) async fn judge(
        self: Arc<Self>,
        batch: Batch,
        output: &WorkerOutput,
    ) -> Result<(), ReplayError> {
        let Some(cases) = batch.parse_cases() else { return Ok(()) };
        let answers = batch.attempts.iter().filter_map(|attempt| read_answer(&cases, attempt));
        let judgements = answers.map(|(case, answer)| {
            let (worker, id) = (Arc::clone(&self), batch.id);
            async move {
                let Some(judged) = worker.judge_one(case, answer).await else { return Ok(()) };
                let judged = judged?;
                output.row(CarriedRow::new(id, judged.key(), to_line(&judged)));
                Ok(())
            }
        });
        try_join_all(judgements).await.map(drop)
    }

    /// Judges an answer once there is a free sandbox; `None` if this worker ends.
    async fn judge_one(
        self: &Arc<Self>,
        case: Case,
        answer: Prediction,
    ) -> Option<Result<Judgement, ReplayError>> {
        let _free = self.free.acquire().await.ok().filter(|_| !self.stop.is_cancelled())?;
        let (sender, judged) = oneshot::channel();
        let worker = Arc::clone(self);
        // A sandbox ends with the thread that started it, so the thread lives as long.
        thread::spawn(move || {
            // Nothing waits any more if this worker ends.
            let _ = sender.send(worker.answer_judge().judge(&case, &answer));
        });
        judged.await.ok().filter(|_| !self.stop.is_cancelled())
    }

    fn answer_judge(&self) -> AnswerJudge<'_> {
        AnswerJudge { judge: &self.judge, rules: &self.rules, shown_as: Some(&self.workspace) }
    }

    /// Kills the tests that run, and waits for their end.
    pub(crate) async fn end(&self) {
        self.stop.cancel();
        let _ = self.free.acquire_many(self.jobs).await;
    }
}

fn read_answer(cases: &[Case], attempt: &CarriedAttempt) -> Option<(Case, Prediction)> {
    let case = cases.get(attempt.case)?.clone();
    let answer: Prediction = parse_line(attempt.answer.as_deref()?, 1).ok()?;
    Some((case, answer))
}
