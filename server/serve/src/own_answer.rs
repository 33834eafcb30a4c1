//! Answers of our own: the engine speaks another API than the plugin, so that it is asked as for ghost text, and its answer is written in
//! the plugin's API.
//!
//! Of a request, the text around the cursor, the path, the model's name and `stream` are read. Sampling, stops and prompts are those of
//! the engine's settings.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cases::{ArmAnswer, ArmRole, Status};
use http_server::{ResponseBody, refusal};
use hyper::{Response, StatusCode};
use recording::GenerationTask;
use replay::outcome_status;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::answer_format::{OwnAnswer, render};
use crate::chosen_engine::ChosenEngine;
use crate::dialect::Dialect;
use crate::front_door::FrontDoorState;
use crate::routes;
use crate::trial_link::{AnswerSource, SeenRequest};

/// How long the search for the place may take.
const PLACE_TIMEOUT: Duration = Duration::from_secs(2);

/// Answers a request; with no text if its place is not found, since the engine needs a file and its language.
pub(crate) async fn answer(
    state: &Arc<FrontDoorState>,
    dialect: Dialect,
    body: Bytes,
    chosen: Arc<ChosenEngine>,
    arrived: Instant,
) -> Response<ResponseBody> {
    let Some(parsed) = routes::parse(dialect, &body) else {
        return refusal(StatusCode::BAD_REQUEST, "the body is no JSON object");
    };
    let number = state.link.next_number();
    let mut own = OwnAnswer {
        number,
        model: parsed.options.model.clone().unwrap_or_else(|| chosen.identity.name.clone()),
        text: String::new(),
        tokens: None,
    };
    let place = match parsed.fill {
        Some(_) => place(state, (number, arrived), (dialect, body), &chosen).await,
        None => None,
    };
    let Some(task) = place else { return render(dialect, &parsed.options, &own) };
    let row = ask(state, number, arrived, &chosen, &task, own.id(dialect)).await;
    match row.status {
        Status::Error | Status::Timeout => {
            let timeout = row.status == Status::Timeout;
            let status = if timeout { StatusCode::GATEWAY_TIMEOUT } else { StatusCode::BAD_GATEWAY };
            refusal(status, row.reason.as_deref().unwrap_or("the engine did not answer in time"))
        }
        _ => {
            (own.text, own.tokens) = (row.text, row.tokens);
            render(dialect, &parsed.options, &own)
        }
    }
}

async fn place(
    state: &FrontDoorState,
    (number, arrived): (u64, Instant),
    (dialect, body): (Dialect, Bytes),
    chosen: &Arc<ChosenEngine>,
) -> Option<GenerationTask> {
    let (place, found) = oneshot::channel();
    let chosen = Arc::clone(chosen);
    let answer = AnswerSource::Ours(place);
    state.link.requested(SeenRequest { number, arrived, dialect, body, chosen, answer });
    tokio::time::timeout(PLACE_TIMEOUT, found).await.ok()?.ok()?
}

/// Asks the engine, and records its answer. A plugin that disconnects cancels both.
async fn ask(
    state: &Arc<FrontDoorState>,
    number: u64,
    arrived: Instant,
    chosen: &Arc<ChosenEngine>,
    task: &GenerationTask,
    id: String,
) -> ArmAnswer {
    let cancel = CancellationToken::new();
    let _cancelled_with_this = cancel.clone().drop_guard();
    let mut pending = PendingAnswer { state, chosen, number, id, row: None };
    let (outcome, facts) = task.run_in_shadow(&chosen.engine, &cancel).await;
    let (status, reason) = outcome_status(&outcome.status);
    let mut row = blank(chosen, status);
    row.reason = reason;
    row.text = outcome.text;
    facts.fill(&mut row, arrived);
    pending.row = Some(row.clone());
    row
}

fn blank(chosen: &ChosenEngine, status: Status) -> ArmAnswer {
    let identity = chosen.identity.clone();
    ArmAnswer::empty(identity.name.clone(), identity, ArmRole::Shown, status)
}

/// Records the answer when it is dropped; without one, the plugin did not wait.
struct PendingAnswer<'a> {
    state: &'a FrontDoorState,
    chosen: &'a Arc<ChosenEngine>,
    number: u64,
    id: String,
    row: Option<ArmAnswer>,
}

impl Drop for PendingAnswer<'_> {
    fn drop(&mut self) {
        let row = self.row.take().unwrap_or_else(|| blank(self.chosen, Status::Cancelled));
        self.state.link.answered(self.number, self.chosen, Some(self.id.clone()), row);
    }
}
