//! Work-done progress: shown if the client sent a token or accepts one of ours; work never waits for it.
//!
//! Some tasks can be stopped from their progress display. Stopping works by the token from the arrival of the request on, before
//! anything is shown; tasks with the same token stop together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use session::{Progress, lock};
use tokio::sync::watch::Receiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower_lsp_server::Client;
use tower_lsp_server::gen_lsp_types::{ProgressNotification, ProgressParams, ProgressToken};

use crate::server::Server;

/// Minimum interval between reports.
const INTERVAL: Duration = Duration::from_millis(100);

/// Shorter times are neither estimated nor a basis for an estimate.
const MIN_ESTIMATE: Duration = Duration::from_secs(2);

/// The running tasks, by token.
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

/// A running task; unregistered when dropped.
pub(crate) struct ProgressTask {
    number: u64,
    tasks: ProgressTasks,
    /// Progress token.
    progress: ProgressToken,
    /// Whether the client created the token.
    is_known: bool,
    /// Cancelled when the client stops the task.
    pub(crate) stop: CancellationToken,
}

impl ProgressTasks {
    /// Registers a task with the client's token.
    pub(crate) fn begin(&self, progress: ProgressToken) -> ProgressTask {
        self.register(self.count.fetch_add(1, Ordering::Relaxed), progress, true)
    }

    /// Registers a task with a new token.
    pub(crate) fn begin_server_initiated(&self) -> ProgressTask {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        self.register(number, ProgressToken::String(format!("ghostbench/{number}")), false)
    }

    /// Stops all tasks with the token `progress`.
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

/// A progress display.
pub(crate) struct ProgressDisplay(JoinHandle<()>);

impl ProgressDisplay {
    /// Shows the progress of a task until the sender of `steps` is dropped, if the client supports it.
    pub(crate) fn begin(
        server: &Server,
        work: &ProgressTask,
        title: &str,
        is_stoppable: bool,
        steps: Receiver<Progress>,
    ) -> ProgressDisplay {
        let client = server.client.clone();
        let must_create = !work.is_known;
        let is_wanted =
            !must_create || server.handshake().is_some_and(|agreed| agreed.client_features.progress);
        let begin = json!({ "kind": "begin", "title": title, "cancellable": is_stoppable, "percentage": 0 });
        let token = work.progress.clone();
        ProgressDisplay(tokio::spawn(async move {
            if is_wanted && (!must_create || create(&client, &token, steps.clone()).await) {
                show(&client, &token, begin, steps).await;
            }
        }))
    }

    /// Waits until the display has ended, so that it ends before anything that is sent later.
    pub(crate) async fn end(self) {
        // A panic in the display does not affect the task.
        let _ = self.0.await;
    }
}

/// Asks the client to create a token; returns false if it has not done so when the task ends.
async fn create(client: &Client, progress: &ProgressToken, mut reported: Receiver<Progress>) -> bool {
    let is_over = async { while reported.changed().await.is_ok() {} };
    tokio::select! {
        biased;
        created = client.create_work_done_progress(progress.clone()) => created.is_ok(),
        () = is_over => false,
    }
}

/// Reports steps until the sender is dropped.
async fn show(client: &Client, progress: &ProgressToken, begin: Value, mut reported: Receiver<Progress>) {
    send(client, progress, begin).await;
    let (mut first, mut next) = (None, Instant::now());
    while reported.changed().await.is_ok() {
        let step = *reported.borrow_and_update();
        // The time before the first step is spent on other things, such as finding the files.
        let (start, before) = *first.get_or_insert_with(|| (Instant::now(), step.done));
        if Instant::now() >= next {
            next = Instant::now() + INTERVAL;
            let message =
                format!("{} of {}{}", step.done, step.total, estimate(step, before, start.elapsed()));
            let report = json!({ "kind": "report", "message": message, "percentage": percent(step) });
            send(client, progress, report).await;
        }
    }
    send(client, progress, json!({ "kind": "end" })).await;
}

/// Returns the time that is left if everything takes as long as the parts after the first `before`; nothing if that is short or not
/// known yet.
fn estimate(step: Progress, before: usize, elapsed: Duration) -> String {
    let timed = step.done.saturating_sub(before);
    if elapsed < MIN_ESTIMATE || timed == 0 {
        return String::new();
    }
    let left = elapsed.as_secs_f64() * step.total.saturating_sub(step.done) as f64 / timed as f64;
    if left < MIN_ESTIMATE.as_secs_f64() { String::new() } else { format!(", about {left:.0} s left") }
}

fn percent(step: Progress) -> u32 {
    (step.done * 100 / step.total.max(1)).min(100) as u32
}

async fn send(client: &Client, progress: &ProgressToken, value: Value) {
    let params = ProgressParams { token: progress.clone(), value };
    client.send_notification::<ProgressNotification>(params).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_counts_only_timed_parts_and_omits_short_times() {
        let estimate = |done, before, seconds| {
            estimate(Progress { done, total: 100 }, before, Duration::from_secs(seconds))
        };
        assert_eq!(estimate(50, 40, 5), ", about 25 s left");
        assert_eq!(estimate(20, 0, 10), ", about 40 s left");
        assert_eq!([estimate(50, 50, 5), estimate(50, 0, 1), estimate(99, 0, 100)], [""; 3]);
    }
}
