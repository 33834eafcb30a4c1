//! Embeddings of a server in this process, which answers as it is told.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use engines::{EmbeddingError, EmbeddingServer, HttpEmbedder, Key};
use tokio::runtime::{Builder, Runtime};

/// A server that answers so many requests, each on a connection of its own.
struct Server {
    url: String,
    thread: JoinHandle<Vec<String>>,
}

impl Server {
    /// Reads a request and gives the connection to `answer`.
    fn start(answer: impl FnOnce(TcpStream) + Send + 'static) -> Server {
        Server::start_all([answer])
    }

    /// The same with several requests, one after the other.
    fn start_all<A: FnOnce(TcpStream) + Send + 'static>(
        answers: impl IntoIterator<Item = A, IntoIter: Send + 'static>,
    ) -> Server {
        let listener = free_listener();
        let url = format!("http://{}", address(&listener));
        let answers = answers.into_iter();
        let answer = move |answer: A| {
            let (mut stream, _) = listener.accept().expect("the client connects");
            let request = read_request(&mut stream);
            answer(stream);
            request
        };
        Server { url, thread: thread::spawn(move || answers.map(answer).collect()) }
    }

    fn answering(status: &str, body: &str) -> Server {
        Server::answering_all(vec![answer(status, body)])
    }

    fn answering_all(answers: Vec<String>) -> Server {
        let write = |answer: String| move |stream: TcpStream| write(stream, &answer);
        Server::start_all(answers.into_iter().map(write))
    }

    /// The request that it got.
    fn request(self) -> String {
        let [request] = self.requests().try_into().expect("the test has one request");
        request
    }

    /// All requests that it got.
    fn requests(self) -> Vec<String> {
        self.thread.join().expect("the server does not panic")
    }
}

fn free_listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").expect("there are free ports")
}

fn address(listener: &TcpListener) -> SocketAddr {
    listener.local_addr().expect("a bound socket has an address")
}

fn write(mut stream: TcpStream, answer: &str) {
    stream.write_all(answer.as_bytes()).expect("the client reads");
}

fn answer(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer).expect("the client writes");
        request.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            return text.into_owned();
        }
    }
}

fn runtime() -> Runtime {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a thread can be started")
}

fn named(url: &str) -> EmbeddingServer {
    let timeout = EmbeddingServer::STANDARD_TIMEOUT;
    EmbeddingServer {
        url: url.to_owned(),
        model: Some("m".to_owned()),
        key: Some(Key::new("secret")),
        timeout,
    }
}

/// Asks for the embeddings of `a` and `b`.
fn ask(server: &EmbeddingServer) -> Result<Vec<Vec<f32>>, EmbeddingError> {
    let runtime = runtime();
    let embedder = HttpEmbedder::new(server, runtime.handle().clone())?;
    embedder.embed(&["a".to_owned(), "b".to_owned()])
}

/// The message of what goes wrong, with `SERVER` for the server's address.
#[track_caller]
fn check_error(server: Server, expected: &str) {
    let address = server.url.replace("http://", "");
    let message = ask(&named(&server.url)).expect_err("the test expects an error").to_string();
    assert_eq!(message.replace(&address, "SERVER"), expected);
    server.request();
}

const VECTORS: &str = r#"{"object": "list", "model": "other", "usage": {"total_tokens": 2}, "data": [
    {"object": "embedding", "index": 1, "embedding": [0.5, -1]},
    {"object": "embedding", "index": 0, "embedding": [1e-3, 2]}]}"#;

#[test]
fn texts_are_asked_for_at_once_and_answered_in_their_order() {
    let server = Server::answering("200 OK", VECTORS);
    assert_eq!(ask(&named(&server.url)).unwrap(), [[1e-3, 2.0], [0.5, -1.0]]);
    let request = server.request();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/embeddings HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("\r\nauthorization: bearer secret"), "{head}");
    assert_eq!(body, r#"{"model":"m","input":["a","b"]}"#);
}

#[test]
fn a_server_without_models_and_keys_is_told_of_none() {
    let server = Server::answering("200 OK", VECTORS);
    let asked = EmbeddingServer { model: None, key: None, ..named(&server.url) };
    ask(&asked).unwrap();
    let request = server.request();
    assert!(!request.to_lowercase().contains("authorization"), "{request}");
    assert!(request.ends_with(r#"{"input":["a","b"]}"#), "{request}");
    let runtime = runtime();
    let embedder = HttpEmbedder::new(&asked, runtime.handle().clone()).unwrap();
    assert_eq!(format!("http://{}", embedder.model()), asked.url, "the server stands for its only model");
}

#[test]
fn a_refusal_is_told_in_the_servers_words() {
    check_error(
        Server::answering(
            "501 Not Implemented",
            r#"{"error": {"code": 501, "message": "Start it with `--embeddings`", "type": "not_supported_error"}}"#,
        ),
        "SERVER answered 501: Start it with `--embeddings`",
    );
    check_error(Server::answering("503 Service Unavailable", ""), "SERVER answered 503: Service Unavailable");
}

const TOO_LONG: &str = r#"{"error": {"code": 500, "message": "input is too large to process"}}"#;

/// Lengths of the texts in a request.
fn lengths(request: &str) -> Vec<usize> {
    let (_, body) = request.split_once("\r\n\r\n").expect("a request has a body");
    let question: serde_json::Value = serde_json::from_str(body).expect("the body is JSON");
    let texts = question["input"].as_array().expect("the input is a list");
    texts.iter().filter_map(|text| Some(text.as_str()?.len())).collect()
}

#[test]
fn long_texts_are_shortened_until_the_server_reads_them() {
    let refused = || answer("500 Internal Server Error", TOO_LONG);
    let embedded = || answer("200 OK", VECTORS);
    let server = Server::answering_all(vec![refused(), refused(), embedded(), embedded()]);
    let runtime = runtime();
    let embedder = HttpEmbedder::new(&named(&server.url), runtime.handle().clone()).unwrap();
    let texts = ["short".to_owned(), "é".repeat(1001)];
    assert_eq!(embedder.embed(&texts).unwrap().len(), 2);
    assert_eq!(embedder.embed(&texts).unwrap().len(), 2);
    let lengths: Vec<Vec<usize>> = server.requests().iter().map(|request| lengths(request)).collect();
    assert_eq!(lengths, [[5, 2002], [5, 1000], [5, 500], [5, 500]], "what was learnt is not asked again");
}

#[test]
fn a_server_that_always_refuses_is_left_alone() {
    let refused = || answer("500 Internal Server Error", TOO_LONG);
    let server = Server::answering_all(vec![refused(), refused()]);
    let runtime = runtime();
    let embedder = HttpEmbedder::new(&named(&server.url), runtime.handle().clone()).unwrap();
    let error = embedder.embed(&["x".repeat(300)]).unwrap_err();
    assert!(matches!(error, EmbeddingError::Status { status: 500, .. }), "{error}");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_server_that_repeats_the_key_does_not_make_us_tell_it() {
    let body = r#"{"error": {"message": "Incorrect API key provided: secret"}}"#;
    check_error(
        Server::answering("401 Unauthorized", body),
        "SERVER answered 401: Incorrect API key provided: (the key)",
    );
}

#[test]
fn code_goes_nowhere_else() {
    let body =
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
    check_error(Server::start(|stream| write(stream, body)), "SERVER answered 307: Temporary Redirect");
}

#[test]
fn what_is_no_answer_is_recognised() {
    let foreign = "SERVER answered with something else than embeddings:";
    check_error(
        Server::answering("200 OK", "<html>hello</html>"),
        &format!("{foreign} expected value at line 1 column 1"),
    );
    check_error(
        Server::answering("200 OK", r#"{"models": []}"#),
        &format!("{foreign} missing field `data` at line 1 column 14"),
    );
    check_error(
        Server::answering("200 OK", r#"{"data": [{"index": 0, "embedding": [null]}]}"#),
        &format!("{foreign} invalid type: null, expected f32 at line 1 column 41"),
    );
}

#[test]
fn there_must_be_a_vector_for_each_text() {
    let one = r#"{"data": [{"index": 0, "embedding": [1]}]}"#;
    check_error(Server::answering("200 OK", one), "SERVER gave 1 vectors for 2 texts, or not one for each");
    let twice = r#"{"data": [{"index": 1, "embedding": [1]}, {"index": 1, "embedding": [2]}]}"#;
    check_error(Server::answering("200 OK", twice), "SERVER gave 2 vectors for 2 texts, or not one for each");
}

#[test]
fn an_answer_without_end_is_given_up() {
    let endless = Server::start(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b' '; 1 << 16]).is_ok() {}
    });
    check_error(endless, "SERVER answered with something else than embeddings: more than 64 MB");
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let free = address(&free_listener());
    let error = ask(&named(&free.to_string().replace("127", "http://user:secret@127"))).unwrap_err();
    assert!(matches!(error, EmbeddingError::Unreachable { .. }), "{error}");
    let message = error.to_string();
    assert!(message.starts_with(&format!("{free} cannot be reached: ")), "{message}");
    assert!(!message.contains("secret"), "{message}");
}

#[test]
fn a_connection_that_breaks_is_told() {
    let broken = |answer: &'static str| {
        let server = Server::start(move |stream| write(stream, answer));
        let error = ask(&named(&server.url)).unwrap_err();
        assert!(matches!(error, EmbeddingError::Unreachable { .. }), "{error}");
        server.request();
    };
    broken("");
    broken("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"data\":");
}

#[test]
fn a_silent_server_is_not_waited_for_without_end() {
    let timeout = Duration::from_millis(200);
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let server = Server::start(move |_stream| {
        // It ends when the test does, which sends nothing.
        let _ = is_done.recv();
    });
    let error = ask(&EmbeddingServer { timeout, ..named(&server.url) }).unwrap_err();
    assert!(matches!(error, EmbeddingError::Silent { .. }), "{error}");
    assert!(error.to_string().ends_with("did not answer within 200ms"), "{error}");
    drop(done);
    server.request();
}

#[test]
fn a_key_that_cannot_be_sent_is_told_but_not_shown() {
    let server = EmbeddingServer { key: Some(Key::new("sec\nret")), ..named("http://127.0.0.1:1") };
    let error = ask(&server).unwrap_err().to_string();
    assert_eq!(error, "the key has characters that cannot be sent");
}
