//! A JSON-RPC connection to a language server: our requests and its responses, in any order, and its own requests.
//!
//! ```text
//! ask --> waiting (by number) --> outgoing --writing--> server
//!            ^                       ^                    |
//!            +------ answers --------+--- our replies <---+ listening
//! ```
//!
//! A dropped request is cancelled, and a late response is ignored. The server's own requests are answered, its notifications
//! are ignored; only its latest `window/showMessage` error or warning is kept, for our error messages.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot, watch};

use super::client_responses::{registered_methods, response_to};
use super::message::{self, Message, ResponseError};
use crate::lsp_frames::{FrameReader, encode_frame};

/// Maximum of unsent bytes: documents for a few hundred requests. A server that leaves more unread has stopped reading.
const MAX_UNSENT: usize = 64 << 20;

/// Bytes per read.
const READ_BYTES: usize = 64 << 10;

/// Our end of the connection.
pub(super) struct Connection {
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    /// Number of bytes that aren't written yet.
    unsent: AtomicUsize,
    state: Mutex<ConnectionState>,
    /// Methods that the server has registered dynamically.
    registered: watch::Sender<Vec<String>>,
    /// Settings for `workspace/configuration`.
    settings: Map<String, Value>,
}

#[derive(Default)]
struct ConnectionState {
    next: i64,
    waiting: BTreeMap<i64, oneshot::Sender<Result<Value, ResponseError>>>,
    /// No more responses will arrive.
    is_over: bool,
    /// The server's latest error or warning for the user, verbatim.
    last_message: Option<String>,
}

/// Why a request has no response.
#[derive(Debug, PartialEq)]
pub(super) enum RequestError {
    /// The server returned an error.
    Refused(ResponseError),
    /// The connection is closed.
    Closed,
    /// The server has stopped reading.
    QueueFull,
}

impl Connection {
    /// Creates a connection over these streams, and the future that runs it. The future ends when the server closes its output,
    /// or with an error if the server violates the protocol.
    pub(super) fn new(
        reader: impl AsyncRead + Unpin,
        writer: impl AsyncWrite + Unpin,
        settings: Map<String, Value>,
    ) -> (Arc<Connection>, impl Future<Output = Result<(), String>>) {
        let (outgoing, unwritten) = mpsc::unbounded_channel();
        let connection = Arc::new(Connection {
            outgoing,
            unsent: AtomicUsize::new(0),
            state: Mutex::default(),
            registered: watch::Sender::default(),
            settings,
        });
        let carried = Arc::clone(&connection);
        let carrying = async move {
            let writing = async {
                carried.write(writer, unwritten).await;
                // Its remaining output is read, and it will end.
                std::future::pending().await
            };
            let ended = tokio::select! {
                ended = carried.read(reader) => ended,
                ended = writing => ended,
            };
            let mut talk = carried.state();
            talk.is_over = true;
            // Pending requests fail.
            talk.waiting.clear();
            ended
        };
        (connection, carrying)
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request. Dropping it cancels it.
    pub(super) fn request(&self, method: &str, params: &Value) -> Result<PendingRequest<'_>, RequestError> {
        if self.unsent.load(Ordering::Relaxed) > MAX_UNSENT {
            return Err(RequestError::QueueFull);
        }
        let (answer, answered) = oneshot::channel();
        let mut talk = self.state();
        if talk.is_over {
            return Err(RequestError::Closed);
        }
        let id = talk.next;
        talk.next += 1;
        talk.waiting.insert(id, answer);
        self.send(&message::request(id, method, params));
        Ok(PendingRequest { connection: self, id, answered })
    }

    /// Sends a notification.
    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.send(&message::notification(method, params));
    }

    /// Waits until the server has registered a method.
    pub(super) async fn wait_for_registration(&self, method: &str) {
        let mut registered = self.registered.subscribe();
        // We own the sender, so it exists.
        let _ = registered.wait_for(|methods| methods.iter().any(|other| other == method)).await;
    }

    /// Returns the server's latest error or warning for the user, verbatim.
    pub(super) fn last_message(&self) -> Option<String> {
        self.state().last_message.clone()
    }

    fn send(&self, body: &[u8]) {
        let bytes = encode_frame(body);
        self.unsent.fetch_add(bytes.len(), Ordering::Relaxed);
        // If the writer is gone, the connection is closed.
        let _ = self.outgoing.send(bytes);
    }

    async fn write(
        &self,
        mut writer: impl AsyncWrite + Unpin,
        mut unwritten: mpsc::UnboundedReceiver<Vec<u8>>,
    ) {
        while let Some(bytes) = unwritten.recv().await {
            let written = async { writer.write_all(&bytes).await.and(writer.flush().await) };
            if written.await.is_err() {
                return;
            }
            self.unsent.fetch_sub(bytes.len(), Ordering::Relaxed);
        }
    }

    async fn read(&self, mut reader: impl AsyncRead + Unpin) -> Result<(), String> {
        let mut frames = FrameReader::default();
        let mut piece = vec![0; READ_BYTES];
        // A broken pipe counts as the end.
        while let Ok(length @ 1..) = reader.read(&mut piece).await {
            frames.push(&piece[..length]);
            while let Some(body) = frames.next_body()? {
                self.dispatch(message::read(&body)?);
            }
        }
        Ok(())
    }

    fn dispatch(&self, message: Message) {
        match message {
            Message::Response { id, result } => {
                let waiting = self.state().waiting.remove(&id);
                // The receiver of a cancelled request is gone.
                let _ = waiting.map(|waiting| waiting.send(result));
            }
            Message::Request { id, method, params } => {
                self.registered.send_if_modified(|methods| {
                    let before = methods.len();
                    methods.extend(registered_methods(&method, &params).map(str::to_owned));
                    methods.len() > before
                });
                // A server that doesn't read gets no replies.
                if self.unsent.load(Ordering::Relaxed) <= MAX_UNSENT {
                    self.send(&message::response(&id, response_to(&method, &params, &self.settings)));
                }
            }
            Message::Notification { method, params } if method == "window/showMessage" => {
                /// `MessageType.Warning`; an error is less.
                const WARNING: u64 = 2;
                let is_bad = params.get("type").and_then(Value::as_u64).is_some_and(|kind| kind <= WARNING);
                let message = params.get("message").and_then(Value::as_str).filter(|_| is_bad);
                if let Some(message) = message {
                    self.state().last_message = Some(message.to_owned());
                }
            }
            Message::Notification { .. } | Message::Unknown => {}
        }
    }
}

/// A pending request.
pub(super) struct PendingRequest<'a> {
    connection: &'a Connection,
    id: i64,
    answered: oneshot::Receiver<Result<Value, ResponseError>>,
}

impl PendingRequest<'_> {
    /// Waits for the response.
    pub(super) async fn answer(mut self) -> Result<Value, RequestError> {
        match (&mut self.answered).await {
            Ok(result) => result.map_err(RequestError::Refused),
            Err(_) => Err(RequestError::Closed),
        }
    }
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        let is_waiting = self.connection.state().waiting.remove(&self.id).is_some();
        if is_waiting {
            self.connection.notify("$/cancelRequest", &json!({"id": self.id}));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{DuplexStream, duplex};

    use super::*;

    /// A server in the same process, played by a test.
    struct Server {
        reader: DuplexStream,
        writer: DuplexStream,
        frames: FrameReader,
    }

    impl Server {
        /// Returns the next message from us, after checking and removing `jsonrpc`.
        async fn next(&mut self) -> Value {
            loop {
                if let Some(body) = self.frames.next_body().expect("we write messages") {
                    let mut message: Value = serde_json::from_slice(&body).expect("we write JSON");
                    assert_eq!(message["jsonrpc"].take(), "2.0");
                    message.as_object_mut().unwrap().remove("jsonrpc");
                    return message;
                }
                let mut piece = [0; 100];
                let length = self.reader.read(&mut piece).await.unwrap();
                assert!(length > 0, "we have hung up");
                self.frames.push(&piece[..length]);
            }
        }

        async fn send_message(&mut self, message: Value) {
            self.writer.write_all(&encode_frame(message.to_string().as_bytes())).await.unwrap();
        }
    }

    type Carrying = tokio::task::JoinHandle<Result<(), String>>;

    fn start(settings: Value) -> (Arc<Connection>, Server, Carrying) {
        let ((reader, theirs), (ours, writer)) = (duplex(1000), duplex(1000));
        let settings = settings.as_object().cloned().unwrap_or_default();
        let (connection, carrying) = Connection::new(reader, writer, settings);
        let server = Server { reader: ours, writer: theirs, frames: FrameReader::default() };
        (connection, server, tokio::spawn(carrying))
    }

    #[tokio::test]
    async fn responses_match_requests_in_any_order() {
        let (connection, mut server, _carrying) = start(Value::Null);
        let first = connection.request("m", &json!({"a": 1})).unwrap();
        let second = connection.request("m", &json!({"a": 2})).unwrap();
        let refused = connection.request("n", &Value::Null).unwrap();
        assert_eq!(server.next().await, json!({"id": 0, "method": "m", "params": {"a": 1}}));
        assert_eq!(server.next().await, json!({"id": 1, "method": "m", "params": {"a": 2}}));
        assert_eq!(server.next().await, json!({"id": 2, "method": "n"}));
        server.send_message(json!({"id": 77, "result": "nobody asked"})).await;
        server.send_message(json!({"id": 2, "error": {"code": 5, "message": "no"}})).await;
        server.send_message(json!({"id": 1, "result": "two"})).await;
        server.send_message(json!({"id": 0, "result": "one"})).await;
        assert_eq!(second.answer().await, Ok(json!("two")));
        assert_eq!(first.answer().await, Ok(json!("one")));
        let refusal = ResponseError { code: 5, message: "no".to_owned() };
        assert_eq!(refused.answer().await, Err(RequestError::Refused(refusal)));
    }

    #[tokio::test]
    async fn dropped_request_is_cancelled_and_its_response_ignored() {
        let (connection, mut server, _carrying) = start(Value::Null);
        drop(connection.request("m", &Value::Null).unwrap());
        let next = connection.request("m", &Value::Null).unwrap();
        assert_eq!(server.next().await["id"], 0);
        assert_eq!(server.next().await, json!({"method": "$/cancelRequest", "params": {"id": 0}}));
        assert_eq!(server.next().await["id"], 1);
        server.send_message(json!({"id": 0, "result": "late"})).await;
        server.send_message(json!({"id": 1, "result": "in time"})).await;
        assert_eq!(next.answer().await, Ok(json!("in time")));
        connection.notify("end", &Value::Null);
        assert_eq!(server.next().await["method"], "end", "an answered request is not cancelled");
    }

    #[tokio::test]
    async fn server_requests_are_answered_while_ours_are_pending() {
        let (connection, mut server, _carrying) = start(json!({"vendor": {"key": 1}}));
        let question = connection.request("m", &Value::Null).unwrap();
        server.next().await;
        let items = json!({"items": [{"section": "vendor"}]});
        server.send_message(json!({"id": "q", "method": "workspace/configuration", "params": items})).await;
        assert_eq!(server.next().await, json!({"id": "q", "result": [{"key": 1}]}));
        server.send_message(json!({"id": 7, "method": "vendor/odd"})).await;
        assert_eq!(server.next().await["error"]["code"], -32601);
        let registrations = json!({"registrations": [{"id": "r", "method": "vendor/complete"}]});
        server
            .send_message(json!({"id": 8, "method": "client/registerCapability", "params": registrations}))
            .await;
        connection.wait_for_registration("vendor/complete").await;
        assert_eq!(server.next().await, json!({"id": 8, "result": null}));
        for (kind, message) in [(1, "not signed in"), (3, "hello")] {
            let params = json!({"type": kind, "message": message});
            server.send_message(json!({"method": "window/showMessage", "params": params})).await;
        }
        server.send_message(json!({"id": 0, "result": null})).await;
        assert_eq!(question.answer().await, Ok(Value::Null));
        assert_eq!(connection.last_message().as_deref(), Some("not signed in"));
    }

    #[tokio::test]
    async fn closed_server_output_ends_all_requests() {
        let (connection, mut server, carrying) = start(Value::Null);
        let question = connection.request("m", &Value::Null).unwrap();
        server.next().await;
        server.writer.write_all(b"Content-Length: 10\r\n\r\n{\"id\"").await.unwrap();
        drop(server);
        assert_eq!(question.answer().await, Err(RequestError::Closed));
        assert_eq!(carrying.await.unwrap(), Ok(()));
        assert!(matches!(connection.request("m", &Value::Null), Err(RequestError::Closed)));
    }

    #[tokio::test]
    async fn invalid_message_closes_the_connection() {
        for (written, expected) in [
            (
                "Content-Length: 3\r\n\r\n{\"i",
                "it sends invalid JSON: EOF while parsing a string at line 1 column 3",
            ),
            ("Content-Length: 2\r\n\r\n{}", "it sends JSON that is not a message"),
            (
                "Content-Length: 104857600\r\n\r\n",
                "it sends a message of 104857600 bytes, and 16777216 are read",
            ),
        ] {
            let (connection, mut server, carrying) = start(Value::Null);
            let question = connection.request("m", &Value::Null).unwrap();
            server.writer.write_all(written.as_bytes()).await.unwrap();
            assert_eq!(question.answer().await, Err(RequestError::Closed));
            assert_eq!(carrying.await.unwrap(), Err(expected.to_owned()));
        }
    }

    #[tokio::test]
    async fn server_that_reads_nothing_gets_no_more_requests() {
        let (connection, _server, _carrying) = start(Value::Null);
        let long = json!("x".repeat(MAX_UNSENT / 2));
        for _ in 0..3 {
            connection.notify("m", &long);
        }
        assert!(matches!(connection.request("m", &Value::Null), Err(RequestError::QueueFull)));
    }

    /// A test with two messages would pass if responses were simply slow; here none ever arrives.
    #[tokio::test(start_paused = true)]
    async fn request_waits_until_its_caller_drops_it() {
        let (connection, mut server, _carrying) = start(Value::Null);
        let question = connection.request("m", &Value::Null).unwrap();
        let waited = tokio::time::timeout(Duration::from_secs(3600), question.answer()).await;
        assert!(waited.is_err());
        server.next().await;
        assert_eq!(server.next().await["method"], "$/cancelRequest");
    }
}
