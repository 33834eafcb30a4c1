//! Work-done progress: shown where the client gave a token or can be given one, and never waited for.
//!
//! Some work can be stopped by its progress. Stopping is known by the token from the arrival of the request on, before anything is
//! shown; several pieces of work under one token stop together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch::{self, Receiver, Sender};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower_lsp_server::Client;
use tower_lsp_server::gen_lsp_types::{ProgressNotification, ProgressParams, ProgressToken};

use crate::locks::lock;
use crate::server::Server;

/// Nobody reads faster.
const INTERVAL: Duration = Duration::from_millis(100);

/// How far some work has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProgressStep {
    /// Parts done.
    pub(crate) done: usize,
    /// Parts in all; 0 while that is not known.
    pub(crate) total: usize,
}

/// The work that is under way, by what it is shown under.
#[derive(Clone, Default)]
pub(crate) struct ProgressTasks {
    open: Arc<Mutex<Vec<RegisteredTask>>>,
    count: Arc<AtomicU64>,
}

struct RegisteredTask {
    number: u64,
    progress: ProgressToken,
    stop: CancellationToken,
}

/// One piece of work; forgotten when this is dropped.
pub(crate) struct ProgressTask {
    number: u64,
    tasks: ProgressTasks,
    /// What it is shown under.
    progress: ProgressToken,
    /// Whether the client knows that already.
    is_known: bool,
    /// Cancelled when the client stops it.
    pub(crate) stop: CancellationToken,
}

impl ProgressTasks {
    /// Takes in work that the client gave a token for.
    pub(crate) fn begin(&self, progress: ProgressToken) -> ProgressTask {
        self.register(self.count.fetch_add(1, Ordering::Relaxed), progress, true)
    }

    /// Takes in work that the client gave no token for.
    pub(crate) fn begin_server_initiated(&self) -> ProgressTask {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        self.register(number, ProgressToken::String(format!("ghostbench/{number}")), false)
    }

    /// Stops all work that is shown under `progress`.
    pub(crate) fn stop(&self, progress: &ProgressToken) {
        for listed in lock(&self.open).iter().filter(|listed| listed.progress == *progress) {
            listed.stop.cancel();
        }
    }

    fn register(&self, number: u64, progress: ProgressToken, is_known: bool) -> ProgressTask {
        let stop = CancellationToken::new();
        lock(&self.open).push(RegisteredTask { number, progress: progress.clone(), stop: stop.clone() });
        ProgressTask { number, tasks: self.clone(), progress, is_known, stop }
    }
}

impl Drop for ProgressTask {
    fn drop(&mut self) {
        lock(&self.tasks.open).retain(|listed| listed.number != self.number);
    }
}

/// Work that is being shown. Dropped, it is shown as ended.
pub(crate) struct ProgressReporter {
    /// Hears of every step.
    pub(crate) steps: Sender<ProgressStep>,
    task: JoinHandle<()>,
}

impl ProgressReporter {
    /// Begins to show work, if the client wants to see it.
    pub(crate) fn begin(
        server: &Server,
        work: &ProgressTask,
        title: &str,
        is_stoppable: bool,
    ) -> ProgressReporter {
        let (steps, told) = watch::channel(ProgressStep::default());
        let client = server.client.clone();
        let must_create = !work.is_known;
        let is_wanted =
            !must_create || server.handshake().is_some_and(|agreed| agreed.client_features.progress);
        let begin = json!({ "kind": "begin", "title": title, "cancellable": is_stoppable, "percentage": 0 });
        let progress = work.progress.clone();
        let showing = tokio::spawn(async move {
            if is_wanted && (!must_create || create(&client, &progress, told.clone()).await) {
                show(&client, &progress, begin, told).await;
            }
        });
        ProgressReporter { steps, task: showing }
    }

    /// Shows that the work is done, before anything that is sent later.
    pub(crate) async fn end(self) {
        drop(self.steps);
        // A defect in showing is no defect in the work.
        let _ = self.task.await;
    }
}

/// Has the client make room for a token of ours; false if it does not before the work is over.
async fn create(client: &Client, progress: &ProgressToken, mut told: Receiver<ProgressStep>) -> bool {
    let is_over = async { while told.changed().await.is_ok() {} };
    tokio::select! {
        biased;
        created = client.create_work_done_progress(progress.clone()) => created.is_ok(),
        () = is_over => false,
    }
}

/// Shows steps until nobody tells of any more.
async fn show(client: &Client, progress: &ProgressToken, begin: Value, mut told: Receiver<ProgressStep>) {
    send(client, progress, begin).await;
    let mut next = Instant::now();
    while told.changed().await.is_ok() {
        let step = *told.borrow_and_update();
        if Instant::now() >= next {
            next = Instant::now() + INTERVAL;
            let message = format!("{} of {}", step.done, step.total);
            let report = json!({ "kind": "report", "message": message, "percentage": percent(step) });
            send(client, progress, report).await;
        }
    }
    send(client, progress, json!({ "kind": "end" })).await;
}

fn percent(step: ProgressStep) -> u32 {
    (step.done * 100 / step.total.max(1)).min(100) as u32
}

async fn send(client: &Client, progress: &ProgressToken, value: Value) {
    let params = ProgressParams { token: progress.clone(), value };
    client.send_notification::<ProgressNotification>(params).await;
}
