//! Many requests leave nothing behind: no task, no connection.

use std::sync::atomic::{AtomicUsize, Ordering};

use engines::{Engine, EngineKind};
use futures_util::StreamExt;
use futures_util::stream;
use mock::{MockServer, Reply, ReplyStep};
use tokio_util::sync::CancellationToken;

use crate::harness::{FIXTURE, Heard, engine, request, settings};

const REQUESTS: usize = 600;
const AT_ONCE: usize = 8;

/// A third of the answers comes at once, a third is cut short by the client, and a third hangs until it is cancelled.
fn server() -> MockServer {
    let count = AtomicUsize::new(0);
    MockServer::scripted(move |_| {
        let begun = Reply::stream("text/event-stream").chunk(b"data: {\"content\": \"piece\"}\n\n");
        match count.fetch_add(1, Ordering::SeqCst) % 3 {
            0 => begun.chunk(b"data: {\"content\": \"\", \"stop\": true}\n\n").end(),
            1 => begun.chunk(b"data: {\"content\": \"enough\"}\n\n").with_step(ReplyStep::Hang),
            _ => begun.with_step(ReplyStep::Hang),
        }
    })
}

/// Sends one request; an answer that hangs is cancelled after its first piece.
async fn ask_once(engine: &dyn Engine) {
    let cancel = CancellationToken::new();
    let mut heard = Heard { enough: Some("piece".len() + 1), ..Heard::default() };
    let canceller = cancel.clone();
    let mut sink = |piece: &str| {
        let flow = engines::AnswerListener::text(&mut heard, piece);
        if piece == "piece" {
            let canceller = canceller.clone();
            // The other answers end at the same moment, and win.
            tokio::spawn(async move {
                tokio::task::yield_now().await;
                canceller.cancel();
            });
        }
        flow
    };
    // Any outcome is valid here.
    drop(engine.complete(request(FIXTURE), &mut sink, &cancel).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_connections_or_tasks_are_leaked() {
    let server = server();
    let metrics = tokio::runtime::Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    {
        let engine = engine(settings(EngineKind::LlamaCpp, &server.url()));
        let asking = (0..REQUESTS).map(|_| ask_once(&engine));
        stream::iter(asking).buffer_unordered(AT_ONCE).for_each(|()| async {}).await;
        let log = server.wait_until("all requests", |log| log.requests >= REQUESTS).await;
        assert!(log.open() <= 2 * AT_ONCE, "{} connections are open", log.open());
    }
    // Without the engine there is no connection at all.
    server.wait_until("the connections to close", |log| log.open() == 0).await;
    while metrics.num_alive_tasks() > before {
        tokio::task::yield_now().await;
    }
}
