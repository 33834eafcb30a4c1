//! Every error between an engine and its server has one clear message, and none contains a key.

use std::time::{Duration, Instant};

use config::Secret;
use engines::{
    EngineError, EngineKind, FinishReason, HttpEngine, HttpLimits, HttpServerConfig, HttpSettings, Proxy,
    ServerError, SetupError, TimeoutStage,
};
use mock::{Certificate, MockServer, Reply, ReplyStep};
use serde_json::json;

use crate::harness::{FIXTURE, KEY, ask, ask_for, engine, fault, impatient, request, settings};

/// An event of llama.cpp's server.
const PIECE: &str = r#"{"content": "piece ", "stop": false}"#;
/// Its last one.
const LAST: &str = r#"{"content": "", "stop": true, "stop_type": "eos"}"#;

fn event(data: &str) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

/// The beginning of a stream, with one piece.
fn started_stream() -> Reply {
    Reply::stream("text/event-stream").chunk(&event(PIECE))
}

/// The outcome of this reply: the received text, and the error with `SERVER` for the server's address.
async fn text_and_fault(reply: Reply) -> (String, ServerError, String) {
    text_and_fault_with(reply, impatient).await
}

async fn text_and_fault_with(
    reply: Reply,
    settings: fn(EngineKind, &str) -> HttpSettings,
) -> (String, ServerError, String) {
    let server = MockServer::with_replies([reply]);
    let (answer, heard) = ask(&engine(settings(EngineKind::LlamaCpp, &server.url()))).await;
    let fault = fault(answer);
    let message = fault.to_string().replace(&server.address(), "SERVER");
    (heard.text, fault, message)
}

async fn check(reply: Reply, message: &str) {
    assert_eq!(text_and_fault(reply).await.2, message);
}

/// As [`check`], for slow replies.
async fn check_patiently(reply: Reply, message: &str) {
    assert_eq!(text_and_fault_with(reply, settings).await.2, message);
}

/// The text of a malformed answer.
async fn text(reply: Reply) -> String {
    let server = MockServer::with_replies([reply]);
    let (answer, heard) = ask(&engine(impatient(EngineKind::LlamaCpp, &server.url()))).await;
    answer.unwrap_or_else(|error| panic!("{error}"));
    heard.text
}

fn refusal(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({"error": {"message": message}}))
}

#[tokio::test]
async fn refused_connection_is_reported() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let (answer, _) = ask(&engine(settings(EngineKind::LlamaCpp, &format!("http://{address}")))).await;
    assert_eq!(
        fault(answer).to_string(),
        format!("nothing listens at {address}; start the server, or correct `url`")
    );
}

#[tokio::test]
async fn closed_pooled_connection_is_retried() {
    let answered = || Reply::events([PIECE, LAST]);
    let server = MockServer::with_replies([answered(), Reply::raw(""), answered()]);
    let engine = engine(settings(EngineKind::LlamaCpp, &server.url()));
    for _ in 0..2 {
        assert_eq!(ask(&engine).await.1.text, "piece ");
    }
    assert_eq!(server.log().requests, 3);
}

#[tokio::test]
async fn unknown_host_is_reported() {
    // No resolver may know names that end like this (RFC 6761).
    let (answer, _) = ask(&engine(settings(EngineKind::LlamaCpp, "http://ghostbench.invalid:1"))).await;
    assert_eq!(
        fault(answer).to_string(),
        "there is no host ghostbench.invalid:1; correct `url`, or check the network"
    );
}

#[tokio::test]
async fn unknown_certificate_needs_tls_roots() {
    let certificate = Certificate::new();
    let server = MockServer::encrypted(&certificate, |_| Reply::events([PIECE, LAST]));
    let (answer, _) = ask(&engine(settings(EngineKind::LlamaCpp, &server.url()))).await;
    let refused = fault(answer);
    assert!(matches!(refused, ServerError::Tls { .. }), "{refused:?}");
    assert!(refused.to_string().contains("name its authority in `tls_roots`"), "{refused}");
    assert!(server.log().received.is_empty(), "an untrusted server gets no request");

    let mut trusting = settings(EngineKind::LlamaCpp, &server.url());
    trusting.server.root_certificates = Some(certificate.pem().as_bytes().to_vec());
    let (answer, heard) = ask(&engine(trusting)).await;
    answer.unwrap();
    assert_eq!(heard.text, "piece ");
}

#[tokio::test]
async fn https_to_an_unencrypted_server_is_a_tls_error() {
    let server = MockServer::scripted(|_| Reply::events([LAST]));
    let (answer, _) =
        ask(&engine(settings(EngineKind::LlamaCpp, &server.url().replace("http:", "https:")))).await;
    let fault = fault(answer);
    assert!(matches!(fault, ServerError::Tls { .. }), "{fault:?}");
    assert!(fault.to_string().ends_with("the server does not encrypt; write http://, or correct the port"));
}

#[tokio::test]
async fn refused_and_missing_keys_are_reported() {
    let response = format!("Incorrect API key provided: {KEY}.");
    check(
        refusal(401, &response),
        "SERVER refuses the key; correct `api_key_env` (Incorrect API key provided: (the key).)",
    )
    .await;
    let server = MockServer::with_replies([refusal(401, "Unauthorized")]);
    let mut keyless = settings(EngineKind::LlamaCpp, &server.url());
    keyless.server.key = None;
    let (answer, _) = ask(&engine(keyless)).await;
    let message = fault(answer).to_string().replace(&server.address(), "SERVER");
    assert_eq!(message, "SERVER wants a key; set `api_key_env` (Unauthorized)");
}

#[tokio::test]
async fn refusals_are_reported_with_server_message_and_remedy() {
    check(
        refusal(404, "model 'coder' not found"),
        "SERVER has no such model (model 'coder' not found); set `model` to one that it has",
    )
    .await;
    check(refusal(404, "File Not Found"), "SERVER has no /infill (File Not Found); correct `kind` or `url`")
        .await;
    check(refusal(500, "it broke"), "SERVER answered 500: it broke").await;
    check(Reply::whole(502, "text/html", b"<html>"), "SERVER answered 502: <html>").await;
    check(
        refusal(400, "the request exceeds the available context size"),
        "the prompt is too long for SERVER (the request exceeds the available context size); set a smaller \
         `budget_tokens`",
    )
    .await;
}

#[tokio::test]
async fn loading_server_is_retried_until_ready_or_deadline() {
    let server = MockServer::with_replies([refusal(503, "Loading model"), Reply::events([PIECE, LAST])]);
    let (answer, heard) = ask(&engine(settings(EngineKind::LlamaCpp, &server.url()))).await;
    assert_eq!((answer.unwrap().refusals, &*heard.text), (1, "piece "));
    let server = MockServer::with_replies([refusal(503, "Loading model")]);
    let mut urgent = request(FIXTURE);
    urgent.deadline = Some(tokio::time::Instant::now() + Duration::from_millis(100));
    let (answer, _) = ask_for(&engine(settings(EngineKind::LlamaCpp, &server.url())), urgent).await;
    let message = fault(answer).to_string().replace(&server.address(), "SERVER");
    assert_eq!(message, "SERVER is still loading its model; wait until it is ready");
    assert_eq!(server.log().received.len(), 1, "a retry after the deadline is not waited for");
}

#[tokio::test]
async fn busy_server_is_retried_unless_its_delay_is_too_long() {
    let busy = |headers: &[(&str, &str)]| {
        let body = br#"{"error": {"message": "Rate limit reached"}}"#;
        let headers: Vec<_> = headers.iter().copied().chain([("content-type", "application/json")]).collect();
        Reply::with_headers(429, &headers, body)
    };
    for headers in [&[][..], &[("retry-after", "0")]] {
        let server = MockServer::with_replies([busy(headers), Reply::events([PIECE, LAST])]);
        let (answer, heard) = ask(&engine(settings(EngineKind::LlamaCpp, &server.url()))).await;
        assert_eq!((answer.unwrap().refusals, &*heard.text), (1, "piece "));
    }
    let server = MockServer::with_replies([busy(&[("retry-after", "60")])]);
    let engine = engine(settings(EngineKind::LlamaCpp, &server.url()));
    let start = Instant::now();
    for _keystroke in 0..3 {
        let (answer, _) = ask(&engine).await;
        let message = fault(answer).to_string().replace(&server.address(), "SERVER");
        let beginning = "SERVER takes no more requests for now; retry in ";
        assert!(message.starts_with(beginning) && message.ends_with(" s (Rate limit reached)"), "{message}");
    }
    assert!(start.elapsed() < Duration::from_secs(5), "a retry after the deadline is not waited for");
    assert_eq!(server.log().requests, 1, "a server that wants to be left alone is");
}

#[tokio::test]
async fn server_that_hangs_before_its_answer_times_out() {
    let (_, fault, message) = text_and_fault(Reply::default().with_step(ReplyStep::Hang)).await;
    assert_eq!(message, "SERVER began no answer within 200ms");
    assert!(matches!(fault, ServerError::Timeout { stage: TimeoutStage::FirstByte, .. }), "{fault:?}");
}

#[tokio::test]
async fn server_that_hangs_in_its_answer_times_out_with_its_text() {
    let (text, _, message) = text_and_fault(started_stream().with_step(ReplyStep::Hang)).await;
    assert_eq!(message, "SERVER stopped in the middle of its answer for 200ms");
    assert_eq!(text, "piece");
}

#[tokio::test]
async fn engine_timeout_limits_the_whole_answer() {
    let server = MockServer::with_replies([started_stream().with_step(ReplyStep::Hang)]);
    let timeout = Some(Duration::from_millis(100));
    let (answer, heard) =
        ask(&engine(HttpSettings { timeout, ..settings(EngineKind::LlamaCpp, &server.url()) })).await;
    let message = fault(answer).to_string().replace(&server.address(), "SERVER");
    assert_eq!((&*message, &*heard.text), ("SERVER did not answer within 100ms", "piece"));
}

#[tokio::test]
async fn broken_connection_is_reported() {
    let (text, fault, _) = text_and_fault(started_stream().with_step(ReplyStep::Reset)).await;
    assert!(matches!(fault, ServerError::Unreachable { .. }), "{fault:?}");
    assert_eq!(text, "piece");
    let (_, fault, _) = text_and_fault(Reply::raw("HTTP/1.1 200 OK\r\ncontent-")).await;
    assert!(matches!(fault, ServerError::Unreachable { .. }), "{fault:?}");
    for greeting in [&b"SSH-2.0-OpenSSH_9.2\r\n"[..], b"\x15\x03\x01\0\x02\x02\x32"] {
        let (_, fault, _) = text_and_fault(Reply::raw(greeting)).await;
        assert!(matches!(fault, ServerError::Unreachable { .. }), "{fault:?}");
        assert!(fault.to_string().contains("if it encrypts, write https://"), "{fault}");
    }
}

#[tokio::test]
async fn incomplete_utf8_in_an_answer_is_an_error() {
    let half = Reply::stream("text/event-stream").chunk(b"data: {\"content\": \"\xc3");
    check(half.clone().end(), "SERVER ended in the middle of its answer").await;
    check(
        half.chunk(b"\", \"stop\": false}\n\n").end(),
        "SERVER answered with something else than an answer in its format: it is not UTF-8",
    )
    .await;
    let cut = Reply::stream("text/event-stream")
        .chunk(b"data: {\"content\": \"\xc3")
        .chunk(b"\xa9\", \"stop\": true}\n\n")
        .end();
    assert_eq!(text(cut).await, "é");
}

#[tokio::test]
async fn truncated_stream_is_an_error() {
    let half = started_stream().chunk(br#"data: {"content": "hal"#).end();
    let (text, _, message) = text_and_fault(half).await;
    assert_eq!((&*text, &*message), ("piece", "SERVER ended in the middle of its answer"));
    check(started_stream().end(), "SERVER ended in the middle of its answer").await;
}

#[tokio::test]
async fn stream_variants_are_decoded() {
    let stream = |text: &str| Reply::stream("text/event-stream; charset=utf-8").chunk(text.as_bytes()).end();
    assert_eq!(text(stream(&format!("\u{feff}data: {PIECE}\r\n\r\ndata: {LAST}\r\n\r\n"))).await, "piece ");
    assert_eq!(text(stream(&format!(": hello\n\ndata:{PIECE}\n\n: hello\ndata:{LAST}"))).await, "piece ");
    assert_eq!(text(stream(&format!("data: {PIECE}\r\rdata: {LAST}\r\r"))).await, "piece ");
    let bytes = format!("\u{feff}data: {PIECE}\r\n\r\n:é\ndata: {LAST}\n\n").into_bytes();
    let single = bytes.iter().fold(Reply::stream("text/event-stream"), |reply, &byte| reply.chunk(&[byte]));
    assert_eq!(text(single.end()).await, "piece ");
    let whole = json!({"content": "whole", "stop": true});
    assert_eq!(text(Reply::json(200, &whole)).await, "whole", "not every server streams");
}

#[tokio::test]
async fn malformed_json_is_reported_without_quoting_it() {
    let stream = Reply::stream("text/event-stream").chunk(b"data: {secret code}\n\n").end();
    check(
        stream,
        "SERVER answered with something else than an answer in its format: key must be a string at line 1 column 2",
    )
    .await;
    let other = Reply::events([r#"{"secret": "code"}"#]);
    check(other, "SERVER answered with something else than an answer in its format: it has no `content`")
        .await;
    let whole = Reply::whole(200, "application/json", b"nothing");
    check(
        whole,
        "SERVER answered with something else than an answer in its format: expected ident at line 1 column 2",
    )
    .await;
}

#[tokio::test]
async fn html_page_is_reported_as_wrong_content_type() {
    check(
        Reply::whole(200, "text/html; charset=utf-8", b"<html>Sign in</html>"),
        "SERVER answered with text/html instead of text/event-stream; is `url` its address, and `kind` right?",
    )
    .await;
    check(
        Reply::raw("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
        "SERVER answered with no type instead of text/event-stream; is `url` its address, and `kind` right?",
    )
    .await;
}

#[tokio::test]
async fn error_event_within_an_answer_is_reported() {
    let failing =
        started_stream().chunk(&event(r#"{"error": {"message": "out of memory", "code": 500}}"#)).end();
    let (text, _, message) = text_and_fault(failing).await;
    assert_eq!((&*text, &*message), ("piece", "SERVER answered 500: out of memory"));
    let failing = started_stream().chunk(&event(&format!(r#"{{"error": "key {KEY} revoked"}}"#))).end();
    check(failing, "SERVER failed in the middle of its answer: key (the key) revoked").await;
}

#[tokio::test]
async fn oversized_answers_are_errors() {
    let size = 100 << 20;
    let event = [b"data: {\"content\": \"".to_vec(), vec![b'x'; size], b"\"}\n\n".to_vec()].concat();
    check_patiently(
        Reply::stream("text/event-stream").chunk(&event).end(),
        "SERVER answered with more than 4 MB",
    )
    .await;
    let whole = [b"{\"content\": \"".to_vec(), vec![b'x'; size], b"\"}".to_vec()].concat();
    check_patiently(Reply::whole(200, "application/json", &whole), "SERVER answered with more than 16 MB")
        .await;
    check_patiently(Reply::whole(500, "text/plain", &whole), "SERVER answered 500: Internal Server Error")
        .await;
}

#[tokio::test]
async fn endless_streams_are_stopped() {
    let comments = Reply::stream("text/event-stream").endless(&b": still here\n\n".repeat(1000));
    check(comments, "SERVER answered with more than 16 MB").await;
    let line = Reply::stream("text/event-stream").endless(&b"data: more and more and more\n".repeat(1000));
    check(line, "SERVER answered with more than 4 MB").await;
    let server =
        MockServer::with_replies([Reply::stream("text/event-stream").endless(&event(PIECE).repeat(100))]);
    let mut heard = crate::harness::Heard { enough: Some(1000), ..Default::default() };
    let engine = engine(impatient(EngineKind::LlamaCpp, &server.url()));
    let cancel = tokio_util::sync::CancellationToken::new();
    let answer = engines::Engine::complete(&engine, request(FIXTURE), &mut heard, &cancel).await;
    assert_eq!(answer.unwrap().finish, FinishReason::Complete);
    server.wait_until("the client to leave", |log| log.disconnected == 1).await;
}

#[tokio::test]
async fn neither_code_nor_keys_follow_a_redirect() {
    let other = MockServer::scripted(|_| Reply::events([LAST]));
    for status in [301, 302, 307, 308] {
        let to = format!("{}/infill?key={KEY}", other.url());
        let (_, fault, message) =
            text_and_fault(Reply::with_headers(status, &[("location", &to)], b"moved")).await;
        let expected = format!(
            "SERVER answered {status} and points to {}; neither code nor keys are sent there: if it is right, write it \
             in `url`",
            other.address()
        );
        assert_eq!(message, expected);
        assert!(matches!(fault, ServerError::Redirect { .. }), "{fault:?}");
    }
    assert_eq!(other.log().accepted, 0);
}

#[tokio::test]
async fn configured_proxy_is_used() {
    let proxy = MockServer::scripted(|_| Reply::events([PIECE, LAST]));
    let mut through = settings(EngineKind::LlamaCpp, "http://model.invalid:8012");
    through.server.proxy = Proxy::At(proxy.url().replace("http://", &format!("http://me:{KEY}@")));
    let (answer, heard) = ask(&engine(through)).await;
    answer.unwrap();
    assert_eq!(heard.text, "piece ");
    let log = proxy.log();
    assert_eq!(log.received[0].path, "http://model.invalid:8012/infill");
    assert!(log.received[0].header("proxy-authorization").is_some());
}

#[tokio::test]
async fn hanging_server_does_not_delay_other_engines() {
    let hanging = MockServer::with_replies([Reply::default().with_step(ReplyStep::Hang)]);
    let well = MockServer::scripted(|_| Reply::events([PIECE, LAST]));
    let (ill_engine, well_engine) = (
        engine(impatient(EngineKind::LlamaCpp, &hanging.url())),
        engine(settings(EngineKind::LlamaCpp, &well.url())),
    );
    let answers = async {
        for _ in 0..20 {
            ask(&well_engine).await.0.unwrap();
        }
        Instant::now()
    };
    let ((ill, _), answered) = tokio::join!(ask(&ill_engine), answers);
    let given_up = Instant::now();
    assert!(matches!(fault(ill), ServerError::Timeout { .. }));
    assert!(answered <= given_up);
}

#[test]
fn invalid_server_settings_are_reported_at_construction() {
    let refused = |change: &dyn Fn(&mut HttpServerConfig)| {
        let mut settings = settings(EngineKind::LlamaCpp, "http://127.0.0.1:1");
        change(&mut settings.server);
        match HttpEngine::new(settings) {
            Err(SetupError::Server(fault)) => fault.to_string(),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("this cannot be sent"),
        }
    };
    assert_eq!(
        refused(&|server| server.key = Some(Secret::new("a\nb"))),
        "the key has characters that cannot be sent"
    );
    assert_eq!(
        refused(&|server| server.headers = vec![("x-a".to_owned(), Secret::new("a\nb"))]),
        "the header `x-a` has characters that cannot be sent"
    );
    let roots = refused(&|server| server.root_certificates = Some(b"no certificate".to_vec()));
    assert!(roots.starts_with("the certificates in `tls_roots` cannot be read ("), "{roots}");
    let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let roots = refused(&|server| server.root_certificates = Some(damaged.into()));
    assert!(roots.starts_with("the certificates in `tls_roots` cannot be read ("), "{roots}");
    let alone = refused(&|server| server.identity = Some(Certificate::new().pem().into()));
    assert!(alone.starts_with("`tls_identity` cannot be used ("), "{alone}");
    let pair = |certificate: &Certificate, key: &Certificate| {
        let text = format!("{}{}", certificate.pem(), key.key_pem());
        refused(&|server| server.identity = Some(text.clone().into()))
    };
    let wrong = pair(&Certificate::new(), &Certificate::new());
    assert!(wrong.contains("the key does not belong to the certificate"), "{wrong}");
    assert!(
        refused(&|server| server.url = "127.0.0.1:8080".to_owned())
            .starts_with("`127.0.0.1:8080` is not a server address")
    );
    let settings = settings(EngineKind::Builtin, "http://127.0.0.1:1");
    let message = HttpEngine::new(settings).err().map(|error| error.to_string());
    assert_eq!(message.as_deref(), Some("engines of kind builtin do not use HTTP"));
}

#[tokio::test]
async fn requests_over_the_concurrency_limit_wait() {
    let gate = mock::Latch::default();
    let reply = Reply::events([LAST]).preceded_by(ReplyStep::Wait(gate.clone()));
    let server = MockServer::scripted(move |_| reply.clone());
    let mut one = settings(EngineKind::LlamaCpp, &server.url());
    one.server.max_concurrency = Some(1);
    one.server.limits = HttpLimits::DEFAULT;
    let engine = engine(one);
    let opening = async {
        server.wait_until("the first request", |log| log.received.len() == 1).await;
        assert_eq!(server.log().received.len(), 1);
        gate.open();
    };
    let ((first, _), (second, _), ()) = tokio::join!(ask(&engine), ask(&engine), opening);
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(server.log().received.len(), 2);
}

#[tokio::test]
async fn status_error_has_its_cause() {
    let (_, fault, _) = text_and_fault(refusal(500, "it broke")).await;
    let error = EngineError::Server { engine: "tested".to_owned(), fault };
    assert_eq!(error.cause(), "status");
}
