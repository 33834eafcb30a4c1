//! Makes the requests of batches, by the code that makes those of a run on one machine.

use std::ops::ControlFlow;
use std::sync::Arc;

use cases::{Case, CaseCopies, Prediction, to_line};
use completion::{ConfiguredEngine, WorkspaceIndex};
use replay::{Attempt, RequestSlots, RunInputs, TruthCopies, run_attempts_in};

use crate::messages::{Batch, CarriedRow};
use crate::worker::WorkerOutput;

/// Engines and retrieval of a worker that makes requests.
pub struct RequestWorker {
    /// The engines of the run.
    pub engines: Arc<[ConfiguredEngine]>,
    /// The code that engines may read.
    pub world: WorkspaceIndex,
    /// Maximum number of concurrent requests.
    pub jobs: usize,
    /// Engines whose requests need a lease.
    pub paced: Vec<String>,
}

impl RequestWorker {
    /// Answers a batch. Attempts that cannot be understood have no row.
    pub(crate) async fn answer(&self, slots: &RequestSlots, batch: Batch, output: &WorkerOutput) {
        let id = batch.id;
        let Some((inputs, attempts)) = self.inputs(batch) else { return };
        let send = |_, prediction: Prediction| {
            let row = to_line(&prediction);
            output.row(CarriedRow::new(id, prediction.key(), row));
            ControlFlow::Continue(())
        };
        run_attempts_in(slots, attempts, &inputs, cases::redact_prediction, send).await;
    }

    fn inputs(&self, batch: Batch) -> Option<(RunInputs, Vec<Attempt>)> {
        let cases: Vec<Case> = batch.parse_cases()?;
        let copies = cases
            .iter()
            .zip(batch.cases)
            .map(|(case, carried)| CaseCopies { case: case.id.clone(), files: carried.copies });
        let copies = TruthCopies::from_rows(copies.filter(|row| !row.files.is_empty()));
        let engine_of = |name: &str| self.engines.iter().position(|engine| engine.name() == name);
        let attempts = batch.attempts.iter().filter(|attempt| attempt.case < cases.len());
        let attempts = attempts
            .filter_map(|attempt| {
                let engine = engine_of(&attempt.engine)?;
                Some(Attempt { case: attempt.case, engine, repetition: attempt.repetition })
            })
            .collect();
        let inputs = RunInputs {
            cases: cases.into(),
            engines: Arc::clone(&self.engines),
            world: self.world.clone(),
            copies: Arc::new(copies),
            jobs: self.jobs,
        };
        Some((inputs, attempts))
    }
}
