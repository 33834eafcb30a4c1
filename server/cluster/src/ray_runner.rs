//! Makes the requests of a run on a cluster.

use std::collections::HashMap;
use std::error::Error;
use std::ops::ControlFlow;

use cases::{Case, CaseCopies, CaseId, EngineIdentity, Prediction, Status, parse_line};
use futures_util::FutureExt;
use replay::{Attempt, RequestRunner, Reservation, RunInputs, StopSignal, engine_identity};

use crate::ClusterError;
use crate::dispatch::{ClusterWork, RayCluster, check_key};
use crate::messages::{CarriedAttempt, CarriedRow, WorkerTask};
use crate::pending_attempts::Permission;

/// Limits of the size of a batch. A larger one loses more with its node, a smaller one costs more time per attempt.
const SMALLEST_BATCH: usize = 8;
const LARGEST_BATCH: usize = 256;

/// Concurrent requests of a worker for the size of its batches, if the user did not choose.
const USUAL_JOBS: usize = 8;

/// Makes the requests of a run on the nodes of a Ray cluster.
#[derive(Clone)]
pub struct RayRunner {
    /// The cluster, with the task of making requests.
    pub cluster: RayCluster,
    /// Files with copies of the truths, by case.
    pub copies: Vec<CaseCopies>,
}

impl RequestRunner for RayRunner {
    async fn run(
        self,
        attempts: Vec<Attempt>,
        inputs: &RunInputs,
        stop: &StopSignal,
        record: impl FnMut(usize, Prediction) -> ControlFlow<()>,
    ) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut work = Requests {
            inputs,
            stop,
            copies: self.copies.iter().map(|row| (row.case.as_str(), &*row.files)).collect(),
            cases: inputs.cases.iter().enumerate().map(|(place, case)| (&case.id, place)).collect(),
            engines: inputs.engines.iter().map(engine_identity).collect(),
            record,
        };
        let jobs = match &self.cluster.job.worker.task {
            WorkerTask::Requests(task) => task.jobs,
            WorkerTask::Judgements(_) => None,
        };
        let full_batch = (2 * jobs.unwrap_or(USUAL_JOBS)).clamp(SMALLEST_BATCH, LARGEST_BATCH);
        Ok(self.cluster.carry_out(&mut work, attempts, full_batch, stop).await?)
    }
}

/// The requests of a run.
struct Requests<'a, F> {
    inputs: &'a RunInputs,
    stop: &'a StopSignal,
    copies: HashMap<&'a str, &'a [String]>,
    cases: HashMap<&'a CaseId, usize>,
    engines: Vec<EngineIdentity>,
    record: F,
}

impl<F: FnMut(usize, Prediction) -> ControlFlow<()>> ClusterWork for Requests<'_, F> {
    type Kept = Reservation;

    fn permit(&mut self, attempt: Attempt) -> Permission<Reservation> {
        match self.stop.reserve(attempt).now_or_never() {
            Some(Some(reservation)) => Permission::Granted(reservation),
            Some(None) | None => Permission::NotNow,
        }
    }

    fn case(&self, attempt: Attempt) -> (&Case, &[String]) {
        let case = &self.inputs.cases[attempt.case];
        (case, self.copies.get(case.id.as_str()).copied().unwrap_or_default())
    }

    fn carried(&self, attempt: Attempt, case: usize) -> CarriedAttempt {
        let engine = self.engines[attempt.engine].name.clone();
        CarriedAttempt { case, engine, repetition: attempt.repetition, answer: None }
    }

    fn attempt_of(&self, row: &CarriedRow) -> Option<Attempt> {
        let engine = self.engines.iter().position(|engine| engine.name == row.engine)?;
        Some(Attempt { case: *self.cases.get(&row.case)?, engine, repetition: row.repetition })
    }

    fn record(
        &mut self,
        attempt: Attempt,
        row: &CarriedRow,
        reservation: Reservation,
    ) -> Result<ControlFlow<()>, ClusterError> {
        let prediction: Prediction = parse_line(&row.row, 1)?;
        check_key(row, prediction.key())?;
        reservation.settle(&prediction);
        // Fingerprints contain hashes with a key that only this machine has.
        let prediction = Prediction { engine: self.engines[attempt.engine].clone(), ..prediction };
        Ok((self.record)(attempt.case, prediction))
    }

    fn lose(&mut self, reservation: Reservation) {
        reservation.give_up();
    }

    fn give_up(&mut self, attempt: Attempt) {
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
