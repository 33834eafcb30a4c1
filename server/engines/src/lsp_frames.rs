//! Messages of the language server protocol as bytes: headers, an empty line, and a body of `Content-Length` bytes.
//!
//! Both ends write messages with [`encode_frame`]. The reader is a client's, which gives up on a server that breaks the protocol; a server
//! must go on after broken headers and has its own reader. Input arrives in chunks of any size. Lines between two messages that aren't
//! headers are skipped, because programs print things to their standard output. Both the skipped bytes and the length of a message
//! are limited, to bound memory.

/// Maximum message size in bytes. A response has a few hundred; logs and lists are longer.
const MAX_MESSAGE: usize = 16 << 20;

/// Maximum number of skipped bytes before a message: more than a banner, less than a program with another protocol writes in a
/// moment.
const MAX_SKIPPED_BYTES: usize = 64 << 10;

/// Returns the bytes of a message with this body.
pub fn encode_frame(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

/// Splits input into messages.
#[derive(Debug, Default)]
pub struct FrameReader {
    /// Input that isn't consumed yet.
    unread: Vec<u8>,
    /// Number of consumed bytes.
    used: usize,
    /// `Content-Length` of the next message, while its headers are read.
    announced: Option<usize>,
    /// Length of the body; set when all headers are read.
    length: Option<usize>,
    /// Bytes skipped since the last message.
    skipped: usize,
}

impl FrameReader {
    /// Adds input.
    pub fn push(&mut self, bytes: &[u8]) {
        self.unread.drain(..self.used);
        self.used = 0;
        self.unread.extend_from_slice(bytes);
    }

    /// Returns the body of the next message if it is complete. The error says what the server does instead of sending a message; nothing can
    /// be read after it.
    pub fn next_body(&mut self) -> Result<Option<Vec<u8>>, String> {
        loop {
            if let Some(length) = self.length {
                let Some(body) = self.unread[self.used..].get(..length) else { return Ok(None) };
                let body = body.to_vec();
                self.used += length;
                (self.length, self.skipped) = (None, 0);
                return Ok(Some(body));
            }
            let Some(line) = self.line()? else { return Ok(None) };
            self.header(&line)?;
        }
    }

    /// Returns the next line, without its end.
    fn line(&mut self) -> Result<Option<String>, String> {
        let unread = &self.unread[self.used..];
        let Some(end) = unread.iter().position(|byte| *byte == b'\n') else {
            return if unread.len() > MAX_SKIPPED_BYTES { Err(not_a_message(unread)) } else { Ok(None) };
        };
        let line = String::from_utf8_lossy(&unread[..end]).trim_end().to_owned();
        self.used += end + 1;
        Ok(Some(line))
    }

    fn header(&mut self, line: &str) -> Result<(), String> {
        if line.is_empty() {
            self.length = self.announced.take();
            return Ok(());
        }
        if let Some(length) = content_length(line) {
            let length = length.parse().map_err(|_| format!("it announces a message of `{length}` bytes"))?;
            if length > MAX_MESSAGE {
                return Err(format!("it sends a message of {length} bytes, and {MAX_MESSAGE} are read"));
            }
            self.announced = Some(length);
        } else if self.announced.is_none() {
            self.skipped += line.len() + 1;
            if self.skipped > MAX_SKIPPED_BYTES {
                return Err(not_a_message(line.as_bytes()));
            }
        }
        Ok(())
    }
}

/// Returns the value of a length header; text printed without a line end may precede it.
fn content_length(line: &str) -> Option<&str> {
    const NAME: &str = "content-length:";
    let at = line.to_ascii_lowercase().rfind(NAME)?;
    Some(line[at + NAME.len()..].trim())
}

/// Quotes all of it: the caller, which knows the secrets, shortens it.
fn not_a_message(text: &[u8]) -> String {
    format!("it writes text that is not a message: `{}`", String::from_utf8_lossy(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8]) -> (Vec<String>, Option<String>) {
        let mut frames = FrameReader::default();
        let mut bodies = Vec::new();
        frames.push(text);
        loop {
            match frames.next_body() {
                Ok(Some(body)) => bodies.push(String::from_utf8(body).unwrap()),
                Ok(None) => return (bodies, None),
                Err(error) => return (bodies, Some(error)),
            }
        }
    }

    #[test]
    fn frames_are_found_after_any_headers_and_printed_text() {
        for text in [
            "Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]",
            "Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}Content-Length: 3\n\n[1]",
            "loading the model\r\n\r\nready\ncontent-length:2\r\n\r\n{}no line end Content-Length: 3\r\n\r\n[1]",
        ] {
            assert_eq!(read(text.as_bytes()), (vec!["{}".to_owned(), "[1]".to_owned()], None), "{text}");
        }
        assert_eq!(read(b"Content-Length: 20\r\n\r\n{}"), (Vec::new(), None), "the rest is yet to come");
    }

    #[test]
    fn invalid_and_oversized_frames_are_errors() {
        let error = |text: &[u8]| read(text).1.unwrap_or_default();
        assert_eq!(
            error(b"Content-Length: 104857600\r\n\r\n{"),
            "it sends a message of 104857600 bytes, and 16777216 are read"
        );
        assert_eq!(error(b"Content-Length: -5\r\n\r\n"), "it announces a message of `-5` bytes");
        assert_eq!(error(&b"y\n".repeat(MAX_SKIPPED_BYTES)), "it writes text that is not a message: `y`");
        assert_eq!(
            error(&[b'x'; MAX_SKIPPED_BYTES + 1]),
            format!("it writes text that is not a message: `{}`", "x".repeat(MAX_SKIPPED_BYTES + 1))
        );
        assert!(error(&[0xff; MAX_SKIPPED_BYTES + 1]).starts_with("it writes"), "bytes of any kind");
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_change_frames(
            bodies in prop::collection::vec("[a-zé\r\n{}]{0,40}", 0..5),
            cuts in prop::collection::vec(1usize..30, 1..40),
        ) {
            let text: Vec<u8> = bodies.iter().flat_map(|body| encode_frame(body.as_bytes())).collect();
            let mut frames = FrameReader::default();
            let mut found = Vec::new();
            let (mut rest, mut cuts) = (text.as_slice(), cuts.iter().cycle());
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(rest.len().min(*cuts.next().unwrap()));
                rest = after;
                frames.push(piece);
                while let Some(body) = frames.next_body().unwrap() {
                    found.push(String::from_utf8(body).unwrap());
                }
            }
            prop_assert_eq!(found, bodies);
        }
    }
}
