//! Messages as frames on two byte streams: one thread reads and parses, another one writes.
//!
//! Reading never waits for writing: a client that sends a long time without reading gets its answers queued, up to
//! [`MAX_UNREAD_BYTES`]. A body that is no message is refused, with what it may have changed ([`LostChange`]), and the next frame is read.
//! After headers that make no sense everything up to the next `Content-Length` is left out; the stream ends where none comes.
//! (`tower_lsp_server::Server` ends at the first malformed body and stops reading while a client does not read, so this crate brings
//! its own transport.) Beyond that, nothing here knows what messages mean.

use std::io::{self, BufRead, Read, Write};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tower_lsp_server::jsonrpc::{Error, Id, Request, Response};

use crate::lenient_json::{self, PartialMessage, parse_partially};

/// Longest header, bytes: the two of the protocol are far shorter.
const MAX_HEADER_BYTES: usize = 8 << 10;
/// The header that counts, in lower case.
const CONTENT_LENGTH: &[u8] = b"content-length:";
/// More than that header has with any length that is read, bytes.
const LENGTH_HEADER_BYTES: usize = 64;
/// Longest body, bytes: far above any document, far below what a mistaken length would make us wait for.
const MAX_BODY_BYTES: usize = 256 << 20;
/// What may wait for a client that does not read, bytes.
const MAX_UNREAD_BYTES: usize = 64 << 20;

/// What comes from the client.
#[derive(Debug)]
pub(crate) enum IncomingMessage {
    /// A request or a notification.
    Request(Request),
    /// The answer to a request of ours.
    Response(Response),
    /// Something that is no message, with the answer to it.
    Refused(Response, LostChange),
    /// Nothing more comes: the stream is closed.
    Closed,
    /// Nothing more can be understood, and why.
    Broken(String),
}

/// What a message that was refused may have changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LostChange {
    /// No open document.
    Nothing,
    /// The document with this URI.
    Document(String),
    /// Any open document.
    AnyDocument,
}

impl LostChange {
    /// What a notification of this method, for the document at `uri`, says about texts.
    fn from_notification(method: &str, uri: Option<String>) -> LostChange {
        match method {
            "textDocument/didOpen" | "textDocument/didChange" | "textDocument/didClose" => {
                uri.map_or(LostChange::AnyDocument, LostChange::Document)
            }
            _ => LostChange::Nothing,
        }
    }
}

/// Reads frames until the stream ends or `deliver` says that nobody listens any more.
pub(crate) fn read(input: impl BufRead, deliver: impl Fn(IncomingMessage) -> bool) {
    let mut frames = FrameReader { input, line: Vec::new(), length: None, broken: None };
    loop {
        let incoming = match frames.next() {
            Ok(Frame::Body(body)) => parse(&body),
            Ok(Frame::Broken) => IncomingMessage::Refused(parse_error(Id::Null), LostChange::AnyDocument),
            Ok(Frame::End) | Err(_) => {
                frames.broken.take().map_or(IncomingMessage::Closed, IncomingMessage::Broken)
            }
        };
        let is_last = matches!(incoming, IncomingMessage::Closed | IncomingMessage::Broken(_));
        if !deliver(incoming) || is_last {
            return;
        }
    }
}

/// The frames of a stream.
struct FrameReader<R> {
    input: R,
    /// What was read of a header's line.
    line: Vec<u8>,
    /// What the headers of the next body have said by now.
    length: Option<usize>,
    /// Why the headers make no sense, until a body is read.
    broken: Option<String>,
}

enum Frame {
    Body(Vec<u8>),
    End,
    /// Headers that make no sense, once until the next body.
    Broken,
}

impl<R: BufRead> FrameReader<R> {
    fn next(&mut self) -> io::Result<Frame> {
        loop {
            let room = MAX_HEADER_BYTES - self.line.len();
            (&mut self.input).take(room as u64).read_until(b'\n', &mut self.line)?;
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
                    (true, Some(length)) => return self.body(length),
                    (true, None) => self.set_broken("the headers have no Content-Length".to_owned()),
                    (false, _) => self.header(&line),
                }
            }
            if !was_broken && self.broken.is_some() {
                return Ok(Frame::Broken);
            }
        }
    }

    fn body(&mut self, length: usize) -> io::Result<Frame> {
        let mut body = Vec::new();
        let read = (&mut self.input).take(length as u64).read_to_end(&mut body)?;
        if read < length {
            return Ok(Frame::End);
        }
        (self.length, self.broken) = (None, None);
        Ok(Frame::Body(body))
    }

    /// Takes in a line of the headers. Behind what a wrong length has left of a body, the next headers begin in the middle of a line.
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

    /// Takes note of the first thing that makes no sense.
    fn set_broken(&mut self, reason: String) {
        self.broken.get_or_insert(reason);
    }
}

/// What the value of `Content-Length` says.
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

/// A message that is valid JSON.
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
        // The protocol has numbers and strings for ids; an answer to anything else could not be told from other answers.
        return refused();
    }
    if let Some(fields) = message.as_object_mut().filter(|_| is_call) {
        // To leave parameters away is to have none.
        fields.entry("params").or_insert(Value::Null);
    }
    let parsed = match &id {
        _ if is_call => serde_json::from_value(message).map(IncomingMessage::Request),
        Some(_) => serde_json::from_value(message).map(IncomingMessage::Response),
        None => return refused(),
    };
    parsed.unwrap_or_else(|_| refused())
}

/// A message that cannot be decoded. A request is answered, a notification may have changed what it names, and a question of ours is
/// answered by the error.
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

/// The way to the client; cheap to clone.
#[derive(Clone)]
pub(crate) struct MessageSender {
    frames: Sender<Vec<u8>>,
    unread: Arc<AtomicUsize>,
}

/// The writing thread.
pub(crate) struct WriterThread {
    frames: Sender<Vec<u8>>,
    finished: Receiver<()>,
}

/// Starts to write frames to `output`. `stopped` is called when that fails.
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
        // Nobody may be waiting.
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
    /// Queues a message. False when more waits than a client that reads would leave.
    #[must_use]
    pub(crate) fn send(&self, message: &impl Serialize) -> bool {
        let body = serde_json::to_vec(message).expect("messages are made of what JSON can say");
        let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        frame.extend(body);
        let unread = self.unread.fetch_add(frame.len(), Ordering::Relaxed);
        // A writer that stopped has said so already.
        let _ = self.frames.send(frame);
        unread < MAX_UNREAD_BYTES
    }
}

impl WriterThread {
    /// Waits until everything sent so far is written, but not for a client that does not read.
    pub(crate) fn finish(self, limit: Duration) {
        if self.frames.send(Vec::new()).is_ok() {
            // Out of time is as good an end as any.
            let _ = self.finished.recv_timeout(limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use expect_test::{Expect, expect};

    use super::*;

    fn check(input: &str, expected: Expect) {
        let seen = RefCell::new(String::new());
        read(input.as_bytes(), |incoming| {
            let line = match incoming {
                IncomingMessage::Request(request) => format!("request {}", request.method()),
                IncomingMessage::Response(response) => format!("response {}", response.id()),
                IncomingMessage::Refused(response, lost) => {
                    let code = response.error().map(|error| error.code.code());
                    format!("refused {} {code:?}, lost {lost:?}", response.id())
                }
                IncomingMessage::Closed => "closed".to_owned(),
                IncomingMessage::Broken(reason) => format!("broken: {reason}"),
            };
            seen.borrow_mut().push_str(&(line + "\n"));
            true
        });
        expected.assert_eq(&seen.borrow());
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
    fn refuses_what_is_no_message_and_goes_on() {
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
    fn headers_are_read_leniently_until_they_make_no_sense() {
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
    fn a_frame_that_breaks_off_ends_the_stream() {
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
