//! Embeddings of a mock server with scripted replies.

use std::time::Duration;

use config::Secret;
use engines::{EmbeddingServer, EmbeddingServerError, HttpEmbedder, HttpServerConfig, ServerError};
use mock::{MockServer, Reply, ReplyStep};
use tokio::runtime::{Builder, Runtime};

fn answering(status: u16, body: &str) -> MockServer {
    MockServer::with_replies([json(status, body)])
}

fn json(status: u16, body: &str) -> Reply {
    Reply::whole(status, "application/json", body.as_bytes())
}

fn runtime() -> Runtime {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a thread can be started")
}

fn named(url: &str) -> EmbeddingServer {
    let timeout = EmbeddingServer::DEFAULT_TIMEOUT;
    let server = HttpServerConfig { key: Some(Secret::new("secret")), ..HttpServerConfig::at(url) };
    EmbeddingServer { server, model: Some("m".to_owned()), timeout }
}

/// Requests the embeddings of `a` and `b`.
fn ask(server: &EmbeddingServer) -> Result<Vec<Vec<f32>>, EmbeddingServerError> {
    let runtime = runtime();
    let embedder = HttpEmbedder::new(server, runtime.handle().clone())?;
    embedder.embed(&["a".to_owned(), "b".to_owned()])
}

/// Checks the error message for a reply, with `SERVER` for the server's address.
#[track_caller]
fn check_error(reply: Reply, expected: &str) {
    let server = MockServer::with_replies([reply]);
    let message = ask(&named(&server.url())).expect_err("the test expects an error").to_string();
    assert_eq!(message.replace(&server.address(), "SERVER"), expected);
}

const VECTORS: &str = r#"{"object": "list", "model": "other", "usage": {"total_tokens": 2}, "data": [
    {"object": "embedding", "index": 1, "embedding": [0.5, -1]},
    {"object": "embedding", "index": 0, "embedding": [1e-3, 2]}]}"#;

#[test]
fn texts_are_sent_in_one_request_and_answered_in_order() {
    let server = answering(200, VECTORS);
    assert_eq!(ask(&named(&server.url())).unwrap(), [[1e-3, 2.0], [0.5, -1.0]]);
    let log = server.log();
    let [request] = &log.received[..] else { panic!("there is one request") };
    assert_eq!((&*request.method, &*request.path), ("POST", "/v1/embeddings"));
    assert_eq!(request.header("authorization"), Some("Bearer secret"));
    assert_eq!(request.body, br#"{"model":"m","input":["a","b"]}"#);
}

#[test]
fn request_without_model_and_key_omits_both() {
    let server = answering(200, VECTORS);
    let asked =
        EmbeddingServer { server: HttpServerConfig::at(&server.url()), model: None, ..named(&server.url()) };
    ask(&asked).unwrap();
    let request = &server.log().received[0];
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.body, br#"{"input":["a","b"]}"#);
    let runtime = runtime();
    let embedder = HttpEmbedder::new(&asked, runtime.handle().clone()).unwrap();
    assert_eq!(embedder.model(), server.address(), "the server's address identifies its only model");
}

#[test]
fn refusal_is_reported_with_the_server_message() {
    check_error(
        json(
            501,
            r#"{"error": {"code": 501, "message": "Start it with `--embeddings`", "type": "not_supported_error"}}"#,
        ),
        "SERVER answered 501: Start it with `--embeddings`",
    );
    check_error(json(502, ""), "SERVER answered 502: Bad Gateway");
}

const TOO_LONG: &str = r#"{"error": {"code": 500, "message": "input is too large to process"}}"#;

/// Lengths of the texts in each request.
fn lengths(server: &MockServer) -> Vec<Vec<usize>> {
    let lengths = |texts: &serde_json::Value| {
        let texts = texts["input"].as_array().expect("the input is a list").iter();
        texts.filter_map(|text| Some(text.as_str()?.len())).collect()
    };
    server.log().received.iter().map(|request| lengths(&request.json())).collect()
}

#[test]
fn long_texts_are_shortened_until_the_server_accepts_them() {
    let server = MockServer::with_replies([
        json(500, TOO_LONG),
        json(500, TOO_LONG),
        json(200, VECTORS),
        json(200, VECTORS),
    ]);
    let runtime = runtime();
    let embedder = HttpEmbedder::new(&named(&server.url()), runtime.handle().clone()).unwrap();
    let texts = ["short".to_owned(), "é".repeat(1001)];
    assert_eq!(embedder.embed(&texts).unwrap().len(), 2);
    assert_eq!(embedder.embed(&texts).unwrap().len(), 2);
    assert_eq!(
        lengths(&server),
        [[5, 2002], [5, 1000], [5, 500], [5, 500]],
        "a known limit causes no further request"
    );
}

#[test]
fn shortening_stops_if_the_server_always_refuses() {
    let server = answering(500, TOO_LONG);
    let runtime = runtime();
    let embedder = HttpEmbedder::new(&named(&server.url()), runtime.handle().clone()).unwrap();
    let error = embedder.embed(&["x".repeat(300)]).unwrap_err();
    assert!(
        matches!(error, EmbeddingServerError::Server(ServerError::Status { status: 500, .. })),
        "{error}"
    );
    assert_eq!(lengths(&server).len(), 2);
}

#[test]
fn key_repeated_by_the_server_is_redacted() {
    let body = r#"{"error": {"message": "Incorrect API key provided: secret"}}"#;
    check_error(
        json(401, body),
        "SERVER refuses the key; correct `api_key_env` (Incorrect API key provided: (the key))",
    );
}

#[test]
fn redirect_is_not_followed() {
    check_error(
        Reply::with_headers(307, &[("location", "http://127.0.0.1:1/")], b""),
        "SERVER answered 307 and points to 127.0.0.1:1; neither code nor keys are sent there: if it is right, write it in \
         `url`",
    );
}

#[test]
fn malformed_response_is_reported() {
    let foreign = "SERVER answered with something else than embeddings:";
    check_error(json(200, "<html>hello</html>"), &format!("{foreign} expected value at line 1 column 1"));
    check_error(
        json(200, r#"{"models": []}"#),
        &format!("{foreign} missing field `data` at line 1 column 14"),
    );
    check_error(
        json(200, r#"{"data": [{"index": 0, "embedding": [null]}]}"#),
        &format!("{foreign} invalid type: null, expected f32 at line 1 column 41"),
    );
}

#[test]
fn there_must_be_a_vector_for_each_text() {
    let one = r#"{"data": [{"index": 0, "embedding": [1]}]}"#;
    check_error(json(200, one), "SERVER gave 1 vectors for 2 texts, or not one for each");
    let twice = r#"{"data": [{"index": 1, "embedding": [1]}, {"index": 1, "embedding": [2]}]}"#;
    check_error(json(200, twice), "SERVER gave 2 vectors for 2 texts, or not one for each");
}

#[test]
fn endless_response_is_an_error() {
    let endless = Reply::stream("application/json").endless(&[b' '; 1 << 16]);
    check_error(endless, "SERVER answered with more than 64 MB");
}

#[test]
fn refused_connection_is_reported() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("there are free ports");
    let free = listener.local_addr().expect("a bound socket has an address");
    drop(listener);
    let message = ask(&named(&format!("http://user:secret@{free}"))).unwrap_err().to_string();
    assert_eq!(message, format!("nothing listens at {free}; start the server, or correct `url`"));
}

#[test]
fn broken_connection_is_reported() {
    for answer in ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"data\":"] {
        let server = MockServer::with_replies([Reply::raw(answer)]);
        let error = ask(&named(&server.url())).unwrap_err();
        assert!(matches!(error, EmbeddingServerError::Server(ServerError::Unreachable { .. })), "{error}");
    }
}

#[test]
fn silent_server_times_out() {
    let server = MockServer::with_replies([Reply::default().with_step(ReplyStep::Hang)]);
    let timeout = Duration::from_millis(200);
    let error = ask(&EmbeddingServer { timeout, ..named(&server.url()) }).unwrap_err();
    assert!(matches!(error, EmbeddingServerError::Server(ServerError::Timeout { .. })), "{error}");
    assert!(error.to_string().contains(" within 200ms"), "{error}");
}

#[test]
fn invalid_key_is_reported_without_its_value() {
    let server =
        HttpServerConfig { key: Some(Secret::new("sec\nret")), ..HttpServerConfig::at("http://127.0.0.1:1") };
    let error = ask(&EmbeddingServer { server, ..named("http://127.0.0.1:1") }).unwrap_err().to_string();
    assert_eq!(error, "the key has characters that cannot be sent");
}
