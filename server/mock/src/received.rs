//! Requests as they arrive.

use std::io;
use std::time::Instant;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Longest request that is read, bytes.
const LIMIT: usize = 64 << 20;

/// A request.
#[derive(Clone, Debug)]
pub struct Received {
    /// `GET` or `POST`.
    pub method: String,
    /// Path with query.
    pub path: String,
    /// Headers in order, names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// When its last byte was there.
    pub at: Instant,
}

impl Received {
    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// Everything as text, to look for what must not be there.
    pub fn text(&self) -> String {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\n"));
        let body = String::from_utf8_lossy(&self.body);
        format!("{} {}\n{}\n{body}", self.method, self.path, headers.collect::<String>())
    }

    /// Reads the next request of a connection; `buffer` keeps what came behind it. `None` when the client has closed.
    pub(crate) async fn read(
        stream: &mut (impl AsyncRead + Unpin),
        buffer: &mut Vec<u8>,
    ) -> io::Result<Option<Received>> {
        let head = loop {
            if let Some(end) = find(buffer, b"\r\n\r\n") {
                let head: Vec<u8> = buffer.drain(..end + 4).collect();
                break String::from_utf8_lossy(&head).into_owned();
            }
            // As real servers do, who would otherwise wait for the end of something else, such as encryption.
            if buffer.first().is_some_and(|first| !first.is_ascii_uppercase()) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "this is no request"));
            }
            if !more(stream, buffer).await? {
                return Ok(None);
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
            if !more(stream, buffer).await? {
                return Ok(None);
            }
        }
        let body = buffer.drain(..length).collect();
        Ok(Some(Received { method, path, headers, body, at: Instant::now() }))
    }
}

async fn more(stream: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> io::Result<bool> {
    if buffer.len() > LIMIT {
        return Err(io::Error::other("the request is too long"));
    }
    Ok(stream.read_buf(buffer).await? > 0)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
