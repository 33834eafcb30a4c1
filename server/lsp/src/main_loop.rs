//! The main loop: takes messages in order of arrival, runs each request in its own task, and is the only sender of answers.
//!
//! ```text
//! stdin ─► reader ─► loop ─► OrderedService::call ─┬─► state (notifications, at once)
//!                      ▲                           └─► a task per request ─► answer ─► writer thread ─► stdout
//!                      └── ends: writer stopped, client does not read, parent process gone
//! ```
//!
//! The loop awaits nothing but the next message. Reader and loop are tasks, so that the thread that the system wakes for a message goes
//! on with its request: waking another one takes as long as the rest of the way to the engine.

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use futures_util::future::poll_fn;
use futures_util::{SinkExt, StreamExt};
use session::BackgroundPool;
use tokio::io::{AsyncRead, BufReader};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio_util::task::TaskTracker;
use tower::Service;
use tower_lsp_server::jsonrpc::{Error, Id, Request, Response};
use tower_lsp_server::{ClientSocket, ExitedError};

use crate::front_door::FrontDoorQuestion;
use crate::ordered_service::OrderedService;
use crate::transport::{self, IncomingMessage, MessageSender};
use crate::{ServerSetup, log, runtime, service, stdio};

/// Capacity of the queue between reader and loop. The loop never waits, so this only smooths bursts.
const INCOMING_QUEUE: usize = 1024;
/// Capacity of a pipe on Linux: a client writes no more at once.
const INPUT_BUFFER_BYTES: usize = 64 << 10;
/// Time limit for delivering the last answers on exit.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Why the server ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// The client sent `shutdown`, then `exit`.
    Shutdown,
    /// The client sent `exit` without `shutdown`.
    ExitWithoutShutdown,
    /// The client closed the stream, or its process ended.
    ClientGone,
    /// The client's headers are invalid; the reason.
    BrokenHeaders(String),
    /// The client sends without reading.
    ClientDoesNotRead,
}

/// Serves one client over standard input and output. Returns why the server ended.
pub fn serve(setup: ServerSetup) -> anyhow::Result<ExitReason> {
    log::start_logging(setup.log.as_ref());
    let background = BackgroundPool::start().context("cannot start threads")?;
    let runtime = runtime::start().context("cannot start threads")?;
    let served = runtime.block_on(async {
        let output = stdio::output().context("cannot write to the standard output")?;
        tokio::spawn(serve_streams(setup, background, stdio::input(), output))
            .await
            .context("the main loop panicked")?
    });
    // Running computations are no longer needed.
    runtime.shutdown_background();
    served
}

/// Serves one client over any two streams, with threads for the work in the background. Returns why the server ended. Requires a runtime.
///
/// # Errors
/// A thread cannot be started.
pub async fn serve_streams(
    setup: ServerSetup,
    background: BackgroundPool,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl Write + Send + 'static,
) -> anyhow::Result<ExitReason> {
    let (ends, mut ended) = mpsc::unbounded_channel();
    let (incoming, mut messages) = mpsc::channel(INCOMING_QUEUE);
    tokio::spawn(transport::read(BufReader::with_capacity(INPUT_BUFFER_BYTES, input), incoming));
    let stopped = ends.clone();
    let (outgoing, writer) = transport::write(output, move || {
        // The loop may have ended first.
        let _ = stopped.send(ExitReason::ClientGone);
    })
    .context("cannot start a thread")?;
    let answers = ResponseSender { outgoing, exit: ends.clone(), pending: TaskTracker::new() };
    let (questions, mut asked) = mpsc::unbounded_channel();
    let (mut service, socket) = service::build_service(setup, background, ends, questions);
    let inputs = Inputs { messages: &mut messages, ended: &mut ended, asked: &mut asked };
    let end = message_loop(&mut service, socket, &answers, inputs).await;
    tracing::info!(?end, "the server ends");
    service.stop().await;
    answers.pending.close();
    // Engines that do not stop when dropped must not delay the exit.
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, answers.pending.wait()).await;
    writer.finish(DRAIN_TIMEOUT);
    Ok(end)
}

/// What the loop waits for.
struct Inputs<'a> {
    messages: &'a mut mpsc::Receiver<IncomingMessage>,
    ended: &'a mut UnboundedReceiver<ExitReason>,
    /// Questions of the front door.
    asked: &'a mut UnboundedReceiver<FrontDoorQuestion>,
}

async fn message_loop(
    service: &mut OrderedService,
    socket: ClientSocket,
    answers: &ResponseSender,
    inputs: Inputs<'_>,
) -> ExitReason {
    let Inputs { messages, ended, asked } = inputs;
    let (mut questions, mut replies) = socket.split();
    let asking = answers.clone();
    let ask = tokio::spawn(async move {
        while let Some(question) = questions.next().await {
            asking.send(&question);
        }
    });
    let end = loop {
        let message = tokio::select! {
            biased;
            Some(end) = ended.recv() => break end,
            Some(question) = asked.recv() => {
                service.answer_front_door(question);
                continue;
            }
            message = messages.recv() => message.unwrap_or(IncomingMessage::Closed),
        };
        match message {
            IncomingMessage::Request(request) => {
                if let Some(end) = handle_message(service, request, answers).await {
                    break end;
                }
            }
            // It fails only after `exit`.
            IncomingMessage::Response(response) => drop(replies.send(response).await),
            IncomingMessage::Refused(response, lost) => {
                answers.send(&response);
                service.handle_lost(lost);
            }
            IncomingMessage::Closed => break ExitReason::ClientGone,
            IncomingMessage::Broken(reason) => break ExitReason::BrokenHeaders(reason),
        }
    };
    ask.abort();
    end
}

/// Passes one message to the service. Requests are answered in tasks of their own, except those that decide which messages may
/// follow.
async fn handle_message(
    service: &mut OrderedService,
    request: Request,
    answers: &ResponseSender,
) -> Option<ExitReason> {
    if poll_fn(|context| service.poll_ready(context)).await.is_err() {
        return Some(ExitReason::ClientGone);
    }
    let is_exit = request.method() == "exit";
    let id = request.id().cloned();
    let must_wait = id.is_none() || ["initialize", "shutdown"].contains(&request.method());
    let response = service.call(request);
    if must_wait {
        answers.respond(id, response.await);
    } else {
        let owed = answers.clone();
        answers.pending.spawn(async move { owed.respond(id, response.await) });
    }
    is_exit
        .then(|| if service.was_shut_down() { ExitReason::Shutdown } else { ExitReason::ExitWithoutShutdown })
}

/// Sends all answers.
#[derive(Clone)]
struct ResponseSender {
    outgoing: MessageSender,
    exit: UnboundedSender<ExitReason>,
    /// Tasks that have not answered yet.
    pending: TaskTracker,
}

impl ResponseSender {
    /// Answers a request. The service does not answer unknown methods that begin with `$/`, but a request with an id must be
    /// answered.
    fn respond(&self, id: Option<Id>, response: Result<Option<Response>, ExitedError>) {
        let Ok(response) = response else { return };
        if let Some(response) =
            response.or_else(|| id.map(|id| Response::from_error(id, Error::method_not_found())))
        {
            self.send(&response);
        }
    }

    fn send(&self, message: &impl serde::Serialize) {
        if !self.outgoing.send(message) {
            // The loop may have ended first.
            let _ = self.exit.send(ExitReason::ClientDoesNotRead);
        }
    }
}
