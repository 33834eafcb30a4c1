//! Cancelling, dropping or stopping a request frees the server at once.

use std::time::{Duration, Instant};

use engines::{Engine, EngineError, EngineKind, FinishReason};
use mock::{MockServer, Reply, ReplyStep};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::harness::{FIXTURE, Heard, ask, engine, request, settings};

/// Time limit for freeing a server: ten times the usual time, for a busy machine.
const SOON: Duration = Duration::from_millis(50);

const PIECE: &str = "data: {\"content\": \"piece\", \"stop\": false}\n\n";

/// Servers that hang before their answer, and in it.
fn hanging() -> [Reply; 2] {
    let before = Reply::default().with_step(ReplyStep::Hang);
    [before, Reply::stream("text/event-stream").chunk(PIECE.as_bytes()).with_step(ReplyStep::Hang)]
}

/// Waits until the server is idle, and returns the time since `start`.
async fn time_until_disconnect(server: &MockServer, start: Instant) -> Duration {
    let log = server.wait_until("the client to leave", |log| log.disconnected == 1).await;
    log.disconnected_at.expect("one has left").saturating_duration_since(start)
}

/// Waits until the request has arrived and, in an answer, its first piece was received.
async fn wait_for_request(server: &MockServer) {
    server.wait_until("the request", |log| log.received.len() == 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_disconnects_from_the_server() {
    for reply in hanging() {
        let server = MockServer::with_replies([reply]);
        let engine = engine(settings(EngineKind::LlamaCpp, &server.url()));
        let (mut heard, cancel) = (Heard::default(), CancellationToken::new());
        let cancelling = async {
            wait_for_request(&server).await;
            let start = Instant::now();
            cancel.cancel();
            start
        };
        let (answer, start) =
            tokio::join!(engine.complete(request(FIXTURE), &mut heard, &cancel), cancelling);
        assert!(matches!(answer, Err(EngineError::Cancelled)), "{answer:?}");
        let freed = time_until_disconnect(&server, start).await;
        assert!(freed < SOON, "{freed:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_request_disconnects_from_the_server() {
    for reply in hanging() {
        let server = MockServer::with_replies([reply]);
        let engine = engine(settings(EngineKind::LlamaCpp, &server.url()));
        let start = {
            let asking = ask(&engine);
            tokio::select! {
                (answer, _) = asking => panic!("there is no answer: {answer:?}"),
                () = wait_for_request(&server) => Instant::now(),
            }
        };
        let freed = time_until_disconnect(&server, start).await;
        assert!(freed < SOON, "{freed:?}");
    }
}

/// The finish reason of an answer of which the listener needs only the beginning.
async fn finish_of(reply: Reply) -> FinishReason {
    let server = MockServer::with_replies([reply]);
    let engine = engine(settings(EngineKind::OpenAi, &server.url()));
    let mut heard = Heard { enough: Some(1), ..Heard::default() };
    let answer = engine.complete(request(FIXTURE), &mut heard, &CancellationToken::new()).await;
    answer.expect("it answers").finish
}

#[tokio::test]
async fn the_end_of_the_server_counts_if_it_came_with_the_text() {
    let choice = |finish: Value| json!({"choices": [{"text": "width", "finish_reason": finish}]});
    let whole = |finish: Value| Reply::json(200, &choice(finish));
    assert_eq!(finish_of(whole(json!("stop"))).await, FinishReason::Stop);
    assert_eq!(finish_of(whole(json!("length"))).await, FinishReason::Complete);
    let pieces = |finish: Value| {
        let (first, last) = (choice(finish).to_string(), choice(json!("stop")).to_string());
        Reply::events([first.as_str(), last.as_str(), "[DONE]"])
    };
    assert_eq!(finish_of(pieces(json!("stop"))).await, FinishReason::Stop);
    assert_eq!(finish_of(pieces(Value::Null)).await, FinishReason::Complete, "the rest is unknown");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_the_sink_disconnects_from_the_server() {
    let [_, reply] = hanging();
    let server = MockServer::with_replies([reply]);
    let engine = engine(settings(EngineKind::LlamaCpp, &server.url()));
    let mut heard = Heard { enough: Some(1), ..Heard::default() };
    let answer = engine.complete(request(FIXTURE), &mut heard, &CancellationToken::new()).await;
    let start = Instant::now();
    assert_eq!(answer.unwrap().finish, FinishReason::Complete);
    let freed = time_until_disconnect(&server, start).await;
    assert!(freed < SOON, "{freed:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_waiting_for_a_slot_can_be_cancelled() {
    let server = MockServer::with_replies([Reply::default().with_step(ReplyStep::Hang)]);
    let mut one = settings(EngineKind::LlamaCpp, &server.url());
    one.server.max_concurrency = Some(1);
    let engine = engine(one);
    let cancel = CancellationToken::new();
    let (mut first, mut second) = (Heard::default(), Heard::default());
    let never = CancellationToken::new();
    let both = async {
        let waiting = engine.complete(request(FIXTURE), &mut second, &cancel);
        let cancelling = async {
            wait_for_request(&server).await;
            cancel.cancel();
        };
        let (answer, ()) = tokio::join!(waiting, cancelling);
        assert!(matches!(answer, Err(EngineError::Cancelled)), "{answer:?}");
    };
    tokio::select! {
        biased;
        answer = engine.complete(request(FIXTURE), &mut first, &never) => panic!("there is no answer: {answer:?}"),
        () = both => {}
    }
    assert_eq!(server.log().received.len(), 1);
}
