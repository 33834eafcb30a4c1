//! Messages as bytes: headers, an empty line, a JSON body.
//!
//! Shares no code with the server and its engines, so that a mistake in their framing cannot hide behind the same mistake here.

use std::io::{self, BufRead, ErrorKind};

use serde_json::Value;

/// Returns a body with its header.
pub fn frame(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

/// Reads the next message; `None` if the stream ends between two messages. The server may only send the two headers of the
/// protocol.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Option<Value>> {
    let Some(length) = read_headers(input)? else { return Ok(None) };
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    Ok(Some(serde_json::from_slice(&body)?))
}

fn read_headers(input: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    for is_first in std::iter::once(true).chain(std::iter::repeat(false)) {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 && is_first {
            return Ok(None);
        }
        let line = line.strip_suffix("\r\n").ok_or_else(|| invalid(&line))?;
        match line.split_once(": ") {
            Some(("Content-Length", digits)) => length = digits.parse().ok(),
            Some(("Content-Type", _)) => {}
            None if line.is_empty() => break,
            _ => return Err(invalid(line)),
        }
    }
    length.map(Some).ok_or_else(|| invalid("no Content-Length"))
}

fn invalid(line: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("bad header `{line}`"))
}
