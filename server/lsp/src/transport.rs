//! Messages as frames on two byte streams: one thread reads and parses, another one writes.
//!
//! Reading never waits for writing: a client that sends a long time without reading gets its answers queued, up to
//! [`MAX_UNREAD_BYTES`]. A body that is no message is refused and the next frame is read; headers that cannot be understood leave
//! nowhere to go on from and end the stream. (`tower_lsp_server::Server` ends at the first malformed body and stops reading while a
//! client does not read, so this crate brings its own transport.) Nothing here knows what messages mean.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tower_lsp_server::jsonrpc::{Error, Id, Request, Response};

/// Longest header block, bytes: two headers of a line each, with room for what clients may add.
const MAX_HEADER_BYTES: u64 = 8 << 10;
/// Longest body, bytes: far above any document, far below what a mistaken length would make us wait for.
const MAX_BODY_BYTES: usize = 256 << 20;
/// What may wait for a client that does not read, bytes.
const MAX_UNREAD_BYTES: usize = 64 << 20;

/// What comes from the client.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A request or a notification.
    Request(Request),
    /// The answer to a request of ours.
    Response(Response),
    /// Something that is no message, with the answer to it.
    Refused(Response),
    /// Nothing more comes: the stream is closed.
    Closed,
    /// Nothing more can be understood, and why.
    Broken(String),
}

/// Reads frames until the stream ends or `deliver` says that nobody listens any more.
pub(crate) fn read(mut input: impl BufRead, deliver: impl Fn(Incoming) -> bool) {
    loop {
        let incoming = match read_body(&mut input) {
            Ok(Frame::Body(body)) => parse(&body),
            Ok(Frame::Broken(reason)) => Incoming::Broken(reason),
            Ok(Frame::End) | Err(_) => Incoming::Closed,
        };
        let is_last = matches!(incoming, Incoming::Closed | Incoming::Broken(_));
        if !deliver(incoming) || is_last {
            return;
        }
    }
}

enum Frame {
    Body(Vec<u8>),
    End,
    Broken(String),
}

fn read_body(input: &mut impl BufRead) -> io::Result<Frame> {
    let mut headers = input.take(MAX_HEADER_BYTES);
    let mut length = None;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = headers.read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            let is_too_long = headers.limit() == 0;
            let broken = || Frame::Broken(format!("the headers are longer than {MAX_HEADER_BYTES} bytes"));
            return Ok(if is_too_long && read > 0 { broken() } else { Frame::End });
        }
        match parse_header(&line) {
            Ok(Header::Length(bytes)) => length = Some(bytes),
            Ok(Header::Other) => {}
            Ok(Header::End) => break,
            Err(reason) => return Ok(Frame::Broken(reason)),
        }
    }
    let Some(length) = length else {
        return Ok(Frame::Broken("the headers have no Content-Length".to_owned()));
    };
    let mut body = Vec::new();
    let read = input.take(length as u64).read_to_end(&mut body)?;
    Ok(if read == length { Frame::Body(body) } else { Frame::End })
}

enum Header {
    Length(usize),
    Other,
    End,
}

fn parse_header(line: &[u8]) -> Result<Header, String> {
    let line = line.trim_ascii_end();
    if line.is_empty() {
        return Ok(Header::End);
    }
    let line = std::str::from_utf8(line).map_err(|_| "a header is not UTF-8".to_owned())?;
    let (name, value) = line.split_once(':').ok_or_else(|| "a header has no colon".to_owned())?;
    if !name.trim().eq_ignore_ascii_case("content-length") {
        return Ok(Header::Other);
    }
    let length: usize = value.trim().parse().map_err(|_| "Content-Length is not a number".to_owned())?;
    if length > MAX_BODY_BYTES {
        return Err(format!("Content-Length is larger than {} MiB", MAX_BODY_BYTES >> 20));
    }
    Ok(Header::Length(length))
}

fn parse(body: &[u8]) -> Incoming {
    let Ok(mut message) = serde_json::from_slice::<Value>(body) else {
        return Incoming::Refused(Response::from_error(Id::Null, Error::parse_error()));
    };
    let id: Option<Id> = message.get("id").map(|id| Id::deserialize(id).unwrap_or_default());
    let refused = || {
        let id = id.clone().unwrap_or_default();
        Incoming::Refused(Response::from_error(id, Error::invalid_request()))
    };
    let is_call = message.get("method").is_some();
    if is_call && id == Some(Id::Null) {
        // The protocol has numbers and strings for ids; an answer to anything else could not be told from other answers.
        return refused();
    }
    if let Some(fields) = message.as_object_mut().filter(|_| is_call) {
        // To leave parameters away is to have none.
        fields.entry("params").or_insert(Value::Null);
    }
    let parsed = match &id {
        _ if is_call => serde_json::from_value(message).map(Incoming::Request),
        Some(_) => serde_json::from_value(message).map(Incoming::Response),
        None => return refused(),
    };
    parsed.unwrap_or_else(|_| refused())
}

/// The way to the client; cheap to clone.
#[derive(Clone)]
pub(crate) struct Outgoing {
    frames: Sender<Vec<u8>>,
    unread: Arc<AtomicUsize>,
}

/// The writing thread.
pub(crate) struct Writer {
    frames: Sender<Vec<u8>>,
    finished: Receiver<()>,
}

/// Starts to write frames to `output`. `stopped` is called when that fails.
pub(crate) fn write(
    output: impl Write + Send + 'static,
    stopped: impl FnOnce() + Send + 'static,
) -> io::Result<(Outgoing, Writer)> {
    let (frames, queue) = channel();
    let (finish, finished) = channel();
    let unread = Arc::new(AtomicUsize::new(0));
    let outgoing = Outgoing { frames: frames.clone(), unread: Arc::clone(&unread) };
    thread::Builder::new().name("writer".to_owned()).spawn(move || {
        if write_all(output, &queue, &unread).is_err() {
            stopped();
        }
        // Nobody may be waiting.
        let _ = finish.send(());
    })?;
    Ok((outgoing, Writer { frames, finished }))
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

impl Outgoing {
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

impl Writer {
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
                Incoming::Request(request) => format!("request {}", request.method()),
                Incoming::Response(response) => format!("response {}", response.id()),
                Incoming::Refused(response) => {
                    let code = response.error().map(|error| error.code.code());
                    format!("refused {} {code:?}", response.id())
                }
                Incoming::Closed => "closed".to_owned(),
                Incoming::Broken(reason) => format!("broken: {reason}"),
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
            refused null Some(-32700)
            refused null Some(-32700)
            refused null Some(-32600)
            refused null Some(-32600)
            refused 3 Some(-32600)
            refused null Some(-32600)
            refused null Some(-32700)
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
            refused null Some(-32600)
            broken: the headers have no Content-Length
        "#]],
        );
        check(
            "Content-Length: ten\r\n\r\n",
            expect![[r#"
            broken: Content-Length is not a number
        "#]],
        );
        check(
            "Content-Length: 99999999999\r\n\r\n",
            expect![[r#"
            broken: Content-Length is larger than 256 MiB
        "#]],
        );
        check(
            "hello\r\n\r\n",
            expect![[r#"
            broken: a header has no colon
        "#]],
        );
        check(
            &"x".repeat(9000),
            expect![[r#"
            broken: the headers are longer than 8192 bytes
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
