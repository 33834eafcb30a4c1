//! Hands out the attempts of a run to the workers of a cluster in batches, and takes their rows: requests and judgements alike.
//!
//! Must never pass two rows of an attempt to its work, and must never forget an attempt: each has a row, is given up, or was not started
//! before the run was stopped.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use cases::{Case, CaseId, to_line};
use replay::{Attempt, StopSignal};

use crate::ClusterError;
use crate::messages::{Batch, CarriedAttempt, CarriedCase, CarriedRow, ClusterJob, FromDriver, ToDriver};
use crate::pending_attempts::{Loss, PendingAttempts, Permission};
use crate::ray_driver::RayDriver;

/// Batches in flight per worker: one is answered, one waits so that no slot of the worker is idle, one is under way.
const BATCHES_PER_WORKER: usize = 3;

/// A Ray cluster, and what its workers need for one task.
#[derive(Clone)]
pub struct RayCluster {
    /// Python with the package `ghostbench_ray`.
    pub python: PathBuf,
    /// The job of the package and the workers.
    pub job: ClusterJob,
    /// Receives messages for the user.
    pub note: fn(&str),
}

/// The attempts of a run, and the use of their rows.
pub(crate) trait ClusterWork {
    /// Held for an attempt in flight.
    type Kept;

    /// Decides whether an attempt may be sent now.
    fn permit(&mut self, attempt: Attempt) -> Permission<Self::Kept>;

    /// Returns the case of an attempt, and files that contain copies of its truth.
    fn case(&self, attempt: Attempt) -> (&Case, &[String]);

    /// Returns the description of an attempt for the worker, whose case has this index in the batch.
    fn carried(&self, attempt: Attempt, case: usize) -> CarriedAttempt;

    /// Returns the attempt of a row; `None` if the run has none.
    fn attempt_of(&self, row: &CarriedRow) -> Option<Attempt>;

    /// Takes the first row of an attempt.
    fn record(
        &mut self,
        attempt: Attempt,
        row: &CarriedRow,
        kept: Self::Kept,
    ) -> Result<ControlFlow<()>, ClusterError>;

    /// Takes back what was held for an attempt that is lost, and will be sent again or is given up.
    fn lose(&mut self, kept: Self::Kept);

    /// Ends an attempt without a row, because too many workers crashed over it.
    fn give_up(&mut self, attempt: Attempt);
}

impl RayCluster {
    /// Connects to the cluster, and carries out all attempts, in batches of up to `full_batch`.
    pub(crate) async fn carry_out(
        &self,
        work: &mut impl ClusterWork,
        attempts: Vec<Attempt>,
        full_batch: usize,
        stop: &StopSignal,
    ) -> Result<(), ClusterError> {
        if attempts.is_empty() {
            return Ok(());
        }
        let mut driver = RayDriver::start(&self.python, &self.job).await?;
        let pending = PendingAttempts::new(attempts);
        let mut run = Dispatch { work, pending, note: self.note, full_batch, workers: 0 };
        let ended = run.drive(&mut driver, stop).await;
        driver.stop().await;
        ended
    }
}

/// A run in progress.
struct Dispatch<'a, W: ClusterWork> {
    work: &'a mut W,
    pending: PendingAttempts<W::Kept>,
    note: fn(&str),
    /// Size of a batch as long as many attempts wait.
    full_batch: usize,
    /// Number of workers that can take batches.
    workers: usize,
}

impl<W: ClusterWork> Dispatch<'_, W> {
    /// Sends batches and takes rows until all attempts have one, or the run is stopped and nothing is in flight.
    async fn drive(&mut self, driver: &mut RayDriver, stop: &StopSignal) -> Result<(), ClusterError> {
        loop {
            while !stop.is_stopped() && self.pending.batches() < BATCHES_PER_WORKER * self.workers {
                let Some(batch) = self.next_batch() else { break };
                driver.send(&ToDriver::Batch(batch)).await?;
            }
            let is_over = stop.is_stopped() || self.pending.waiting() == 0;
            if is_over && self.pending.batches() == 0 {
                return Ok(());
            }
            let message = tokio::select! {
                message = driver.next() => message?,
                () = stop.stopped(), if !stop.is_stopped() => continue,
            };
            if self.take(message)?.is_break() {
                return Ok(());
            }
        }
    }

    /// Returns the next batch; `None` if no attempt may be sent now.
    fn next_batch(&mut self) -> Option<Batch> {
        let waiting = self.pending.waiting();
        // The last attempts are spread over all workers.
        let size = waiting.div_ceil(BATCHES_PER_WORKER * self.workers.max(1)).clamp(1, self.full_batch);
        let (id, attempts) = self.pending.next_batch(size, |attempt| self.work.permit(attempt))?;
        Some(self.batch(id, &attempts))
    }

    fn batch(&self, id: u64, attempts: &[Attempt]) -> Batch {
        let mut batch = Batch { id, cases: Vec::new(), attempts: Vec::new() };
        let mut places: HashMap<&CaseId, usize> = HashMap::new();
        for &attempt in attempts {
            let (case, copies) = self.work.case(attempt);
            let place = *places.entry(&case.id).or_insert_with(|| {
                batch.cases.push(CarriedCase { row: to_line(case), copies: copies.to_vec() });
                batch.cases.len() - 1
            });
            batch.attempts.push(self.work.carried(attempt, place));
        }
        batch
    }

    fn take(&mut self, message: FromDriver) -> Result<ControlFlow<()>, ClusterError> {
        match message {
            FromDriver::Hello(_) => {}
            FromDriver::Workers { ready } => self.workers = ready,
            FromDriver::Note { text } => (self.note)(&text),
            FromDriver::Fatal { text: reason } => return Err(ClusterError::Cluster { reason }),
            FromDriver::Rows { rows } => {
                for row in &rows {
                    if self.take_row(row)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            FromDriver::Done { batches } => {
                for batch in batches {
                    let loss = self.pending.done(batch);
                    self.lose(loss);
                }
            }
            FromDriver::Lost { batches, crashed } => {
                for batch in batches {
                    let loss = self.pending.lost(batch, crashed);
                    self.lose(loss);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Records the first row of an attempt, and drops later ones.
    fn take_row(&mut self, row: &CarriedRow) -> Result<ControlFlow<()>, ClusterError> {
        let attempt = self.work.attempt_of(row).ok_or_else(|| unknown_row(&row.case, &row.engine))?;
        match self.pending.answered(attempt) {
            Some(kept) => self.work.record(attempt, row, kept),
            None => Ok(ControlFlow::Continue(())),
        }
    }

    /// Ends the attempts of a lost batch: they may have been made, and are made again or given up.
    fn lose(&mut self, loss: Loss<W::Kept>) {
        for kept in loss.kept {
            self.work.lose(kept);
        }
        for attempt in loss.given_up {
            self.work.give_up(attempt);
        }
    }
}

/// The row that a worker has filled in must be that of its attempt.
pub(crate) fn check_key(carried: &CarriedRow, key: (&str, &str, u32)) -> Result<(), ClusterError> {
    let (case, engine, repetition) = key;
    match (carried.case == case, carried.engine == engine, carried.repetition == repetition) {
        (true, true, true) => Ok(()),
        _ => Err(unknown_row(case, engine)),
    }
}

fn unknown_row(case: &str, engine: &str) -> ClusterError {
    ClusterError::UnknownRow { case: case.to_owned(), engine: engine.to_owned() }
}
