//! Received HTTP requests.

use std::io;
use std::time::Instant;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Maximum length of a request in bytes.
const MAX_REQUEST_BYTES: usize = 64 << 20;

/// A received request.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// `GET` or `POST`.
    pub method: String,
    /// Path with query.
    pub path: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Time at which its first byte was read.
    pub began: Instant,
    /// Time at which its last byte was read.
    pub at: Instant,
}

impl ReceivedRequest {
    /// Returns the first header with this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON, or null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// Returns the whole request as text, to search for leaked data.
    pub fn text(&self) -> String {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
        let body = String::from_utf8_lossy(&self.body);
        format!("{} {}\n{}\n{body}", self.method, self.path, headers.collect::<String>())
    }

    /// Reads the next request of a connection. `buffer` keeps the bytes behind it. Returns `None` if the client has closed.
    pub(crate) async fn read(
        stream: &mut (impl AsyncRead + Unpin),
        buffer: &mut Vec<u8>,
    ) -> io::Result<Option<ReceivedRequest>> {
        let mut began = Instant::now();
        let head = loop {
            if let Some(end) = find(buffer, b"\r\n\r\n") {
                let head: Vec<u8> = buffer.drain(..end + 4).collect();
                break String::from_utf8_lossy(&head).into_owned();
            }
            // Reject it at once, as real servers do. They would otherwise wait for the end of something else, such as a TLS
            // handshake.
            if buffer.first().is_some_and(|first| !first.is_ascii_uppercase()) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "this is no request"));
            }
            let is_first = buffer.is_empty();
            if !read_more(stream, buffer).await? {
                return Ok(None);
            }
            if is_first {
                began = Instant::now();
            }
        };
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
        let (method, path) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
        while buffer.len() < length {
            if !read_more(stream, buffer).await? {
                return Ok(None);
            }
        }
        let body = buffer.drain(..length).collect();
        Ok(Some(ReceivedRequest { method, path, headers, body, began, at: Instant::now() }))
    }
}

async fn read_more(stream: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> io::Result<bool> {
    if buffer.len() > MAX_REQUEST_BYTES {
        return Err(io::Error::other("the request is too long"));
    }
    Ok(stream.read_buf(buffer).await? > 0)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
