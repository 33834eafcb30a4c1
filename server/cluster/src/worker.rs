//! A worker: answers batches from standard input, and writes rows to standard output, until the input ends.
//!
//! Batches share the slots of concurrent requests, so that no slot is idle at the end of one. Requests are made by the code that makes
//! those of a run on one machine.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

use cases::{Case, CaseCopies, Prediction, parse_line};
use completion::{ConfiguredEngine, WorkspaceIndex};
use replay::{Attempt, RequestSlots, RunInputs, StopSignal, TruthCopies, run_attempts_in};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::ClusterError;
use crate::leases::Leases;
use crate::messages::{Batch, CarriedRow, FromWorker, ToWorker, WorkerJob, to_line};

/// Messages that are read ahead.
const READ_AHEAD: usize = 16;

/// The pipes of a worker.
pub struct WorkerConnection {
    input: mpsc::Receiver<ToWorker>,
    output: mpsc::UnboundedSender<FromWorker>,
}

/// What a worker answers with.
pub struct Worker {
    /// The engines of the run.
    pub engines: Arc<[ConfiguredEngine]>,
    /// The code that engines may read.
    pub world: WorkspaceIndex,
    /// Maximum number of concurrent requests.
    pub jobs: usize,
}

impl WorkerConnection {
    /// Opens the pipes of this process, and waits for the job.
    ///
    /// # Errors
    ///
    /// The input ends, or does not begin with a job.
    pub fn open() -> Result<(WorkerConnection, WorkerJob), ClusterError> {
        let (sender, mut input) = mpsc::channel(READ_AHEAD);
        thread::spawn(move || read_messages(&sender));
        let (output, messages) = mpsc::unbounded_channel();
        thread::spawn(move || write_messages(messages));
        match input.blocking_recv() {
            Some(ToWorker::Job(job)) => Ok((WorkerConnection { input, output }, *job)),
            _ => Err(ClusterError::Ended { reason: "no job".to_owned() }),
        }
    }

    /// Tells the user why this worker cannot answer, and waits until the package has read it.
    pub fn refuse(mut self, reason: String) {
        let _ = self.output.send(FromWorker::Refused { reason });
        while self.input.blocking_recv().is_some() {}
    }

    /// Answers batches until the input ends.
    pub async fn serve(mut self, worker: Worker, paced: Vec<String>) {
        let leases = Arc::new(Leases::new(paced, self.output.clone()));
        let stop = StopSignal::immediately(CancellationToken::new());
        let slots = RequestSlots::new(worker.jobs, stop).paced_by(Arc::clone(&leases) as _);
        let (worker, mut batches) = (Arc::new(worker), JoinSet::new());
        let _ = self.output.send(FromWorker::Ready);
        while let Some(message) = self.input.recv().await {
            match message {
                ToWorker::Job(_) => {}
                ToWorker::Ping => {
                    let _ = self.output.send(FromWorker::Pong);
                }
                ToWorker::Granted { id } => leases.grant(id),
                ToWorker::Batch(batch) => {
                    batches.spawn(answer(Arc::clone(&worker), slots.clone(), batch, self.output.clone()));
                }
            }
            while batches.try_join_next().is_some() {}
        }
    }
}

/// Answers a batch. Attempts that cannot be understood have no row.
async fn answer(
    worker: Arc<Worker>,
    slots: RequestSlots,
    batch: Batch,
    output: mpsc::UnboundedSender<FromWorker>,
) {
    let id = batch.id;
    if let Some((inputs, attempts)) = worker.inputs(batch) {
        let send = |_, prediction: Prediction| {
            let _ = output.send(FromWorker::Row(carried_row(id, &prediction)));
            ControlFlow::Continue(())
        };
        run_attempts_in(&slots, attempts, &inputs, cases::redact_prediction, send).await;
    }
    let _ = output.send(FromWorker::Done { batch: id });
}

impl Worker {
    fn inputs(&self, batch: Batch) -> Option<(RunInputs, Vec<Attempt>)> {
        let rows = batch.cases.iter().map(|carried| parse_line::<Case>(&carried.row, 1));
        let cases: Vec<Case> = rows.collect::<Result<_, _>>().ok()?;
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

fn carried_row(batch: u64, prediction: &Prediction) -> CarriedRow {
    let (case, engine, repetition) = prediction.key();
    CarriedRow {
        batch,
        case: case.to_owned(),
        engine: engine.to_owned(),
        repetition,
        row: to_line(prediction),
    }
}

/// Reads messages until the input ends or one is invalid; then the worker ends.
fn read_messages(messages: &mpsc::Sender<ToWorker>) {
    let mut reader = BufReader::new(io::stdin());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(crate::messages::MAX_MESSAGE_BYTES).read_until(b'\n', &mut line);
        let message = read.ok().and_then(|_| serde_json::from_slice(&line).ok());
        let Some(message) = message else { break };
        if messages.blocking_send(message).is_err() {
            break;
        }
    }
}

/// Writes messages until there is no sender or no reader.
fn write_messages(mut messages: mpsc::UnboundedReceiver<FromWorker>) {
    let mut stdout = io::stdout().lock();
    while let Some(message) = messages.blocking_recv() {
        let line = to_line(&message);
        if stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()).is_err() {
            break;
        }
    }
}
