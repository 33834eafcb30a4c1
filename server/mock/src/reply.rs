//! Scripted replies, down to the byte if needed.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

/// A step of a reply.
#[derive(Clone, Debug)]
pub enum ReplyStep {
    /// Sends these bytes at once.
    Bytes(Vec<u8>),
    /// Sends these bytes repeatedly for as long as the client reads.
    Endless(Vec<u8>),
    /// Waits until the client closes the connection.
    Hang,
    /// Waits until the test opens the gate or the client closes the connection.
    Wait(Latch),
    /// Waits so long, like a model that takes time to answer.
    Pause(Duration),
    /// Closes the connection with a reset.
    Reset,
}

/// A latch that a test opens.
#[derive(Clone, Debug)]
pub struct Latch(watch::Sender<bool>);

impl Default for Latch {
    fn default() -> Latch {
        Latch(watch::Sender::new(false))
    }
}

impl Latch {
    /// Releases all present and future waiters.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub(crate) async fn wait(&self) {
        // The sender lives as long as `self`.
        let _ = self.0.subscribe().wait_for(|is_open| *is_open).await;
    }
}

/// The reply to one request.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Steps, in order.
    pub steps: Vec<ReplyStep>,
    /// Whether the connection is closed afterwards.
    pub closes: bool,
}

impl Reply {
    /// Sends these bytes and closes the connection.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Reply {
        Reply { steps: vec![ReplyStep::Bytes(bytes.into())], closes: true }
    }

    /// A complete response.
    pub fn whole(status: u16, content_type: &str, body: &[u8]) -> Reply {
        let mut bytes =
            head(status, &[("content-type", content_type), ("content-length", &body.len().to_string())]);
        bytes.extend_from_slice(body);
        Reply { steps: vec![ReplyStep::Bytes(bytes)], closes: false }
    }

    /// A complete response with more headers.
    pub fn with_headers(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let length = body.len().to_string();
        let headers: Vec<(&str, &str)> =
            headers.iter().copied().chain([("content-length", &*length)]).collect();
        let mut bytes = head(status, &headers);
        bytes.extend_from_slice(body);
        Reply { steps: vec![ReplyStep::Bytes(bytes)], closes: false }
    }

    /// A JSON response.
    pub fn json(status: u16, body: &Value) -> Reply {
        Reply::whole(status, "application/json", body.to_string().as_bytes())
    }

    /// Starts a chunked response; see [`chunk`](Reply::chunk) and [`end`](Reply::end).
    pub fn stream(content_type: &str) -> Reply {
        let bytes = head(200, &[("content-type", content_type), ("transfer-encoding", "chunked")]);
        Reply { steps: vec![ReplyStep::Bytes(bytes)], closes: false }
    }

    /// Adds a chunk.
    #[must_use]
    pub fn chunk(self, bytes: &[u8]) -> Reply {
        self.with_step(ReplyStep::Bytes(chunk(bytes)))
    }

    /// Adds a chunk that repeats without end.
    #[must_use]
    pub fn endless(self, bytes: &[u8]) -> Reply {
        self.with_step(ReplyStep::Endless(chunk(bytes)))
    }

    /// Ends the stream.
    #[must_use]
    pub fn end(self) -> Reply {
        self.with_step(ReplyStep::Bytes(b"0\r\n\r\n".to_vec()))
    }

    /// Adds a step at the end.
    #[must_use]
    pub fn with_step(mut self, step: ReplyStep) -> Reply {
        self.steps.push(step);
        self
    }

    /// Adds a step at the beginning.
    #[must_use]
    pub fn preceded_by(mut self, step: ReplyStep) -> Reply {
        self.steps.insert(0, step);
        self
    }

    /// Server-sent events with this data, each in its own chunk.
    pub fn events<'a>(events: impl IntoIterator<Item = &'a str>) -> Reply {
        let start = Reply::stream("text/event-stream");
        events
            .into_iter()
            .fold(start, |reply, event| reply.chunk(format!("data: {event}\n\n").as_bytes()))
            .end()
    }
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let headers = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    format!("HTTP/1.1 {status} {}\r\n{}\r\n", reason(status), headers.collect::<String>()).into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        307 => "Temporary Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Status",
    }
}
