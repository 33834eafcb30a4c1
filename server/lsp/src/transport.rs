//! Messages as frames on two byte streams: a task reads and parses, a thread writes.
//!
//! Reading never waits for writing: answers to a client that sends without reading are queued, up to [`MAX_UNREAD_BYTES`]. An
//! invalid body is refused, with the state it may have changed ([`LostChange`]), and reading continues with the next frame. After
//! invalid headers everything up to the next `Content-Length` is skipped; without one the stream ends.
//! (`tower_lsp_server::Server` ends at the first malformed body and stops reading while a client does not read, so this crate has
//! its own transport.) Apart from that, nothing here depends on the meaning of messages.

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use engines::lsp_frames::encode_frame;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};
use tokio::sync::mpsc;
use tokio::task;
use tower_lsp_server::jsonrpc::{Error, Id, Request, Response};

use crate::lenient_json::{self, PartialMessage, parse_partially};

/// Maximum length of a header, in bytes: the two of the protocol are far shorter.
const MAX_HEADER_BYTES: usize = 8 << 10;
/// The relevant header, in lower case.
const CONTENT_LENGTH: &[u8] = b"content-length:";
/// Upper bound of the length of that header with a valid value, in bytes.
const LENGTH_HEADER_BYTES: usize = 64;
/// Maximum length of a body, in bytes: far above any document, and small enough that a wrong length does not block for long.
const MAX_BODY_BYTES: usize = 256 << 20;
/// Maximum size of the queue for a client that does not read, in bytes.
const MAX_UNREAD_BYTES: usize = 64 << 20;

/// Input from the client.
#[derive(Debug)]
pub(crate) enum IncomingMessage {
    /// A request or a notification.
    Request(Request),
    /// The response to a request of the server.
    Response(Response),
    /// An invalid message, with the response to it.
    Refused(Response, LostChange),
    /// The stream was closed.
    Closed,
    /// The stream is invalid from here on; the reason.
    Broken(String),
}

/// State that a refused message may have changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LostChange {
    /// No document.
    Nothing,
    /// The document with this URI.
    Document(String),
    /// Any open document.
    AnyDocument,
}

impl LostChange {
    /// The state that a notification of this method, for the document at `uri`, may have changed.
    fn from_notification(method: &str, uri: Option<String>) -> LostChange {
        match method {
            "textDocument/didOpen" | "textDocument/didChange" | "textDocument/didClose" => {
                uri.map_or(LostChange::AnyDocument, LostChange::Document)
            }
            _ => LostChange::Nothing,
        }
    }
}

/// Reads frames until the stream ends or the receiver is dropped.
pub(crate) async fn read(input: impl AsyncBufRead + Unpin, incoming: mpsc::Sender<IncomingMessage>) {
    let mut frames = FrameReader { input, line: Vec::new(), length: None, broken: None };
    loop {
        let message = match frames.next().await {
            Ok(Frame::Body(body)) => parse(&body),
            Ok(Frame::Broken) => IncomingMessage::Refused(parse_error(Id::Null), LostChange::AnyDocument),
            Ok(Frame::End) | Err(_) => {
                frames.broken.take().map_or(IncomingMessage::Closed, IncomingMessage::Broken)
            }
        };
        let is_last = matches!(message, IncomingMessage::Closed | IncomingMessage::Broken(_));
        if incoming.send(message).await.is_err() || is_last {
            return;
        }
        // This message comes before the next one, which may be large.
        task::yield_now().await;
    }
}

/// Reads the frames of a stream.
struct FrameReader<R> {
    input: R,
    /// The part of a header line read so far.
    line: Vec<u8>,
    /// Length of the next body, if its header was read.
    length: Option<usize>,
    /// Why the headers are invalid; reset after the next body.
    broken: Option<String>,
}

enum Frame {
    Body(Vec<u8>),
    End,
    /// Invalid headers; reported once until the next body.
    Broken,
}

impl<R: AsyncBufRead + Unpin> FrameReader<R> {
    async fn next(&mut self) -> io::Result<Frame> {
        loop {
            let room = MAX_HEADER_BYTES - self.line.len();
            (&mut self.input).take(room as u64).read_until(b'\n', &mut self.line).await?;
            let is_whole = self.line.ends_with(b"\n");
            if !is_whole && self.line.len() < MAX_HEADER_BYTES {
                return Ok(Frame::End);
            }
            let was_broken = self.broken.is_some();
            if !is_whole {
                self.set_broken(format!("a header is longer than {MAX_HEADER_BYTES} bytes"));
                // The next headers may have begun.
                self.line.drain(..MAX_HEADER_BYTES - LENGTH_HEADER_BYTES);
            } else {
                let line = mem::take(&mut self.line);
                match (line.trim_ascii().is_empty(), self.length) {
                    (true, Some(length)) => return self.body(length).await,
                    (true, None) => self.set_broken("the headers have no Content-Length".to_owned()),
                    (false, _) => self.header(&line),
                }
            }
            if !was_broken && self.broken.is_some() {
                return Ok(Frame::Broken);
            }
        }
    }

    async fn body(&mut self, length: usize) -> io::Result<Frame> {
        let mut body = Vec::new();
        let read = (&mut self.input).take(length as u64).read_to_end(&mut body).await?;
        if read < length {
            return Ok(Frame::End);
        }
        (self.length, self.broken) = (None, None);
        Ok(Frame::Body(body))
    }

    /// Parses a header line. After a body with a wrong length, the next headers may begin in the middle of a line.
    fn header(&mut self, line: &[u8]) {
        let found =
            line.to_ascii_lowercase().windows(CONTENT_LENGTH.len()).rposition(|name| name == CONTENT_LENGTH);
        let Some(at) = found else {
            if !line.contains(&b':') {
                self.set_broken("a header has no colon".to_owned());
            }
            return;
        };
        if !line[..at].trim_ascii().is_empty() {
            self.set_broken("a header begins in the middle of a line".to_owned());
        }
        match parse_content_length(&line[at + CONTENT_LENGTH.len()..]) {
            Ok(length) => {
                if self.length.replace(length).is_some_and(|other| other != length) {
                    self.length = None;
                    self.set_broken("the headers have two values of Content-Length".to_owned());
                }
            }
            Err(reason) => self.set_broken(reason),
        }
    }

    /// Stores the first reason why the headers are invalid.
    fn set_broken(&mut self, reason: String) {
        self.broken.get_or_insert(reason);
    }
}

/// Parses the value of `Content-Length`.
fn parse_content_length(value: &[u8]) -> Result<usize, String> {
    let digits = str::from_utf8(value.trim_ascii())
        .ok()
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    match digits.filter(|digits| !digits.is_empty()).map(str::parse) {
        Some(Ok(length)) if length <= MAX_BODY_BYTES => Ok(length),
        Some(_) => Err(format!("Content-Length is larger than {} MiB", MAX_BODY_BYTES >> 20)),
        None => Err("Content-Length is not a number".to_owned()),
    }
}

fn parse(body: &[u8]) -> IncomingMessage {
    if let Ok(message) = serde_json::from_slice(body) {
        return classify(message);
    }
    let repaired = lenient_json::repair(body);
    serde_json::from_slice(&repaired).map_or_else(|_| undecodable(parse_partially(&repaired)), classify)
}

/// Classifies a message that is valid JSON.
fn classify(mut message: Value) -> IncomingMessage {
    let id: Option<Id> = message.get("id").map(|id| Id::deserialize(id).unwrap_or_default());
    let method = message.get("method");
    let uri = message.pointer("/params/textDocument/uri").and_then(Value::as_str).map(str::to_owned);
    let lost = method
        .and_then(Value::as_str)
        .map_or(LostChange::Nothing, |method| LostChange::from_notification(method, uri));
    let is_call = method.is_some();
    let refused = || {
        let id = id.clone().unwrap_or_default();
        IncomingMessage::Refused(Response::from_error(id, Error::invalid_request()), lost)
    };
    if is_call && id == Some(Id::Null) {
        // The protocol allows numbers and strings as ids; responses to other ids would be ambiguous.
        return refused();
    }
    if let Some(fields) = message.as_object_mut().filter(|_| is_call) {
        // Missing parameters are the same as none.
        fields.entry("params").or_insert(Value::Null);
    }
    let parsed = match &id {
        _ if is_call => serde_json::from_value(message).map(IncomingMessage::Request),
        Some(_) => serde_json::from_value(message).map(IncomingMessage::Response),
        None => return refused(),
    };
    parsed.unwrap_or_else(|_| refused())
}

/// Classifies a message that cannot be decoded. A request gets an error, a notification may have changed the document it names,
/// and a request of the server fails with the error.
fn undecodable(message: PartialMessage) -> IncomingMessage {
    let PartialMessage { is_object, id, method, uri, is_response } = message;
    let lost = match &method {
        Some(method) => LostChange::from_notification(method, uri),
        None if is_object && id.is_none() => LostChange::AnyDocument,
        None => LostChange::Nothing,
    };
    let answer = parse_error(id.unwrap_or_default());
    if is_response && method.is_none() {
        IncomingMessage::Response(answer)
    } else {
        IncomingMessage::Refused(answer, lost)
    }
}

fn parse_error(id: Id) -> Response {
    Response::from_error(id, Error::parse_error())
}

/// Sends messages to the client; cheap to clone.
#[derive(Clone)]
pub(crate) struct MessageSender {
    frames: Sender<Vec<u8>>,
    unread: Arc<AtomicUsize>,
}

/// The thread that writes.
pub(crate) struct WriterThread {
    frames: Sender<Vec<u8>>,
    finished: Receiver<()>,
}

/// Starts to write frames to `output`. Calls `stopped` if writing fails.
pub(crate) fn write(
    output: impl Write + Send + 'static,
    stopped: impl FnOnce() + Send + 'static,
) -> io::Result<(MessageSender, WriterThread)> {
    let (frames, queue) = channel();
    let (finish, finished) = channel();
    let unread = Arc::new(AtomicUsize::new(0));
    let outgoing = MessageSender { frames: frames.clone(), unread: Arc::clone(&unread) };
    thread::Builder::new().name("writer".to_owned()).spawn(move || {
        if write_all(output, &queue, &unread).is_err() {
            stopped();
        }
        // The receiver may be gone.
        let _ = finish.send(());
    })?;
    Ok((outgoing, WriterThread { frames, finished }))
}

fn write_all(mut output: impl Write, queue: &Receiver<Vec<u8>>, unread: &AtomicUsize) -> io::Result<()> {
    // An empty frame is the last one.
    for frame in queue.iter().take_while(|frame| !frame.is_empty()) {
        output.write_all(&frame)?;
        output.flush()?;
        unread.fetch_sub(frame.len(), Ordering::Relaxed);
    }
    Ok(())
}

impl MessageSender {
    /// Queues a message. Returns false if the queue is full because the client does not read.
    #[must_use]
    pub(crate) fn send(&self, message: &impl Serialize) -> bool {
        let body = serde_json::to_vec(message).expect("messages are made of what JSON can say");
        let frame = encode_frame(&body);
        let unread = self.unread.fetch_add(frame.len(), Ordering::Relaxed);
        // The writer reports by itself that it has stopped.
        let _ = self.frames.send(frame);
        unread < MAX_UNREAD_BYTES
    }
}

impl WriterThread {
    /// Waits until everything sent so far is written, at most for `limit`.
    pub(crate) fn finish(self, limit: Duration) {
        if self.frames.send(Vec::new()).is_ok() {
            // After a timeout the rest is lost.
            let _ = self.finished.recv_timeout(limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(input: &str, expected: Expect) {
        let (sender, mut messages) = mpsc::channel(100);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(read(input.as_bytes(), sender));
        let mut seen = String::new();
        while let Ok(message) = messages.try_recv() {
            let line = match message {
                IncomingMessage::Request(request) => format!("request {}", request.method()),
                IncomingMessage::Response(response) => format!("response {}", response.id()),
                IncomingMessage::Refused(response, lost) => {
                    let code = response.error().map(|error| error.code.code());
                    format!("refused {} {code:?}, lost {lost:?}", response.id())
                }
                IncomingMessage::Closed => "closed".to_owned(),
                IncomingMessage::Broken(reason) => format!("broken: {reason}"),
            };
            seen += &(line + "\n");
        }
        expected.assert_eq(&seen);
    }

    fn frame(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn reads_requests_notifications_and_responses() {
        let input = [
            frame(r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#),
            frame(r#"{"jsonrpc":"2.0","method":"exit"}"#),
            frame(r#"{"jsonrpc":"2.0","id":"a","result":null}"#),
        ];
        check(
            &input.concat(),
            expect![[r#"
            request shutdown
            request exit
            response "a"
            closed
        "#]],
        );
    }

    #[test]
    fn rejects_invalid_messages_and_continues() {
        let bodies = ["{", "", "[]", "7", r#"{"id":3,"method":"x"}"#, r#"{"jsonrpc":"2.0"}"#, "\u{fffd}"];
        let mut input: String = bodies.into_iter().map(frame).collect();
        input += &frame(r#"{"jsonrpc":"2.0","method":"exit"}"#);
        check(
            &input,
            expect![[r#"
            refused null Some(-32700), lost AnyDocument
            refused null Some(-32700), lost Nothing
            refused null Some(-32600), lost Nothing
            refused null Some(-32600), lost Nothing
            refused 3 Some(-32600), lost Nothing
            refused null Some(-32600), lost Nothing
            refused null Some(-32700), lost Nothing
            request exit
            closed
        "#]],
        );
    }

    #[test]
    fn accepts_lenient_headers_and_stops_at_invalid_ones() {
        check(
            "content-length:  2\nX-Other: y\n\n{}Content-Type: x\r\n\r\n",
            expect![[r#"
                refused null Some(-32600), lost Nothing
                refused null Some(-32700), lost AnyDocument
                broken: the headers have no Content-Length
            "#]],
        );
        check(
            "Content-Length: ten\r\n\r\n",
            expect![[r#"
                refused null Some(-32700), lost AnyDocument
                broken: Content-Length is not a number
            "#]],
        );
        check(
            "Content-Length: 99999999999\r\n\r\n",
            expect![[r#"
                refused null Some(-32700), lost AnyDocument
                broken: Content-Length is larger than 256 MiB
            "#]],
        );
        check(
            "hello\r\n\r\n",
            expect![[r#"
                refused null Some(-32700), lost AnyDocument
                broken: a header has no colon
            "#]],
        );
        check(
            &"x".repeat(9000),
            expect![[r#"
                refused null Some(-32700), lost AnyDocument
                broken: a header is longer than 8192 bytes
            "#]],
        );
    }

    #[test]
    fn truncated_frame_closes_the_stream() {
        check(
            "Content-Length: 10\r\n\r\n{",
            expect![[r#"
            closed
        "#]],
        );
        check(
            "Content-Le",
            expect![[r#"
            closed
        "#]],
        );
    }
}
