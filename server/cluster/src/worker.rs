//! A worker: carries out batches from standard input, and writes rows to standard output, until the input ends.
//!
//! Batches share the slots of concurrent work, so that no slot is idle at the end of one. Must never leave a batch without its end, unless
//! the process ends with a reason.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use replay::{ReplayError, RequestSlots, StopSignal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::ClusterError;
use crate::judge_worker::JudgeWorker;
use crate::leases::Leases;
use crate::messages::{Batch, CarriedRow, FromWorker, ToWorker, WorkerJob, to_line};
use crate::request_worker::RequestWorker;

/// Messages that are read ahead.
const READ_AHEAD: usize = 16;

/// Time for tests to be killed at the end; the package waits a little longer.
const END: Duration = Duration::from_secs(4);

/// The pipes of a worker.
pub struct WorkerConnection {
    input: mpsc::Receiver<ToWorker>,
    output: mpsc::UnboundedSender<FromWorker>,
}

/// A worker with its task.
pub enum Worker {
    /// Makes requests.
    Requests(RequestWorker),
    /// Judges answers.
    Judge(JudgeWorker),
}

/// Sends the rows of batches.
#[derive(Clone)]
pub(crate) struct WorkerOutput(mpsc::UnboundedSender<FromWorker>);

impl WorkerOutput {
    /// Sends a row.
    pub(crate) fn row(&self, row: CarriedRow) {
        // Without a reader this process ends.
        let _ = self.0.send(FromWorker::Row(row));
    }
}

/// A worker that takes batches.
#[derive(Clone)]
enum Batches {
    Requests(Arc<RequestWorker>, RequestSlots),
    Judge(Arc<JudgeWorker>),
}

impl Batches {
    async fn carry_out(
        self,
        batch: Batch,
        output: mpsc::UnboundedSender<FromWorker>,
    ) -> Result<(), ReplayError> {
        let (id, output) = (batch.id, WorkerOutput(output));
        match self {
            Batches::Requests(worker, slots) => worker.answer(&slots, batch, &output).await,
            Batches::Judge(worker) => worker.judge(batch, &output).await?,
        }
        let _ = output.0.send(FromWorker::Done { batch: id });
        Ok(())
    }
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

    /// Carries out batches until the input ends.
    ///
    /// # Errors
    ///
    /// An answer cannot be judged here.
    pub async fn serve(mut self, worker: Worker) -> Result<(), ClusterError> {
        let mut leases = None;
        let worker = match worker {
            Worker::Requests(worker) => {
                let paced = Arc::new(Leases::new(worker.paced.iter().cloned(), self.output.clone()));
                leases = Some(Arc::clone(&paced));
                let stop = StopSignal::immediately(CancellationToken::new());
                let slots = RequestSlots::new(worker.jobs, stop).paced_by(paced);
                Batches::Requests(Arc::new(worker), slots)
            }
            Worker::Judge(worker) => Batches::Judge(Arc::new(worker)),
        };
        let mut batches: JoinSet<Result<(), ReplayError>> = JoinSet::new();
        let _ = self.output.send(FromWorker::Ready);
        let ended = loop {
            let message = tokio::select! {
                message = self.input.recv() => message,
                Some(Ok(Err(error))) = batches.join_next() => break Err(error.into()),
            };
            match message {
                None => break Ok(()),
                Some(ToWorker::Job(_)) => {}
                Some(ToWorker::Ping) => {
                    let _ = self.output.send(FromWorker::Pong);
                }
                Some(ToWorker::Granted { id }) => {
                    if let Some(leases) = &leases {
                        leases.grant(id);
                    }
                }
                Some(ToWorker::Batch(batch)) => {
                    batches.spawn(worker.clone().carry_out(batch, self.output.clone()));
                }
            }
        };
        if let Batches::Judge(worker) = &worker {
            // The process ends in any case.
            let _ = timeout(END, worker.end()).await;
        }
        ended
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
