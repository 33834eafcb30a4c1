//! Makes the requests of a run on a cluster: hands out batches, and takes rows.

use std::collections::HashMap;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;

use cases::{CaseCopies, CaseId, EngineIdentity, Prediction, Status, parse_line, to_line};
use futures_util::FutureExt;
use replay::{Attempt, RequestRunner, Reservation, RunInputs, StopSignal, engine_identity};

use crate::ClusterError;
use crate::messages::{Batch, CarriedAttempt, CarriedCase, CarriedRow, ClusterJob, FromDriver, ToDriver};
use crate::pending_attempts::{Loss, PendingAttempts, Permission};
use crate::ray_driver::RayDriver;

/// Batches in flight per worker: one is answered, one waits so that no slot of the worker is idle, one is under way.
const BATCHES_PER_WORKER: usize = 3;

/// Limits of the size of a batch. A larger one loses more with its node, a smaller one costs more time per attempt.
const SMALLEST_BATCH: usize = 8;
const LARGEST_BATCH: usize = 256;

/// Concurrent requests of a worker for the size of its batches, if the user did not choose.
const USUAL_JOBS: usize = 8;

/// Makes the requests of a run on the nodes of a Ray cluster.
#[derive(Clone)]
pub struct RayRunner {
    /// Python with the package `ghostbench_ray`.
    pub python: PathBuf,
    /// What the package and the workers need.
    pub job: ClusterJob,
    /// Files with copies of the truths, by case.
    pub copies: Vec<CaseCopies>,
    /// Receives messages for the user.
    pub note: fn(&str),
}

impl RequestRunner for RayRunner {
    async fn run(
        self,
        attempts: Vec<Attempt>,
        inputs: &RunInputs,
        stop: &StopSignal,
        record: impl FnMut(usize, Prediction) -> ControlFlow<()>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        if attempts.is_empty() {
            return Ok(());
        }
        let mut driver = RayDriver::start(&self.python, &self.job).await?;
        let mut run = ClusterRun::new(&self, attempts, inputs, record);
        let ended = run.drive(&mut driver, stop).await;
        driver.stop().await;
        Ok(ended?)
    }
}

/// A run in progress.
struct ClusterRun<'a, F> {
    inputs: &'a RunInputs,
    pending: PendingAttempts<Reservation>,
    copies: HashMap<&'a str, &'a CaseCopies>,
    cases: HashMap<&'a CaseId, usize>,
    engines: Vec<EngineIdentity>,
    record: F,
    note: fn(&str),
    /// Size of a batch as long as many attempts wait.
    full_batch: usize,
    /// Number of workers that can take batches.
    workers: usize,
}

impl<'a, F: FnMut(usize, Prediction) -> ControlFlow<()>> ClusterRun<'a, F> {
    fn new(
        runner: &'a RayRunner,
        attempts: Vec<Attempt>,
        inputs: &'a RunInputs,
        record: F,
    ) -> ClusterRun<'a, F> {
        let jobs = runner.job.worker.jobs.unwrap_or(USUAL_JOBS);
        ClusterRun {
            inputs,
            pending: PendingAttempts::new(attempts),
            copies: runner.copies.iter().map(|row| (row.case.as_str(), row)).collect(),
            cases: inputs.cases.iter().enumerate().map(|(place, case)| (&case.id, place)).collect(),
            engines: inputs.engines.iter().map(engine_identity).collect(),
            record,
            note: runner.note,
            full_batch: (2 * jobs).clamp(SMALLEST_BATCH, LARGEST_BATCH),
            workers: 0,
        }
    }

    /// Sends batches and takes rows until all attempts have one, or the run is stopped and nothing is in flight.
    async fn drive(&mut self, driver: &mut RayDriver, stop: &StopSignal) -> Result<(), ClusterError> {
        loop {
            while !stop.is_stopped() && self.pending.batches() < BATCHES_PER_WORKER * self.workers {
                let Some(batch) = self.next_batch(stop) else { break };
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

    /// Reserves attempts, and returns them as a batch; `None` if none may be sent now.
    fn next_batch(&mut self, stop: &StopSignal) -> Option<Batch> {
        let waiting = self.pending.waiting();
        // The last attempts are spread over all workers.
        let size = waiting.div_ceil(BATCHES_PER_WORKER * self.workers.max(1)).clamp(1, self.full_batch);
        let permit = |attempt| match stop.reserve(attempt).now_or_never() {
            Some(Some(reservation)) => Permission::Granted(reservation),
            Some(None) | None => Permission::NotNow,
        };
        let (id, attempts) = self.pending.next_batch(size, permit)?;
        Some(self.batch(id, &attempts))
    }

    fn batch(&self, id: u64, attempts: &[Attempt]) -> Batch {
        let mut batch = Batch { id, cases: Vec::new(), attempts: Vec::new() };
        let mut places: HashMap<usize, usize> = HashMap::new();
        for attempt in attempts {
            let place = *places.entry(attempt.case).or_insert_with(|| {
                batch.cases.push(self.carried_case(attempt.case));
                batch.cases.len() - 1
            });
            batch.attempts.push(CarriedAttempt {
                case: place,
                engine: self.engines[attempt.engine].name.clone(),
                repetition: attempt.repetition,
            });
        }
        batch
    }

    fn carried_case(&self, place: usize) -> CarriedCase {
        let case = &self.inputs.cases[place];
        let copies = self.copies.get(case.id.as_str()).map(|row| row.files.clone()).unwrap_or_default();
        CarriedCase { row: to_line(case), copies }
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
        let engine = self.engines.iter().position(|engine| engine.name == row.engine);
        let Some((&case, engine)) = self.cases.get(&row.case).zip(engine) else {
            return Err(ClusterError::UnknownRow { case: row.case.clone(), engine: row.engine.clone() });
        };
        let attempt = Attempt { case, engine, repetition: row.repetition };
        let prediction: Prediction = parse_line(&row.row, 1)?;
        if prediction.key() != (&row.case, &row.engine, row.repetition) {
            let (case, engine, _) = prediction.key();
            return Err(ClusterError::UnknownRow { case: case.to_owned(), engine: engine.to_owned() });
        }
        let Some(reservation) = self.pending.answered(attempt) else { return Ok(ControlFlow::Continue(())) };
        reservation.settle(&prediction);
        // Fingerprints contain hashes with a key that only this machine has.
        let prediction = Prediction { engine: self.engines[engine].clone(), ..prediction };
        Ok((self.record)(case, prediction))
    }

    /// Ends the attempts of a lost batch: they may have been made, and are made again or get a row with an error.
    fn lose(&mut self, loss: Loss<Reservation>) {
        loss.kept.into_iter().for_each(Reservation::give_up);
        for attempt in loss.given_up {
            let engine = self.engines[attempt.engine].clone();
            let case = self.inputs.cases[attempt.case].id.clone();
            let reason = "the workers of the cluster crashed during this request".to_owned();
            let prediction = Prediction {
                repetition: attempt.repetition,
                reason: Some(reason),
                ..Prediction::empty(case, engine, Status::Error)
            };
            // The next row breaks the run if this one cannot be written.
            let _ = (self.record)(attempt.case, prediction);
        }
    }
}
