//! Work-done progress: shown where the client gave a token or can be given one, and never waited for.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower_lsp_server::Client;
use tower_lsp_server::gen_lsp_types::{ProgressNotification, ProgressParams, ProgressToken};

use crate::server::Server;
use crate::session::lock;

/// Nobody reads faster.
const INTERVAL: Duration = Duration::from_millis(100);

/// How far some work has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// Parts done.
    pub(crate) done: usize,
    /// Parts in all; 0 while that is not known.
    pub(crate) total: usize,
}

/// The work that the user can stop by its progress.
#[derive(Default)]
pub(crate) struct Stoppable {
    shown: Mutex<HashMap<ProgressToken, CancellationToken>>,
    count: AtomicU64,
}

impl Stoppable {
    /// Stops the work that is shown under `token`, if there is any.
    pub(crate) fn stop(&self, token: &ProgressToken) {
        if let Some(stop) = lock(&self.shown).get(token) {
            stop.cancel();
        }
    }

    fn new_token(&self) -> ProgressToken {
        ProgressToken::String(format!("ghostbench/{}", self.count.fetch_add(1, Ordering::Relaxed)))
    }
}

/// Shows steps until nobody tells of any more. Where the user may stop the work, `stop` is cancelled then.
pub(crate) async fn show(
    server: &Server,
    token: Option<ProgressToken>,
    title: &str,
    mut told: watch::Receiver<Step>,
    stop: Option<CancellationToken>,
) {
    let Some(token) = token_for(server, token).await else { return };
    let mut shown = Shown { server, token, has_ended: false };
    let is_stoppable = stop.is_some();
    if let Some(stop) = stop {
        lock(&server.stoppable.shown).insert(shown.token.clone(), stop);
    }
    let begin = json!({ "kind": "begin", "title": title, "cancellable": is_stoppable, "percentage": 0 });
    send(&server.client, &shown.token, begin).await;
    let mut next = Instant::now();
    while told.changed().await.is_ok() {
        let step = *told.borrow_and_update();
        if Instant::now() >= next {
            next = Instant::now() + INTERVAL;
            let message = format!("{} of {}", step.done, step.total);
            let report = json!({ "kind": "report", "message": message, "percentage": percent(step) });
            send(&server.client, &shown.token, report).await;
        }
    }
    shown.has_ended = true;
    send(&server.client, &shown.token, end()).await;
}

/// The client's token, else one of ours if the client wants any.
async fn token_for(server: &Server, token: Option<ProgressToken>) -> Option<ProgressToken> {
    if token.is_some() || !server.agreed().is_some_and(|agreed| agreed.client_has.progress) {
        return token;
    }
    let token = server.stoppable.new_token();
    let created = server.client.create_work_done_progress(token.clone()).await;
    created.is_ok().then_some(token)
}

fn percent(step: Step) -> u32 {
    (step.done * 100 / step.total.max(1)).min(100) as u32
}

fn end() -> Value {
    json!({ "kind": "end" })
}

async fn send(client: &Client, token: &ProgressToken, value: Value) {
    let params = ProgressParams { token: token.clone(), value };
    client.send_notification::<ProgressNotification>(params).await;
}

/// Ends what is shown when the work is dropped in the middle: its request was cancelled.
struct Shown<'a> {
    server: &'a Server,
    token: ProgressToken,
    has_ended: bool,
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        lock(&self.server.stoppable.shown).remove(&self.token);
        if !self.has_ended {
            let (client, token) = (self.server.client.clone(), self.token.clone());
            tokio::spawn(async move { send(&client, &token, end()).await });
        }
    }
}
