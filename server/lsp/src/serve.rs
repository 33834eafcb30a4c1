//! The loop: takes messages in the order of their arrival, lets requests work in tasks of their own, and is the one place from
//! which answers are sent.
//!
//! ```text
//! stdin ─► reader thread ─► loop ─► Ordered::call ─┬─► state (notifications, at once)
//!                             ▲                    └─► a task per request ─► answer ─► writer thread ─► stdout
//!                             └── ends: writer stopped, client does not read, parent process gone
//! ```
//!
//! The loop runs on the main thread, which no computation ever occupies, and awaits nothing but the next message.

use std::io::{self, BufReader};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use futures_util::future::poll_fn;
use futures_util::{SinkExt, StreamExt};
use tokio::runtime;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio_util::task::TaskTracker;
use tower::Service;
use tower_lsp_server::jsonrpc::{Error, Id, Request, Response};
use tower_lsp_server::{ClientSocket, ExitedError};

use crate::background::Background;
use crate::ordered::Ordered;
use crate::transport::{self, Incoming, Outgoing};
use crate::{Setup, log, service, stdio};

/// Messages that may wait for the loop; it never waits itself, so this only smooths bursts.
const INCOMING: usize = 1024;
/// How long the last answers may take to reach a client that reads.
const FAREWELL: Duration = Duration::from_secs(1);

/// Why the server ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The client said `shutdown`, then `exit`.
    Shutdown,
    /// The client said `exit` without `shutdown`.
    ExitWithoutShutdown,
    /// The client closed the stream, or its process ended.
    ClientGone,
    /// The client's headers cannot be understood: why.
    BrokenHeaders(String),
    /// The client sends without ever reading.
    ClientDoesNotRead,
}

/// Serves one client over standard input and output until either has had enough.
pub fn serve(setup: Setup) -> anyhow::Result<End> {
    log::start(setup.log.as_ref());
    let background = Background::start()?;
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(replay::cores().max(2))
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let end = runtime.block_on(run(setup, background));
    // Whatever still computes is of no use to anybody.
    runtime.shutdown_background();
    end
}

async fn run(setup: Setup, background: Background) -> anyhow::Result<End> {
    let (ends, mut ended) = mpsc::unbounded_channel();
    let (incoming, mut messages) = mpsc::channel(INCOMING);
    thread::Builder::new()
        .name("reader".to_owned())
        .spawn(move || {
            transport::read(BufReader::new(io::stdin()), |message| incoming.blocking_send(message).is_ok())
        })
        .context("cannot start a thread")?;
    let stopped = ends.clone();
    let output = stdio::output().context("cannot write to the standard output")?;
    let (outgoing, writer) = transport::write(output, move || {
        // The loop may have ended first.
        let _ = stopped.send(End::ClientGone);
    })
    .context("cannot start a thread")?;
    let answers = Answers { outgoing, ends: ends.clone(), owed: TaskTracker::new() };
    let (mut service, socket) = service::build(setup, background, ends);
    let end = attend(&mut service, socket, &answers, &mut messages, &mut ended).await;
    tracing::info!(?end, "the server ends");
    service.stop();
    answers.owed.close();
    // An engine that does not even let itself be dropped keeps nobody here.
    let _ = tokio::time::timeout(FAREWELL, answers.owed.wait()).await;
    writer.finish(FAREWELL);
    Ok(end)
}

async fn attend(
    service: &mut Ordered,
    socket: ClientSocket,
    answers: &Answers,
    messages: &mut mpsc::Receiver<Incoming>,
    ended: &mut UnboundedReceiver<End>,
) -> End {
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
            message = messages.recv() => message.unwrap_or(Incoming::Closed),
        };
        match message {
            Incoming::Request(request) => {
                if let Some(end) = take(service, request, answers).await {
                    break end;
                }
            }
            // It fails only after `exit`.
            Incoming::Response(response) => drop(replies.send(response).await),
            Incoming::Refused(response, lost) => {
                answers.send(&response);
                service.lose(lost);
            }
            Incoming::Closed => break End::ClientGone,
            Incoming::Broken(reason) => break End::BrokenHeaders(reason),
        }
    };
    ask.abort();
    end
}

/// Lets the service take one message. Requests are answered by tasks of their own, but for those that decide what may come after
/// them.
async fn take(service: &mut Ordered, request: Request, answers: &Answers) -> Option<End> {
    if poll_fn(|context| service.poll_ready(context)).await.is_err() {
        return Some(End::ClientGone);
    }
    let is_exit = request.method() == "exit";
    let id = request.id().cloned();
    let must_wait = id.is_none() || ["initialize", "shutdown"].contains(&request.method());
    let response = service.call(request);
    if must_wait {
        answers.answer(id, response.await);
    } else {
        let owed = answers.clone();
        answers.owed.spawn(async move { owed.answer(id, response.await) });
    }
    is_exit.then(|| if service.was_shut_down() { End::Shutdown } else { End::ExitWithoutShutdown })
}

/// The one way out.
#[derive(Clone)]
struct Answers {
    outgoing: Outgoing,
    ends: UnboundedSender<End>,
    /// The tasks that have yet to answer.
    owed: TaskTracker,
}

impl Answers {
    /// Answers a request. The service has no answer to unknown methods that begin with `$/`, but whoever sent an id waits for one.
    fn answer(&self, id: Option<Id>, response: Result<Option<Response>, ExitedError>) {
        let Ok(response) = response else { return };
        let unknown = || id.map(|id| Response::from_error(id, Error::method_not_found()));
        if let Some(response) = response.or_else(unknown) {
            self.send(&response);
        }
    }

    fn send(&self, message: &impl serde::Serialize) {
        if !self.outgoing.send(message) {
            // The loop may have ended first.
            let _ = self.ends.send(End::ClientDoesNotRead);
        }
    }
}
